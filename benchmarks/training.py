"""Training speed: our GPT-2 compared with plain PyTorch and with transformers, the same updates, interleaved.

``python benchmarks/training.py [rounds]``. 4 layers × 128, 4 heads, 32 texts of 64 tokens, vocabulary 2,000, no
dropout, AdamW (fused) for each, on the CPU with two threads. A round is five updates.
"""

import sys
from collections.abc import Callable

import torch
from plain import PlainGPT2
from rounds import race, table
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel, logging

from plmlab.example import Batch
from plmlab.models.gpt import GPT2, GPTConfig

VOCAB, TIME, LAYERS, WIDTH, HEADS, BATCH, UPDATES = 2000, 64, 4, 128, 4, 32, 5


def trainer(model: nn.Module, loss: Callable[[Tensor], Tensor]) -> Callable[[], None]:
    """A function that makes five updates on random windows."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    generator = torch.Generator().manual_seed(0)
    model.train()

    def run() -> None:
        for _ in range(UPDATES):
            windows = torch.randint(VOCAB, (BATCH, TIME + 1), generator=generator)
            optimizer.zero_grad(set_to_none=True)
            loss(windows).backward()
            optimizer.step()

    return run


def main(rounds: int) -> None:
    """Print the table."""
    logging.set_verbosity_error()
    torch.set_num_threads(2)
    torch.manual_seed(0)
    ours = GPT2(GPTConfig(VOCAB, TIME, LAYERS, WIDTH, HEADS, dropout=0.0))
    plain = PlainGPT2(VOCAB, TIME, LAYERS, WIDTH, HEADS)
    theirs = GPT2LMHeadModel(GPT2Config(
        vocab_size=VOCAB, n_positions=TIME, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, attn_implementation="sdpa"))
    sizes = {sum(p.numel() for p in model.parameters()) for model in (ours, plain, theirs)}
    assert len(sizes) == 1, f"not the same model: {sizes} parameters"
    seconds = race({
        "plmlab": trainer(ours, lambda windows: ours.loss(Batch.causal(windows))),
        "plain PyTorch": trainer(plain, lambda windows: plain(windows[:, :-1], windows[:, 1:])),
        "transformers": trainer(theirs, lambda windows: theirs(input_ids=windows[:, :-1].contiguous(),
                                                               shift_labels=windows[:, 1:].contiguous(),
                                                               labels=windows[:, 1:]).loss),
    }, rounds=rounds)
    print(table(seconds, UPDATES * BATCH * TIME))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
