"""The benefit of XLNet's memory (Yang et al. 2019, §2.4; table 6, "− memory") if the same sentence occurs twice.

A sentence of the small world is one segment, and the same sentence is the next segment. A model that remembers the
first segment can predict every word of the second. A model without memory can only know the distribution of the text,
and its best possible loss is known exactly: on the masked words of `plmlab.chapters.ch11.hidden`, each predicted alone,
the exact posterior has a loss of `hidden.best`. All variants use the same network and are trained on the same texts in
the same order. As in Transformer-XL, no gradient flows into the memory. In the authors' code, unlike here, a segment in
the memory has no [SEP] or [CLS].

The rule was fixed before the runs: *the memory is worth something* holds if, for every seed, after 1,200 updates, the
variant with a memory has a lower loss on a masked word than the exact posterior without a memory. (One of the three
seeds failed, and all variants were still improving, so all were also trained for three times as many updates, and both
results are reported.) By construction, the variant without a memory cannot have such a low loss. The network may fail
to learn to use the memory, because no gradient teaches the first segment what to store. Also reported are the
comparison with a variant that processes both sentences in one pass, as sentences A and B; and the effect of a memory
that holds another sentence of the same length.

Two harder designs were abandoned after pilot runs of at most 1,800 updates, in which the memory was not used: questions
about the actions of four people (as in chapter 10), and the repetition of one of three or four sentences. In both
designs, only few target words depend on the memory, and their position in the memory varies.
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
from plmlab.chapters.ch11.hidden import MaskedWords, best
from plmlab.chapters.ch11.hidden import masked_words as test_set
from plmlab.example import IGNORE, Example
from plmlab.models.xlnet import XLNetConfig
from plmlab.objectives import permuted_targets
from plmlab.objectives.permuted import cloze_in_permutation
from plmlab.recipes import Parts, none_if_diverged, rates_tried, seed_statistics, tune_learning_rates
from plmlab.train import History, fit
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from studies.ch11.segments import SegmentReader, Segments

REMEMBERED = 15
"""Positions of a memory: the longest sentence of the small world has 13 words, plus [SEP] and [CLS]."""
KIND = "a word"
"""What is masked in the test set."""
JUDGED, JUDGED_SEED = 20, 77
"""Number of batches, drawn with a seed, on which a variant's own loss is measured."""
PILOT, BUDGETS = 600, (400, 1200, 3600)
"""Updates of the runs that choose the learning rates, and of the others."""


class Arm(NamedTuple):
    """A variant: the length of its memory, and how two segments become Examples. In ``trained(first, second, rng)`` one
    word in `K` is a target; in ``asked(first, second, hidden)`` one word of the second segment is a target."""

    memory: int
    trained: Callable[[Sequence[int], Sequence[int], Random], list[Example]]
    asked: Callable[[Sequence[int], Sequence[int], int], list[Example]]


def trained_in_turn(first: Sequence[int], second: Sequence[int], rng: Random) -> list[Example]:
    """One Example per segment."""
    return [permuted_targets(words, vocab=small_world_tokenizer().vocab, rng=rng, k=K) for words in (first, second)]


def asked_in_turn(first: Sequence[int], second: Sequence[int], hidden: int) -> list[Example]:
    """One Example per segment; the target is in the second segment."""
    vocab = small_world_tokenizer().vocab
    return [cloze_in_permutation(first, [], vocab=vocab), cloze_in_permutation(second, [hidden], vocab=vocab)]


def trained_as_pair(first: Sequence[int], second: Sequence[int], rng: Random) -> list[Example]:
    """One Example for both segments."""
    return [permuted_targets(first, pair=second, vocab=small_world_tokenizer().vocab, rng=rng, k=K)]


def asked_as_pair(first: Sequence[int], second: Sequence[int], hidden: int) -> list[Example]:
    """One Example for both segments; the target is in the second segment."""
    return [cloze_in_permutation(first, [len(first) + 1 + hidden], pair=second, vocab=small_world_tokenizer().vocab)]


ARMS = {
    "memory": Arm(REMEMBERED, trained_in_turn, asked_in_turn),
    "no memory": Arm(0, trained_in_turn, asked_in_turn),
    "one pass": Arm(0, trained_as_pair, asked_as_pair),
}
LIKE = {"no memory": "memory"}
"""Variants that use the learning rate of another."""


def collated(texts: Sequence[Sequence[Example]]) -> Segments:
    """A batch of texts."""
    return Segments.of(texts, pad=small_world_tokenizer().vocab.need("pad"))


def ids(words: Sequence[str]) -> list[int]:
    """Token ids of words."""
    return small_world_tokenizer().encode(" ".join(words), plain=True)


def drawn(name: str, seed: int, step: int) -> Segments:
    """The batch of one update: `BATCH` sentences of equal length, each occurring twice, with the targets of a
    variant."""
    rng = Random(f"{seed}:{step}")
    text = iter(world.small().text("train", seed=int(rng.random() * 2**53)))
    first = next(text)
    alike = islice((words for words in text if len(words) == len(first)), BATCH - 1)
    return collated([ARMS[name].trained(ids(words), ids(words), rng) for words in (first, *alike)])


def new(name: str, seed: int) -> SegmentReader:
    """A variant with random weights initialized with this seed; the weights are the same for all variants."""
    torch.manual_seed(seed)
    return SegmentReader(XLNetConfig(len(small_world_tokenizer()), LAYERS, WIDTH, HEADS, 4 * WIDTH, dropout=0.0,
                                     memory=ARMS[name].memory))


def learn(name: str, updates: int, lr: float, seed: int, **options: Any) -> tuple[SegmentReader, History]:
    """Train a variant for the given number of updates; return it with its training history."""
    model = new(name, seed)
    return model, fit(model, partial(drawn, name, seed), steps=updates, lr=lr, warmup=min(100, updates // 10),
                      **options)


@torch.no_grad()
def loss(name: str, model: SegmentReader) -> float:
    """The loss of a variant under its own objective on other texts, in nats per target word."""
    model.eval()
    told = []
    for step in range(JUDGED):
        text = drawn(name, JUDGED_SEED, step)
        told.append((float(model.loss(text)), int((text.targets != IGNORE).sum())))
    return sum(nats * count for nats, count in told) / sum(count for _, count in told)


@torch.no_grad()
def answered(name: str, model: SegmentReader) -> dict[str, float]:
    """Results on the masked words of the test set: the accuracy (``right``), the mean loss in ``nats``, and the mean
    loss if the memory holds ``another`` sentence of the same length."""
    model.eval()
    by_length: dict[int, list[MaskedWords]] = {}
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
def lr_score(name: str, lr: float, seed: int) -> float:
    """Score of a learning rate: the negative loss after `PILOT` updates, on other texts from the training
    distribution."""
    return -loss(name, learn(name, PILOT, lr, seed, show=False)[0])


def train(name: str, updates: int, lr: float, seed: int) -> dict[str, float]:
    """Train a variant; return its test results and the ``loss`` under its own objective."""
    model, _ = learn(name, updates, lr, seed, show=False)
    return answered(name, model) | {"loss": loss(name, model)}


def measure(parts: Parts) -> dict[str, Any]:
    """The recorded results. ``arms``: variant → ``lr``, the ``rates`` tried, and by number of updates the results of
    `train`, with spread; ``forgetting``: the loss of the exact posterior without a memory."""
    found = tune_learning_rates(parts, lr_score, PILOTS, {(name,): RATES for name in ARMS if name not in LIKE})
    rates = {name: found[LIKE.get(name, name),] for name in ARMS}
    runs = parts(train, [(name, updates, rates[name][0], seed)
                         for updates in BUDGETS for name in ARMS for seed in SEEDS])
    arms = {name: {"lr": lr, "rates": rates_tried(scores), "updates": {
        str(updates): seed_statistics({seed: runs[name, updates, lr, seed] for seed in SEEDS}) for updates in BUDGETS}}
            for name, (lr, scores) in rates.items()}
    return {"arms": arms, "forgetting": best(KIND).together}
