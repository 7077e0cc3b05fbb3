"""Word-sense disambiguation by the nearest class mean (Peters et al. 2018, §5.3, table 5).

The vectors of each sense are averaged; a new occurrence is assigned the sense of its word whose mean vector has the
highest cosine similarity. Ties are resolved in favour of the word's most frequent sense. Unlike in the paper, each
dimension is first standardized to mean 0 and variance 1 over all training sentences (which needs no labels), so that no
layer is disadvantaged by its scale.

There are two test sets: other sentences of the labelled patterns, and sentences of other patterns. The baselines are
the most frequent sense, a bag of words of the sentence, and the mean of chapter 02's vectors of the *other* words.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from plmlab import senses, world
from plmlab.chapters.ch05.labelled import labelled_senses
from plmlab.checkpoints import load
from plmlab.world.datasets.occurrences import Occurrence, other_patterns, other_sentences

EACH = (1, 4, 15)
"""Numbers of labelled sentences per sense, of the same patterns."""
SHOTS = 5
"""Number of different samples of labelled sentences."""
EXAMS = (*(f"{each} labels" for each in EACH), "other patterns")
TIED = 1e-5

Rows = Sequence[Occurrence]


@cache
def all_rows() -> tuple[Occurrence, ...]:
    """All training and test occurrences (cached)."""
    parts = [*other_sentences(), *(part for turn in other_patterns() for part in turn)]
    return tuple(dict.fromkeys(row for part in parts for row in part))


def asked(test_set: str) -> list[Occurrence]:
    """The test occurrences of a test set."""
    if test_set == "other patterns":
        return [row for _, part in other_patterns() for row in part]
    return other_sentences()[1]


def nearest(known: Float[Tensor, "known width"], rows: Rows, vectors: Float[Tensor, "asked width"], others: Rows,
            ) -> np.ndarray:
    """For each of the ``others``, 1 if the nearest class mean among the senses of its word is the correct one,
    otherwise 0."""
    counts = Counter(row.sense for row in rows)
    names = sorted(counts)
    labels = torch.tensor([names.index(row.sense) for row in rows])
    means = normalize(torch.stack([known[labels == number].mean(0) for number in range(len(names))]), dim=-1)
    correct = []
    for row, near in zip(others, normalize(vectors, dim=-1) @ means.T, strict=True):
        own = [number for number, sense in enumerate(names) if sense in world.full().lexicon.ambiguous[row.word]]
        best = max(near[number].item() for number in own)
        tied = [number for number in own if near[number].item() > best - TIED]
        correct.append(names[max(tied, key=lambda number: counts[names[number]])] == row.sense)
    return np.array(correct, dtype=float)


def read_senses(vectors: Float[Tensor, "row width"]) -> dict[str, np.ndarray]:
    """Map each test set to the accuracy on each test occurrence, averaged over the samples, given the vectors of
    `all_rows`."""
    index = {row: number for number, row in enumerate(all_rows())}
    training = vectors[[index[row] for row in other_sentences()[0]]]
    scale = training.std(0)
    scaled = (vectors - training.mean(0)) / torch.where(scale > 1e-6, scale, torch.inf)

    def evaluated(rows: Rows, others: Rows) -> np.ndarray:
        return nearest(scaled[[index[row] for row in rows]], rows, scaled[[index[row] for row in others]], others)

    same = {f"{each} labels": np.mean([evaluated(labelled_senses(each, draw), asked(f"{each} labels"))
                                       for draw in range(SHOTS)], 0) for each in EACH}
    return same | {"other patterns": np.concatenate([evaluated(rows, others) for rows, others in other_patterns()])}


def most_frequent() -> dict[str, np.ndarray]:
    """The same as `read_senses` for the baseline that predicts each word's most frequent sense in all training
    sentences."""
    def evaluated(rows: Rows, others: Rows) -> list[float]:
        predicted = senses.most_frequent(rows, others)
        return [float(sense == row.sense) for sense, row in zip(predicted, others, strict=True)]

    same = np.array(evaluated(*other_sentences()))
    return dict.fromkeys(EXAMS[:-1], same) | {
        "other patterns": np.array([right for turn in other_patterns() for right in evaluated(*turn)])}


def without_a_network() -> dict[str, dict[str, np.ndarray]]:
    """The same as `read_senses` for the baselines "most frequent", "bag of words" and "other words' vectors"."""
    model, tokenizer = load("skipgram-world")
    table = model.token.weight.detach()
    around = torch.stack([table[tokenizer.encode(" ".join(row.words[:row.place] + row.words[row.place + 1:]),
                                                 plain=True)].mean(0) for row in all_rows()])
    return {"most frequent": most_frequent(), "bag of words": read_senses(senses.bag_of_words(all_rows())),
            "other words' vectors": read_senses(around)}
