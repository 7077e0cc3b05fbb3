"""FAT and Speed Transformer compared with the Transformer of the same size: operations counted, then speed.

``OMP_WAIT_POLICY=PASSIVE python benchmarks/audit.py [rounds]``, on the CPU with two threads. Models of chapter 19's
study: 2 + 2 layers of width 128. Random tokens, of which a given share of the target occurs in the source; masking and
gathering are first verified to give equal logits. Operations include element-wise ones (`plmlab.flops.operations`).
"""

import sys
from collections.abc import Mapping
from functools import partial
from random import Random
from statistics import median
from typing import Any

import torch
from rounds import race, relative_speed
from torch import nn

from plmlab.example import PairBatch
from plmlab.flops import operations
from plmlab.models.fat import FAT, FATConfig
from plmlab.models.speed_transformer import GatheredSpeedTransformer, SpeedTransformer
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.objectives import sequence_to_sequence
from plmlab.text.vocabulary import Vocabulary

VOCAB, TEXTS = Vocabulary(600), 8
SIZE: dict[str, Any] = {"vocab": 600, "layers": 2, "model": 128, "heads": 4, "inner": 512, "dropout": 0.0}
TIMES, SHARES = (16, 64, 256), (0.0, 0.25, 1.0)
KINDS = {"FAT": FAT, "Speed, masked": SpeedTransformer, "Speed, gathered": GatheredSpeedTransformer}


def pairs(time: int, share: float) -> PairBatch:
    """Random pairs of this length; each target token occurs in the source with probability ``share``."""
    rng, examples = Random(0), []
    for _ in range(TEXTS):
        source = [40 + int(280 * rng.random()) for _ in range(time)]
        target = [source[int(time * rng.random())] if rng.random() < share else 320 + int(280 * rng.random())
                  for _ in range(time)]
        examples.append(sequence_to_sequence(source, target, vocab=VOCAB))
    return PairBatch.of(examples, pad=0)


def models() -> dict[str, nn.Module]:
    """The four models; the three forms of FAT have the same weights."""
    torch.manual_seed(0)
    config = FATConfig(time=max(TIMES) + 1, **SIZE)
    made: dict[str, nn.Module] = {"Transformer": Transformer(TransformerConfig(**SIZE))}
    made |= {name: kind(config) for name, kind in KINDS.items()}
    for name in KINDS:
        made[name].load_state_dict(made["FAT"].state_dict())
    return {name: model.eval() for name, model in made.items()}


def line(name: str, counts: Mapping[str, int], seconds: Mapping[str, list[float]]) -> str:
    """A row: operations and milliseconds of each model, and the speed of the others relative to the Transformer, as
    the median over rounds with its quartiles."""
    first = seconds["Transformer"]
    cells = [f"{counts[one] / 1e6:,.0f} M, {1000 * median(turns):.0f} ms" for one, turns in seconds.items()]
    cells += [relative_speed(first, turns) for one, turns in seconds.items() if one != "Transformer"]
    return f"| {name} | {' | '.join(cells)} |"


def forward(some: Mapping[str, Any], batch: PairBatch, rounds: int, name: str) -> str:
    """The row of a forward pass with teacher forcing."""
    with torch.no_grad():
        torch.testing.assert_close(some["Speed, masked"](batch), some["Speed, gathered"](batch), atol=1e-4, rtol=1e-3)
        counts = {one: operations(partial(model, batch)) for one, model in some.items()}
        return line(name, counts, race({one: partial(model, batch) for one, model in some.items()}, rounds=rounds))


def update(some: Mapping[str, Any], batch: PairBatch, rounds: int, name: str) -> str:
    """The row of an update without its optimizer: loss and gradients."""
    def run(model: Any) -> None:
        model.loss(batch).backward()
    counts = {one: operations(partial(run, model)) for one, model in some.items()}
    return line(name, counts, race({one: partial(run, model) for one, model in some.items()}, rounds=rounds))


def main(rounds: int) -> None:
    """Print the table."""
    some = models()
    print(f"| {TEXTS} pairs | {' | '.join(some)} | {' | '.join(f'speed of {one}' for one in KINDS)} |")
    print("|---|" + "--:|" * (len(some) + len(KINDS)))
    for time in TIMES:
        for share in SHARES:
            print(forward(some, pairs(time, share), rounds, f"forward, {time} tokens, {share:.0%} in the source"))
    print(update(some, pairs(64, 0.0), rounds, "loss and gradients, 64 tokens, 0% in the source"))


if __name__ == "__main__":
    torch.set_num_threads(2)
    main(int([*sys.argv, "15"][1]))
