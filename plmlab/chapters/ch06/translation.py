"""English–Chinese sentence pairs of the Small World as training batches, and a translation-memory baseline."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from plmlab.chapters.ch06.agreement import agreement_sentences
from plmlab.draws import randint
from plmlab.example import PairBatch, PairExample
from plmlab.objectives import sequence_to_sequence
from plmlab.text.vocabulary import Vocabulary
from plmlab.world.grammar.sentence import Sentence


@dataclass(frozen=True)
class Translations:
    """Training and test sentences with one vocabulary for both languages, one token per word."""

    training: Sequence[Sentence]
    test: Sequence[Sentence]

    @classmethod
    def drawn(cls, training: int = 3000, test: int = 100) -> "Translations":
        """Draw sentences in which prepositional phrases follow the subject; no test sentence is a training sentence."""
        return cls(agreement_sentences("train", seed=1, count=training),
                   agreement_sentences("test", seed=2, count=test))

    @cached_property
    def words(self) -> list[str]:
        """All words of both languages, sorted."""
        return sorted({word for sentence in (*self.training, *self.test)
                       for word in (*sentence.words, *sentence.chinese)})

    @cached_property
    def vocab(self) -> Vocabulary:
        """The special tokens, then the words."""
        return Vocabulary(len(Vocabulary(0).special) + len(self.words))

    @cached_property
    def ids(self) -> dict[str, int]:
        """Word → token id."""
        return dict(zip(self.words, self.vocab.words, strict=True))

    def example(self, sentence: Sentence) -> PairExample:
        """An example with the English sentence as the source and the Chinese one as the target."""
        return sequence_to_sequence([self.ids[word] for word in sentence.words],
                                    [self.ids[word] for word in sentence.chinese], vocab=self.vocab)

    def batch(self, step: int, size: int = 32) -> PairBatch:
        """A batch of random training sentences, always the same for the same ``step``."""
        rng = Random(step)
        return self.collated([self.training[randint(rng, len(self.training))] for _ in range(size)])

    def collated(self, sentences: Sequence[Sentence]) -> PairBatch:
        """Collate sentences into one batch."""
        return PairBatch.of([self.example(sentence) for sentence in sentences], pad=self.vocab.need("pad"))


def most_similar(words: Sequence[str], sentences: Sequence[Sentence]) -> Sentence:
    """The sentence that shares most words with ``words``, as a fraction of both lengths (the Dice coefficient of the
    bags of words); the first one if tied."""
    bag = Counter(words)

    def overlap(sentence: Sentence) -> float:
        return 2 * (bag & Counter(sentence.words)).total() / (bag.total() + len(sentence.words))
    return max(sentences, key=overlap)
