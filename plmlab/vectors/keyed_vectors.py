"""Conversion of word vectors from and to gensim."""

from typing import TYPE_CHECKING

import numpy as np
import torch

from plmlab.vectors.word_vectors import WordVectors

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


def from_keyed_vectors(kv: "KeyedVectors") -> WordVectors:
    """Convert gensim's KeyedVectors to WordVectors, in the same order, with a float32 copy of the vectors.

    A trained Word2Vec or FastText has its KeyedVectors as ``.wv``. Raises ValueError if a key is not a string.
    """
    odd = [key for key in kv.index_to_key if not isinstance(key, str)]
    if odd:
        raise ValueError(f"the key {odd[0]!r:.60} is not a word; keys must be strings")
    return WordVectors(tuple(kv.index_to_key), torch.from_numpy(np.array(kv.vectors, np.float32)))


def to_keyed_vectors(vectors: WordVectors) -> "KeyedVectors":
    """Convert WordVectors to gensim's KeyedVectors, in the same order, with a float32 copy of the vectors."""
    from gensim.models import KeyedVectors
    kv = KeyedVectors(vectors.matrix.shape[1])
    kv.add_vectors(list(vectors.words), vectors.matrix.detach().cpu().float().numpy().copy())
    return kv
