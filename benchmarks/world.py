"""The Small World: automaton sizes and times, generation speed, floors, and a tiny GPT compared with the floor.

Run ``python benchmarks/world.py``; it takes about two minutes on one core, and prints a table for README.md.
"""

import time
from collections.abc import Iterator
from itertools import islice

import torch
from torch import nn
from torch.nn import functional as F

from plmlab.objectives import causal, masked
from plmlab.world import World

SECONDS = 60
BATCH = 32
RATE = 4e-3


class TinyGPT(nn.Module):
    """Two causal layers of width 64, written with torch.nn alone, so that the world is measured and not our models."""

    def __init__(self, vocab: int, time: int = 40, model: int = 64):
        super().__init__()
        self.words = nn.Embedding(vocab, model)
        self.places = nn.Embedding(time, model)
        layer = nn.TransformerEncoderLayer(model, 4, 4 * model, 0.0, "gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(model)
        self.head = nn.Linear(model, vocab)
        for table in (self.words, self.places):
            nn.init.normal_(table.weight, std=0.02)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        read = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.layers(read, mask=mask, is_causal=True)))


def batches(world: World, split: str, size: int, seed: int) -> Iterator[torch.Tensor]:
    """Batches [batch time] of token ids: 1 is the start token, 2 the end token, 0 the padding."""
    ids = {word: place for place, word in enumerate(world.vocabulary, start=3)}
    stream = world.text(split, seed=seed)
    while True:
        rows = [[1, *(ids[word] for word in words), 2] for words in islice(stream, size)]
        longest = max(map(len, rows))
        yield torch.tensor([row + [0] * (longest - len(row)) for row in rows])


def loss(model: TinyGPT, tokens: torch.Tensor, reduction: str = "mean") -> torch.Tensor:
    targets = tokens[:, 1:].masked_fill(tokens[:, 1:] == 0, -100)
    return F.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), targets, reduction=reduction)


def train(world: World) -> TinyGPT:
    torch.manual_seed(0)
    model = TinyGPT(len(world.vocabulary) + 3)
    optimizer = torch.optim.AdamW(model.parameters(), RATE, betas=(0.9, 0.98), weight_decay=0.01)
    began = time.perf_counter()
    for step, tokens in enumerate(batches(world, "train", BATCH, seed=1), start=1):
        done = (time.perf_counter() - began) / SECONDS
        if done >= 1:
            return model
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, step / 100) * max(0.02, 1 - done)
        optimizer.zero_grad()
        loss(model, tokens).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    raise AssertionError("the text has no end")


@torch.no_grad()
def evaluated(model: TinyGPT, world: World, split: str, sentences: int = 4000) -> tuple[float, float]:
    """Loss of the model and of the Bayes-optimal predictor on the same sentences, in nats per token."""
    nats = sum(loss(model, tokens, "sum").item() for tokens in islice(batches(world, split, 1, seed=99), sentences))
    sample = list(islice(world.text(split, seed=99), sentences))
    count = sum(len(words) + 1 for words in sample)
    return nats / count, -sum(map(world.logprob, sample)) / count


def measure(name: str) -> World:
    began = time.perf_counter()
    world = World(name)
    automaton = world.automaton("train")
    compiled = time.perf_counter() - began
    began = time.perf_counter()
    pairs = world.prove_unambiguous()
    proved = time.perf_counter() - began
    stream, tokens = world.text("train", seed=3), 0
    next(stream)
    began = time.perf_counter()
    while tokens < 1_000_000:
        tokens += len(next(stream))
    wrote = time.perf_counter() - began
    print(f"| {name} | {len(world.patterns)} | {len(world.vocabulary)} | {automaton.states:,} | {automaton.size:,} | "
          f"{compiled:.2f} s | {pairs:,} pairs, {proved:.2f} s | {wrote:.1f} s | {world.floor(causal).mean:.4f} | "
          f"{world.floor(masked, sentences=600)} |")
    return world


def main() -> None:
    torch.set_num_threads(1)
    print("| world | patterns | words | states | arcs | facts and compilation | proof | a million tokens | "
          "causal floor | masked floor |\n|---|---|---|---|---|---|---|---|---|---|")
    measure("full")
    small = measure("small")
    model = train(small)
    for split in ("train", "test"):
        reached, best = evaluated(model, small, split)
        floor = small.floor(causal, split=split).mean
        print(f"tiny GPT after {SECONDS} s on one thread, {split}: {reached:.4f} nats per token, "
              f"{reached / best - 1:.2%} above the Bayes-optimal predictor on the same sentences "
              f"({best:.4f}; floor {floor:.4f})")


if __name__ == "__main__":
    main()
