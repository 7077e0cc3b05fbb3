"""What the mix of masks gives and takes: UniLM's network on the small world, under shares of its four masks.

Each arm reads the same texts, English and Chinese, as often; half of them are single sentences, half passages of two,
in one language each. What differs is how often under which mask. All have two layers of 64 and hide three words in ten,
as the sentences have eight words. An arm is asked for hidden words of sentences of the plain test, in English, under
each of the four masks, beside the exact reader; then it is tuned on translations for a while, and writes.

Written before the runs. The mix *costs* something under a mask if all its seeds pay at least 0.02 nats a word more
there than the arm that knows that mask alone; it *helps* there if they pay at least 0.02 less; else it is *free*. It
helps to write if all its seeds have more right than each seed of every other arm. The paper's own reason for the mix is
that the masks share what they learn (Dong et al. 2019, §1); it has no ablation of the shares.

Added when they were done, as the mix had cost something under every mask: the mix once more for `LONGER` times as many
updates; and beside both, each mask alone after as many texts as the mix had read *under that mask*. What costs then is
not for want of reading, and what helps is what the masks share.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import torch

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.chapters.ch12 import small_writing
from plmlab.example import IGNORE, Batch, Example
from plmlab.models.unilm import UniLMConfig, UniLMPretraining
from plmlab.objectives import unified
from plmlab.objectives.prefix import MASKS, SHARES
from plmlab.recipes import Parts, best_rates, spread, spreads
from plmlab.recipes.kept import keep, with_kept
from plmlab.train import Diverged, History, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.probability.example_floor import example_floor
from plmlab.world.probability.readers import visible_positions

LAYERS, WIDTH, HEADS, TIME = 2, 64, 4, 64
BATCH, RATE = 32, 0.3
PILOT, UPDATES = 800, 3600
"""Updates of the runs by which rates are chosen, and of the others."""
SEEDS, PILOTS, RATES = (0, 1, 2), (8, 9), (1e-3, 3e-3, 1e-2)
LONGER = 3
"""How many times as long the mix is trained once more."""
JUDGED, TEXTS, OTHERS = 16, 64, 77
"""So many batches of so many other sentences tell what is paid under a mask, drawn by a seed."""
ARMS: dict[str, Mapping[str, float]] = {
    "the mix": SHARES, **{name: {name: 1.0} for name in MASKS},
    "half and half": {"both directions": 0.5, "sequence to sequence": 0.5},
}
"""Arm → how often it reads under which mask. Half and half leaves the two triangles out."""
TUNED = (100, 400)
"""Updates on translations."""


def new(seed: int) -> UniLMPretraining:
    """The network with random weights of this seed."""
    torch.manual_seed(seed)
    return UniLMPretraining(UniLMConfig(len(small_writing.spelling()), TIME, LAYERS, WIDTH, HEADS, 4 * WIDTH,
                                        dropout=0.0, attention_dropout=0.0))


def texts(name: str, seed: int) -> ExampleBatches:
    """What an arm reads."""
    vocab = small_writing.spelling().vocab

    def draw(rng: Random) -> list[Example]:
        long = small_writing.rows("train", rng, BATCH // 2)
        short = small_writing.rows("train", rng, BATCH // 2, range(1, 2))
        return [unified(pair[rng.random() < 0.5], vocab=vocab, rng=rng, rate=RATE, shares=ARMS[name])
                for pair in (*long, *short)]

    return ExampleBatches(draw, seed, vocab.need("pad"))


def learn(name: str, updates: int, lr: float, seed: int, **options: Any) -> tuple[UniLMPretraining, History]:
    """An arm after so many updates, and its history; ``options`` go to `fit`."""
    model = new(seed)
    return model, fit(model, texts(name, seed), steps=updates, lr=lr, warmup=min(100, updates // 10), **options)


@cache
def judged(mask: str, split: str) -> list[tuple[Batch, int]]:
    """The batches by which is told what is paid under a mask, and how many words each asks."""
    source = sentence_batches(world.small(), split, small_writing.spelling(), _asked(mask), TEXTS, OTHERS)
    batches = [source(step) for step in range(JUDGED)]
    return [(batch, int((batch.targets != IGNORE).sum())) for batch in batches if isinstance(batch, Batch)]


def english(name: str) -> list[Batch]:
    """What an arm is asked in English, in other sentences: eight batches."""
    source = sentence_batches(world.small(), "test", small_writing.spelling(),
                              partial(unified, rate=RATE, shares=ARMS[name]), TEXTS, OTHERS)
    return [batch for batch in map(source, range(8)) if isinstance(batch, Batch)]


def _asked(mask: str) -> Callable[..., Example]:
    return partial(unified, rate=RATE, shares={mask: 1.0})


@torch.no_grad()
def paid(model: UniLMPretraining, split: str = "test") -> dict[str, float]:
    """Mask → the loss under it on other sentences, in nats a hidden word."""
    model.eval()
    found = {}
    for mask in MASKS:
        told = [(float(model.loss(batch)) * count, count) for batch, count in judged(mask, split)]
        found[mask] = sum(nats for nats, _ in told) / sum(count for _, count in told)
    return found


def floors() -> dict[str, float]:
    """Mask → the least that can be paid under it on the same Examples, by who takes their positions as they are."""
    small, found = world.small(), {}
    for mask in MASKS:
        nats, counts = 0.0, [count for _, count in judged(mask, "test")]
        for step, count in enumerate(counts):
            rng = Random(f"{OTHERS}:{step}")
            sentences = islice(small.text("test", seed=int(rng.random() * 2**53)), TEXTS)
            nats += example_floor(small.automaton("test"), sentences, _asked(mask), rng, visible_positions).mean * count
        found[mask] = nats / sum(counts)
    return found


def rate_score(name: str, lr: float, seed: int) -> float:
    """How good a rate is: minus what is paid after `PILOT` updates under an arm's own masks, by their shares."""
    try:
        told = paid(learn(name, PILOT, lr, seed, show=False)[0], "train")
    except Diverged:
        return -1e9
    return -sum(share * told[mask] for mask, share in ARMS[name].items())


def kept(folder: str, name: str, seed: int) -> Path:
    """Where an arm's weights lie."""
    return Path(folder) / f"{name} {seed}.safetensors"


def run(folder: str, name: str, lr: float, seed: int) -> dict[str, float]:
    """Train an arm and keep it; what is `paid`."""
    model, _ = learn(name, UPDATES, lr, seed, show=False)
    keep(model, kept(folder, name, seed))
    return paid(model)


def run_longer(lr: float, seed: int) -> dict[str, float]:
    """What is `paid` after `LONGER` times as many updates under the mix."""
    return paid(learn("the mix", LONGER * UPDATES, lr, seed, show=False)[0])


def run_equal(mask: str, times: int, lr: float, seed: int) -> float:
    """What a mask alone pays under itself after as many texts as the mix has read under it in ``times`` times
    `UPDATES`."""
    model, _ = learn(mask, round(SHARES[mask] * times * UPDATES), lr, seed, show=False)
    return paid(model)[mask]


def trained(folder: str, name: str, seed: int) -> UniLMPretraining:
    """An arm that was kept; "nothing" has random weights."""
    return new(seed).eval() if name == "nothing" else with_kept(new(seed), kept(folder, name, seed))


def writes(folder: str, name: str, lr: float, seed: int, tuned: int) -> float:
    """The share of sentences that an arm translates without a mistake after so many updates on translations."""
    model = trained(folder, name, seed)
    small_writing.tune(model, small_writing.masked(0.7), tuned, lr, seed, show=False)
    return small_writing.right(model, "test")


def writing_rate(folder: str, name: str, lr: float, seed: int) -> float:
    """How good a rate for tuning is, by other sentences."""
    model = trained(folder, name, seed)
    try:
        small_writing.tune(model, small_writing.masked(0.7), TUNED[1], lr, seed, show=False)
    except Diverged:
        return -1.0
    return small_writing.right(model, "train")


def measure(parts: Parts) -> dict[str, Any]:
    """``floors``; ``arms``: arm → ``lr``, the ``rates`` tried, and what is ``paid`` under each mask; ``longer``: what
    the mix pays after more updates; ``equal``: mask → what it pays alone after as many texts of its own as the mix had,
    and as the longer mix had; and ``writing``: arm, or "nothing", → ``lr``, ``rates``, and the share ``right`` by
    updates of tuning, beside that of a ``table`` (`small_writing.looked_up`); all with spread."""
    folder = str(parts.folder)
    rates = best_rates(parts, rate_score, PILOTS, {(name,): RATES for name in ARMS})
    runs = parts(run, [(folder, name, rates[name,][0], seed) for name in ARMS for seed in SEEDS])
    arms = {name: {"lr": lr, "rates": list(scores.items()),
                   "paid": spreads({seed: runs[folder, name, lr, seed] for seed in SEEDS})}
            for (name,), (lr, scores) in rates.items()}
    mix = rates["the mix",][0]
    longer = parts(run_longer, [(mix, seed) for seed in SEEDS])
    alone = {name: rates[name,][0] for name in ARMS if name in MASKS}
    equal = parts(run_equal, [(mask, times, lr, seed)
                              for mask, lr in alone.items() for times in (1, LONGER) for seed in SEEDS])
    both = ("nothing", *ARMS)
    best = best_rates(parts, writing_rate, SEEDS[:1], {(folder, name): RATES for name in both})
    wrote = parts(writes, [(folder, name, best[folder, name][0], seed, tuned)
                           for name in both for tuned in TUNED for seed in SEEDS])
    writing = {name: {"lr": best[folder, name][0], "rates": list(best[folder, name][1].items()), "right": {
        str(tuned): spreads({seed: wrote[folder, name, best[folder, name][0], seed, tuned] for seed in SEEDS})
        for tuned in TUNED}} for name in both}
    table = parts(small_writing.looked_up, [(tuned, seed) for tuned in TUNED for seed in SEEDS])
    return {"floors": parts(floors, [()])[()], "arms": arms, "writing": writing, "updates": UPDATES,
            "table": {str(tuned): spread({seed: table[tuned, seed] for seed in SEEDS}) for tuned in TUNED},
            "longer": spreads({seed: longer[mix, seed] for seed in SEEDS}),
            "equal": {mask: [spread({seed: equal[mask, times, lr, seed] for seed in SEEDS}) for times in (1, LONGER)]
                      for mask, lr in alone.items()}}
