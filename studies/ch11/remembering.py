"""What XLNet's memory is worth (Yang et al. 2019, §2.4; table 6, "− memory"): a sentence that was read is read again.

A sentence of the small world is one segment; the same sentence is the next. Who remembers the first can know every word
of the second. Who does not knows the chances of the text, and what that costs is exact: of the hidden words of
`plmlab.chapters.ch11.hidden`, each asked alone, the best reader without a memory pays `hidden.best`. All arms are one
network with the texts in one order. As in Transformer-XL, no gradient flows into what is remembered. Where it differs
from the authors' code: there a segment that is remembered has no [SEP] or [CLS].

Written before the runs: *the memory is worth something* holds if with each seed, after 1,200 updates, the arm with a
memory pays less for a hidden word than the best reader without one. (One seed of three did not, and all arms were still
learning: so all had three times the updates too, and both are told.) That the arm without a memory can't is
so by construction; what can fail is that the network learns to use one, for no gradient tells the first segment what to
keep. How near it comes to who reads both in one pass, as sentences A and B, is told; and what a memory of another
sentence, as long, does.

Two harder designs were given up after pilots of at most 1,800 updates, in which the memory was not used: questions of
what four people had done (as in chapter 10), and one of three or four sentences that is read again. In both, few of the
words that are asked can be known from the memory alone, and the place where they stand in it changes.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from random import Random
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from plmlab import world
from plmlab.chapters.ch11.arms import BATCH, HEADS, LAYERS, PILOTS, RATES, SEEDS, WIDTH, K
from plmlab.chapters.ch11.hidden import Gap, best
from plmlab.chapters.ch11.hidden import gaps as test_set
from plmlab.example import IGNORE, Example
from plmlab.models.xlnet import XLNetConfig
from plmlab.objectives import permuted_targets
from plmlab.objectives.permuted import cloze_in_permutation
from plmlab.recipes import Parts, none_if_diverged, rates_tried, seed_statistics, tune_learning_rates
from plmlab.train import History, fit
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from studies.ch11.segments import SegmentReader, Segments

REMEMBERED = 15
"""Positions of a memory: the longest sentence of the small world has 13 words, and [SEP] and [CLS]."""
KIND = "a word"
"""What is hidden in the exam."""
JUDGED, JUDGED_SEED = 20, 77
"""So many batches, drawn by a seed, tell an arm's own loss."""
PILOT, BUDGETS = 600, (400, 1200, 3600)
"""Updates of the runs by which rates are chosen, and of the others."""


class Arm(NamedTuple):
    """So many positions are remembered; and how two segments become the Examples that are read: of ``trained(first,
    second, rng)`` one word in `K` is asked, of ``asked(first, second, hidden)`` one of the second's."""

    memory: int
    trained: Callable[[Sequence[int], Sequence[int], Random], list[Example]]
    asked: Callable[[Sequence[int], Sequence[int], int], list[Example]]


def trained_in_turn(first: Sequence[int], second: Sequence[int], rng: Random) -> list[Example]:
    """An Example for each segment."""
    return [permuted_targets(words, vocab=small_world_tokenizer().vocab, rng=rng, k=K) for words in (first, second)]


def asked_in_turn(first: Sequence[int], second: Sequence[int], hidden: int) -> list[Example]:
    """An Example for each segment, of which the second asks."""
    vocab = small_world_tokenizer().vocab
    return [cloze_in_permutation(first, [], vocab=vocab), cloze_in_permutation(second, [hidden], vocab=vocab)]


def trained_as_pair(first: Sequence[int], second: Sequence[int], rng: Random) -> list[Example]:
    """One Example of both."""
    return [permuted_targets(first, pair=second, vocab=small_world_tokenizer().vocab, rng=rng, k=K)]


def asked_as_pair(first: Sequence[int], second: Sequence[int], hidden: int) -> list[Example]:
    """One Example of both, which asks in the second."""
    return [cloze_in_permutation(first, [len(first) + 1 + hidden], pair=second, vocab=small_world_tokenizer().vocab)]


ARMS = {
    "memory": Arm(REMEMBERED, trained_in_turn, asked_in_turn),
    "no memory": Arm(0, trained_in_turn, asked_in_turn),
    "one pass": Arm(0, trained_as_pair, asked_as_pair),
}
LIKE = {"no memory": "memory"}
"""The arms that take the rate of another."""


def collated(texts: Sequence[Sequence[Example]]) -> Segments:
    """Texts side by side."""
    return Segments.of(texts, pad=small_world_tokenizer().vocab.need("pad"))


def ids(words: Sequence[str]) -> list[int]:
    """The tokens of some words."""
    return small_world_tokenizer().encode(" ".join(words), plain=True)


def drawn(name: str, seed: int, step: int) -> Segments:
    """The batch of an update: `BATCH` sentences of one length, each twice, with what an arm is asked of them."""
    rng = Random(f"{seed}:{step}")
    text = iter(world.small().text("train", seed=int(rng.random() * 2**53)))
    first = next(text)
    alike = islice((words for words in text if len(words) == len(first)), BATCH - 1)
    return collated([ARMS[name].trained(ids(words), ids(words), rng) for words in (first, *alike)])


def new(name: str, seed: int) -> SegmentReader:
    """An arm with random weights of this seed, the same in all arms."""
    torch.manual_seed(seed)
    return SegmentReader(XLNetConfig(len(small_world_tokenizer()), LAYERS, WIDTH, HEADS, 4 * WIDTH, dropout=0.0,
                                     memory=ARMS[name].memory))


def learn(name: str, updates: int, lr: float, seed: int, **options: Any) -> tuple[SegmentReader, History]:
    """An arm after so many updates, and the run's history."""
    model = new(name, seed)
    return model, fit(model, partial(drawn, name, seed), steps=updates, lr=lr, warmup=min(100, updates // 10),
                      **options)


@torch.no_grad()
def loss(name: str, model: SegmentReader) -> float:
    """An arm's own loss in other texts, in nats a word that is asked."""
    model.eval()
    told = []
    for step in range(JUDGED):
        text = drawn(name, JUDGED_SEED, step)
        told.append((float(model.loss(text)), int((text.targets != IGNORE).sum())))
    return sum(nats * count for nats, count in told) / sum(count for _, count in told)


@torch.no_grad()
def answered(name: str, model: SegmentReader) -> dict[str, float]:
    """Of the exam's hidden words, the share that is the likeliest of all words (``right``), and what one costs in the
    mean, in ``nats``; and its price behind ``another`` sentence of the same length."""
    model.eval()
    by_length: dict[int, list[Gap]] = {}
    for gap in test_set(KIND):
        by_length.setdefault(len(gap.words), []).append(gap)
    told: dict[str, list[Tensor]] = {"right": [], "nats": [], "another": []}
    for alike in by_length.values():
        for before, what in ((alike, "nats"), ([*alike[1:], alike[0]], "another")):
            text = collated([ARMS[name].asked(ids(first.words), ids(gap.words), gap.hidden[0])
                             for first, gap in zip(before, alike, strict=True)])
            asked = text.targets != IGNORE
            logits, words = model(text)[asked], text.targets[asked]
            told[what].append(F.cross_entropy(logits, words, reduction="none"))
            if before is alike:
                told["right"].append((logits.argmax(-1) == words).float())
    return {what: float(torch.cat(found).mean()) for what, found in told.items()}


@none_if_diverged
def rate_score(name: str, lr: float, seed: int) -> float:
    """How good a rate is: minus the loss after `PILOT` updates, in other texts of the training."""
    return -loss(name, learn(name, PILOT, lr, seed, show=False)[0])


def train(name: str, updates: int, lr: float, seed: int) -> dict[str, float]:
    """Train an arm; what it answers in the exam, and its own ``loss``."""
    model, _ = learn(name, updates, lr, seed, show=False)
    return answered(name, model) | {"loss": loss(name, model)}


def measure(parts: Parts) -> dict[str, Any]:
    """What the recipe records: ``arms``: arm → ``lr``, the ``rates`` tried, and by number of updates what `train`
    tells, with spread; ``forgetting``: what the best reader without a memory pays."""
    found = tune_learning_rates(parts, rate_score, PILOTS, {(name,): RATES for name in ARMS if name not in LIKE})
    rates = {name: found[LIKE.get(name, name),] for name in ARMS}
    runs = parts(train, [(name, updates, rates[name][0], seed)
                         for updates in BUDGETS for name in ARMS for seed in SEEDS])
    arms = {name: {"lr": lr, "rates": rates_tried(scores), "updates": {
        str(updates): seed_statistics({seed: runs[name, updates, lr, seed] for seed in SEEDS}) for updates in BUDGETS}}
        for name, (lr, scores) in rates.items()}
    return {"arms": arms, "forgetting": best(KIND).together}
