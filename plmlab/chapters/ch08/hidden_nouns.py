"""A noun is hidden and its verb is not: do nouns of the verb's number get more probability than those of the other?

What stands right of the noun decides, so that a reader of the left side must fail: this is so by construction.
"""

from collections.abc import Callable
from functools import cache
from itertools import islice
from random import Random
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from plmlab import world
from plmlab.example import Batch
from plmlab.objectives.masked import always_mask, masked
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor
from plmlab.world.datasets.numbers import NUMBERS, other_number
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

ASKED = 150

Chances = Float[Tensor, "vocab"]
Reader = Callable[[tuple[str, ...], int], Chances]
"""What a reader believes of the word at a place of a text, counted from 0."""


class Noun(NamedTuple):
    """A sentence, the places of its subject and of its verb, their number, and how many nouns of the other number stand
    between them."""

    words: tuple[str, ...]
    place: int
    verb: int
    number: str
    attractors: int


@cache
def nouns(number: str) -> Bool[Tensor, "vocab"]:
    """Which tokens are nouns of this number, and of no other."""
    forms = {n: {w.forms[n] for w in world.full().lexicon if w.tag == "NOUN" and n in w.forms} for n in NUMBERS}
    only = forms[number] - forms["pl" if number == "sg" else "sg"]
    return torch.tensor([token in only for token in world_tokenizer().tokens(range(len(world_tokenizer())))])


@cache
def asked() -> list[Noun]:
    """The subjects that are hidden. The test's sentences of an open pattern stand in no training text."""
    found = (Noun(s.words, link.subject, link.verb, link.number, link.attractors)
             for s in islice(world.full().sentences("test", seed=6), 1500) for link in s.agreement[:1]
             if s.pattern in world.full().open_patterns and link.subject < link.verb
             and nouns(link.number)[world_tokenizer().id(s.words[link.subject])])
    return list(islice(found, ASKED))


def turned(noun: Noun) -> Noun:
    """The same sentence with its verb in the other number: it now asks for a noun of that number."""
    words = list(noun.words)
    words[noun.verb] = other_number(world.full())[words[noun.verb]]
    return noun._replace(words=tuple(words), number=NUMBERS[1 - NUMBERS.index(noun.number)])


def both_sides(model: nn.Module) -> Reader:
    """A masked language model's beliefs of a hidden word, from what stands on both sides."""
    def believed(words: tuple[str, ...], place: int) -> Chances:
        vocab, position = world_tokenizer().vocab, place + 1
        gap = masked(ids(words), vocab=vocab, rng=Random(0), select=[position], corrupt=always_mask)
        with torch.no_grad():
            return model(Batch.of([gap], pad=vocab.need("pad")))[0, position].softmax(-1)
    return believed


def left_side(model: nn.Module) -> Reader:
    """A language model's beliefs of a word, from what stands left of it."""
    def believed(words: tuple[str, ...], place: int) -> Chances:
        read = torch.tensor([[world_tokenizer().vocab.need("start"), *ids(words[:place])]])
        with torch.no_grad():
            return model(Batch.continuing(read, 0))[0, -1].softmax(-1)
    return believed


def best_of_both(words: tuple[str, ...], place: int) -> Chances:
    """The best possible reader of both sides."""
    return _best().both(words, [place])[0]


def best_of_left(words: tuple[str, ...], place: int) -> Chances:
    """The best possible reader of the left side."""
    return _best().after(words[:place])


@cache
def _best() -> BayesOptimalPredictor:
    return BayesOptimalPredictor(world.full(), "train", world_tokenizer(), len(world_tokenizer()))


def right(reader: Reader, noun: Noun) -> bool:
    """Whether the nouns of the right number get more than half of the probability of all nouns; half and half, to a
    millionth, is not more."""
    chances = reader(noun.words, noun.place)
    sums = {number: float(chances[nouns(number)].sum()) for number in NUMBERS}
    return sums[noun.number] > (0.5 + 1e-6) * sum(sums.values())
