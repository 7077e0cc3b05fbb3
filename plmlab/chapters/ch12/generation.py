"""Two generation tasks, translating a sentence into Chinese and summarizing an article, with baselines that use no
network.

Two thirds of the test articles for summarization occurred in pretraining; the others are about entities that no
training text mentions. There are few articles, and few names from which to learn copying, so each article appears in
several wordings.
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
from plmlab.chapters.ch12.pretrained import PRETRAINED, RANDOM_INIT
from plmlab.draws import shuffled
from plmlab.metrics import bleu, rouge
from plmlab.world.datasets.tokenizer import bilingual_tokenizer
from plmlab.world.documents.articles import Library

PAIRS, TEST_SIZE, DEVELOPMENT = 8192, 300, 100
"""Training pairs for translation; test rows; and development rows, for choosing learning rates and weights."""
READ, CHOSEN = 67, 45
"""Articles of the pretraining text that are held out for the summarization test set, and for development."""
WORDINGS = 8
"""Number of versions of an article, each with other words and another order."""
GENERATORS = (*PRETRAINED, RANDOM_INIT)

Row = tuple[tuple[int, ...], tuple[int, ...]]
"""Token ids of a source and of its target."""


class Task(NamedTuple):
    """Training, development and test rows, where the first ``read`` test rows occurred in pretraining; the maximum
    number of ``updates``, and that of the pilot runs that choose learning rates (``pilot``)."""

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
    """English sentences and their Chinese translations. Test and development sentences occur in no training text: they
    are generated from patterns whose sentences are split between training and test."""
    full = world.full()

    def rows(split: str, seed: int, unread: bool = False) -> Iterator[Row]:
        return ((_ids(one.words), _ids(one.chinese)) for one in full.sentences(split, seed)
                if not unread or one.pattern in full.open_patterns)

    unseen = list(islice(dict.fromkeys(islice(rows("test", 77, unread=True), 2 * TEST_SIZE)), TEST_SIZE + DEVELOPMENT))
    return Task(tuple(islice(rows("train", 79), PAIRS)), tuple(unseen[TEST_SIZE:]), tuple(unseen[:TEST_SIZE]), read=0,
                updates=2000, pilot=600)


@cache
def summarization() -> Task:
    """Articles and gist sentences that summarize them: the first sentence of the article, and usually one more.
    Training articles are about other entities, each in `WORDINGS` wordings."""
    def row(article: Any) -> Row:
        words = [word for place in article.gist for word in article.sentences[place].words]
        return _ids(article.words), _ids(words)

    full = world.full()
    in_training, all_of_them = (full.corpora.articles(split) for split in ("train", "facts"))
    entities = shuffled(Random("gist"), list(in_training))
    test_set, chosen = ([row(in_training[entity]) for entity in some]
                        for some in (entities[:READ], entities[READ:READ + CHOSEN]))
    unseen = [row(all_of_them[entity]) for entity in all_of_them if entity not in in_training]
    libraries = [Library(full.facts, full.held, full.seed + wording) for wording in range(WORDINGS)]
    learned = [row(library.article(entity, "train")) for library in libraries for entity in entities[READ + CHOSEN:]]
    return Task(tuple(learned), tuple(chosen), (*test_set, *unseen), READ, updates=500, pilot=200)


TASKS: dict[str, Callable[[], Task]] = {"translation": translation, "summarization": summarization}


def scores_of(said: Sequence[Sequence[int]], rows: Sequence[Row]) -> dict[str, float]:
    """The fraction of ``exact`` matches, from 0 to 1; and ``bleu`` and ``rouge-l`` over words, from 0 to 100."""
    candidates, references = ([" ".join(f"w{token}" for token in text) for text in side]
                              for side in (said, [target for _, target in rows]))
    return {"exact": fmean(tuple(text) == target for text, (_, target) in zip(said, rows, strict=True)),
            "bleu": bleu(candidates, references), "rouge-l": 100 * rouge(candidates, references).rougeL}


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

    test_set, asked = summarization().test_set, translation()
    return {"nearest": scores_of(nearest(asked.test_set, asked.train), asked.test_set),
            **{name: scores_of([lead(source, count) for source, _ in test_set], test_set)
               for name, count in (("first", 1), ("two", 2))}}
