"""Caching of the features of a frozen encoder, whose output for a given text is always the same."""

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
    """Context manager that caches the outputs of ``encoder.method(batch)`` per text.

    The encoder must be frozen and without dropout, and ``method`` must return one vector per position. The cache key is
    the text's tokens and segments; if any text of a batch is not cached, the whole batch is computed. Padding
    positions, which are always masked, get zeros. No gradients are computed.
    """
    setattr(encoder, method, _once(getattr(encoder, method)))
    try:
        yield
    finally:
        delattr(encoder, method)


def _once(read: Read) -> Read:
    cache: dict[bytes, Tensor] = {}

    @torch.no_grad()
    def cached(batch: Batch) -> Float[Tensor, "batch time width"]:
        lengths = batch.padding_mask.sum(1).tolist()
        texts = torch.stack([batch.tokens, batch.segments], 1).cpu()
        keys = [text[:, :length].numpy().tobytes() for text, length in zip(texts, lengths, strict=True)]
        if any(key not in cache for key in keys):
            cache.update((key, vectors[:length].clone())
                         for key, vectors, length in zip(keys, read(batch), lengths, strict=True))
        vectors = pad_sequence([cache[key].to(batch.tokens.device) for key in keys], batch_first=True)
        return nn.functional.pad(vectors, (0, 0, 0, batch.size[1] - vectors.shape[1]))

    return cached
