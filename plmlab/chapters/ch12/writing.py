"""Two tasks of writing: a sentence in Chinese, and the gist of an article; and who needs no network for them.

The articles of two thirds of the exam's gists were read in pretraining; the others are of entities that no training
text names. There are few articles, and few names to learn copying from, so each is told in several wordings.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from plmlab import world
from plmlab.chapters.ch12.pretrained import NOTHING, PRETRAINED
from plmlab.draws import shuffled
from plmlab.metrics import bleu, rouge
from plmlab.world.datasets.tokenizer import bilingual_tokenizer
from plmlab.world.documents.articles import Library

PAIRS, TEST_SIZE, DEVELOPMENT = 8192, 300, 100
"""Translations to learn from; those of the exam, and those that rates and weights are chosen by."""
READ, CHOSEN = 67, 45
"""Articles of the pretraining text that are kept for the exam of gists, and for choosing."""
WORDINGS = 8
"""How often an article is told, each time in other words and another order."""
WRITERS = (*PRETRAINED, NOTHING)

Row = tuple[tuple[int, ...], tuple[int, ...]]
"""The ids of a source, and of its target."""


class Task(NamedTuple):
    """Rows to learn from, to choose by, and of the exam, of which the first were ``read`` in pretraining; the most
    updates, and those of the runs by which rates are chosen."""

    train: tuple[Row, ...]
    development: tuple[Row, ...]
    test_set: tuple[Row, ...]
    read: int
    updates: int
    pilot: int


def _ids(words: Sequence[str]) -> tuple[int, ...]:
    return tuple(bilingual_tokenizer().encode(" ".join(words), plain=True))


@cache
def translation() -> Task:
    """English sentences and what they are in Chinese. Those of the exam, and those to choose by, stand in no training
    text: they are of patterns whose sentences are shared out between training and test."""
    full = world.full()

    def rows(split: str, seed: int, unread: bool = False) -> Iterator[Row]:
        return ((_ids(one.words), _ids(one.chinese)) for one in full.sentences(split, seed)
                if not unread or one.pattern in full.open_patterns)

    new = list(islice(dict.fromkeys(islice(rows("test", 77, unread=True), 2 * TEST_SIZE)), TEST_SIZE + DEVELOPMENT))
    return Task(tuple(islice(rows("train", 79), PAIRS)), tuple(new[TEST_SIZE:]), tuple(new[:TEST_SIZE]), read=0,
                updates=2000,
                pilot=600)


@cache
def gist() -> Task:
    """Articles, and those of their sentences that say what it is about: the first, and mostly one more. Those to learn
    from are of other entities than the others, each in `WORDINGS` wordings."""
    def row(article: Any) -> Row:
        said = [word for place in article.gist for word in article.sentences[place].words]
        return _ids(article.words), _ids(said)

    full = world.full()
    told, all_of_them = (full.corpora.articles(split) for split in ("train", "facts"))
    entities = shuffled(Random("gist"), list(told))
    test_set, chosen = ([row(told[entity]) for entity in some]
                    for some in (entities[:READ], entities[READ:READ + CHOSEN]))
    new = [row(all_of_them[entity]) for entity in all_of_them if entity not in told]
    libraries = [Library(full.facts, full.held, full.seed + wording) for wording in range(WORDINGS)]
    learned = [row(library.article(entity, "train")) for library in libraries for entity in entities[READ + CHOSEN:]]
    return Task(tuple(learned), tuple(chosen), (*test_set, *new), READ, updates=500, pilot=200)


TASKS: dict[str, Callable[[], Task]] = {"translation": translation, "gist": gist}


def judged(said: Sequence[Sequence[int]], rows: Sequence[Row]) -> dict[str, float]:
    """``exact``, the share that is right to the last word; ``bleu`` and ``rouge-l`` of words, from 0 to 100."""
    ours, theirs = ([" ".join(f"w{token}" for token in text) for text in side]
                    for side in (said, [target for _, target in rows]))
    return {"exact": fmean(tuple(text) == target for text, (_, target) in zip(said, rows, strict=True)),
            "bleu": bleu(ours, theirs), "rouge-l": 100 * rouge(ours, theirs).rougeL}


def nearest(rows: Sequence[Row], known: Sequence[Row]) -> list[tuple[int, ...]]:
    """For each row the target of the known row whose source has the nearest words, by the cosine of their counts, to
    four digits; of several the first."""
    def counts(some: Sequence[Row]) -> Tensor:
        found = torch.zeros(len(some), len(bilingual_tokenizer()))
        for row, (source, _) in zip(found, some, strict=True):
            row.index_add_(0, torch.tensor(source), torch.ones(len(source)))
        return F.normalize(found, dim=1)
    near = (1e4 * counts(rows) @ counts(known).T).round()
    return [known[int(place)][1] for place in near.argmax(1)]


def baselines() -> dict[str, dict[str, float]]:
    """What needs no network: of translations the ``nearest`` training pair's; of gists the article's ``first``
    sentence, and its first ``two``."""
    stops = {bilingual_tokenizer().encode(mark, plain=True)[0] for mark in (".", "?")}

    def lead(source: Sequence[int], count: int) -> tuple[int, ...]:
        ends = [place + 1 for place, token in enumerate(source) if token in stops]
        return tuple(source[:ends[min(count, len(ends)) - 1]])

    test_set, asked = gist().test_set, translation()
    return {"nearest": judged(nearest(asked.test_set, asked.train), asked.test_set),
            **{name: judged([lead(source, count) for source, _ in test_set], test_set)
               for name, count in (("first", 1), ("two", 2))}}
