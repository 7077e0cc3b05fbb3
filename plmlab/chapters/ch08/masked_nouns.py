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

SENTENCES = 150

Distribution = Float[Tensor, "vocab"]
Predictor = Callable[[tuple[str, ...], int], Distribution]
"""(words, index of the target word, from 0) → the predicted distribution over the vocabulary."""


class Noun(NamedTuple):
    """A sentence, the indices of its subject and of its verb, their grammatical number, and the number of intervening
    nouns of the other number (attractors)."""

    words: tuple[str, ...]
    position: int
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
    """The subjects to mask. The test sentences come from open patterns, which are split into training and test
    text, so none of them occurs in the training text."""
    candidates = (Noun(s.words, link.subject, link.verb, link.number, link.attractors)
                  for s in islice(world.full().sentences("test", seed=6), 1500) for link in s.agreement[:1]
                  if s.pattern in world.full().open_patterns and link.subject < link.verb
                  and nouns(link.number)[world_tokenizer().id(s.words[link.subject])])
    return list(islice(candidates, SENTENCES))


def flipped(noun: Noun) -> Noun:
    """The same sentence with the number of its verb flipped, so that it requires a noun of the other number."""
    words = list(noun.words)
    words[noun.verb] = other_number(world.full())[words[noun.verb]]
    return noun._replace(words=tuple(words), number=NUMBERS[1 - NUMBERS.index(noun.number)])


def both_sides(model: nn.Module) -> Predictor:
    """A masked language model's distribution for a masked word, given its left and right context."""
    def predict(words: tuple[str, ...], position: int) -> Distribution:
        vocab, masked_at = world_tokenizer().vocab, position + 1
        example = masked(ids(words), vocab=vocab, rng=Random(0), select=[masked_at], corrupt=always_mask)
        with torch.no_grad():
            return model(Batch.of([example], pad=vocab.need("pad")))[0, masked_at].softmax(-1)
    return predict


def left_context(model: nn.Module) -> Predictor:
    """A language model's distribution for a word, given its left context."""
    def predict(words: tuple[str, ...], position: int) -> Distribution:
        prefix = torch.tensor([[world_tokenizer().vocab.need("start"), *ids(words[:position])]])
        with torch.no_grad():
            return model(Batch.continuing(prefix, 0))[0, -1].softmax(-1)
    return predict


def optimal_both_sides(words: tuple[str, ...], position: int) -> Distribution:
    """Bayes-optimal prediction given the left and right context."""
    return _best().both(words, [position])[0]


def optimal_left_context(words: tuple[str, ...], position: int) -> Distribution:
    """Bayes-optimal prediction given the left context only."""
    return _best().after(words[:position])


@cache
def _best() -> BayesOptimalPredictor:
    return BayesOptimalPredictor(world.full(), "train", world_tokenizer(), len(world_tokenizer()))


def is_correct(predict: Predictor, noun: Noun) -> bool:
    """Return whether the nouns of the correct number get more than half of the total probability of all nouns. A tie,
    to within one millionth, counts as wrong."""
    probabilities = predict(noun.words, noun.position)
    sums = {number: float(probabilities[nouns(number)].sum()) for number in NUMBERS}
    return sums[noun.number] > (0.5 + 1e-6) * sum(sums.values())


def results(bert: nn.Module, gpt: nn.Module) -> dict[str, list[bool]]:
    """For each noun, whether the prediction is correct: of the two models, of the Bayes-optimal predictors, and in two
    controls."""
    nouns, bidirectional = masked_nouns(), both_sides(bert)
    predictors = {"BERT (bidirectional)": bidirectional, "GPT (left-to-right)": left_context(gpt),
                  "Bayes-optimal, both sides": optimal_both_sides, "Bayes-optimal, left context": optimal_left_context}
    [(majority, _)] = Counter(noun.number for noun in nouns).most_common(1)
    return {name: [is_correct(predict, noun) for noun in nouns] for name, predict in predictors.items()} | {
        "BERT, number of the verb flipped": [is_correct(bidirectional, flipped(noun)) for noun in nouns],
        "majority class (the more frequent number)": [noun.number == majority for noun in nouns]}


def accuracies(bert: nn.Module, gpt: nn.Module) -> tuple[list[int], dict[str, list[float]]]:
    """The accuracy of each prediction of `results` on all sentences, on those with an attractor and on those without,
    and the numbers of these sentences."""
    attractor = torch.tensor([noun.attractors > 0 for noun in masked_nouns()])
    parts = [torch.ones_like(attractor), attractor, ~attractor]
    return [int(part.sum()) for part in parts], {
        name: [float(torch.tensor(correct)[part].float().mean()) for part in parts]
        for name, correct in results(bert, gpt).items()}
