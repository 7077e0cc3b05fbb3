"""The Small World's exact next-word distribution: its entropy, and presets selected by the distribution."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import log

from plmlab.labs.shared.probabilities import disagreeing
from plmlab.world import World
from plmlab.world.grammar.sentence import Sentence

TRIED = 300
"""Number of sampled sentences among which the presets are searched."""


def entropy(chances: Iterable[float]) -> float:
    """The entropy −Σ p log p of a distribution, in nats."""
    return sum((-p * log(p) for p in chances if 0 < p < 1), 0.0)


def beginnings(world: World, split: str) -> dict[str, str]:
    """Presets, as title → text: prefixes of sentences with different kinds of next-word distributions."""
    sentences = list(islice(world.sentences(split, seed=3), TRIED))
    texts = {
        "a real choice": _some(world, split, sentences),
        "a verb far from its noun": next(_verbs(sentences), None),
        "only one continuation": next(_certain(world, split, sentences), None),
        "an ambiguous beginning": _open(world, split, sentences),
        "ungrammatical": next(_wrong(world, sentences), None),
        "empty text": "",
    }
    return {title: text for title, text in texts.items() if text is not None}


def _some(world: World, split: str, sentences: Sequence[Sentence]) -> str | None:
    """The prefix whose next-word perplexity is closest to 6, among prefixes with a clear but uncertain favourite."""
    prefixes = dict.fromkeys(sentence.words[:end] for sentence in sentences for end in range(4, len(sentence.words)))
    probs = {" ".join(words): list(world.next_words(words, split).values()) for words in prefixes}
    uneven = {text: p for text, p in probs.items() if 0.3 < max(p) < 0.6}
    return min(uneven, key=lambda text: abs(entropy(uneven[text]) - log(6)), default=None)


def _verbs(sentences: Sequence[Sentence]) -> Iterator[str]:
    """Prefixes before a verb that must agree with its subject across a noun of the opposite number."""
    for sentence in sentences:
        for link in sentence.agreement:
            if link.attractors and link.subject < link.verb:
                yield " ".join(sentence.words[:link.verb])


def _certain(world: World, split: str, sentences: Sequence[Sentence]) -> Iterator[str]:
    """Prefixes of at least four words with a single possible next word."""
    for sentence in sentences:
        for end in range(4, len(sentence.words) - 1):
            if sentence.words[end].isalpha() and len(world.next_words(sentence.words[:end], split)) == 1:
                yield " ".join(sentence.words[:end])


def _open(world: World, split: str, sentences: Sequence[Sentence]) -> str:
    """The prefix of up to three words with the highest next-word entropy."""
    prefixes = dict.fromkeys(sentence.words[:count] for sentence in sentences for count in (1, 2, 3))
    widest = max(prefixes, key=lambda words: entropy(world.next_words(words, split).values()))
    return " ".join(widest)


def _wrong(world: World, sentences: Sequence[Sentence]) -> Iterator[str]:
    """Prefixes that end with a verb in the wrong number."""
    for sentence in sentences:
        words = (disagreeing(world, sentence) or "").split()
        if words:
            yield " ".join(words[:world.explain(words).prefix + 1])
