"""Frozen features are made once: an encoder that is not trained gives a text the same vectors each time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from plmlab.example import Batch

Read = Callable[[Batch], Float[Tensor, "batch time width"]]


@contextmanager
def cached_features(encoder: nn.Module, method: str = "forward") -> Iterator[None]:
    """While the ``with`` lasts, ``encoder.method(batch)`` is put together from what it gave for each text before.

    For frozen encoders without dropout, whose ``method`` gives a vector for each position. A text is known by its
    tokens and segments; a batch with a new one is read whole. Padding, which no one may look at, gets zeros. No
    gradient flows.
    """
    setattr(encoder, method, _once(getattr(encoder, method)))
    try:
        yield
    finally:
        delattr(encoder, method)


def _once(read: Read) -> Read:
    kept: dict[bytes, Tensor] = {}

    @torch.no_grad()
    def again(batch: Batch) -> Float[Tensor, "batch time width"]:
        lengths = batch.padding_mask.sum(1).tolist()
        texts = torch.stack([batch.tokens, batch.segments], 1).cpu()
        keys = [text[:, :length].numpy().tobytes() for text, length in zip(texts, lengths, strict=True)]
        if any(key not in kept for key in keys):
            kept.update((key, vectors[:length].clone())
                        for key, vectors, length in zip(keys, read(batch), lengths, strict=True))
        vectors = pad_sequence([kept[key].to(batch.tokens.device) for key in keys], batch_first=True)
        return nn.functional.pad(vectors, (0, 0, 0, batch.size[1] - vectors.shape[1]))

    return again
