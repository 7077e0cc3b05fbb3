"""Where a state stands: a linear probe reads from it how many words have been read, or are still to come.

Nobody tells a recurrent network its position. What a probe finds is held against what the word alone tells, and an
untrained network.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab import world
from plmlab.interpret import gates
from plmlab.models.recurrent import RecurrentLanguageModel
from plmlab.world.datasets.batches import next_word_batch
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

Words = tuple[str, ...]
Vectors = Callable[[Sequence[Words]], Float[Tensor, "step model"]]
"""What stands at each step of some sentences, one after the other, [START] left out."""


@cache
def sentences(seed: int, count: int = 500) -> list[Words]:
    """Different sentences of the full world's test."""
    return list(dict.fromkeys(tuple(words) for words in islice(world.full().text("test", seed=seed), count)))


def memories(model: RecurrentLanguageModel, layer: int) -> Vectors:
    """An LSTM's memories at each step, of one layer."""
    def vectors(rows: Sequence[Words]) -> Float[Tensor, "step model"]:
        found = gates.memories(model, next_word_batch(rows, world_tokenizer()).tokens)[:, :, layer]
        return torch.cat([found[row, 1:len(words) + 1] for row, words in enumerate(rows)])
    return vectors


def joined(rows: Sequence[Words], count: int) -> list[Words]:
    """So many sentences in a row read as one, without a start between them."""
    return [tuple(word for words in rows[i:i + count] for word in words)
            for i in range(0, len(rows) - count + 1, count)]


def words_alone(rows: Sequence[Words]) -> Float[Tensor, "step vocab"]:
    """Which word stands at each step, one-hot."""
    return torch.eye(len(world_tokenizer()))[[id for words in rows for id in ids(words)]]


def read_so_far(rows: Sequence[Words]) -> list[int]:
    """At each step how many words have been read."""
    return [place + 1 for words in rows for place in range(len(words))]


def still_to_come(rows: Sequence[Words]) -> list[int]:
    """At each step how many words are still to come."""
    return [len(words) - place - 1 for words in rows for place in range(len(words))]


def explained(vectors: Vectors, asked: Callable[[Sequence[Words]], list[int]], to_learn: Sequence[Words],
              *exams: Sequence[Words]) -> list[float]:
    """The share of the variance on the steps of each exam that a ridge regression explains, learned from the others."""
    from sklearn.linear_model import RidgeCV
    known = vectors(to_learn)
    varied = known.std(0) > 0
    probe = RidgeCV((0.01, 0.1, 1.0, 10.0, 100.0)).fit(known[:, varied].numpy(), asked(to_learn))
    return [float(probe.score(vectors(test_set)[:, varied].numpy(), asked(test_set))) for test_set in exams]
