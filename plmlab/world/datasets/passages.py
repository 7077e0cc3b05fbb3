"""Passages (短文): several sentences of a world in English and Chinese, with their word alignment."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, chain
from random import Random

from plmlab.draws import randint
from plmlab.world.documents.pairs import partners
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.lexicon import Lexicon
from plmlab.world.world import World

Words = tuple[str, ...]


@dataclass(frozen=True)
class Passage:
    """Several consecutive ``sentences``, all their ``english`` and all their ``chinese`` words. ``partners`` are pairs
    of aligned word positions (Chinese, English); words with an ambiguous alignment have no pair."""

    sentences: tuple[Words, ...]
    english: Words
    chinese: Words
    partners: tuple[tuple[int, int], ...]

    def reversed(self) -> "Passage":
        """The same passage with its English words in reverse order (Sutskever et al. 2014, §3.3)."""
        last = len(self.english) - 1
        return Passage(tuple(words[::-1] for words in self.sentences[::-1]), self.english[::-1], self.chinese,
                       tuple((one, last - other) for one, other in self.partners))

    def last_sentence_first(self) -> "Passage":
        """The same passage with its English sentences in reverse order, but the words within each in their original
        order."""
        ends = list(accumulate(map(len, self.sentences)))
        moved = [ends[-1] - end + position for end, words in zip(ends, self.sentences, strict=True)
                 for position in range(len(words))]
        sentences = self.sentences[::-1]
        return Passage(sentences, tuple(chain.from_iterable(sentences)), self.chinese,
                       tuple((one, moved[other]) for one, other in self.partners))


def joined(sentences: list[Sentence], lexicon: Lexicon) -> Passage:
    """Concatenate sentences into a passage."""
    english: Words = ()
    chinese: Words = ()
    pairs: list[tuple[int, int]] = []
    for sentence in sentences:
        pairs += [(len(chinese) + one, len(english) + other) for one, other in partners(sentence, lexicon)]
        english, chinese = english + sentence.words, chinese + sentence.chinese
    return Passage(tuple(sentence.words for sentence in sentences), english, chinese, tuple(pairs))


def passages(world: World, split: str, rng: Random, lengths: range = range(1, 61)) -> Iterator[Passage]:
    """Endless iterator over random passages.

    A target length is sampled uniformly from ``lengths``, in English words; independently sampled sentences are then
    appended until the next one would exceed it. Raises ValueError if ``lengths`` is empty.
    """
    if not lengths:
        raise ValueError(f"no target length: lengths={lengths} is empty")
    stream = world.sentences(split, seed=randint(rng, 2**31))
    while True:
        aim, sentences = lengths[randint(rng, len(lengths))], [next(stream)]
        while (following := next(stream)) and sum(len(one.words) for one in (*sentences, following)) <= aim:
            sentences.append(following)
        yield joined(sentences, world.lexicon)
