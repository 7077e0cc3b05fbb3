"""The three encoders of chapter 11: XLNet, MPNet and a BERT, of equal size, after the same number of updates on the
same amount of text.

XLNet and MPNet are bundled checkpoints. Their baseline, a BERT, is pretrained in the recipe's folder, because the
bundled BERT was trained on five times the amount of text. The number of updates is equal, and so is the amount of text
per update, with a pair of segments in one text of eight; therefore the number of real tokens is equal too, not counting
padding and MPNet's masks (`million_tokens`). BERT and MPNet are trained on exactly the same sentences; XLNet is trained
on the same pairs, but otherwise on other sentences of the same world, because its objective samples differently from
the same random stream. A third of the words, or 30 % of all positions, are targets. Only BERT has next-sentence
prediction. The losses belong to different objectives, so each is meaningful only in comparison with its own floor.
"""

import re
from pathlib import Path
from typing import Any

import torch
from torch import nn

from plmlab.checkpoints import README, home, load
from plmlab.models.bert import BERT, BERTPretraining
from plmlab.models.two_streams import TwoStreamPretraining
from plmlab.pretraining import Plan, pretrain
from plmlab.pretraining.material import real_tokens
from plmlab.recipes import Parts
from plmlab.world.datasets.tokenizer import world_tokenizer

SHARED = {"corpus": "world", "steps": 2800, "batch": 32, "accumulate": 4, "time": 192, "vocab": 2000, "layers": 3,
         "width": 128, "heads": 4, "seed": 0, "held_out": 0.05, "save_every": 700}
"""Settings that all models share."""
PLANS: dict[str, dict[str, Any]] = {
    "BERT": SHARED | {"model": "bert", "lr": 4e-3, "choose": "rate=0.3"},
    "MPNet": SHARED | {"model": "mpnet", "lr": 4e-3, "choose": "rate=0.3"},
    "XLNet": SHARED | {"model": "xlnet", "lr": 4e-3, "choose": "k=3"},
}
"""Model → arguments of its `Plan`, except the output path. XLNet's learning rate is the best of 0.002, 0.004 and 0.008
in runs of 250 updates, MPNet's the better of the last two; BERT's is that of the bundled BERT, chosen in the same way.
"""
BUNDLED = {"MPNet": "mpnet-world", "XLNet": "xlnet-world"}
"""Bundled checkpoints."""
EVERY = 28
"""Tokens are counted in one of this many updates."""


def checkpoint_path(folder: str, model: str) -> Path:
    """The path of a model's checkpoint; ``folder`` is the folder of the recipe."""
    return home() / BUNDLED[model] if model in BUNDLED else Path(folder) / model


def readme_figures(checkpoint: Path) -> dict[str, float]:
    """Figures from a checkpoint's README: the held-out ``loss`` in nats per token, its ``floor``, and the training time
    in ``seconds``."""
    text = (checkpoint / README).read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (.*?) \| ([\d.,]+)", text, re.MULTILINE))
    return {name: float(rows[title].replace(",", "")) for name, title in {
        "loss": "held-out loss, nats per token", "floor": "floor of the held-out text", "seconds": "seconds"}.items()}


def pretrain_baseline(folder: str) -> dict[str, float]:
    """Pretrain the baseline BERT, unless its checkpoint exists; return its `readme_figures`."""
    if not checkpoint_path(folder, "BERT").exists():
        pretrain(Plan(**PLANS["BERT"], out=str(checkpoint_path(folder, "BERT"))))
    return readme_figures(checkpoint_path(folder, "BERT"))


def load_model(folder: str, model: str) -> BERTPretraining | TwoStreamPretraining:
    """A model with its pretraining output layer, in evaluation mode."""
    found, _ = load(checkpoint_path(folder, model))
    return found


def encoder(whole: BERTPretraining | TwoStreamPretraining) -> BERT:
    """The part of a pretrained model that is fine-tuned: everything except the output layer."""
    return whole.encoder


def million_tokens(model: str) -> float:
    """The `real_tokens` of a model's training text, in millions, estimated from one update in `EVERY`."""
    return real_tokens(Plan(**PLANS[model], out="nowhere"), world_tokenizer(), EVERY) / 1e6


def measure(parts: Parts) -> dict[str, Any]:
    """Model → its `readme_figures`, the ``million tokens`` of its training text, the number of ``parameters`` of its
    encoder, and its ``lr``. The baseline is stored in the folder of the parts."""
    folder = str(parts.folder)
    found = {"BERT": parts(pretrain_baseline, [(folder,)])[folder,]}
    found |= {model: readme_figures(checkpoint_path(folder, model)) for model in BUNDLED}
    millions = parts(million_tokens, [(model,) for model in PLANS])
    return {model: {**found[model], "million tokens": millions[model,],
                    "parameters": _size(encoder(load_model(folder, model))), "lr": PLANS[model]["lr"]}
            for model in PLANS}


def _size(model: nn.Module) -> int:
    return sum(torch.numel(weight) for weight in model.parameters())
