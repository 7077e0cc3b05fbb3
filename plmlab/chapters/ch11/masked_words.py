"""Masked words in the test sentences of a world, one alone or two together: the loss of every variant and of the exact
posterior.

Two words are masked together if one is informative about the other: both words of a name, a noun and its verb, or two
adjacent words. A model that predicts the two independently outputs a product of distributions. The best product is that
of the exact marginals: its loss, which exceeds the exact joint NLL, is the lower bound for such models. But such a
model can also be queried sequentially: first for one word while both are masked, and then for the other word with the
first one filled in.

The text of the small world consists of about 800 different sentences, so that nearly all of this test set occurs in the
training text (`fraction_in_training`): the test set measures how well a model knows the probabilities of this text, not
how well it generalizes to new sentences. `studies.ch11.unseen_sentences` tests the latter in the full world.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from math import inf, log
from random import Random
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab import world
from plmlab.chapters.ch11.arms import ARMS, Arm, load_trained
from plmlab.draws import randint, shuffled
from plmlab.example import IGNORE, Batch
from plmlab.text import Tokenizer
from plmlab.world import World
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from plmlab.world.grammar.sentence import Sentence

COUNT = 400
"""Examples of each kind."""
CHUNK = 200


@cache
def distinct_sentences(whole: World) -> list[Sentence]:
    """Sentences of a world's test split, without duplicates."""
    return list({sentence.words: sentence for sentence in islice(whole.sentences("test", seed=5), 8000)}.values())


class Source(NamedTuple):
    """The source of a test set: a world, the tokenizer of its words, and the sentences in which words are masked."""

    world: Callable[[], World]
    tokenizer: Callable[[], Tokenizer]
    sentences: Callable[[World], list[Sentence]]


SMALL = Source(world.small, small_world_tokenizer, distinct_sentences)
"""The source of the variants' test set."""


class MaskedWords(NamedTuple):
    """A sentence and the indices of its masked words."""

    words: tuple[str, ...]
    masked: tuple[int, ...]


class Exact(NamedTuple):
    """Loss of the exact posterior on masked words, in nats, predicted jointly (``joint``) and as a product of
    marginals (``independent``); and the probability that filling in a sample from the product does not give a sentence
    (``ungrammatical``)."""

    joint: float
    independent: float
    ungrammatical: float


Positions = tuple[int, ...]


def one_word(sentence: Sentence, rng: Random) -> list[Positions]:
    """One random word."""
    return [(randint(rng, len(sentence.words)),)]


def two_neighbours(sentence: Sentence, rng: Random) -> list[Positions]:
    """Two random adjacent words."""
    first = randint(rng, len(sentence.words) - 1)
    return [(first, first + 1)]


def names(sentence: Sentence, _: Random) -> list[Positions]:
    """Both words of each name that has two."""
    return [(start, start + 1) for start, end, _ in sentence.mentions if end - start == 2]


def nouns_with_verbs(sentence: Sentence, _: Random) -> list[Positions]:
    """Each subject noun together with its verb."""
    return [(min(link.subject, link.verb), max(link.subject, link.verb)) for link in sentence.agreement]


KINDS: dict[str, Callable[[Sentence, Random], list[Positions]]] = {
    "single word": one_word, "name": names, "noun and verb": nouns_with_verbs, "adjacent words": two_neighbours}
"""Kind of masked words → the candidate sets of indices in a sentence."""


@cache
def examples(kind: str, source: Source = SMALL) -> list[MaskedWords]:
    """The test set for a kind of masked words, each row from a different sentence."""
    found: dict[MaskedWords, None] = {}
    for sentence in source.sentences(source.world()):
        positions = KINDS[kind](sentence, Random(" ".join(sentence.words)))
        found |= {MaskedWords(sentence.words, masked): None for masked in shuffled(Random(0), positions)[:1]}
    return list(found)[:COUNT]


def fraction_in_training(kind: str, source: Source = SMALL) -> float:
    """Fraction of the sentences of a test set that occur among 60,000 sentences of the training text."""
    return sum(example.words in _training_text(source.world())
               for example in examples(kind, source)) / len(examples(kind, source))


@cache
def _training_text(of: World) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(words) for words in islice(of.text("train", seed=17), 60_000))


@cache
def exact(example: MaskedWords, source: Source = SMALL) -> Exact:
    """Loss of the exact posterior, given the length of the sentence."""
    words, whole = list(example.words), source.world()
    marginals = whole.posterior(words, example.masked, "test")
    joint = whole.joint(words, example.masked, "test")
    true = tuple(words[position] for position in sorted(example.masked))
    independent = -sum(log(marginal[word]) for marginal, word in zip(marginals, true, strict=True))

    def product(pair: Sequence[str]) -> float:
        probability = 1.0
        for marginal, word in zip(marginals, pair, strict=True):
            probability *= marginal[word]
        return probability

    return Exact(-log(joint[true]), independent, 1 - sum(product(pair) for pair in joint))


class Pass(NamedTuple):
    """One forward pass for an example, as slices of the order in which its words are predicted: the words that are
    ``masked``, and those ``predicted`` in this pass."""

    masked: slice
    predicted: slice


BOTH, FIRST, SECOND = slice(0, 2), slice(0, 1), slice(1, 2)
INDEPENDENT = (Pass(BOTH, BOTH),)
IN_PERMUTATION = (Pass(BOTH, FIRST), Pass(BOTH, SECOND))
"""The first word, then the second, both masked: for models whose targets attend to earlier targets of the order."""
SEQUENTIAL = (Pass(BOTH, FIRST), Pass(SECOND, SECOND))
"""The first word with both masked, then the second with the first filled in: for every model."""


@torch.no_grad()
def nats(arm: Arm, model: nn.Module, queries: Sequence[tuple[MaskedWords, Positions]],
         passes: Sequence[Pass] = INDEPENDENT, source: Source = SMALL) -> Float[Tensor, "example word"]:
    """−log p of the true words of each example, in nats; they are predicted in the given ``passes``, in the order that
    each query gives with its example."""
    losses: list[list[float]] = [[] for _ in queries]
    tokenizer = source.tokenizer()
    for step in passes:
        masked = [(list(example.words), order[step.masked]) for example, order in queries]
        for row, (example, order), logits in zip(losses, queries, _logits(arm, model, masked, tokenizer), strict=True):
            for word in order[step.predicted]:
                [token] = tokenizer.encode(example.words[word], plain=True)
                row.append(-float(logits[word].log_softmax(-1)[token]))
    return torch.tensor(losses)


def _logits(arm: Arm, model: nn.Module, queries: Sequence[tuple[list[str], Positions]], tokenizer: Tokenizer,
            ) -> Iterator[dict[int, Float[Tensor, "vocab"]]]:
    """For each sentence, a mapping from each masked word to logits over the vocabulary."""
    assert arm.cloze is not None
    for start in range(0, len(queries), CHUNK):
        rows = queries[start:start + CHUNK]
        batch = Batch.of([arm.cloze(tokenizer.encode(" ".join(words), plain=True), masked, tokenizer.vocab)
                          for words, masked in rows], pad=tokenizer.vocab.need("pad"))
        logits = model(batch)
        for row, (_, masked) in enumerate(rows):
            ids = batch.position_ids[row % len(batch.position_ids), 0].tolist()
            positions = sorted((batch.targets[row] != IGNORE).nonzero().flatten().tolist(), key=ids.__getitem__)
            yield {word: logits[row, position] for word, position in zip(sorted(masked), positions, strict=True)}


def prediction_orders(example: MaskedWords) -> tuple[Positions, ...]:
    """The orders in which the words of an example can be predicted."""
    return (example.masked, example.masked[::-1])[:len(example.masked)]


@torch.no_grad()
def ungrammatical(arm: Arm, model: nn.Module, test_set: Sequence[MaskedWords], passes: Sequence[Pass],
                  source: Source = SMALL, seed: int = 0) -> float:
    """Fraction of the examples for which words sampled in the given ``passes``, from left to right, do not form a
    sentence of the world."""
    generator, tokenizer, whole = torch.Generator().manual_seed(seed), source.tokenizer(), source.world()
    filled = [list(example.words) for example in test_set]
    for step in passes:
        masked = [(words, example.masked[step.masked]) for words, example in zip(filled, test_set, strict=True)]
        for words, example, logits in zip(filled, test_set, _logits(arm, model, masked, tokenizer), strict=True):
            for word in example.masked[step.predicted]:
                sample = torch.multinomial(logits[word].softmax(-1), 1, generator=generator)
                [words[word]] = tokenizer.tokens(sample.tolist())
    return sum(whole.logprob(words, "test") == -inf for words in filled) / len(filled)


def masked_word_losses(arm: Arm, model: nn.Module, source: Source = SMALL) -> dict[str, dict[str, float]]:
    """Losses of a model by kind of masked words, queried in the variant's way: ``nats`` per example, averaged over
    its orders; for two words also the mean absolute difference between the two orders (``disagreement``) and the
    fraction of ``ungrammatical`` samples. A model that predicts independently is also queried sequentially: ``nats,
    sequential``, ``ungrammatical, sequential``.
    """
    results: dict[str, dict[str, float]] = {}
    for kind in KINDS:
        test_set = examples(kind, source)
        orders = [[(example, order) for example, order in zip(test_set, column, strict=True)]
                  for column in zip(*map(prediction_orders, test_set), strict=True)]
        by_order = torch.stack([nats(arm, model, queries, source=source).sum(1) for queries in orders])
        results[kind] = {"nats": float(by_order.mean())}
        if len(test_set[0].masked) == 1:
            continue
        results[kind] |= {"disagreement": float((by_order[0] - by_order[1]).abs().mean()),
                          "ungrammatical": ungrammatical(
                              arm, model, test_set, IN_PERMUTATION if arm.sequential else INDEPENDENT, source)}
        if not arm.sequential:
            sequential = torch.stack([nats(arm, model, queries, SEQUENTIAL, source).sum(1) for queries in orders])
            results[kind] |= {"nats, sequential": float(sequential.mean()),
                              "ungrammatical, sequential": ungrammatical(arm, model, test_set, SEQUENTIAL, source)}
    return results


def evaluate_saved(folder: str, name: str, updates: int, seed: int) -> dict[str, dict[str, float]]:
    """Losses of a variant loaded from its saved weights."""
    return masked_word_losses(ARMS[name], load_trained(folder, name, updates, seed))


def mean_exact(kind: str, source: Source = SMALL) -> Exact:
    """Mean loss of the exact posterior on the test set of a kind."""
    losses = [exact(example, source) for example in examples(kind, source)]
    return Exact(*(sum(column) / len(losses) for column in zip(*losses, strict=True)))


def describe_test_set(kind: str, source: Source = SMALL) -> dict[str, float | int]:
    """The test set for a kind: its ``count`` of examples, the fraction of sentences that occur ``in training``, and the
    losses of the exact posterior."""
    return {"count": len(examples(kind, source)), "in training": fraction_in_training(kind, source),
            **mean_exact(kind, source)._asdict()}
