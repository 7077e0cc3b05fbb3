"""The contributions of bidirectional context and of the other parts of pretraining (Devlin et al. 2019, table 5; C.1,
C.2).

The `smaller` models are fine-tuned on the four tasks. A left-to-right model stays left-to-right in fine-tuning; its
baselines add a BiLSTM, which is bidirectional, or remove the causal mask from the first update of fine-tuning on.
"""

from functools import partial
from typing import Any, NamedTuple

import torch

from plmlab import world
from plmlab.example import Batch
from plmlab.models.bert import BERT
from plmlab.recipes import Parts, none_if_diverged, rates_tried, seed_summary, tune_learning_rates
from plmlab.recipes.stored_models import with_kept
from plmlab.transfer import MOST, TASKS, fine_tune, score
from plmlab.world.datasets.batches import pair_batches
from plmlab.world.datasets.segments import segment_pairs
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch08 import smaller
from studies.ch08.encoders import Encoder, LastPosition, LeftToRightBiLSTM

SEEDS = (0, 1, 2)
PILOTS = {9: 0, 10: 1}
"""Fine-tuning seed of a pilot run → the seed of its pretrained model."""
BUDGET, PILOT = (1500, 8), (600, 6)
"""Maximum updates, and early-stopping patience in evaluations; the same for the runs that choose the learning rates."""
GRID = {"tuned": (3e-4, 1e-3, 3e-3), "features": (1e-2, 3e-2, 1e-1)}
LIKE = {"always [MASK]": "BERT", "always [MASK], frozen": "BERT, frozen"}
"""Variant → the variant of the same architecture whose learning rates it uses."""


class Arm(NamedTuple):
    """A variant: how it was pretrained (``way``), the ``encoder`` that is given its weights, whether these are frozen
    (``features``), and its ``tasks``."""

    way: str
    encoder: type[Encoder] | None = None
    features: bool = False
    tasks: tuple[str, ...] = ("acceptability", "paraphrase", "extractive QA")


class Lifted(Encoder):
    """A plain BERT with the weights of another encoder: every position attends to every position."""


NOT_AT_ALL = "not at all"
"""The ``way`` of a variant with random weights."""
ARMS = {
    "BERT": Arm("BERT", tasks=tuple(TASKS)), "no next sentence": Arm("no next sentence"),
    "left to right": Arm("left to right", LastPosition), "+ BiLSTM": Arm("left to right", LeftToRightBiLSTM),
    "mask lifted": Arm("left to right", Lifted), "from scratch": Arm(NOT_AT_ALL),
    "always [MASK]": Arm("always [MASK]", tasks=("NER",)),
    "BERT, frozen": Arm("BERT", features=True, tasks=("NER",)),
    "always [MASK], frozen": Arm("always [MASK]", features=True, tasks=("NER",)),
}


def run_result(folder: str, arm: str, task: str, lr: float, seed: int, budget: tuple[int, int] = BUDGET,
            ) -> dict[str, float]:
    """The result of a run with all labels: its test ``score``, its score on the ``development`` rows, and the number of
    ``updates`` at the best weights."""
    steps, patience = budget
    way, encoder, features, _ = ARMS[arm]
    bert: BERT = (smaller.build("BERT", seed).encoder if way == NOT_AT_ALL
                  else smaller.pretrained(folder, way, PILOTS.get(seed, seed)))
    model, history = fine_tune(encoder.with_weights_from(bert) if encoder else bert, task, MOST, seed, lr=lr,
                               steps=steps,
                               patience=patience, features=features, show=False)
    assert history.best is not None
    return {"score": score(model, task), "development": history.best[1], "updates": history.best[0]}


@none_if_diverged
def lr_score(folder: str, arm: str, task: str, lr: float, seed: int) -> float:
    """The best development score with a learning rate."""
    return run_result(folder, arm, task, lr, seed, PILOT)["development"]


def pretrainings(parts: Parts, folder: str) -> dict[str, Any]:
    """Pretrain and save all models; return way → ``lr``, the ``rates`` tried, and the ``loss``, the accuracy on visible
    words (``words in sight``) and the ``million`` words of training text, with spread."""
    found = tune_learning_rates(parts, smaller.lr_score, tuple(PILOTS),
                                {(like,): smaller.RATES for like in smaller.LIKE.values()})
    best = {way: found[like,] for way, like in smaller.LIKE.items()}
    runs = parts(smaller.pretrain, [(folder, way, best[way][0], seed) for way in best for seed in SEEDS])
    return {way: {"lr": lr, "rates": rates_tried(scores),
                  **{name: seed_summary({seed: runs[folder, way, lr, seed][name] for seed in SEEDS})
                     for name in ("loss", "words in sight", "million")}} for way, (lr, scores) in best.items()}


@torch.no_grad()
def follows(folder: str, seed: int) -> float:
    """Accuracy of the pretrained BERT in next-sentence prediction, on 512 new pairs, half of them positive."""
    model = with_kept(smaller.build("BERT", seed), smaller.kept(folder, "BERT", seed))
    pairs = pair_batches(world.full(), "train", world_tokenizer(), 64, 77,
                         draw_pairs=partial(segment_pairs, longest=smaller.TIME - 3))
    right = []
    for step in range(8):
        batch = pairs(step)
        assert isinstance(batch, Batch)
        right.append(model.next_sentence_logits(model.encoder(batch)).argmax(-1) == batch.labels["next_sentence"])
    return float(torch.cat(right).float().mean())


def measure(parts: Parts) -> dict[str, Any]:
    """``ways``: the output of `pretrainings`; ``follows``: BERT's NSP accuracy, with spread; ``arms``: variant → task →
    ``lr``, ``rates``, and ``score`` and ``updates`` with spread."""
    folder = str(parts.folder)
    ways = pretrainings(parts, folder)
    judged = parts(follows, [(folder, seed) for seed in SEEDS])
    asked = [(name, task) for name, arm in ARMS.items() for task in arm.tasks]
    best = tune_learning_rates(parts, lr_score, tuple(PILOTS), {
        (folder, *one): GRID["features" if ARMS[one[0]].features else "tuned"] for one in asked if one[0] not in LIKE})
    rates = {(name, task): best[folder, LIKE.get(name, name), task] for name, task in asked}
    runs = parts(run_result, [(folder, *one, lr, seed) for one, (lr, _) in rates.items() for seed in SEEDS])
    told: dict[str, Any] = {name: {} for name in ARMS}
    for (name, task), (lr, scores) in rates.items():
        told[name][task] = {"lr": lr, "rates": rates_tried(scores), **{what: seed_summary(
            {seed: runs[folder, name, task, lr, seed][what] for seed in SEEDS}) for what in ("score", "updates")}}
    return {"steps": BUDGET[0], "patience": BUDGET[1], "ways": ways, "arms": told,
            "follows": seed_summary({seed: judged[folder, seed] for seed in SEEDS})}
