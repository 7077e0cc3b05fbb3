"""What seeing both sides is worth, and what the other parts of the pretraining are (Devlin et al. 2019, table 5; C.2).

The `smaller` models are tuned on the four tasks. A left-to-right model sees the left side only in tuning too; its
rivals have a BiLSTM on top, which sees both sides, or see both sides from the first update of the tuning on.
"""

from typing import Any, NamedTuple

from plmlab.chapters.ch08 import smaller
from plmlab.chapters.ch08.encoders import Encoder, LastSlot, LeftToRightBiLSTM
from plmlab.models.bert import BERT
from plmlab.recipes import Parts, best_rates, spread
from plmlab.train import Diverged
from plmlab.transfer import MOST, TASKS, score, tune

SEEDS = (0, 1, 2)
PILOTS = {9: 0, 10: 1}
"""The seeds of the tuning that learning rates are chosen with, and the seed of the pretrained model that is tuned."""
STEPS, PATIENCE = 1000, 6
"""Updates at most, and how many measurements without a better one end a run."""
GRID = {"tuned": (3e-4, 1e-3, 3e-3), "features": (1e-2, 3e-2, 1e-1)}


class Arm(NamedTuple):
    """The pretraining of an arm, what stands on its weights, whether they are frozen, and the tasks."""

    way: str
    encoder: type[Encoder] | None = None
    features: bool = False
    tasks: tuple[str, ...] = ("one sentence", "a pair", "an answer")


class Lifted(Encoder):
    """The weights of another encoder in a plain BERT: everyone sees everyone."""


ARMS = {
    "BERT": Arm("BERT", tasks=tuple(TASKS)), "no next sentence": Arm("no next sentence"),
    "left to right": Arm("left to right", LastSlot), "+ BiLSTM": Arm("left to right", LeftToRightBiLSTM),
    "mask lifted": Arm("left to right", Lifted), "always [MASK]": Arm("always [MASK]", tasks=("names",)),
    "BERT, frozen": Arm("BERT", features=True, tasks=("names",)),
    "always [MASK], frozen": Arm("always [MASK]", features=True, tasks=("names",)),
}


def reached(folder: str, arm: str, task: str, lr: float, seed: int) -> dict[str, float]:
    """A run with all labels: its ``score`` in the exam, that on the ``development`` rows, and the ``updates`` made."""
    way, encoder, features, _ = ARMS[arm]
    bert: BERT = smaller.pretrained(folder, way, PILOTS.get(seed, seed))
    model, history = tune(encoder.over(bert) if encoder else bert, task, MOST, seed, lr=lr, steps=STEPS,
                          patience=PATIENCE, features=features, show=False)
    assert history.best is not None
    return {"score": score(model, task), "development": history.best[1], "updates": history.best[0]}


def rate_score(folder: str, arm: str, task: str, lr: float, seed: int) -> float:
    """The best development score with a learning rate; 0 where the run diverges."""
    try:
        return reached(folder, arm, task, lr, seed)["development"]
    except Diverged:
        return 0.0


def pretrainings(parts: Parts, folder: str) -> dict[str, Any]:
    """Pretrain and keep all models; way → ``lr``, the ``rates`` tried, and ``loss``, ``words in sight`` and ``million``
    words read, with spread."""
    found = best_rates(parts, smaller.rate_score, tuple(PILOTS),
                       {(like,): smaller.RATES for like in smaller.LIKE.values()})
    best = {way: found[like,] for way, like in smaller.LIKE.items()}
    runs = parts(smaller.pretrain, [(folder, way, best[way][0], seed) for way in best for seed in SEEDS])
    return {way: {"lr": lr, "rates": list(scores.items()),
                  **{name: spread({seed: runs[folder, way, lr, seed][name] for seed in SEEDS})
                     for name in ("loss", "words in sight", "million")}} for way, (lr, scores) in best.items()}


def measure(parts: Parts) -> dict[str, Any]:
    """``ways``: what `pretrainings` tells; ``arms``: arm → task → ``lr``, ``rates``, and ``score`` with spread."""
    folder = str(parts.folder)
    ways = pretrainings(parts, folder)
    asked = [(name, task) for name, arm in ARMS.items() for task in arm.tasks]
    best = best_rates(parts, rate_score, tuple(PILOTS), {
        (folder, *one): GRID["features" if ARMS[one[0]].features else "tuned"] for one in asked})
    runs = parts(reached, [(*one, lr, seed) for one, (lr, _) in best.items() for seed in SEEDS])
    told: dict[str, Any] = {name: {} for name in ARMS}
    for (_, name, task), (lr, scores) in best.items():
        told[name][task] = {"lr": lr, "rates": list(scores.items()), "score": spread(
            {seed: runs[folder, name, task, lr, seed]["score"] for seed in SEEDS})}
    return {"steps": STEPS, "patience": PATIENCE, "ways": ways, "arms": told}
