"""The floor of any objective, read off its Examples: what can a target slot know of the sentence, and what is asked?"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, log
from random import Random

import torch
from jaxtyping import Bool
from torch import Tensor

from plmlab.example import IGNORE, Example, PairExample
from plmlab.text.vocabulary import SENTINELS, SPECIALS, Vocabulary
from plmlab.world.probability.automaton import END, Automaton
from plmlab.world.probability.floors import Floor, MakesExamples, mean_of, surprises

FIRST = len(SPECIALS) + len(SENTINELS)
DECOYS = 64


class SlotVocabulary(Vocabulary):
    """Every word of the sentence has an id of its own, so that an Example tells which slot it shows or asks for.

    The words that an objective may put in a slot's place are decoys, which stand nowhere in the sentence.
    """

    @classmethod
    def of(cls, length: int) -> "SlotVocabulary":
        """The vocabulary for a sentence of ``length`` words."""
        return cls(FIRST + length + DECOYS)

    @cached_property
    def words(self) -> tuple[int, ...]:
        """The ids that an objective may put in a slot's place: the decoys."""
        return tuple(range(self.size - DECOYS, self.size))

    def slot(self, token: int) -> int | None:
        """The slot of the sentence that this id stands for; None for a special token or a decoy."""
        return token - FIRST if FIRST <= token < self.size - DECOYS else None


@dataclass(frozen=True)
class Question:
    """What one slot of an Example must say, and all tokens that it can know of."""

    known: frozenset[int]
    target: int


def example_floor(automaton: Automaton, sentences: Iterable[Sequence[str]], make: MakesExamples, rng: Random) -> Floor:
    """The floor of the objective ``make(tokens, vocab=, rng=)``: each term exact, sentences and draws sampled.

    A slot knows what it may look at, and what those slots may look at, and so on. Where the Example asks for the
    sentence's end, and a slot has seen nothing but the words before it, the reader does not know how long the
    sentence is: then the terms of a sentence add up to −log p(sentence). Everywhere else the reader is told the
    length and the places of the words it sees, and which words in sight are true. Told so much, nobody does worse,
    so that the figure is a floor for all; with [MASK] in every slot that is asked for it is reached. BERT leaves one
    asked word in ten in sight without saying so: counted here as seen, at 0 nats.

    Raises:
        FloorError: the objective asks for no token.
    """
    sums = []
    for words in sentences:
        vocab = SlotVocabulary.of(len(words))
        example = make(range(FIRST, FIRST + len(words)), vocab=vocab, rng=rng)
        asked = questions(example)
        sums.append((surprise(automaton, words, asked, vocab), len(asked)))
    return mean_of(sums)


def questions(example: Example | PairExample) -> list[Question]:
    """What an Example asks: for every slot with a target, the target and the tokens that the slot can know of."""
    if isinstance(example, PairExample):
        tokens = torch.cat([example.source.tokens, example.target.tokens]).tolist()
        reach = known_slots(_both(example))[len(example.source.tokens):]
        targets = example.target.targets.tolist()
    else:
        tokens, targets = example.tokens.tolist(), example.targets.tolist()
        reach = known_slots(example.visible.dense())
        if example.query_visible is not None:
            reach = _passed_on(example.query_visible.dense(), reach)
    return [Question(frozenset(tokens[key] for key in row.nonzero().flatten().tolist()), target)
            for row, target in zip(reach, targets, strict=True) if target != IGNORE]


def known_slots(sees: Bool[Tensor, "query key"]) -> Bool[Tensor, "query key"]:
    """Row by row, the slots that a slot can know of over any number of layers: the reflexive, transitive closure."""
    reach = sees | torch.eye(len(sees), dtype=torch.bool)
    while not torch.equal(further := _passed_on(reach, reach), reach):
        reach = further
    return reach


def surprise(automaton: Automaton, words: Sequence[str], asked: Sequence[Question], vocab: SlotVocabulary) -> float:
    """−Σ log p(target | what its slot knows), in nats; a special token costs nothing, but for an end not foreseen."""
    ends, begins, length = {vocab.end, vocab.sep}, {vocab.start, vocab.cls}, len(words)
    asks_end = any(question.target in ends for question in asked)
    terms: list[float] = []
    told: dict[frozenset[int], list[int]] = defaultdict(list)
    for question in asked:
        seen = frozenset(slot for token in question.known if (slot := vocab.slot(token)) is not None)
        target = length if question.target in ends else vocab.slot(question.target)
        if target is None or target in seen:
            continue
        only_before = seen == frozenset(range(target)) and question.known <= begins | {FIRST + slot for slot in seen}
        if asks_end and only_before:
            terms.append(-log(automaton.next_words(words[:target])[(*words, END)[target]]))
        elif target < length:
            told[seen].append(target)
    return fsum(terms + [surprises(automaton, words, seen, slots) for seen, slots in told.items()])


def _both(example: PairExample) -> Bool[Tensor, "query key"]:
    """Who sees whom among the encoder's slots and the decoder's behind them."""
    encoder, decoder = len(example.source.tokens), len(example.target.tokens)
    sees = torch.zeros(encoder + decoder, encoder + decoder, dtype=torch.bool)
    sees[:encoder, :encoder] = example.source.visible.dense()
    sees[encoder:, :encoder] = example.cross.dense()
    sees[encoder:, encoder:] = example.target.visible.dense()
    return sees


def _passed_on(sees: Bool[Tensor, "query key"], reach: Bool[Tensor, "key other"]) -> Bool[Tensor, "query other"]:
    """Whom one knows of through those one sees."""
    return (sees.float() @ reach.float()) > 0
