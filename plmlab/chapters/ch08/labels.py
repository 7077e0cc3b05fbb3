"""What pretraining is worth by the number of labels and of updates: from scratch, frozen and fine-tuned (§5.3, §4).

All arms are trained until their score on development rows rises no more; the weights with the best one go to the exam.
"""

from functools import cache
from typing import Any

import torch

from plmlab.chapters.ch08.encoders import AllLayers, AllLayersBiLSTM, Encoder
from plmlab.checkpoints import load
from plmlab.models.bert import BERT, BERTPretraining
from plmlab.transfer import fine_tune, score

CHECKPOINT = "bert-world"
STEPS, PATIENCE = 1500, 8
"""Updates at most, and how many measurements without a better one end a run."""
ENCODERS: dict[str, type[Encoder]] = {
    "frozen, all layers": AllLayers, "frozen, all layers + BiLSTM": AllLayersBiLSTM,
}


@cache
def pretrained() -> BERTPretraining:
    """The course's own pretrained BERT, with its two heads."""
    model, _ = load(CHECKPOINT)
    return model


def start(arm: str, seed: int) -> BERT:
    """What an arm tunes: a BERT with random weights where it is "from scratch", else one on the checkpoint's."""
    whole = pretrained()
    torch.manual_seed(seed)
    if arm == "from scratch":
        return BERT(whole.config)
    return ENCODERS[arm].over(whole.encoder) if arm in ENCODERS else whole.encoder


def reached(arm: str, task: str, labels: int, lr: float, seed: int) -> dict[str, Any]:
    """A run: its score in the exam, the updates of its best weights, and its ``curve`` of development scores."""
    model, history = fine_tune(start(arm, seed), task, labels, seed, lr=lr, steps=STEPS, patience=PATIENCE,
                          features=arm.startswith("frozen"), show=False)
    best = history.best
    assert best is not None
    return {"score": score(model, task), "development": best[1], "updates": best[0], "made": len(history.losses),
            "curve": [value for _, value in history.scores]}
