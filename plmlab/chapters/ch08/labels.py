"""The benefit of pretraining, by number of labels and number of updates: training from scratch, feature-based (frozen)
and fine-tuned (§5.3, §4).

Every configuration is trained with early stopping on development rows, and the weights with the best development score
are evaluated on the test set.
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
"""Maximum number of updates, and early-stopping patience in evaluations."""
ENCODERS: dict[str, type[Encoder]] = {
    "frozen, all layers": AllLayers, "frozen, all layers + BiLSTM": AllLayersBiLSTM,
}


@cache
def pretrained() -> BERTPretraining:
    """The bundled pretrained BERT, with its two pretraining heads."""
    model, _ = load(CHECKPOINT)
    return model


def start(arm: str, seed: int) -> BERT:
    """The initial model of a configuration: for "from scratch", a BERT with random weights, otherwise an encoder with
    the weights of the checkpoint."""
    whole = pretrained()
    torch.manual_seed(seed)
    if arm == "from scratch":
        return BERT(whole.config)
    return ENCODERS[arm].with_weights_from(whole.encoder) if arm in ENCODERS else whole.encoder


def run_result(arm: str, task: str, labels: int, lr: float, seed: int) -> dict[str, Any]:
    """Result of one run: the test ``score``, the number of updates of the best weights, and the ``curve`` of
    development scores."""
    model, history = fine_tune(start(arm, seed), task, labels, seed, lr=lr, steps=STEPS, patience=PATIENCE,
                               features=arm.startswith("frozen"), show=False)
    best = history.best
    assert best is not None
    return {"score": score(model, task), "development": best[1], "updates": best[0], "made": len(history.losses),
            "curve": [value for _, value in history.scores]}
