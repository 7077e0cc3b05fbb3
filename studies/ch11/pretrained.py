"""The three encoders of chapter 11: XLNet, MPNet and a BERT, of one size, after as many updates on as much text.

XLNet and MPNet come with the course. Their rival, a BERT, is pretrained in the recipe's folder; the course's own BERT
has read five times as much. What is equal is the updates, the texts of each, one in eight a pair of segments, and so
the real tokens, padding and MPNet's masks not counted (`tokens`). BERT and MPNet read the very same sentences; XLNet
reads the same pairs, and for the rest other sentences of the same world, because its objective draws otherwise from the
same stream. What is asked of them is a third of the words, or 30 % of all positions. BERT alone is asked whether a
segment follows. The losses are of different questions: only beside its floor does each say something.
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
from plmlab.pretraining.material import world_batches
from plmlab.recipes import Parts
from plmlab.world.datasets.tokenizer import world_tokenizer

ALIKE = {"corpus": "world", "steps": 2800, "batch": 32, "accumulate": 4, "time": 192, "vocab": 2000, "layers": 3,
         "width": 128, "heads": 4, "seed": 0, "held_out": 0.05, "save_every": 700}
"""What all have in common."""
PLANS: dict[str, dict[str, Any]] = {
    "BERT": ALIKE | {"model": "bert", "lr": 4e-3, "choose": "rate=0.3"},
    "MPNet": ALIKE | {"model": "mpnet", "lr": 4e-3, "choose": "rate=0.3"},
    "XLNet": ALIKE | {"model": "xlnet", "lr": 4e-3, "choose": "k=3"},
}
"""Model → what its `Plan` is told, but where to. XLNet's rate is the best of 0.002, 0.004 and 0.008 in runs of
250 updates, MPNet's the better of the last two; BERT's is that of the course's own BERT, found in the same way."""
BUNDLED = {"MPNet": "mpnet-world", "XLNet": "xlnet-world"}
"""Those that come with the course."""
EVERY = 28
"""One update in so many is looked at where tokens are counted."""


def place(folder: str, model: str) -> Path:
    """Where a model's checkpoint lies, or will lie; ``folder`` is the recipe's."""
    return home() / BUNDLED[model] if model in BUNDLED else Path(folder) / model


def figures(checkpoint: Path) -> dict[str, float]:
    """What a checkpoint's README tells: the ``loss`` of the held-out text in nats a token, its ``floor``, and the
    ``seconds`` of its training."""
    text = (checkpoint / README).read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (.*?) \| ([\d.,]+)", text, re.MULTILINE))
    return {name: float(rows[title].replace(",", "")) for name, title in {
        "loss": "held-out loss, nats a token", "floor": "floor of the held-out text", "seconds": "seconds"}.items()}


def rival(folder: str) -> dict[str, float]:
    """Pretrain the BERT, unless it is there already; its `figures`."""
    if not place(folder, "BERT").exists():
        pretrain(Plan(**PLANS["BERT"], out=str(place(folder, "BERT"))))
    return figures(place(folder, "BERT"))


def pretrained(folder: str, model: str) -> BERTPretraining | TwoStreamPretraining:
    """A model with the output layer of its pretraining, in evaluation mode."""
    found, _ = load(place(folder, model))
    return found


def encoder(whole: BERTPretraining | TwoStreamPretraining) -> BERT:
    """What is tuned of a pretrained model: all but its output layer."""
    return whole.encoder


def tokens(model: str) -> float:
    """The real tokens that a model has read, [CLS] and [SEP] among them, in millions, judged by one update in `EVERY`.
    A place is counted once, though MPNet's masks stand there too."""
    plan = Plan(**PLANS[model], out="nowhere")
    batches, pad, read = world_batches(plan, world_tokenizer()), world_tokenizer().vocab.need("pad"), 0
    padding_mask = range(0, plan.steps, EVERY)
    for update in padding_mask:
        for step in range(plan.accumulate):
            batch = batches(update * plan.accumulate + step)
            places = batch.position_ids[:, 0].expand(batch.size).masked_fill(batch.tokens == pad, -1)
            read += int((places.amax(1) + 1).sum())
    return read * plan.steps / len(padding_mask) / 1e6


def measure(parts: Parts) -> dict[str, Any]:
    """Model → its `figures`, ``million`` tokens read, how many ``parameters`` its encoder has, and its ``lr``. The
    rival lies in the folder of the parts then."""
    folder = str(parts.folder)
    found = {"BERT": parts(rival, [(folder,)])[folder,]}
    found |= {model: figures(place(folder, model)) for model in BUNDLED}
    read = parts(tokens, [(model,) for model in PLANS])
    return {model: {**found[model], "million": read[model,], "parameters": _size(encoder(pretrained(folder, model))),
                    "lr": PLANS[model]["lr"]} for model in PLANS}


def _size(of: nn.Module) -> int:
    return sum(torch.numel(weight) for weight in of.parameters())
