"""Pretraining speed: our BERT compared with that of transformers, with the same updates, interleaved.

``python benchmarks/bert.py [rounds]``. 4 layers × 128, 4 heads, 32 pairs of 64 tokens, vocabulary 2,000, no dropout, 15
% of the positions masked, with next-sentence prediction, AdamW (fused) for both, on the CPU with two threads. A round
is five updates. Ours computes logits at the masked positions only; theirs computes logits at all positions and ignores
the others in the loss.
"""

import sys
from collections.abc import Callable
from random import Random

import torch
from rounds import race, table
from torch import Tensor, nn
from transformers import logging

from plmlab.example import Batch
from plmlab.hf import to_hf
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.objectives import next_sentence
from plmlab.text.vocabulary import Vocabulary

VOCAB, TIME, BATCH, UPDATES = 2000, 64, 32, 5


def pairs(size: int, time: int, rows: int, count: int) -> list[Batch]:
    """``count`` batches of ``rows`` random pairs of full length over a vocabulary of this ``size``; 15 % of the
    positions are masked."""
    rng, vocab, half = Random(0), Vocabulary(size), (time - 3) // 2

    def words(n: int) -> list[int]:
        return [39 + int(rng.random() * (size - 39)) for _ in range(n)]

    return [Batch.of([next_sentence(words(half), words(time - 3 - half), i % 2 == 0, vocab=vocab, rng=rng)
                      for i in range(rows)], pad=0) for _ in range(count)]


def trainer(model: nn.Module, loss: Callable[[Batch], Tensor], data: list[Batch]) -> Callable[[], None]:
    """A function that makes one update per batch."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    model.train()

    def run() -> None:
        for batch in data:
            optimizer.zero_grad(set_to_none=True)
            loss(batch).backward()
            optimizer.step()

    return run


def main(rounds: int) -> None:
    """Print the table, after checking that both models have the same loss."""
    logging.set_verbosity_error()
    torch.set_num_threads(2)
    torch.manual_seed(0)
    ours, data = BERTPretraining(BERTConfig.tiny(VOCAB, TIME)), pairs(VOCAB, TIME, BATCH, UPDATES)
    theirs = to_hf(ours)

    def their_loss(batch: Batch) -> Tensor:
        return theirs(input_ids=batch.tokens, token_type_ids=batch.segments, labels=batch.targets,
                      next_sentence_label=batch.labels["next_sentence"]).loss

    torch.testing.assert_close(ours.loss(data[0]), their_loss(data[0]), rtol=0, atol=1e-5)
    seconds = race({"plmlab": trainer(ours, ours.loss, data), "transformers": trainer(theirs, their_loss, data)},
                   rounds=rounds)
    print(table(seconds, UPDATES * BATCH * TIME))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
