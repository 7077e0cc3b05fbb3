"""Masked words in the test sentences of a world, one alone or two together: the loss of every variant and of the exact
posterior.

Two words are masked together if one is informative about the other: both words of a name, a noun and its verb, or two
adjacent words. A model that predicts the two independently outputs a product of distributions. The best product is that
of the exact marginals: its loss, which exceeds the exact joint NLL, is the lower bound for such models. But such a
model can also be queried sequentially: first for one word while both are masked, and then for the other word with the
first one filled in.

The text of the small world consists of about 800 different sentences, so that nearly all of this test set occurs in the
training text (`read`): the test set measures how well a model knows the probabilities of this text, not how well it
generalizes to new sentences. `studies.ch11.unread` tests the latter in the full world.
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
from plmlab.chapters.ch11.arms import ARMS, Arm, trained
from plmlab.draws import randint, shuffled
from plmlab.example import IGNORE, Batch
from plmlab.text import Tokenizer
from plmlab.world import World
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from plmlab.world.grammar.sentence import Sentence

COUNT = 400
"""Masked spans of each kind."""
CHUNK = 200


@cache
def different(of: World) -> list[Sentence]:
    """Sentences of a world's test split, without duplicates."""
    return list({one.words: one for one in islice(of.sentences("test", seed=5), 8000)}.values())


class Source(NamedTuple):
    """The source of a test set: a world, the tokenizer of its words, and the sentences in which words are masked."""

    world: Callable[[], World]
    spelling: Callable[[], Tokenizer]
    sentences: Callable[[World], list[Sentence]]


SMALL = Source(world.small, small_world_tokenizer, different)
"""The source of the variants' test set."""


class MaskedWords(NamedTuple):
    """A sentence and the indices of its masked words."""

    words: tuple[str, ...]
    hidden: tuple[int, ...]


class Exact(NamedTuple):
    """Loss of the exact posterior on masked words, in nats, predicted jointly (``together``) and as a product of
    marginals (``apart``); and the probability that filling in a sample from the product does not give a sentence
    (``impossible``)."""

    together: float
    apart: float
    impossible: float


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
    "a word": one_word, "a name": names, "noun and verb": nouns_with_verbs, "neighbours": two_neighbours}
"""Kind of masked words → the candidate sets of indices in a sentence."""


@cache
def masked_words(kind: str, source: Source = SMALL) -> list[MaskedWords]:
    """The test set for a kind of masked words, each row from a different sentence."""
    examples: dict[MaskedWords, None] = {}
    for sentence in source.sentences(source.world()):
        positions = KINDS[kind](sentence, Random(" ".join(sentence.words)))
        examples |= {MaskedWords(sentence.words, hidden): None for hidden in shuffled(Random(0), positions)[:1]}
    return list(examples)[:COUNT]


def read(kind: str, source: Source = SMALL) -> float:
    """Fraction of the sentences of a test set that occur among 60,000 sentences of the training text."""
    return sum(span.words in _training_text(source.world())
               for span in masked_words(kind, source)) / len(masked_words(kind, source))


@cache
def _training_text(of: World) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(words) for words in islice(of.text("train", seed=17), 60_000))


@cache
def exact(span: MaskedWords, source: Source = SMALL) -> Exact:
    """Loss of the exact posterior, given the length of the sentence."""
    words, whole = list(span.words), source.world()
    marginals = whole.posterior(words, span.hidden, "test")
    together = whole.joint(words, span.hidden, "test")
    true = tuple(words[position] for position in sorted(span.hidden))
    apart = -sum(log(one[word]) for one, word in zip(marginals, true, strict=True))

    def product(pair: Sequence[str]) -> float:
        probability = 1.0
        for one, word in zip(marginals, pair, strict=True):
            probability *= one[word]
        return probability

    return Exact(-log(together[true]), apart, 1 - sum(product(pair) for pair in together))


class Turn(NamedTuple):
    """One query for words of a masked span, as slices of the order in which they are predicted: the words that are
    ``hidden``, and those ``predicted`` by this query."""

    hidden: slice
    predicted: slice


BOTH, FIRST, SECOND = slice(0, 2), slice(0, 1), slice(1, 2)
AT_ONCE = (Turn(BOTH, BOTH),)
IN_ORDER = (Turn(BOTH, FIRST), Turn(BOTH, SECOND))
"""The first word, then the second, both masked: for models whose targets attend to earlier targets of the order."""
IN_TURN = (Turn(BOTH, FIRST), Turn(SECOND, SECOND))
"""For every model."""


@torch.no_grad()
def nats(arm: Arm, model: nn.Module, asked: Sequence[tuple[MaskedWords, Positions]], turns: Sequence[Turn] = AT_ONCE,
         source: Source = SMALL) -> Float[Tensor, "span word"]:
    """−log p of the true words of each masked span, in nats; they are predicted in the given ``turns``, in the order
    given with the span."""
    losses: list[list[float]] = [[] for _ in asked]
    spelling = source.spelling()
    for turn in turns:
        hidden = [(list(span.words), order[turn.hidden]) for span, order in asked]
        for of_span, (span, order), logits in zip(losses, asked, _logits(arm, model, hidden, spelling), strict=True):
            for word in order[turn.predicted]:
                [token] = spelling.encode(span.words[word], plain=True)
                of_span.append(-float(logits[word].log_softmax(-1)[token]))
    return torch.tensor(losses)


def _logits(arm: Arm, model: nn.Module, asked: Sequence[tuple[list[str], Positions]], spelling: Tokenizer,
            ) -> Iterator[dict[int, Float[Tensor, "vocab"]]]:
    """For each sentence, a mapping from each masked word to logits over the vocabulary."""
    assert arm.ask is not None
    for start in range(0, len(asked), CHUNK):
        rows = asked[start:start + CHUNK]
        batch = Batch.of([arm.ask(spelling.encode(" ".join(words), plain=True), hidden, spelling.vocab)
                          for words, hidden in rows], pad=spelling.vocab.need("pad"))
        logits = model(batch)
        for row, (_, hidden) in enumerate(rows):
            places = batch.position_ids[row % len(batch.position_ids), 0].tolist()
            positions = sorted((batch.targets[row] != IGNORE).nonzero().flatten().tolist(), key=places.__getitem__)
            yield {word: logits[row, position] for word, position in zip(sorted(hidden), positions, strict=True)}


def orders(span: MaskedWords) -> tuple[Positions, ...]:
    """The orders in which the words of a masked span can be predicted."""
    return (span.hidden, span.hidden[::-1])[:len(span.hidden)]


@torch.no_grad()
def impossible(arm: Arm, model: nn.Module, test_set: Sequence[MaskedWords], turns: Sequence[Turn],
               source: Source = SMALL,
               seed: int = 0) -> float:
    """Fraction of the masked spans for which words sampled in the given ``turns``, from left to right, do not form a
    sentence of the world."""
    generator, spelling, whole = torch.Generator().manual_seed(seed), source.spelling(), source.world()
    filled = [list(span.words) for span in test_set]
    for turn in turns:
        hidden = [(words, span.hidden[turn.hidden]) for words, span in zip(filled, test_set, strict=True)]
        for words, span, logits in zip(filled, test_set, _logits(arm, model, hidden, spelling), strict=True):
            for word in span.hidden[turn.predicted]:
                sample = torch.multinomial(logits[word].softmax(-1), 1, generator=generator)
                [words[word]] = spelling.tokens(sample.tolist())
    return sum(whole.logprob(words, "test") == -inf for words in filled) / len(filled)


def masked_word_losses(arm: Arm, model: nn.Module, source: Source = SMALL) -> dict[str, dict[str, float]]:
    """Losses of a model by kind of masked words, queried in the variant's way: ``nats`` per masked span, averaged over
    its orders; for two words also the mean absolute difference between the two orders (``disagreement``) and the
    fraction of ``impossible`` samples. A model that predicts independently is also queried sequentially: ``nats in
    turn``, ``impossible in turn``.
    """
    results: dict[str, dict[str, float]] = {}
    for kind in KINDS:
        test_set = masked_words(kind, source)
        asked = [[(span, orders(span)[i]) for span in test_set] for i in range(len(orders(test_set[0])))]
        by_order = torch.stack([nats(arm, model, queries, source=source).sum(1) for queries in asked])
        results[kind] = {"nats": float(by_order.mean())}
        if len(test_set[0].hidden) == 1:
            continue
        results[kind] |= {"disagreement": float((by_order[0] - by_order[1]).abs().mean()),
                          "impossible": impossible(arm, model, test_set, IN_ORDER if arm.in_order else AT_ONCE, source)}
        if not arm.in_order:
            in_turn = torch.stack([nats(arm, model, queries, IN_TURN, source).sum(1) for queries in asked])
            results[kind] |= {"nats in turn": float(in_turn.mean()),
                              "impossible in turn": impossible(arm, model, test_set, IN_TURN, source)}
    return results


def examined(folder: str, name: str, updates: int, seed: int) -> dict[str, dict[str, float]]:
    """Losses of a variant loaded from its saved weights."""
    return masked_word_losses(ARMS[name], trained(folder, name, updates, seed))


def best(kind: str, source: Source = SMALL) -> Exact:
    """Mean loss of the exact posterior on the test set of a kind."""
    losses = [exact(span, source) for span in masked_words(kind, source)]
    return Exact(*(sum(column) / len(losses) for column in zip(*losses, strict=True)))


def described(kind: str, source: Source = SMALL) -> dict[str, float | int]:
    """The test set for a kind: its number of masked spans (``gaps``), the fraction of sentences that occur in training
    (``read``), and the losses of the exact posterior."""
    return {"gaps": len(masked_words(kind, source)), "read": read(kind, source), **best(kind, source)._asdict()}
