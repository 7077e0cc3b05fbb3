"""Who gives a word its vectors, layer by layer: what comes with the course."""

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
"""Sentences → a tensor a layer, a row a word, sentence by sentence."""
ROWS = 256


def bundled(name: str, folder: str, seed: int) -> Reader:
    """The reader "BERT", whatever the folder and the seed, for there is one. ValueError for a reader that was
    pretrained for what is recorded."""
    if name != "BERT":
        raise ValueError(f"{name!r} does not come with the course; give an arm that reads BERT's layers, or readers= "
                         "that have it")
    return of_bert()


def of_bert() -> Reader:
    """What comes with the course as ``encoder-world``: the embeddings, and each layer."""
    model = load("bert-world")[0].encoder

    @torch.no_grad()
    def read(sentences: Sequence[Sequence[str]]) -> Layers:
        with watch(model) as seen:
            model(transfer.batch_of(lambda one: masked(ids(one), vocab=world_tokenizer().vocab, rng=Random(0),
                                                       select=()),
                                    sentences))
        return inside(seen.hidden(), sentences)
    return by_rows(read)


def inside(layers: Sequence[Float[Tensor, "batch time _"]], sentences: Sequence[Sequence[str]], before: int = 1,
           ) -> Layers:
    """The positions of words alone, where so many positions stand before each sentence."""
    return [torch.cat([row[before:before + len(words)] for row, words in zip(layer, sentences, strict=True)])
            for layer in layers]


def by_rows(read: Reader) -> Reader:
    """The same, some sentences at a time."""
    def whole(sentences: Sequence[Sequence[str]]) -> Layers:
        parts = [read(sentences[start:start + ROWS]) for start in range(0, len(sentences), ROWS)]
        return [torch.cat(layer) for layer in zip(*parts, strict=True)]
    return whole
