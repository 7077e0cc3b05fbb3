"""Entity vectors of a knowledge base, by truncated SVD: from the triples of its graph, or from descriptions of its
entities."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from math import log

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

Cells = Iterable[tuple[int, object, float]]
"""Entries (row, name of the column, value) of a sparse matrix; entries of the same cell are added."""


def graph_vectors(entities: Sequence[str], triples: Iterable[tuple[str, str, str]], width: int,
                  ) -> Float[Tensor, "entity width"]:
    """Entity vectors from the triples (subject, relation, object) of a knowledge graph.

    The row of an entity marks its neighbours: 1 at (r, o) for each triple (e, r, o), and 1 at (r⁻¹, s) for each triple
    (s, r, e). This matrix is the triple tensor, with inverse relations, unfolded along the entities, so its truncated
    SVD is that mode's factor of a Tucker decomposition (HOSVD: De Lathauwer et al. 2000). Entities with the same
    neighbours get the same vector. A triple may have an end that is not among the ``entities``. Raises ValueError if
    ``width`` exceeds the number of entities.

    Difference from KnowBERT: TuckER (Balažević et al. 2019) learns the decomposition of the same tensor with a logistic
    loss.
    """
    row = {entity: i for i, entity in enumerate(entities)}
    ends = chain.from_iterable((((s, (r, o)), (o, (r, "inverse", s))) for s, r, o in dict.fromkeys(triples)))
    return truncated_svd(len(entities), ((row[end], column, 1.0) for end, column in ends if end in row), width)


def description_vectors(descriptions: Sequence[Sequence[str]], width: int) -> Float[Tensor, "entity width"]:
    """Entity vectors from a description of each entity, given as words: latent semantic analysis (Deerwester et al.
    1990).

    The weight of a word is log(1 + count) · log(entities / entities with the word), and each row is normalized to
    length 1. Raises ValueError if ``width`` exceeds the number of entities.

    Difference from KnowBERT: its vectors of Wikipedia's pages are trained to predict the words of the page (Ganea and
    Hofmann 2017), those of WordNet's definitions come from a sentence encoder.
    """
    counts = [Counter(words) for words in descriptions]
    entities = Counter(word for found in counts for word in found)
    weights = [{word: log(1 + count) * log(len(counts) / entities[word]) for word, count in found.items()}
               for found in counts]
    lengths = [sum(weight ** 2 for weight in found.values()) ** 0.5 or 1.0 for found in weights]
    return truncated_svd(len(counts), ((i, word, weight / length) for i, (found, length)
                                       in enumerate(zip(weights, lengths, strict=True))
                                       for word, weight in found.items()), width)


def truncated_svd(rows: int, cells: Cells, width: int) -> Float[Tensor, "entity width"]:
    """The rows of a sparse matrix M in ``width`` dimensions, U_k Σ_k, with which U_k Σ_k² U_kᵀ is the best
    approximation of MMᵀ of rank k.

    It is computed from the eigenvectors of MMᵀ. Their signs are arbitrary: the entry of each with the largest absolute
    value is made positive. Raises ValueError if ``width`` exceeds the number of rows.
    """
    from scipy.sparse import coo_array

    if not 0 < width <= rows:
        raise ValueError(f"width={width}: {rows} entities have vectors of 1 to {rows} dimensions")
    columns: dict[object, int] = {}
    entries = [(i, columns.setdefault(name, len(columns)), value) for i, name, value in cells]
    i, j, values = (np.array(part) for part in zip(*entries, strict=True)) if entries else ([0], [0], [0.0])
    matrix = coo_array((values, (i, j)), shape=(rows, max(1, len(columns)))).tocsr()
    squares, vectors = np.linalg.eigh((matrix @ matrix.T).toarray())  # in ascending order
    largest, axes = squares[::-1][:width].clip(0), vectors[:, ::-1][:, :width]
    signs = np.sign(axes[np.abs(axes).argmax(0), np.arange(width)])
    return torch.from_numpy(axes * signs * np.sqrt(largest)).float()
