"""The vectors of texts by MiniLM, which stands for a retriever that was trained on real text."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from plmlab.example import Batch, Example
from plmlab.hf import minilm
from plmlab.objectives import cls_first

ROWS = 64


@torch.no_grad()
def encoded(texts: Sequence[tuple[str, str]]) -> Float[Tensor, "text width"]:
    """What MiniLM makes of texts, each a title and a body, one of which may be empty; of length 1."""
    model, tokenizer = minilm()
    vocab, rows = tokenizer.vocab, []

    def example(title: str, body: str) -> Example:
        return cls_first(tokenizer.encode(title, plain=True), tokenizer.encode(body, plain=True) or None, vocab)

    for first in range(0, len(texts), ROWS):
        batch = Batch.of([example(*one) for one in texts[first:first + ROWS]], pad=vocab.need("pad"))
        seen = batch.padding_mask[..., None]
        rows.append((model(batch) * seen).sum(1) / seen.sum(1))
    return normalize(torch.cat(rows))
