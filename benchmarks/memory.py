"""Speed of a Transformer-XL's memory compared with a GPT-2 of the same window, in training and word by word.

``python benchmarks/memory.py [rounds]``. 2 layers × 64, 4 heads, vocabulary 453, on the CPU with two threads. In
training, both process 16 texts of 160 words per update, the Transformer-XL in segments of 16 with a memory of 64, the
GPTs in windows of 80. Then 64 new words are processed after a context of N words: with a memory of N, and in a window
of N that slides by one word and is recomputed each time.
"""

import sys

import torch
from rounds import race, table

from plmlab.example import Batch
from plmlab.hf import to_hf
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig

VOCAB, WORDS, TEXTS, NEW = 453, 160, 16, 64
SEEN = (64, 256, 1024, 3800)


def remembering(segment: int, memory: int) -> TransformerXL:
    """A Transformer-XL of the benchmark's size."""
    return TransformerXL(TransformerXLConfig(VOCAB, segment, memory, 2, 64, 4, 256, dropout=0.0))


def window(size: int) -> GPT2:
    """A GPT-2 of the benchmark's size."""
    return GPT2(GPTConfig(VOCAB, time=size, layers=2, model=64, heads=4, dropout=0.0))


def training(rounds: int) -> None:
    """Print a table of training updates (loss and gradients)."""
    rows = torch.randint(VOCAB, (TEXTS, WORDS + 1))
    texts, chunks = Batch.causal(rows), Batch.causal(rows[:, :WORDS].reshape(2 * TEXTS, WORDS // 2))
    ours, gpt = remembering(16, 64), window(80)
    theirs = to_hf(window(80)).train()
    print("\ntraining\n\n" + table(race({
        "Transformer-XL, memory of 64": lambda: ours.loss(texts).backward(),
        "our GPT-2, window of 80": lambda: gpt.loss(chunks).backward(),
        "transformers' GPT-2, window of 80": lambda: theirs(chunks.tokens, labels=chunks.tokens).loss.backward(),
    }, rounds=rounds), TEXTS * WORDS))


@torch.no_grad()
def reading(seen: int, rounds: int) -> None:
    """Print a table for evaluation: `NEW` words, one after the other, each with the ``seen`` words before it as
    context."""
    ids = torch.randint(VOCAB, (1, seen + NEW))
    model, gpt = remembering(NEW, seen).eval(), window(seen).eval()
    state = model.start()
    model.step(ids[:, :seen], state)
    words = NEW if seen < 1000 else 4

    def with_memory() -> None:
        model.hidden_states(Batch.continuing(ids[:, seen:], 0), state.memories)

    def moved() -> None:
        for end in range(seen + 1, seen + 1 + words):
            gpt.hidden_states(Batch.continuing(ids[:, end - seen:end], 0))

    times = race({"memory": with_memory, "window, recomputed": moved}, rounds=max(3, rounds // 3), warm_up=1)
    slow = times | {"window, recomputed": [turn * NEW / words for turn in times["window, recomputed"]]}
    print(f"\n{seen:,} words of context\n\n" + table(slow, NEW))


def main(rounds: int) -> None:
    """Print all tables."""
    torch.set_num_threads(2)
    torch.manual_seed(0)
    training(rounds)
    for seen in SEEN:
        reading(seen, rounds)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
