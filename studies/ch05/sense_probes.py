"""Senses by the nearest mean vector (Peters et al. 2018, §5.3, table 5).

The vectors of each sense are averaged; a new occurrence gets the sense of its word whose average has the highest cosine
with it. Where all are equally near, it gets the word's most frequent one. Deviation from the paper: each number is
first brought to mean 0 and variance 1 over all sentences to learn from, whose labels are not needed for that, so that
no vector loses by its scale.

Two exams: other sentences of the patterns that were labelled, and sentences of other patterns. The figures to beat:
the most frequent sense; the words of the sentence in no order; the mean of the *other* words' vectors of chapter 02.
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
"""So many labelled sentences a sense, of the same patterns."""
SHOTS = 5
"""So often are they drawn anew."""
EXAMS = (*(f"{each} labels" for each in EACH), "other patterns")
TIED = 1e-5

Rows = Sequence[Occurrence]


@cache
def all_rows() -> tuple[Occurrence, ...]:
    """Every occurrence that an exam learns from or asks about."""
    parts = [*other_sentences(), *(part for turn in other_patterns() for part in turn)]
    return tuple(dict.fromkeys(row for part in parts for row in part))


def asked(test_set: str) -> list[Occurrence]:
    """The occurrences that an exam asks about."""
    if test_set == "other patterns":
        return [row for _, part in other_patterns() for row in part]
    return other_sentences()[1]


def nearest(known: Float[Tensor, "known width"], rows: Rows, vectors: Float[Tensor, "asked width"], others: Rows,
            ) -> np.ndarray:
    """For each of the others whether the nearest mean among its word's senses is that of its own: 1 or 0."""
    counts = Counter(row.sense for row in rows)
    names = sorted(counts)
    of = torch.tensor([names.index(row.sense) for row in rows])
    means = normalize(torch.stack([known[of == number].mean(0) for number in range(len(names))]), dim=-1)
    right = []
    for row, near in zip(others, normalize(vectors, dim=-1) @ means.T, strict=True):
        own = [number for number, sense in enumerate(names) if sense in world.full().lexicon.ambiguous[row.word]]
        best = max(near[number].item() for number in own)
        tied = [number for number in own if near[number].item() > best - TIED]
        right.append(names[max(tied, key=lambda number: counts[names[number]])] == row.sense)
    return np.array(right, dtype=float)


def read_senses(vectors: Float[Tensor, "row width"]) -> dict[str, np.ndarray]:
    """Exam → how often each asked occurrence gets its sense, from 0 to 1, given the vectors of `all_rows`."""
    place = {row: number for number, row in enumerate(all_rows())}
    learned = vectors[[place[row] for row in other_sentences()[0]]]
    scale = learned.std(0)
    scaled = (vectors - learned.mean(0)) / torch.where(scale > 1e-6, scale, torch.inf)

    def told(rows: Rows, others: Rows) -> np.ndarray:
        return nearest(scaled[[place[row] for row in rows]], rows, scaled[[place[row] for row in others]], others)

    found = {f"{each} labels": np.mean([told(labelled_senses(each, draw), asked(f"{each} labels"))
                                        for draw in range(SHOTS)], 0) for each in EACH}
    return found | {"other patterns": np.concatenate([told(rows, others) for rows, others in other_patterns()])}


def most_frequent() -> dict[str, np.ndarray]:
    """The same of the most frequent sense of each word, among all that could be labelled."""
    def told(rows: Rows, others: Rows) -> list[float]:
        said = senses.most_frequent(rows, others)
        return [float(sense == row.sense) for sense, row in zip(said, others, strict=True)]

    same = np.array(told(*other_sentences()))
    return dict.fromkeys(EXAMS[:-1], same) | {
        "other patterns": np.array([right for turn in other_patterns() for right in told(*turn)])}


def without_a_network() -> dict[str, dict[str, np.ndarray]]:
    """Rule → the same; "bag of words", "other words' vectors" and "most frequent"."""
    model, tokenizer = load("skipgram-world")
    table = model.token.weight.detach()
    around = torch.stack([table[tokenizer.encode(" ".join(row.words[:row.place] + row.words[row.place + 1:]),
                                                 plain=True)].mean(0) for row in all_rows()])
    return {"most frequent": most_frequent(), "bag of words": read_senses(senses.bag_of_words(all_rows())),
            "other words' vectors": read_senses(around)}
