"""The benefit of XLNet's memory (Yang et al. 2019, §2.4; table 6, "− memory") if the same sentence occurs twice.

A sentence of the small world is one segment, and the same sentence is the next segment. A model that remembers the
first segment can predict every word of the second. A model without memory can only know the distribution of the text,
and its best possible loss is known exactly: on the masked words of `plmlab.chapters.ch11.masked_words`, each predicted
alone, the exact posterior has a loss of `masked_words.mean_exact`. All variants use the same network and are trained on
the same texts in the same order. As in Transformer-XL, no gradient flows into the memory. In the authors' code, unlike
here, a segment in the memory has no [SEP] or [CLS].

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
from plmlab.chapters.ch11.masked_words import MaskedWords, examples, mean_exact
from plmlab.example import IGNORE, Example
from plmlab.models.xlnet import XLNetConfig
from plmlab.objectives import permuted_targets
from plmlab.objectives.permuted import cloze_in_permutation
from plmlab.recipes import Parts, none_if_diverged, rates_tried, seed_statistics, tune_learning_rates
from plmlab.train import History, fit
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from studies.ch11.segments import SegmentedXLNet, Segments

MEMORY_LENGTH = 15
"""Positions of a memory: the longest sentence of the small world has 13 words, plus [SEP] and [CLS]."""
KIND = "single word"
"""What is masked in the test set."""
EVAL_BATCHES, EVAL_SEED = 20, 77
"""Number of batches, drawn with a seed, on which a variant's own loss is measured."""
PILOT, BUDGETS = 600, (400, 1200, 3600)
"""Updates of the runs that choose the learning rates, and of the others."""


class Arm(NamedTuple):
    """A variant: the length of its memory, and how two segments become Examples. In ``objective(first, second, rng)``
    one word in `K` is a target; in ``cloze(first, second, masked)`` one word of the second segment is."""

    memory: int
    objective: Callable[[Sequence[int], Sequence[int], Random], list[Example]]
    cloze: Callable[[Sequence[int], Sequence[int], int], list[Example]]


def objective_by_segment(first: Sequence[int], second: Sequence[int], rng: Random) -> list[Example]:
    """One Example per segment."""
    return [permuted_targets(words, vocab=small_world_tokenizer().vocab, rng=rng, k=K) for words in (first, second)]


def cloze_by_segment(first: Sequence[int], second: Sequence[int], masked: int) -> list[Example]:
    """One Example per segment; the target is in the second segment."""
    vocab = small_world_tokenizer().vocab
    return [cloze_in_permutation(first, [], vocab=vocab), cloze_in_permutation(second, [masked], vocab=vocab)]


def objective_as_pair(first: Sequence[int], second: Sequence[int], rng: Random) -> list[Example]:
    """One Example for both segments."""
    return [permuted_targets(first, pair=second, vocab=small_world_tokenizer().vocab, rng=rng, k=K)]


def cloze_as_pair(first: Sequence[int], second: Sequence[int], masked: int) -> list[Example]:
    """One Example for both segments; the target is in the second segment."""
    return [cloze_in_permutation(first, [len(first) + 1 + masked], pair=second, vocab=small_world_tokenizer().vocab)]


ARMS = {
    "memory": Arm(MEMORY_LENGTH, objective_by_segment, cloze_by_segment),
    "no memory": Arm(0, objective_by_segment, cloze_by_segment),
    "one pass": Arm(0, objective_as_pair, cloze_as_pair),
}
LR_FROM = {"no memory": "memory"}
"""Variants that use the learning rate of another."""


def collate(texts: Sequence[Sequence[Example]]) -> Segments:
    """A batch of texts."""
    return Segments.of(texts, pad=small_world_tokenizer().vocab.need("pad"))


def ids(words: Sequence[str]) -> list[int]:
    """Token ids of words."""
    return small_world_tokenizer().encode(" ".join(words), plain=True)


def training_batch(name: str, seed: int, step: int) -> Segments:
    """The batch of one update: `BATCH` sentences of equal length, each occurring twice, with the targets of a
    variant."""
    rng = Random(f"{seed}:{step}")
    text = iter(world.small().text("train", seed=int(rng.random() * 2**53)))
    first = next(text)
    same_length = islice((words for words in text if len(words) == len(first)), BATCH - 1)
    return collate([ARMS[name].objective(ids(words), ids(words), rng) for words in (first, *same_length)])


def untrained(name: str, seed: int) -> SegmentedXLNet:
    """A variant with random weights initialized with this seed; the weights are the same for all variants."""
    torch.manual_seed(seed)
    return SegmentedXLNet(XLNetConfig(len(small_world_tokenizer()), LAYERS, WIDTH, HEADS, 4 * WIDTH, dropout=0.0,
                                      memory=ARMS[name].memory))


def train(name: str, updates: int, lr: float, seed: int, **options: Any) -> tuple[SegmentedXLNet, History]:
    """Train a variant for the given number of updates; return it with its training history."""
    model = untrained(name, seed)
    return model, fit(model, partial(training_batch, name, seed), steps=updates, lr=lr, warmup=min(100, updates // 10),
                      **options)


@torch.no_grad()
def loss(name: str, model: SegmentedXLNet) -> float:
    """The loss of a variant under its own objective on other texts, in nats per target word."""
    model.eval()
    losses = []
    for step in range(EVAL_BATCHES):
        text = training_batch(name, EVAL_SEED, step)
        losses.append((float(model.loss(text)), int((text.targets != IGNORE).sum())))
    return sum(nats * count for nats, count in losses) / sum(count for _, count in losses)


@torch.no_grad()
def evaluate(name: str, model: SegmentedXLNet) -> dict[str, float]:
    """Results on the masked words of the test set: the ``accuracy``, the mean loss in ``nats``, and the mean loss if
    the memory holds another sentence of the same length (``nats, other memory``)."""
    model.eval()
    by_length: dict[int, list[MaskedWords]] = {}
    for example in examples(KIND):
        by_length.setdefault(len(example.words), []).append(example)
    results: dict[str, list[Tensor]] = {"accuracy": [], "nats": [], "nats, other memory": []}
    for same_length in by_length.values():
        for first, what in ((same_length, "nats"), ([*same_length[1:], same_length[0]], "nats, other memory")):
            text = collate([ARMS[name].cloze(ids(memory.words), ids(example.words), example.masked[0])
                            for memory, example in zip(first, same_length, strict=True)])
            is_target = text.targets != IGNORE
            logits, words = model(text)[is_target], text.targets[is_target]
            results[what].append(F.cross_entropy(logits, words, reduction="none"))
            if first is same_length:
                results["accuracy"].append((logits.argmax(-1) == words).float())
    return {what: float(torch.cat(values).mean()) for what, values in results.items()}


@none_if_diverged
def lr_score(name: str, lr: float, seed: int) -> float:
    """Score of a learning rate: the negative loss after `PILOT` updates, on other texts from the training
    distribution."""
    return -loss(name, train(name, PILOT, lr, seed, show=False)[0])


def run_result(name: str, updates: int, lr: float, seed: int) -> dict[str, float]:
    """Train a variant; return its test results and the ``loss`` under its own objective."""
    model, _ = train(name, updates, lr, seed, show=False)
    return evaluate(name, model) | {"loss": loss(name, model)}


def measure(parts: Parts) -> dict[str, Any]:
    """The recorded results. ``arms``: variant → ``lr``, the ``rates`` tried, and by number of updates the results of
    `run_result`, with spread; ``floor without memory``: the loss of the exact posterior without a memory."""
    found = tune_learning_rates(parts, lr_score, PILOTS, {(name,): RATES for name in ARMS if name not in LR_FROM})
    rates = {name: found[LR_FROM.get(name, name),] for name in ARMS}
    runs = parts(run_result, [(name, updates, rates[name][0], seed)
                         for updates in BUDGETS for name in ARMS for seed in SEEDS])
    arms = {name: {"lr": lr, "rates": rates_tried(scores), "updates": {
        str(updates): seed_statistics({seed: runs[name, updates, lr, seed] for seed in SEEDS}) for updates in BUDGETS}}
            for name, (lr, scores) in rates.items()}
    return {"arms": arms, "floor without memory": mean_exact(KIND).joint}
