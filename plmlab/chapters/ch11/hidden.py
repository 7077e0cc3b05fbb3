"""Hidden words of the small world's test: one alone, and two together, by every arm, and by the exact reader.

Two words are asked together where one tells much of the other: both words of a name, a noun and its verb, two
neighbours. Who guesses them apart says a product; the best product is that of the exact marginals, and what it pays
above the exact joint probability no such reader can save.

The text of the small world is made of some 800 different sentences, so that nearly all of the exam was read (`read`):
it asks how well a model knows the chances of its text, not what it makes of sentences that it never saw.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from math import log
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor, nn

from plmlab import world
from plmlab.chapters.ch11.arms import ARMS, Arm, trained
from plmlab.draws import below, shuffled
from plmlab.example import IGNORE, Batch
from plmlab.world.datasets.tokenizer import small_spelling
from plmlab.world.grammar.sentence import Sentence

KINDS = ("a word", "a name", "noun and verb", "neighbours")
COUNT = 400
"""Gaps of a kind."""
CHUNK = 200


class Gap(NamedTuple):
    """A sentence and the slots that are hidden in it."""

    words: tuple[str, ...]
    hidden: tuple[int, ...]


class Exact(NamedTuple):
    """What the exact reader pays for a gap together, and guessing each word apart, in nats; and the share of what is
    guessed apart that is no sentence."""

    together: float
    apart: float
    impossible: float


def of_kind(kind: str, sentence: Sentence, rng: Random) -> list[tuple[int, ...]]:
    """The slots of a sentence that make a gap of a kind: all of them, but one word, or two neighbours, at random."""
    words = len(sentence.words)
    if kind == "a word":
        return [(below(rng, words),)]
    if kind == "neighbours":
        first = below(rng, words - 1)
        return [(first, first + 1)]
    if kind == "a name":
        return [(start, start + 1) for start, end, _ in sentence.mentions if end - start == 2]
    return [tuple(sorted((link.subject, link.verb))) for link in sentence.agreement]


@cache
def gaps(kind: str) -> list[Gap]:
    """The exam of a kind: gaps in different sentences of the plain test."""
    found: dict[Gap, None] = {}
    for sentence in _sentences():
        slots = of_kind(kind, sentence, Random(" ".join(sentence.words)))
        found |= {Gap(sentence.words, hidden): None for hidden in shuffled(Random(0), slots)[:1]}
    return list(found)[:COUNT]


def read(kind: str) -> float:
    """The share of an exam's sentences that stand in 60,000 sentences of the training text."""
    told = {tuple(words) for words in islice(world.small().text("train", seed=17), 60_000)}
    return sum(gap.words in told for gap in gaps(kind)) / len(gaps(kind))


@cache
def _sentences() -> list[Sentence]:
    return list({one.words: one for one in islice(world.small().sentences("test", seed=5), 8000)}.values())


@cache
def exact(gap: Gap) -> Exact:
    """What the exact reader pays. (It is told the length of the sentence.)"""
    words, small = list(gap.words), world.small()
    marginals = small.posterior(words, gap.hidden, "test")
    together = small.joint(words, gap.hidden, "test")
    true = tuple(words[slot] for slot in sorted(gap.hidden))
    apart = -sum(log(one[word]) for one, word in zip(marginals, true, strict=True))

    def product(said: Sequence[str]) -> float:
        found = 1.0
        for one, word in zip(marginals, said, strict=True):
            found *= one[word]
        return found

    return Exact(-log(together[true]), apart, 1 - sum(product(said) for said in together))


@torch.no_grad()
def nats(arm: Arm, model: nn.Module, asked: Sequence[tuple[Gap, tuple[int, ...]]]) -> Tensor:
    """−log p of the true words of each gap, in nats, said in the order that stands beside it."""
    told = []
    for batch, rows in _batches(arm, [(list(gap.words), order) for gap, order in asked]):
        logits = model(batch).log_softmax(-1)
        said = logits.gather(-1, batch.targets.clamp(min=0)[..., None])[..., 0]
        told.append(-said.masked_fill(batch.targets == IGNORE, 0.0).sum(1)[:rows])
    return torch.cat(told)


def _batches(arm: Arm, asked: Sequence[tuple[list[str], tuple[int, ...]]]) -> Iterator[tuple[Batch, int]]:
    assert arm.ask is not None
    spelling = small_spelling()
    for start in range(0, len(asked), CHUNK):
        examples = [arm.ask(spelling.encode(" ".join(words), plain=True), order, spelling.vocab)
                    for words, order in asked[start:start + CHUNK]]
        yield Batch.of(examples, pad=spelling.vocab.need("pad")), len(examples)


def orders(gap: Gap) -> tuple[tuple[int, ...], ...]:
    """The orders in which a gap's words can be said."""
    return (gap.hidden, gap.hidden[::-1])[:len(gap.hidden)]


@torch.no_grad()
def impossible(arm: Arm, model: nn.Module, exam: Sequence[Gap], seed: int = 0) -> float:
    """The share of gaps for which what the model draws makes no sentence of the world: word after word in the first of
    its orders where the arm says them so, else each for itself."""
    generator = torch.Generator().manual_seed(seed)
    filled = [list(gap.words) for gap in exam]
    turns = range(len(exam[0].hidden)) if arm.in_order else range(1)
    for turn in turns:
        place = 0
        for batch, rows in _batches(arm, [(words, gap.hidden) for words, gap in zip(filled, exam, strict=True)]):
            beliefs = model(batch).softmax(-1)
            for row in range(rows):
                gap = exam[place + row]
                slots = [_slot(batch, row, gap, i) for i in range(len(gap.hidden))]
                for i, slot in enumerate(slots):
                    if not arm.in_order or i == turn:
                        drawn = torch.multinomial(beliefs[row, slot], 1, generator=generator)
                        filled[place + row][gap.hidden[i]] = small_spelling().tokens(drawn.tolist())[0]
            place += rows
    small = world.small()
    wrong = [tuple(words[slot] for slot in sorted(gap.hidden)) not in small.joint(list(gap.words), gap.hidden, "test")
             for words, gap in zip(filled, exam, strict=True)]
    return sum(wrong) / len(wrong)


def _slot(batch: Batch, row: int, gap: Gap, number: int) -> int:
    """The slot of an Example in which a word of a gap is asked: slots count the sentence's from its first word's."""
    asked = (batch.targets[row] != IGNORE).nonzero().flatten()
    places = batch.positions[row % len(batch.positions), 0, asked].tolist()
    order = sorted(range(len(places)), key=places.__getitem__)
    rank = sorted(gap.hidden).index(gap.hidden[number])
    return int(asked[order[rank]])


def examined(folder: str, name: str, updates: int, seed: int) -> dict[str, dict[str, float]]:
    """What a kept arm pays, by kind: ``nats`` a gap, the mean over its orders; the ``disagreement`` of
    these (mean absolute difference); and the share of ``impossible`` guesses, of two words."""
    arm, model, told = ARMS[name], trained(folder, name, updates, seed), {}
    for kind in KINDS:
        exam = gaps(kind)
        by_order = torch.stack([nats(arm, model, [(gap, orders(gap)[i]) for gap in exam])
                                for i in range(len(orders(exam[0])))])
        told[kind] = {"nats": float(by_order.mean())}
        if len(by_order) > 1:
            told[kind] |= {"disagreement": float((by_order[0] - by_order[1]).abs().mean()),
                           "impossible": impossible(arm, model, exam)}
    return told


def best(kind: str) -> Exact:
    """What the exact reader pays for the exam of a kind, in the mean."""
    found = [exact(gap) for gap in gaps(kind)]
    return Exact(*(sum(column) / len(found) for column in zip(*found, strict=True)))
