"""The arms, trained: for 1,200 updates, for three times as many, and as the notebook trains one.

Written before the runs, after pilots with other seeds: rates are judged by the price of an answer in other texts, on
two seeds and after 1,200 updates, and arms in `LIKE` take another's, that of the arm which is most like them. A memory
learns to answer within 400 to 800 updates, and suddenly; all have 1,200, and what they pay for an answer is followed,
to see who has come to rest.
"""

from math import log
from typing import Any

from plmlab.chapters.ch10 import arms
from plmlab.chapters.ch10.arms import ARMS, SEEDS, new, said
from plmlab.models.transformer_xl import TransformerXL
from plmlab.recipes import Parts
from plmlab.recipes.rates import Scores
from plmlab.recipes.study import Run, Study
from plmlab.train import History

LIVE, UPDATES = 400, 1200
"""Of the run that the notebook repeats, and of all arms."""
LONGER = 3 * UPDATES
"""So that who learns slowly comes to rest."""
LIKE = {"none": "memory", "window": "memory", "taught": "memory", "absolute, none": "absolute",
        "counting": "absolute", "no positions": "absolute"}
"""The arms that take the rate of another."""
WATCHED, EVERY = 60, 100
"""On so many texts the price of an answer is followed in training, and after how many updates it is taken."""
WORDS = 445
"""The types of the texts to train on."""
Rates = dict[str, tuple[float, Scores]]
"""Arm → its rate, with the scores of those that were tried."""


def train(model: TransformerXL, name: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train an arm; the run's history, whose ``scores`` are minus the price of an answer, in nats, after every `EVERY`
    updates."""
    return arms.train(model, updates, lr, seed, evaluate_every=EVERY,
                      score=lambda model: -said(model, "development", WATCHED).answers, **options)


def development(run: Run) -> float:
    """Minus the price of an answer in the texts to choose by."""
    return -said(run.model, "development").answers


def test(run: Run) -> dict[str, Any]:
    """What an arm says in the exam, its ``history`` (number of updates, the price of an answer) and the ``seconds`` of
    an update."""
    history = run.history
    return said(run.model, "test_set")._asdict() | {
        "history": [[step, -score] for step, score in history.scores],
        "seconds": (history.seconds - history.overhead) / run.updates}


STUDY = Study(name="arms", arms={(name,): (3e-3, 5e-3, 1e-2) for name in ARMS}, build=new, train=train,
              development=development, test=test, seeds=SEEDS, pilots=(8, 9), nothing=-log(WORDS),
              updates={(name,): (LIVE, UPDATES, LONGER) if name == "memory" else (UPDATES, LONGER) for name in ARMS},
              unequal="the short run of one arm is what the notebook repeats, and compared with nothing else")


def tuned(parts: Parts, study: Study = STUDY) -> Rates:
    """The rate of every arm, its own or that of the arm that it is `LIKE`."""
    found = study.best(parts, [(name, UPDATES) for name, in study.arms if name not in LIKE])
    return {name: found[LIKE.get(name, name), UPDATES] for name, in study.arms}
