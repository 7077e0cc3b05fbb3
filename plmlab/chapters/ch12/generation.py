"""The generators of chapter 12, and baselines without a network for its generation tasks, which are described in
`plmlab.world.datasets.generation_tasks`."""

from plmlab.chapters.ch12.pretrained import PRETRAINED, RANDOM_INIT
from plmlab.world.datasets.generation_tasks import scores_of, summarization, translation
from plmlab.world.datasets.summaries import lead, nearest

GENERATORS = (*PRETRAINED, RANDOM_INIT)


def baselines() -> dict[str, dict[str, float]]:
    """Baselines without a network: for translation, the target of the ``nearest`` training pair; for summarization, the
    ``first`` sentence of the article, and its first ``two`` sentences."""
    test_set, pairs = summarization().test_set, translation()
    return {"nearest": scores_of(nearest(pairs.test_set, pairs.train), pairs.test_set),
            **{name: scores_of([lead(source, count) for source, _ in test_set], test_set)
               for name, count in (("first", 1), ("two", 2))}}
