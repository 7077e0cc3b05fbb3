"""REALM and its ablations, trained from the same checkpoint on the same statements in the same order."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import torch

from plmlab.chapters.ch16.corpora import Statement, corpus
from plmlab.chapters.ch16.training import (
    QUOTED,
    Arm,
    RetrievalBatches,
    TrainingSet,
    random_span,
    random_tokens,
    recall,
    with_corpus,
)
from plmlab.chapters.ch16.warm_start import untrained_embedder, warm_started
from plmlab.draws import shuffled
from plmlab.models.realm import REALM
from plmlab.models.retrieve_and_read import Reading, RetrieveAndRead
from plmlab.recipes.stored_models import keep, with_kept
from plmlab.train import History, fit
from plmlab.world.datasets.fact_documents import DEVELOPMENT, TEST_WORLDS, TRAINING

FULL = "REALM"
ARMS: Mapping[str, Arm] = {
    FULL: Arm(),
    "random spans": Arm(hidden=random_span),
    "random tokens": Arm(hidden=random_tokens),
    "stale index": Arm(fresh=False),
    "no warm start": Arm(warm=False),
    "no null document": Arm(null=False),
    "quoted statements only": Arm(drawn=QUOTED),
    "quoted statements only, source not excluded": Arm(drawn=QUOTED, excluded=False),
}
UPDATES, BATCH, EVERY = 400, 16, 25
"""Updates, statements per update, and updates between two worlds."""
TEST_SIZE = 150
"""Number of statements queried in each test world."""
SEEDS = (0, 1, 2)
CHOSEN = (FULL, "random spans", "random tokens", "stale index", "no warm start", "no null document")
"""The variants with a learning rate of their own; the others use REALM's."""


@cache
def questions(world: int, size: int = TEST_SIZE) -> tuple[Statement, ...]:
    """A random sample of a world's statements, for evaluation."""
    return tuple(shuffled(Random(world), corpus(world).statements)[:size])


def initialized(name: str) -> REALM:
    """A variant's model before training."""
    arm, warm = ARMS[name], warm_started()
    return REALM.from_pretrained(warm.embedder if arm.warm else untrained_embedder(), warm.reader)


def train(model: REALM, arm: Arm, lr: float, seed: int, updates: int = UPDATES, **options: Any) -> History:
    """Train the retriever and the reader jointly; ``options`` are passed to `fit`."""
    sets = [TrainingSet.of(world) for world in shuffled(Random(seed), TRAINING)]
    batches = RetrievalBatches(model, lambda turn: sets[turn % len(sets)], arm, seed=seed, batch=BATCH, every=EVERY)
    return fit_model(model, batches, lr, updates, **options)


def fit_model(model: torch.nn.Module, batches: Any, lr: float, updates: int = UPDATES, **options: Any) -> History:
    """Train any model with the learning-rate schedule of the variants."""
    return fit(model, batches, steps=updates, lr=lr, warmup=updates // 10, lr_end=lr / 10, compile=False, **options)


def train_arm(folder: str, name: str, lr: float, seed: int) -> dict[str, Any]:
    """Train a variant and save its weights in the recipe's folder. Returns its ``curve`` of (updates, recall@4 on test
    statements), and its recall@4 on the ``development`` world."""
    torch.manual_seed(seed)
    model = initialized(name)
    curve = [(0, test_set_recall(model))]
    history = train(model, ARMS[name], lr, seed, precision="float32", show=False, score=test_set_recall,
                    evaluate_every=100)
    keep(model, file(folder, name, lr, seed))
    development = recall(with_corpus(model, DEVELOPMENT), questions(DEVELOPMENT))
    return {"curve": [*curve, *history.scores], "development": development}


def test_set_recall(model: torch.nn.Module) -> float:
    """Recall@4 over all test worlds, measured on a third of the test statements."""
    assert isinstance(model, REALM)
    return fmean(recall(with_corpus(model, world), questions(world)[:TEST_SIZE // 3]) for world in TEST_WORLDS)


def file(folder: str, name: str, lr: float, seed: int) -> Path:
    """The path of a variant's weights in a recipe's folder."""
    return Path(folder) / f"{name.replace(' ', '-')}-{lr:g}-{seed}.safetensors"


def stored_model(folder: str, name: str, lr: float, seed: int) -> REALM:
    """A variant whose weights `train_arm` has saved."""
    return with_kept(initialized(name), file(folder, name, lr, seed))


def answer_queries(lookup: RetrieveAndRead, statements: Sequence[Statement], null: bool) -> list[Reading]:
    """Predictions for each statement; the correct answer is always among the candidates."""
    return lookup.read([one.query() for one in statements], null=null, also=[[one.answer] for one in statements])


def outcomes(name: str, model: REALM) -> dict[str, float]:
    """Test results of a variant: recall@1 (``first``), recall@4 (``among four``) and the accuracy of the answers
    (``right``); the means, in nats, of −log p(y|x) (``loss``) and of the retrieval utility log p(y|x) − log p(y|null,
    x) (``utility``); and the mean of p(null|x)."""
    return means([row for world in TEST_WORLDS
                  for row in outcome_rows(with_corpus(model, world), questions(world), ARMS[name].null)])


def means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each value over rows with the same keys."""
    return {key: fmean(row[key] for row in rows) for key in rows[0]}


def outcome_rows(lookup: RetrieveAndRead, statements: Sequence[Statement], null: bool) -> list[dict[str, float]]:
    """The `outcome` of each statement."""
    return [outcome(statement, reading, null)
            for statement, reading in zip(statements, answer_queries(lookup, statements, null), strict=True)]


def outcome(statement: Statement, reading: Reading, null: bool) -> dict[str, float]:
    """The results of `outcomes` for one statement, whose correct answer is among the candidates."""
    gold = reading.answers.index(statement.answer)
    ranked = reading.numbers[int(null):]
    marginal = float(reading.marginals[gold].log())
    row = {"first": float(ranked[0] in statement.tell), "among four": float(not statement.tell.isdisjoint(ranked)),
           "right": float(gold == 0), "loss": -marginal}
    if null:
        row |= {"null": float(reading.priors[0]), "utility": marginal - float(reading.likelihoods[0, gold].log())}
    return row
