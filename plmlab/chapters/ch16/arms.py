"""REALM and what it would be without one of its parts, trained from the same beginning on the same statements in the
same order."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import torch

from plmlab.chapters.ch16.corpora import DEVELOPMENT, TEST_WORLDS, TRAINING, Statement, corpus
from plmlab.chapters.ch16.training import QUOTED, Arm, Lesson, LookedUp, among, random_span, random_tokens, recall
from plmlab.chapters.ch16.warm_start import started, untrained_embedder
from plmlab.draws import shuffled
from plmlab.models.realm import REALM
from plmlab.models.retrieve_and_read import Reading, RetrieveAndRead
from plmlab.recipes.stored_models import keep, with_kept
from plmlab.train import History, fit

FULL = "REALM"
ARMS: Mapping[str, Arm] = {
    FULL: Arm(),
    "random spans": Arm(hidden=random_span),
    "random tokens": Arm(hidden=random_tokens),
    "stale index": Arm(fresh=False),
    "no warm start": Arm(warm=False),
    "no null document": Arm(null=False),
    "quoted alone": Arm(drawn=QUOTED),
    "quoted alone, source not excluded": Arm(drawn=QUOTED, excluded=False),
}
UPDATES, BATCH, EVERY = 400, 16, 25
"""Updates, statements in each, and updates between two worlds."""
ASKED = 150
"""So many statements are asked of each exam world."""
SEEDS = (0, 1, 2)
CHOSEN = (FULL, "random spans", "random tokens")
"""The arms that have a rate of their own; the others have REALM's, as its ablation was recorded."""


@cache
def questions(world: int, most: int = ASKED) -> tuple[Statement, ...]:
    """Statements of a world to be asked, drawn."""
    return tuple(shuffled(Random(world), corpus(world).statements)[:most])


def begun(name: str) -> REALM:
    """An arm before it is trained."""
    arm, warm = ARMS[name], started()
    return REALM.from_pretrained(warm.embedder if arm.warm else untrained_embedder(), warm.reader)


def train(model: REALM, arm: Arm, lr: float, seed: int, updates: int = UPDATES, **options: Any) -> History:
    """Train retriever and reader together; ``options`` go to `fit`."""
    lessons = [Lesson.of(world) for world in shuffled(Random(seed), TRAINING)]
    batches = LookedUp(model, lambda turn: lessons[turn % len(lessons)], arm, seed=seed, batch=BATCH, every=EVERY)
    return fitted(model, batches, lr, updates, **options)


def fitted(model: torch.nn.Module, batches: Any, lr: float, updates: int = UPDATES, **options: Any) -> History:
    """Train any model as the arms are trained."""
    return fit(model, batches, steps=updates, lr=lr, warmup=updates // 10, lr_end=lr / 10, compile=False, **options)


def learned(folder: str, name: str, lr: float, seed: int) -> dict[str, Any]:
    """Train an arm and leave its weights in the recipe's folder. Its ``curve``, (updates, share of the exam's
    statements for which one of four documents tells the fact), and the same of the ``development`` world."""
    torch.manual_seed(seed)
    model = begun(name)
    curve = [(0, exam_recall(model))]
    history = train(model, ARMS[name], lr, seed, precision="float32", show=False, score=exam_recall,
                    evaluate_every=100)
    keep(model, file(folder, name, lr, seed))
    development = recall(among(model, DEVELOPMENT), questions(DEVELOPMENT))
    return {"curve": [*curve, *history.scores], "development": development}


def exam_recall(model: torch.nn.Module) -> float:
    """Recall at four over all exam worlds, of a third of the exam's statements."""
    assert isinstance(model, REALM)
    return fmean(recall(among(model, world), questions(world)[:ASKED // 3]) for world in TEST_WORLDS)


def file(folder: str, name: str, lr: float, seed: int) -> Path:
    """Where a recipe keeps the weights of an arm."""
    return Path(folder) / f"{name.replace(' ', '-')}-{lr:g}-{seed}.safetensors"


def kept(folder: str, name: str, lr: float, seed: int) -> REALM:
    """An arm that `learned` has left."""
    return with_kept(begun(name), file(folder, name, lr, seed))


def answered(lookup: RetrieveAndRead, statements: Sequence[Statement], null: bool) -> list[Reading]:
    """What is made of each statement; its true answer is among the answers."""
    return lookup.read([one.query() for one in statements], null=null, also=[[one.answer] for one in statements])


def outcomes(name: str, model: REALM) -> dict[str, float]:
    """An arm's exam: the share of statements whose fact stands in the best document (``first``) and in one of the best
    four (``among four``), that are answered ``right``; the means of p(null|x), of −log p(y|x) (``loss``), and of what
    looking up is worth, log p(y|x) − log p(y|null, x) (``utility``); in nats."""
    null = ARMS[name].null
    return means([row for world in TEST_WORLDS for row in each(among(model, world), questions(world), null)])


def means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Those of each number, over rows of one shape."""
    return {key: fmean(row[key] for row in rows) for key in rows[0]}


def each(lookup: RetrieveAndRead, statements: Sequence[Statement], null: bool) -> list[dict[str, float]]:
    """The `outcome` of each statement."""
    return [outcome(statement, reading, null)
            for statement, reading in zip(statements, answered(lookup, statements, null), strict=True)]


def outcome(statement: Statement, reading: Reading, null: bool) -> dict[str, float]:
    """One statement of `outcomes`; its true answer is among the answers."""
    true = reading.answers.index(statement.answer)
    found = reading.numbers[int(null):]
    marginal = float(reading.marginals[true].log())
    row = {"first": float(found[0] in statement.tell), "among four": float(not statement.tell.isdisjoint(found)),
           "right": float(true == 0), "loss": -marginal}
    if null:
        row |= {"null": float(reading.priors[0]), "utility": marginal - float(reading.likelihoods[0, true].log())}
    return row
