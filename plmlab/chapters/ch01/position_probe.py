"""Position probes: a linear probe decodes from a state how many words have been processed or how many remain.

A recurrent network has no positional encoding. The baselines are a probe on the one-hot vector of the current word and
a probe on an untrained network.
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
Features = Callable[[Sequence[Words]], Float[Tensor, "step model"]]
"""Sentences → one feature vector per time step, concatenated over the sentences, without [START]."""


@cache
def sentences(seed: int, count: int = 500) -> list[Words]:
    """The distinct sentences among ``count`` samples from the full world's test split."""
    return list(dict.fromkeys(tuple(words) for words in islice(world.full().text("test", seed=seed), count)))


def cell_states(model: RecurrentLanguageModel, layer: int) -> Features:
    """Feature extractor: the cell state of one layer of an LSTM at each time step."""
    def vectors(rows: Sequence[Words]) -> Float[Tensor, "step model"]:
        states = gates.cell_states(model, next_word_batch(rows, world_tokenizer()).tokens)[:, :, layer]
        return torch.cat([states[row, 1:len(words) + 1] for row, words in enumerate(rows)])
    return vectors


def concatenated(rows: Sequence[Words], count: int) -> list[Words]:
    """Concatenate every ``count`` consecutive sentences into one, without a [START] token between them."""
    return [tuple(word for words in rows[i:i + count] for word in words)
            for i in range(0, len(rows) - count + 1, count)]


def one_hot_words(rows: Sequence[Words]) -> Float[Tensor, "step vocab"]:
    """One-hot vector of the word at each time step."""
    return torch.eye(len(world_tokenizer()))[[id for words in rows for id in ids(words)]]


def words_processed(rows: Sequence[Words]) -> list[int]:
    """Number of words processed so far, at each time step."""
    return [index + 1 for words in rows for index in range(len(words))]


def words_remaining(rows: Sequence[Words]) -> list[int]:
    """Number of remaining words, at each time step."""
    return [len(words) - index - 1 for words in rows for index in range(len(words))]


def probe_r2(features: Features, targets: Callable[[Sequence[Words]], list[int]], train: Sequence[Words],
             *test_sets: Sequence[Words]) -> list[float]:
    """R² on each test set of a ridge-regression probe that is fitted on ``train``; the function ``targets`` returns the
    regression targets."""
    from sklearn.linear_model import RidgeCV
    inputs = features(train)
    varying = inputs.std(0) > 0
    probe = RidgeCV((0.01, 0.1, 1.0, 10.0, 100.0)).fit(inputs[:, varying].numpy(), targets(train))
    return [float(probe.score(features(rows)[:, varying].numpy(), targets(rows))) for rows in test_sets]
