"""Training on a GPU: our GPT-2 small compared with plain PyTorch, our BERT-base with transformers; compiled, in bf16.

``python benchmarks/gpu.py [rounds [batch …]]``, on a machine with a GPU. A round is ten updates of AdamW (fused) with
gradients clipped to norm 1; ours are made by the update of ``fit``. MFU counts 6 · parameters + 12 · layers · width ·
time operations per token, relative to the measured rate of one large matrix product. ``--try`` runs everything with
tiny models, on a CPU too, as a smoke test.
"""

import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import torch
from accelerate import Accelerator
from bert import pairs
from plain import PlainGPT2
from rounds import race
from torch import Tensor, nn
from transformers import logging

from plmlab.example import Batch
from plmlab.hf import to_hf
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.train.settings import Settings
from plmlab.train.update import Update

UPDATES = 10
Turn = Callable[[], None]


def ours(model: nn.Module, data: list[Any], accelerator: Accelerator) -> Turn:
    """Ten updates as ``fit`` makes them, from batches in CPU memory."""
    settings = Settings(1, 3e-4, 0, "none", 0.0, 1.0, 1, 0.01, (0.9, 0.95), "bf16", 1, None, 1)
    update = Update(model, settings, accelerator, True, print)

    def run() -> None:
        for batch in data:
            result = update([batch], 3e-4)
        result.loss.item()
    return run


def theirs(model: nn.Module, data: list[Any], loss: Callable[[nn.Module, Any], Tensor], device: torch.device) -> Turn:
    """Ten updates of a typical training loop: compiled model, bf16 autocast, gradient clipping."""
    compiled = torch.compile(model.to(device))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), fused=True)

    def run() -> None:
        for batch in data:
            with torch.autocast(device.type, torch.bfloat16):
                found = loss(compiled, batch.to(device))
            found.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        found.item()
    return run


def windows(vocab: int, time: int, rows: int) -> list[Batch]:
    """Batches of random tokens, with the next token as the target at each position."""
    draw = torch.Generator().manual_seed(0)
    return [Batch.causal(torch.randint(vocab, (rows, time + 1), generator=draw)) for _ in range(UPDATES)]


def matrix_rate(device: torch.device, size: int) -> float:
    """Floating-point operations per second of a product of two bf16 matrices."""
    a, b = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))
    best = float("inf")
    for _ in range(20):
        wait(device)
        start = time.perf_counter()
        a @ b
        wait(device)
        best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best


def wait(device: torch.device) -> None:
    """Wait until a GPU has finished all queued work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def peak(make: Callable[[], Turn], device: torch.device) -> tuple[Turn, float]:
    """A runner, and the peak GPU memory in GiB of creating it and of its first round."""
    if device.type != "cuda":
        return make(), float("nan")
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    turn = make()
    turn()
    return turn, (torch.cuda.max_memory_allocated(device) - before) / 2**30


def told(name: str, makers: dict[str, Callable[[], Turn]], model: nn.Module, config: Any, rows: int, rounds: int,
         rate: float, device: torch.device) -> list[str]:
    """Rows of the table: tokens per second, speed relative to the second runner, MFU, and peak memory."""
    tokens = UPDATES * rows * config.time
    operations = tokens * (6 * sum(p.numel() for p in model.parameters())
                           + 12 * config.layers * config.model * config.time)
    made = {runner: peak(make, device) for runner, make in makers.items()}
    turns = {runner: turn for runner, (turn, _) in made.items()}
    seconds = {runner: median(spent) for runner, spent in race(turns, rounds=rounds).items()}
    yardstick = list(seconds.values())[1]
    return [f"| {name}, {rows} × {config.time} | {runner} | {tokens / spent:,.0f} | {yardstick / spent:.2f} | "
            f"{operations / spent / rate:.2f} | {made[runner][1]:.1f} |" for runner, spent in seconds.items()]


def main(rounds: int, batches: list[int], tiny: bool) -> None:
    """Print the table."""
    logging.set_verbosity_error()
    accelerator = Accelerator()
    device = accelerator.device
    if device.type != "cuda" and not tiny:
        raise SystemExit("this benchmark needs a GPU, and torch finds none; --try runs it with tiny models")
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "a CPU"
    rate = matrix_rate(device, 512 if tiny else 8192)
    print(f"{name}, torch {torch.__version__}; one matrix product: {rate / 1e12:.1f} TFLOP/s\n")
    print("| | | tokens/s | relative speed | MFU | peak GiB |\n|---|---|--:|--:|--:|--:|")
    for rows in batches:
        gpt = GPTConfig(500, 32, 2, 32, 2, dropout=0.0) if tiny else GPTConfig(50_304, 1024, 12, 768, 12, dropout=0.0)
        model, data = GPT2(gpt), windows(gpt.vocab, gpt.time, rows)
        plain = PlainGPT2(gpt.vocab, gpt.time, gpt.layers, gpt.model, gpt.heads)
        makers = {"plmlab": partial(ours, model, data, accelerator), "plain PyTorch": partial(
            theirs, plain, data, lambda compiled, batch: compiled(batch.tokens, batch.targets), device)}
        print("\n".join(told("GPT-2", makers, model, gpt, rows, rounds, rate, device)), flush=True)
        bert = BERTConfig.tiny(500, 32) if tiny else BERTConfig.base()
        encoder, read = BERTPretraining(bert), pairs(bert.vocab, bert.time, rows, UPDATES)
        makers = {"plmlab": partial(ours, encoder, read, accelerator), "transformers": partial(
            theirs, to_hf(encoder).train(), read, lambda compiled, batch: compiled(
                input_ids=batch.tokens, token_type_ids=batch.segments, labels=batch.targets,
                next_sentence_label=batch.labels["next_sentence"]).loss, device)}
        print("\n".join(told("BERT", makers, encoder, bert, rows, rounds, rate, device)), flush=True)


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    main(numbers[0] if numbers else 10, numbers[1:] or [16, 32], "--try" in sys.argv)
