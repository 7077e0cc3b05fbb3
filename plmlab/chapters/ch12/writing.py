"""Two tasks of writing for every model of `pretrained`: a sentence in Chinese, and the gist of an article.

Each is tuned as its own paper does it (`plmlab.chapters.ch12.manners`), and writes greedily; UniLM's network with
random weights learns the same beside them. No pretraining text tells what is a translation of what. The articles of two
thirds of the exam's gists were read in pretraining; the others are of entities that no training text names. There are
few articles, and few names to learn copying from, so each is told in several wordings.

Written before the runs: of two models the one *writes better* in a task if each of its seeds has more right to the last
word than each of the other's. UniLM's mix of masks *helps to write* if it writes better than the network that was
pretrained under one mask alone, and *costs* something if that one writes better; in at least one of the two tasks, and
in none the other way round. It *is worth pretraining for* if UniLM writes better than BERT. (Random weights were added
when the others had been run, as was the nearest training pair: what pretraining is worth, nothing had told.)
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.chapters.ch12.manners import MANNERS, written
from plmlab.chapters.ch12.pretrained import WARMUP, pretrained
from plmlab.draws import below, shuffled
from plmlab.metrics import bleu, rouge
from plmlab.recipes import Parts, apart, best_rates, spreads
from plmlab.train import Diverged, fit
from plmlab.world.datasets.tokenizer import bilingual_spelling
from plmlab.world.documents.articles import Library

PAIRS, EXAM, DEVELOPMENT = 8192, 300, 100
"""Translations to learn from; those of the exam, and those that rates and weights are chosen by."""
READ, CHOSEN = 67, 45
"""Articles of the pretraining text that are kept for the exam of gists, and for choosing."""
BATCH, EVERY, PATIENCE = 32, 250, 4
"""Rows of an update; every so many updates the development rows are written, and so many times without a better one
end a run."""
WORDINGS = 8
"""How often an article is told, each time in other words and another order."""
RATES, PILOTS, SEEDS = (1e-3, 3e-3, 1e-2), (8,), (0, 1, 2)

WRITERS = tuple(MANNERS)

Row = tuple[tuple[int, ...], tuple[int, ...]]
"""The ids of a source, and of its target."""


class Task(NamedTuple):
    """Rows to learn from, to choose by, and of the exam, of which the first were ``read`` in pretraining; the most
    updates, and those of the runs by which rates are chosen."""

    train: tuple[Row, ...]
    development: tuple[Row, ...]
    exam: tuple[Row, ...]
    read: int
    updates: int
    pilot: int


def _ids(words: Sequence[str]) -> tuple[int, ...]:
    return tuple(bilingual_spelling().encode(" ".join(words), plain=True))


@cache
def translation() -> Task:
    """English sentences and what they are in Chinese. Those of the exam, and those to choose by, stand in no training
    text: they are of patterns whose sentences are shared out between training and test."""
    full = world.full()

    def rows(split: str, seed: int, unread: bool = False) -> Iterator[Row]:
        return ((_ids(one.words), _ids(one.chinese)) for one in full.sentences(split, seed)
                if not unread or one.pattern in full.open_patterns)

    new = list(islice(dict.fromkeys(islice(rows("test", 77, unread=True), 2 * EXAM)), EXAM + DEVELOPMENT))
    return Task(tuple(islice(rows("train", 79), PAIRS)), tuple(new[EXAM:]), tuple(new[:EXAM]), read=0, updates=2000,
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
    exam, chosen = ([row(told[entity]) for entity in some]
                    for some in (entities[:READ], entities[READ:READ + CHOSEN]))
    new = [row(all_of_them[entity]) for entity in all_of_them if entity not in told]
    libraries = [Library(full.facts, full.held, full.seed + wording) for wording in range(WORDINGS)]
    learned = [row(library.article(entity, "train")) for library in libraries for entity in entities[READ + CHOSEN:]]
    return Task(tuple(learned), tuple(chosen), (*exam, *new), READ, updates=500, pilot=200)


TASKS: dict[str, Callable[[], Task]] = {"translation": translation, "gist": gist}


def begun(folder: str, name: str) -> nn.Module:
    """A model of `pretrained`, ready to be tuned to write."""
    return MANNERS[name].begin(pretrained(folder, name))


def judged(said: Sequence[Sequence[int]], rows: Sequence[Row]) -> dict[str, float]:
    """``exact``, the share that is right to the last word; ``bleu`` and ``rouge-l`` of words, from 0 to 100."""
    ours, theirs = ([" ".join(f"w{token}" for token in text) for text in side]
                    for side in (said, [target for _, target in rows]))
    return {"exact": fmean(tuple(text) == target for text, (_, target) in zip(said, rows, strict=True)),
            "bleu": bleu(ours, theirs), "rouge-l": 100 * rouge(ours, theirs).rougeL}


def tune(name: str, model: nn.Module, task: Task, lr: float, seed: int, **options: Any) -> Any:
    """Tune the model of an arm to write, in place; the history. The weights are those that wrote the development rows
    best."""
    make, vocab = MANNERS[name].example, bilingual_spelling().vocab

    def draw(rng: Random) -> list[Any]:
        return [make(*task.train[below(rng, len(task.train))], rng=rng) for _ in range(BATCH)]

    def score(tuned: nn.Module) -> float:
        said = written(name, tuned, [source for source, _ in task.development])
        return judged(said, task.development)["bleu"] / 100

    torch.manual_seed(seed)
    return fit(model, ExampleBatches(draw, f"write {seed}", vocab.need("pad")), steps=task.updates, lr=lr,
               warmup=WARMUP, score=score, evaluate_every=min(EVERY, task.updates), patience=PATIENCE,
               show=False, **options)


def reached(folder: str, name: str, kind: str, lr: float, seed: int) -> dict[str, float | int]:
    """A run: what `judged` tells of the exam, ``unread`` what is exact of the rows that pretraining has not read; the
    BLEU of the ``development`` rows, and the ``updates`` of the best weights. All 0 where it diverges."""
    task, model = TASKS[kind](), begun(folder, name)
    try:
        history = tune(name, model, task, lr, seed)
    except Diverged:
        return dict.fromkeys(("exact", "bleu", "rouge-l", "unread", "development", "updates"), 0)
    said = written(name, model, [source for source, _ in task.exam])
    assert history.best is not None
    updates, development = history.best
    unread = judged(said[task.read:], task.exam[task.read:])["exact"]
    return {**judged(said, task.exam), "unread": unread, "development": development, "updates": updates}


def rate_score(folder: str, name: str, kind: str, lr: float, seed: int) -> float:
    """How good a rate is: the BLEU of the development rows, of 1, after a task's pilot updates."""
    task = TASKS[kind]()
    try:
        history = tune(name, begun(folder, name), task._replace(updates=task.pilot), lr, seed)
    except Diverged:
        return -1.0
    assert history.best is not None
    return float(history.best[1])


def nearest(rows: Sequence[Row], known: Sequence[Row]) -> list[tuple[int, ...]]:
    """For each row the target of the known row whose source has the nearest words, by the cosine of their counts, to
    four digits; of several the first."""
    def counts(some: Sequence[Row]) -> Tensor:
        found = torch.zeros(len(some), len(bilingual_spelling()))
        for row, (source, _) in zip(found, some, strict=True):
            row.index_add_(0, torch.tensor(source), torch.ones(len(source)))
        return F.normalize(found, dim=1)
    near = (1e4 * counts(rows) @ counts(known).T).round()
    return [known[int(place)][1] for place in near.argmax(1)]


def baselines() -> dict[str, dict[str, float]]:
    """What needs no network: of translations the ``nearest`` training pair's; of gists the article's ``first``
    sentence, and its first ``two``."""
    stops = {bilingual_spelling().encode(mark, plain=True)[0] for mark in (".", "?")}

    def lead(source: Sequence[int], count: int) -> tuple[int, ...]:
        ends = [place + 1 for place, token in enumerate(source) if token in stops]
        return tuple(source[:ends[min(count, len(ends)) - 1]])

    exam, asked = gist().exam, translation()
    return {"nearest": judged(nearest(asked.exam, asked.train), asked.exam),
            **{name: judged([lead(source, count) for source, _ in exam], exam)
               for name, count in (("first", 1), ("two", 2))}}


def measure(parts: Parts) -> dict[str, Any]:
    """``tasks``: task → model → ``lr``, the ``rates`` tried with their development BLEU, and what `reached` tells, with
    spread; the ``baselines``; ``better``: task → who writes better than whom."""
    folder = str(parts.folder)
    arms = [(folder, name, kind) for kind in TASKS for name in WRITERS]
    rates = best_rates(parts, rate_score, PILOTS, dict.fromkeys(arms, RATES))
    found = parts(reached, [(*arm, rates[arm][0], seed) for arm in arms for seed in SEEDS])
    runs = {arm: {"lr": lr, "rates": list(scores.items()), **spreads({seed: found[*arm, lr, seed] for seed in SEEDS})}
            for arm, (lr, scores) in rates.items()}
    tasks = {kind: {name: runs[folder, name, kind] for name in WRITERS} for kind in TASKS}
    return {"tasks": tasks, "baselines": baselines(),
            "better": {kind: {name: [other for other in WRITERS if apart(told[name]["exact"], told[other]["exact"])]
                              for name in WRITERS} for kind, told in tasks.items()},
            "rows": {kind: [len(make().train), len(make().development), len(make().exam)]
                     for kind, make in TASKS.items()}}
