"""UniLM under each of its masks compared with BERT of ``transformers`` under the same masks, and generation with a
cache.

``python benchmarks/unilm.py [rounds]``. 4 layers × 128, 4 heads, vocabulary 2,000, on the CPU with two threads: 32
texts of 64 positions, 15 % of the words as targets; loss and gradients of an update. Then 32 targets of 20 tokens are
generated after sources of 16 words, with cached keys and values, and with the whole sequence recomputed for each word.
"""

import sys
from random import Random
from typing import Any

import torch
from rounds import race, table
from torch.nn import functional as F

from plmlab.decode import greedy
from plmlab.example import IGNORE, Batch
from plmlab.hf import to_hf
from plmlab.models.unilm import UniLMConfig, UniLMDecoder, UniLMPretraining, source_batch
from plmlab.objectives import masked_seq2seq_target
from plmlab.objectives.prefix import MASKS
from plmlab.text.vocabulary import Vocabulary

TEXTS, POSITIONS, VOCAB = 32, 64, Vocabulary(2000)
SOURCE, LENGTH = 16, 20


def rows(words: int) -> list[list[int]]:
    """`TEXTS` random texts of ``words`` words each, as token ids."""
    rng = Random(0)
    return [[VOCAB.words[int(rng.random() * len(VOCAB.words))] for _ in range(words)] for _ in range(TEXTS)]


def update(name: str, model: UniLMPretraining, theirs: Any, rounds: int) -> None:
    """Print the table of one mask, after checking that both implementations have the same loss."""
    batch = Batch.of([MASKS[name](row, vocab=VOCAB, rng=Random(i)) for i, row in enumerate(rows(POSITIONS - 3))], pad=0)
    looks = batch.visible.dense(*[batch.size[1]] * 2)
    bias = None if looks is None else torch.zeros(looks.shape).masked_fill(~looks, float("-inf"))
    asked = batch.targets != IGNORE

    def their_loss() -> torch.Tensor:
        hidden = theirs.bert(batch.tokens, attention_mask=bias, token_type_ids=batch.segments)[0]
        return F.cross_entropy(theirs.cls.predictions(hidden[asked]), batch.targets[asked])

    assert torch.allclose(model.loss(batch), their_loss(), atol=1e-4)
    seconds = race({"our UniLM": lambda: model.loss(batch).backward(),
                    "transformers' BERT": lambda: their_loss().backward()}, rounds=rounds)
    print(f"\nan update, {name}\n\n{table(seconds, batch.tokens.numel())}")


@torch.no_grad()
def recomputed(model: UniLMPretraining, sources: list[list[int]]) -> list[list[int]]:
    """Generate targets; the whole sequence of source, words and [MASK] is recomputed for each word."""
    allowed = torch.tensor([token not in VOCAB.special or token == VOCAB.sep for token in range(VOCAB.size)])
    written: list[list[int]] = [[] for _ in sources]
    for length in range(LENGTH):
        position = SOURCE + 2 + length
        batch = Batch.of([masked_seq2seq_target(source, [*text, VOCAB.need("mask")], vocab=VOCAB, rng=Random(0),
                                                select=())
                          for source, text in zip(sources, written, strict=True)], pad=0)
        hidden = model.encoder(batch)[:, position]
        said = model.token_logits(hidden).masked_fill(~allowed, -torch.inf).argmax(-1).tolist()
        for text, token in zip(written, said, strict=True):
            text.append(token)
    return written


def main(rounds: int) -> None:
    """Print all tables."""
    torch.set_num_threads(2)
    torch.manual_seed(0)
    model = UniLMPretraining(UniLMConfig(VOCAB.size, POSITIONS, 4, 128, 4, 512, dropout=0.0, attention_dropout=0.0))
    theirs = to_hf(model).train()
    for name in MASKS:
        update(name, model, theirs, rounds)
    sources = rows(SOURCE)
    start = torch.full((TEXTS, 1), VOCAB.need("start"))
    model.eval()
    with torch.no_grad():
        model.bias[VOCAB.sep] = -100.0  # so that no target ends
    kept = UniLMDecoder(model, source_batch(sources, VOCAB), VOCAB)

    def with_cache() -> list[list[int]]:
        return [list(text.tokens) for text in greedy(kept, start, VOCAB, length=LENGTH)]

    assert with_cache() == recomputed(model, sources)
    seconds = race({"UniLMDecoder": with_cache, "without a cache": lambda: recomputed(model, sources)}, rounds=rounds)
    print(f"\n{TEXTS} targets of {LENGTH} tokens\n\n{table(seconds, TEXTS * LENGTH)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
