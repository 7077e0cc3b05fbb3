"""Hidden words of a world's test: one alone, and two together, by every arm, and by the exact reader.

Two words are asked together where one tells much of the other: both words of a name, a noun and its verb, two
neighbours. Who guesses them apart says a product; the best product is that of the exact marginals, and what it pays
above the exact joint probability no such reader can save. But who guesses apart can be asked in turn: for the first
word while both are hidden, and then for the second, with the first in its place.

The text of the small world is made of some 800 different sentences, so that nearly all of its exam was read (`read`):
it asks how well a model knows the chances of its text, not what it makes of sentences that it never saw. Those are
asked in the full world, in `studies.ch11.unread`.
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
"""Gaps of a kind."""
CHUNK = 200


@cache
def different(of: World) -> list[Sentence]:
    """Sentences of a world's plain test, each once."""
    return list({one.words: one for one in islice(of.sentences("test", seed=5), 8000)}.values())


class Source(NamedTuple):
    """What an exam is made of: a world, the tokens of its words, and the sentences in which words are hidden."""

    world: Callable[[], World]
    spelling: Callable[[], Tokenizer]
    sentences: Callable[[World], list[Sentence]]


SMALL = Source(world.small, small_world_tokenizer, different)
"""What the arms are asked."""


class Gap(NamedTuple):
    """A sentence and the positions that are hidden in it."""

    words: tuple[str, ...]
    hidden: tuple[int, ...]


class Exact(NamedTuple):
    """What the exact reader pays for a gap together, and guessing each word apart, in nats; and the share of what is
    guessed apart that is no sentence."""

    together: float
    apart: float
    impossible: float


Positions = tuple[int, ...]


def one_word(sentence: Sentence, rng: Random) -> list[Positions]:
    """A word at random."""
    return [(randint(rng, len(sentence.words)),)]


def two_neighbours(sentence: Sentence, rng: Random) -> list[Positions]:
    """Two words side by side, at random."""
    first = randint(rng, len(sentence.words) - 1)
    return [(first, first + 1)]


def names(sentence: Sentence, _: Random) -> list[Positions]:
    """Both words of each name that has two."""
    return [(start, start + 1) for start, end, _ in sentence.mentions if end - start == 2]


def nouns_with_verbs(sentence: Sentence, _: Random) -> list[Positions]:
    """Each noun that is a subject, and its verb."""
    return [(min(link.subject, link.verb), max(link.subject, link.verb)) for link in sentence.agreement]


KINDS: dict[str, Callable[[Sentence, Random], list[Positions]]] = {
    "a word": one_word, "a name": names, "noun and verb": nouns_with_verbs, "neighbours": two_neighbours}
"""Kind of gap → the positions in a sentence that make one."""


@cache
def gaps(kind: str, source: Source = SMALL) -> list[Gap]:
    """The exam of a kind: gaps in different sentences."""
    found: dict[Gap, None] = {}
    for sentence in source.sentences(source.world()):
        positions = KINDS[kind](sentence, Random(" ".join(sentence.words)))
        found |= {Gap(sentence.words, hidden): None for hidden in shuffled(Random(0), positions)[:1]}
    return list(found)[:COUNT]


def read(kind: str, source: Source = SMALL) -> float:
    """The share of an exam's sentences that stand in 60,000 sentences of the training text."""
    return sum(gap.words in _told(source.world()) for gap in gaps(kind, source)) / len(gaps(kind, source))


@cache
def _told(of: World) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(words) for words in islice(of.text("train", seed=17), 60_000))


@cache
def exact(gap: Gap, source: Source = SMALL) -> Exact:
    """What the exact reader pays. (It is told the length of the sentence.)"""
    words, whole = list(gap.words), source.world()
    marginals = whole.posterior(words, gap.hidden, "test")
    together = whole.joint(words, gap.hidden, "test")
    true = tuple(words[position] for position in sorted(gap.hidden))
    apart = -sum(log(one[word]) for one, word in zip(marginals, true, strict=True))

    def product(said: Sequence[str]) -> float:
        found = 1.0
        for one, word in zip(marginals, said, strict=True):
            found *= one[word]
        return found

    return Exact(-log(together[true]), apart, 1 - sum(product(said) for said in together))


class Turn(NamedTuple):
    """Of a gap's words in their order, those that are ``hidden`` when the model is asked, and those that it ``says``
    then."""

    hidden: slice
    says: slice


BOTH, FIRST, SECOND = slice(0, 2), slice(0, 1), slice(1, 2)
AT_ONCE = (Turn(BOTH, BOTH),)
IN_ORDER = (Turn(BOTH, FIRST), Turn(BOTH, SECOND))
"""For who sees, where a word is asked, those that come before it in the order."""
IN_TURN = (Turn(BOTH, FIRST), Turn(SECOND, SECOND))
"""For everybody."""


@torch.no_grad()
def nats(arm: Arm, model: nn.Module, asked: Sequence[tuple[Gap, Positions]], turns: Sequence[Turn] = AT_ONCE,
         source: Source = SMALL) -> Float[Tensor, "gap word"]:
    """−log p of each of the true words of a gap, in nats, said turn by turn in the order that stands beside it."""
    told: list[list[float]] = [[] for _ in asked]
    spelling = source.spelling()
    for turn in turns:
        hidden = [(list(gap.words), order[turn.hidden]) for gap, order in asked]
        for prices, (gap, order), logits in zip(told, asked, _logits(arm, model, hidden, spelling), strict=True):
            for word in order[turn.says]:
                [token] = spelling.encode(gap.words[word], plain=True)
                prices.append(-float(logits[word].log_softmax(-1)[token]))
    return torch.tensor(told)


def _logits(arm: Arm, model: nn.Module, asked: Sequence[tuple[list[str], Positions]], spelling: Tokenizer,
            ) -> Iterator[dict[int, Float[Tensor, "vocab"]]]:
    """Of each sentence, hidden word → the logits of the tokens that may stand there."""
    assert arm.ask is not None
    for start in range(0, len(asked), CHUNK):
        some = asked[start:start + CHUNK]
        batch = Batch.of([arm.ask(spelling.encode(" ".join(words), plain=True), hidden, spelling.vocab)
                          for words, hidden in some], pad=spelling.vocab.need("pad"))
        logits = model(batch)
        for row, (_, hidden) in enumerate(some):
            places = batch.position_ids[row % len(batch.position_ids), 0].tolist()
            positions = sorted((batch.targets[row] != IGNORE).nonzero().flatten().tolist(), key=places.__getitem__)
            yield {word: logits[row, position] for word, position in zip(sorted(hidden), positions, strict=True)}


def orders(gap: Gap) -> tuple[Positions, ...]:
    """The orders in which a gap's words can be said."""
    return (gap.hidden, gap.hidden[::-1])[:len(gap.hidden)]


@torch.no_grad()
def impossible(arm: Arm, model: nn.Module, test_set: Sequence[Gap], turns: Sequence[Turn], source: Source = SMALL,
               seed: int = 0) -> float:
    """The share of gaps for which what the model draws, turn by turn from the left, makes no sentence of the world."""
    generator, spelling, whole = torch.Generator().manual_seed(seed), source.spelling(), source.world()
    filled = [list(gap.words) for gap in test_set]
    for turn in turns:
        hidden = [(words, gap.hidden[turn.hidden]) for words, gap in zip(filled, test_set, strict=True)]
        for words, gap, logits in zip(filled, test_set, _logits(arm, model, hidden, spelling), strict=True):
            for word in gap.hidden[turn.says]:
                drawn = torch.multinomial(logits[word].softmax(-1), 1, generator=generator)
                [words[word]] = spelling.tokens(drawn.tolist())
    return sum(whole.logprob(words, "test") == -inf for words in filled) / len(filled)


def paid(arm: Arm, model: nn.Module, source: Source = SMALL) -> dict[str, dict[str, float]]:
    """What a model pays that is asked as an arm is, by kind: ``nats`` a gap, the mean over its orders; of two words,
    the ``disagreement`` of these (mean absolute difference) and the share of ``impossible`` guesses. Who guesses apart
    is asked in turn too: ``nats in turn``, ``impossible in turn``."""
    told: dict[str, dict[str, float]] = {}
    for kind in KINDS:
        test_set = gaps(kind, source)
        asked = [[(gap, orders(gap)[i]) for gap in test_set] for i in range(len(orders(test_set[0])))]
        by_order = torch.stack([nats(arm, model, some, source=source).sum(1) for some in asked])
        told[kind] = {"nats": float(by_order.mean())}
        if len(test_set[0].hidden) == 1:
            continue
        told[kind] |= {"disagreement": float((by_order[0] - by_order[1]).abs().mean()),
                       "impossible": impossible(arm, model, test_set, IN_ORDER if arm.in_order else AT_ONCE, source)}
        if not arm.in_order:
            in_turn = torch.stack([nats(arm, model, some, IN_TURN, source).sum(1) for some in asked])
            told[kind] |= {"nats in turn": float(in_turn.mean()),
                           "impossible in turn": impossible(arm, model, test_set, IN_TURN, source)}
    return told


def examined(folder: str, name: str, updates: int, seed: int) -> dict[str, dict[str, float]]:
    """What a kept arm pays."""
    return paid(ARMS[name], trained(folder, name, updates, seed))


def best(kind: str, source: Source = SMALL) -> Exact:
    """What the exact reader pays for the exam of a kind, in the mean."""
    found = [exact(gap, source) for gap in gaps(kind, source)]
    return Exact(*(sum(column) / len(found) for column in zip(*found, strict=True)))


def described(kind: str, source: Source = SMALL) -> dict[str, float | int]:
    """The exam of a kind: how many ``gaps`` it has, the share that was ``read``, and what the exact reader pays."""
    return {"gaps": len(gaps(kind, source)), "read": read(kind, source), **best(kind, source)._asdict()}
