"""Text embeddings from MiniLM, as an example of a retriever that was trained on real text, and its tokenizer."""

from collections.abc import Sequence
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from plmlab.example import Batch, Example
from plmlab.hf.load import minilm
from plmlab.objectives import cls_first
from plmlab.text import Tokenizer

ROWS = 64


@cache
def pieces() -> Tokenizer:
    """MiniLM's subword tokenizer."""
    return minilm()[1]


@torch.no_grad()
def encoded(texts: Sequence[tuple[str, str]]) -> Float[Tensor, "text width"]:
    """Mean-pooled, L2-normalized MiniLM embeddings of (title, body) pairs; either part may be empty."""
    model, tokenizer = minilm()
    vocab, rows = tokenizer.vocab, []

    def example(title: str, body: str) -> Example:
        return cls_first(tokenizer.encode(title, plain=True), tokenizer.encode(body, plain=True) or None, vocab)

    for first in range(0, len(texts), ROWS):
        batch = Batch.of([example(*one) for one in texts[first:first + ROWS]], pad=vocab.need("pad"))
        real = batch.padding_mask[..., None]
        rows.append((model(batch) * real).sum(1) / real.sum(1))
    return normalize(torch.cat(rows))
