"""Contextual word vectors of every layer of a pretrained model: the interface, and the bundled BERT."""

from collections.abc import Callable, Sequence
from random import Random

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab import transfer
from plmlab.checkpoints import load
from plmlab.interpret import watch
from plmlab.objectives import masked
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

Layers = list[Float[Tensor, "word width"]]
Reader = Callable[[Sequence[Sequence[str]]], Layers]
"""Sentences → one tensor per layer with one row per word, sentences concatenated."""
ROWS = 256


def bundled(name: str, folder: str, seed: int) -> Reader:
    """Return the reader "BERT"; ``folder`` and ``seed`` are ignored, because there is only one such reader.

    Raises ValueError for any other reader, because those were pretrained only for the stored results.
    """
    if name != "BERT":
        raise ValueError(f"the reader {name!r} is not bundled with the course; use a configuration that reads BERT's "
                         "layers, or pass readers= that provide it")
    return of_bert()


def of_bert() -> Reader:
    """Reader for the bundled ``bert-world``, which returns the embeddings and the output of every layer."""
    model = load("bert-world")[0].encoder

    @torch.no_grad()
    def read(sentences: Sequence[Sequence[str]]) -> Layers:
        with watch(model) as seen:
            model(transfer.batch_of(lambda words: masked(ids(words), vocab=world_tokenizer().vocab, rng=Random(0),
                                                         select=()),
                                    sentences))
        return inside(seen.hidden(), sentences)
    return by_rows(read)


def inside(layers: Sequence[Float[Tensor, "batch time _"]], sentences: Sequence[Sequence[str]], before: int = 1,
           ) -> Layers:
    """Select the positions of the words; ``before`` is the number of special tokens before each sentence."""
    return [torch.cat([row[before:before + len(words)] for row, words in zip(layer, sentences, strict=True)])
            for layer in layers]


def by_rows(read: Reader) -> Reader:
    """Wrap a reader so that it processes `ROWS` sentences at a time."""
    def whole(sentences: Sequence[Sequence[str]]) -> Layers:
        parts = [read(sentences[start:start + ROWS]) for start in range(0, len(sentences), ROWS)]
        return [torch.cat(layer) for layer in zip(*parts, strict=True)]
    return whole
