"""The bundled GLM, and a BERT for comparison, of equal size and pretrained on the same number of real tokens of the
full world's English.

GLM is the bundled checkpoint, whose learning rate, 0.002, was chosen by single shorter runs (see its README). BERT
masks the same number of words, independently, and has next-sentence prediction; its learning rate is the best of a grid
by the loss of short runs on other texts, as in `pretrained`. This is not a `Study`, because the number of updates is
determined by counting tokens, and because classifiers built on the BERT initialize their new layer after its network,
with the seed of their own run, which the seed of a study would override.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from plmlab.checkpoints import load
from plmlab.models.bert import BERTPretraining
from plmlab.models.glm import GLMPretraining
from plmlab.objectives import masked, next_sentence
from plmlab.objectives.blanks import blank_infilling, blanks_of_pair
from plmlab.pretraining.material import world_texts
from plmlab.recipes import Parts, none_if_diverged, rates_tried, tune_learning_rates
from plmlab.recipes.stored_models import keep, with_kept
from plmlab.train import fit
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch12.pretrained import EVERY, JUDGED, OTHERS, PILOT, PILOTS, RATES, WARMUP, bert

CHECKPOINT = "glm-world"
UPDATES, BATCH, ACCUMULATE, TIME, RATE, SEED = 4000, 32, 4, 192, 0.3, 0
"""Settings of the run that made the checkpoint; all but the updates are BERT's too. ``RATE`` is the masking rate."""
OBJECTIVES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "GLM": (blank_infilling, blanks_of_pair), "BERT": (masked, next_sentence)}
"""Model → the objectives for a text and for a pair of segments."""


def texts(name: str, seed: int) -> Any:
    """A model's training batches."""
    objective, pairs = (partial(made, rate=RATE) for made in OBJECTIVES[name])
    return world_texts(objective, pairs, world_tokenizer(), batch=BATCH, accumulate=ACCUMULATE, time=TIME, seed=seed,
                       bilingual=False)


def tokens_an_update(name: str) -> float:
    """Mean number of real tokens per update, including special tokens, over one update in `EVERY`."""
    batches, pad = texts(name, SEED), world_tokenizer().vocab.need("pad")
    return fmean(sum(int((batches(update * ACCUMULATE + step).tokens != pad).sum()) for step in range(ACCUMULATE))
                 for update in range(0, UPDATES, EVERY))


def glm_tokens() -> float:
    """The number of real tokens in GLM's training text."""
    return UPDATES * tokens_an_update("GLM")


def learn(lr: float, updates: int, seed: int) -> BERTPretraining:
    """Pretrain BERT for the given number of updates and return it."""
    torch.manual_seed(seed)
    model = bert(len(world_tokenizer()))
    fit(model, texts("BERT", seed), steps=updates, lr=lr, warmup=WARMUP, accumulate=ACCUMULATE, show=False)
    return model


@torch.no_grad()
def loss(model: BERTPretraining) -> float:
    """The loss of BERT on held-out texts, averaged over batches."""
    model.eval()
    batches = texts("BERT", OTHERS)
    return fmean(float(model.loss(batches(step))) for step in range(JUDGED * ACCUMULATE))


@none_if_diverged
def lr_score(lr: float, seed: int) -> float:
    """Score of a learning rate: the negative loss after `PILOT` updates."""
    return -loss(learn(lr, PILOT, seed))


def kept(folder: str) -> Path:
    """The path of BERT's weights."""
    return Path(folder) / "English BERT.safetensors"


def train(folder: str, lr: float, updates: int) -> float:
    """Pretrain BERT and save it; return its loss on other texts."""
    model = learn(lr, updates, SEED)
    keep(model, kept(folder))
    return loss(model)


def pretrained(folder: str, name: str) -> GLMPretraining | BERTPretraining:
    """GLM or BERT with its output layer, in evaluation mode."""
    if name == "BERT":
        return with_kept(bert(len(world_tokenizer())), kept(folder))
    glm, _ = load(CHECKPOINT, expect="glm-pretraining")
    assert isinstance(glm, GLMPretraining)
    return glm


def measure(parts: Parts) -> dict[str, Any]:
    """BERT's ``lr``, the ``rates`` tried with their losses, the number of ``updates``, the ``loss`` on other texts, and
    the ``million`` tokens that BERT and GLM were trained on. BERT is stored in the folder of the parts."""
    read = parts(glm_tokens, [()])[()]
    updates = round(read / parts(tokens_an_update, [("BERT",)])["BERT",])
    lr, scores = tune_learning_rates(parts, lr_score, PILOTS, {(): RATES})[()]
    task = (str(parts.folder), lr, updates)
    return {"lr": lr, "rates": rates_tried({rate: -score for rate, score in scores.items()}), "updates": updates,
            "loss": parts(train, [task])[task], "million": read / 1e6}
