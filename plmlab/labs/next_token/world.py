"""The exact distribution of the next word, which the Small World knows, beside that of a model."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import log

from plmlab.labs.shared.probabilities import disagreeing
from plmlab.world import World
from plmlab.world.grammar.sentence import Sentence

TRIED = 300
"""Among so many sentences of the world, those to try are looked for."""


def entropy(chances: Iterable[float]) -> float:
    """The entropy −Σ p log p of a distribution, in nats."""
    return sum((-p * log(p) for p in chances if 0 < p < 1), 0.0)


def beginnings(world: World, split: str) -> dict[str, str]:
    """Beginnings of sentences to try, title → text, each with another kind of next word."""
    said = list(islice(world.sentences(split, seed=3), TRIED))
    found = {
        "a real choice": _some(world, split, said),
        "a verb far from its noun": next(_verbs(said), None),
        "be certain": next(_certain(world, split, said), None),
        "an ambiguous beginning": _open(world, split, said),
        "leave the grammar": next(_wrong(world, said), None),
        "from nothing": "",
    }
    return {title: text for title, text in found.items() if text is not None}


def _some(world: World, split: str, said: Sequence[Sentence]) -> str | None:
    """The first words after which some words are likely, and not all alike: nearest to what would be six equal ones."""
    begun = dict.fromkeys(sentence.words[:place] for sentence in said for place in range(4, len(sentence.words)))
    worth = {" ".join(words): list(world.next_words(words, split).values()) for words in begun}
    uneven = {text: chances for text, chances in worth.items() if 0.3 < max(chances) < 0.6}
    return min(uneven, key=lambda text: abs(entropy(uneven[text]) - log(6)), default=None)


def _verbs(said: Sequence[Sentence]) -> Iterator[str]:
    """Up to a verb whose number must be remembered past a noun of the other number."""
    for sentence in said:
        for link in sentence.agreement:
            if link.attractors and link.subject < link.verb:
                yield " ".join(sentence.words[:link.verb])


def _certain(world: World, split: str, said: Sequence[Sentence]) -> Iterator[str]:
    """Up to a word, far on, that can be no other."""
    for sentence in said:
        for place in range(4, len(sentence.words) - 1):
            if sentence.words[place].isalpha() and len(world.next_words(sentence.words[:place], split)) == 1:
                yield " ".join(sentence.words[:place])


def _open(world: World, split: str, said: Sequence[Sentence]) -> str:
    """The first words after which most is possible."""
    begun = dict.fromkeys(sentence.words[:count] for sentence in said for count in (1, 2, 3))
    widest = max(begun, key=lambda words: entropy(world.next_words(words, split).values()))
    return " ".join(widest)


def _wrong(world: World, said: Sequence[Sentence]) -> Iterator[str]:
    """Up to a verb in the wrong number, and with it."""
    for sentence in said:
        words = (disagreeing(world, sentence) or "").split()
        if words:
            yield " ".join(words[:world.explain(words).prefix + 1])
