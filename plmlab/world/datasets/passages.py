"""Passages (短文): several sentences of a world in a row, in English and in Chinese, with the words that translate each
other."""

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
    """Some ``sentences`` in a row, all their ``english`` and all their ``chinese``. ``partners`` are pairs of positions
    (Chinese, English) whose words translate each other, for those words of which that is sure."""

    sentences: tuple[Words, ...]
    english: Words
    chinese: Words
    partners: tuple[tuple[int, int], ...]

    def reversed(self) -> "Passage":
        """The same with its English from the last word to the first (Sutskever et al. 2014, §3.3)."""
        last = len(self.english) - 1
        return Passage(tuple(words[::-1] for words in self.sentences[::-1]), self.english[::-1], self.chinese,
                       tuple((one, last - other) for one, other in self.partners))

    def last_sentence_first(self) -> "Passage":
        """The same with its English sentences from the last to the first, the words of each as they stand."""
        ends = list(accumulate(map(len, self.sentences)))
        moved = [ends[-1] - end + position for end, words in zip(ends, self.sentences, strict=True)
                 for position in range(len(words))]
        sentences = self.sentences[::-1]
        return Passage(sentences, tuple(chain.from_iterable(sentences)), self.chinese,
                       tuple((one, moved[other]) for one, other in self.partners))


def joined(sentences: list[Sentence], lexicon: Lexicon) -> Passage:
    """The passage that some sentences make."""
    english: Words = ()
    chinese: Words = ()
    pairs: list[tuple[int, int]] = []
    for sentence in sentences:
        pairs += [(len(chinese) + one, len(english) + other) for one, other in partners(sentence, lexicon)]
        english, chinese = english + sentence.words, chinese + sentence.chinese
    return Passage(tuple(sentence.words for sentence in sentences), english, chinese, tuple(pairs))


def passages(world: World, split: str, rng: Random, lengths: range = range(1, 61)) -> Iterator[Passage]:
    """Passages of one length after another, without end: each length of ``lengths``, in English words, is as likely to
    be aimed at, and the sentences, drawn alone, go on until the next would reach beyond it. ValueError for no
    length."""
    if not lengths:
        raise ValueError(f"no length to aim at: {lengths} is empty")
    told = world.sentences(split, seed=randint(rng, 2**31))
    while True:
        aim, sentences = lengths[randint(rng, len(lengths))], [next(told)]
        while (following := next(told)) and sum(len(one.words) for one in (*sentences, following)) <= aim:
            sentences.append(following)
        yield joined(sentences, world.lexicon)
