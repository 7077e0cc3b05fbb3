"""The exact distribution of the next word, which the Small World knows, beside that of a model."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import log

from plmlab.labs.shared.probabilities import disagreeing, words_of
from plmlab.text.tokenizers import Tokenizer
from plmlab.world import World
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.probability.automaton import END

TRIED = 300
"""Among so many sentences of the world, those to try are looked for."""


class BestReader:
    """The best possible reader, who knows the grammar: the exact chances of the world's next
    words, as tokens of a model.

    Raises:
        ValueError: a word of the world is not one token, so that its chance is not that of a token.
    """

    def __init__(self, world: World, split: str, tokenizer: Tokenizer) -> None:
        pieces = dict(zip(world.vocabulary, tokenizer.encode_all(world.vocabulary, plain=True), strict=True))
        apart = [word for word, ids in pieces.items() if len(ids) != 1 or ids[0] == tokenizer.vocab.unk]
        if apart:
            raise ValueError(f"the world's probabilities are those of whole words, and {len(apart):,} of them, such as "
                             f"'{apart[0]}', are not one token here: train the model with world_tokenizer(world), "
                             "or give no world=")
        self.world, self.split = world, split
        self.ids = {word: ids[0] for word, ids in pieces.items()} | {END: tokenizer.vocab.need("end")}

    def spelled(self, text: str) -> str:
        """A typed text as the world writes: marks set apart, and no capital where a sentence merely begins."""
        return " ".join(words_of(text, self.world))

    def expects(self, words: Sequence[str]) -> tuple[dict[int, float], str]:
        """Id → probability of each token that can come next, the likeliest first, and ""; or nothing, and where
        ``words`` leave the grammar."""
        told = self.world.explain(words, self.split)
        if told.prefix < len(words):
            return {}, told.message
        return {self.ids[word]: p for word, p in told.expected.items()}, ""


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
