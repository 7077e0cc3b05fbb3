"""A noun is masked and its verb is visible: do the nouns that agree with the verb get more probability than the others?

Only the right context reveals the grammatical number, so a model that conditions on the left context only must fail by
construction.
"""

from collections import Counter
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
"""(words, index of the target word, from 0) → the predicted distribution over the vocabulary."""


class Noun(NamedTuple):
    """A sentence, the indices of its subject and of its verb, their grammatical number, and the number of intervening
    nouns of the other number (attractors)."""

    words: tuple[str, ...]
    place: int
    verb: int
    number: str
    attractors: int


@cache
def nouns(number: str) -> Bool[Tensor, "vocab"]:
    """Mask of the tokens that are nouns of this grammatical number only."""
    forms = {n: {w.forms[n] for w in world.full().lexicon if w.tag == "NOUN" and n in w.forms} for n in NUMBERS}
    only = forms[number] - forms["pl" if number == "sg" else "sg"]
    return torch.tensor([token in only for token in world_tokenizer().tokens(range(len(world_tokenizer())))])


@cache
def masked_nouns() -> list[Noun]:
    """The subjects to mask. The test sentences are generated from open patterns, so none of them occurs in the training
    text."""
    candidates = (Noun(s.words, link.subject, link.verb, link.number, link.attractors)
                  for s in islice(world.full().sentences("test", seed=6), 1500) for link in s.agreement[:1]
                  if s.pattern in world.full().open_patterns and link.subject < link.verb
                  and nouns(link.number)[world_tokenizer().id(s.words[link.subject])])
    return list(islice(candidates, ASKED))


def flipped(noun: Noun) -> Noun:
    """The same sentence with the number of its verb flipped, so that it requires a noun of the other number."""
    words = list(noun.words)
    words[noun.verb] = other_number(world.full())[words[noun.verb]]
    return noun._replace(words=tuple(words), number=NUMBERS[1 - NUMBERS.index(noun.number)])


def both_sides(model: nn.Module) -> Reader:
    """A masked language model's distribution for a masked word, given its left and right context."""
    def predict(words: tuple[str, ...], place: int) -> Chances:
        vocab, position = world_tokenizer().vocab, place + 1
        gap = masked(ids(words), vocab=vocab, rng=Random(0), select=[position], corrupt=always_mask)
        with torch.no_grad():
            return model(Batch.of([gap], pad=vocab.need("pad")))[0, position].softmax(-1)
    return predict


def left_side(model: nn.Module) -> Reader:
    """A language model's distribution for a word, given its left context."""
    def predict(words: tuple[str, ...], place: int) -> Chances:
        prefix = torch.tensor([[world_tokenizer().vocab.need("start"), *ids(words[:place])]])
        with torch.no_grad():
            return model(Batch.continuing(prefix, 0))[0, -1].softmax(-1)
    return predict


def best_of_both(words: tuple[str, ...], place: int) -> Chances:
    """Bayes-optimal prediction given the left and right context."""
    return _best().both(words, [place])[0]


def best_of_left(words: tuple[str, ...], place: int) -> Chances:
    """Bayes-optimal prediction given the left context only."""
    return _best().after(words[:place])


@cache
def _best() -> BayesOptimalPredictor:
    return BayesOptimalPredictor(world.full(), "train", world_tokenizer(), len(world_tokenizer()))


def is_correct(reader: Reader, noun: Noun) -> bool:
    """Return whether the nouns of the correct number get more than half of the total probability of all nouns. A tie,
    to within one millionth, counts as wrong."""
    chances = reader(noun.words, noun.place)
    sums = {number: float(chances[nouns(number)].sum()) for number in NUMBERS}
    return sums[noun.number] > (0.5 + 1e-6) * sum(sums.values())


def results(bert: nn.Module, gpt: nn.Module) -> dict[str, list[bool]]:
    """For each noun, whether the prediction is correct: of the two models, of the Bayes-optimal predictors, and in two
    controls."""
    nouns, bidirectional = masked_nouns(), both_sides(bert)
    predictors = {"BERT (bidirectional)": bidirectional, "GPT (left-to-right)": left_side(gpt),
                  "Bayes-optimal, both sides": best_of_both, "Bayes-optimal, left context": best_of_left}
    [(majority, _)] = Counter(noun.number for noun in nouns).most_common(1)
    return {name: [is_correct(predict, noun) for noun in nouns] for name, predict in predictors.items()} | {
        "BERT, number of the verb flipped": [is_correct(bidirectional, flipped(noun)) for noun in nouns],
        "always the more frequent number": [noun.number == majority for noun in nouns]}
