"""The generators of chapter 12, and baselines without a network for its generation tasks, which are described in
`plmlab.world.datasets.generation_tasks`."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from plmlab.chapters.ch12.pretrained import PRETRAINED, RANDOM_INIT
from plmlab.world.datasets.generation_tasks import Row, scores_of, summarization, translation
from plmlab.world.datasets.tokenizer import bilingual_tokenizer

GENERATORS = (*PRETRAINED, RANDOM_INIT)


def nearest(rows: Sequence[Row], known: Sequence[Row]) -> list[tuple[int, ...]]:
    """For each row, the target of the known row with the most similar source, by cosine of word counts rounded to four
    digits; the first if tied."""
    def counts(some: Sequence[Row]) -> Tensor:
        vectors = torch.zeros(len(some), len(bilingual_tokenizer()))
        for row, (source, _) in zip(vectors, some, strict=True):
            row.index_add_(0, torch.tensor(source), torch.ones(len(source)))
        return F.normalize(vectors, dim=1)
    near = (1e4 * counts(rows) @ counts(known).T).round()
    return [known[int(place)][1] for place in near.argmax(1)]


def baselines() -> dict[str, dict[str, float]]:
    """Baselines without a network: for translation, the target of the ``nearest`` training pair; for summarization, the
    ``first`` sentence of the article, and its first ``two`` sentences."""
    stops = {bilingual_tokenizer().encode(mark, plain=True)[0] for mark in (".", "?")}

    def lead(source: Sequence[int], count: int) -> tuple[int, ...]:
        ends = [place + 1 for place, token in enumerate(source) if token in stops]
        return tuple(source[:ends[min(count, len(ends)) - 1]])

    test_set, pairs = summarization().test_set, translation()
    return {"nearest": scores_of(nearest(pairs.test_set, pairs.train), pairs.test_set),
            **{name: scores_of([lead(source, count) for source, _ in test_set], test_set)
               for name, count in (("first", 1), ("two", 2))}}
