"""Why the empty translation wins: what [END] has at the beginning, what a perfect learner prefers, smoothing undone."""

from statistics import fmean, median
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.chapters.ch03.noisy_translation import (
    ARMS,
    JUDGED,
    LONGEST,
    SEEDS,
    SOURCES,
    asked,
    exam,
    ideal,
    learn,
    likeliest,
    pairs,
    prefers_empty,
    spelling,
    written,
)
from plmlab.chapters.ch03.telegrams import Telegram
from plmlab.example import PairBatch
from plmlab.models.transformer import Transformer, TransformerState
from plmlab.recipes import Parts, spreads

ASKED = ("noise", "smoothing")


def taken_back(logits: Float[Tensor, "*slot vocab"], share: float) -> Float[Tensor, "*slot vocab"]:
    """log p where the ``logits`` say q = (1 − ε) · p + ε / V, ε being the ``share``; −∞ where q is below ε / V."""
    return (logits.softmax(-1) - share / logits.shape[-1]).clamp(min=0).log().log_softmax(-1)


class Unsmoothed(Transformer):
    """A Transformer that takes the smoothing of its labels back before it speaks."""

    @classmethod
    def of(cls, model: Transformer) -> "Unsmoothed":
        """With a trained model's weights, to be read and not to be trained."""
        made = cls(model.config)
        made.load_state_dict(model.state_dict())
        return made.eval()

    def forward(self, batch: PairBatch) -> Float[Tensor, "batch time vocab"]:
        """The log-probabilities of each target slot."""
        return taken_back(super().forward(batch), self.config.smoothing)

    def step(self, tokens: Int[Tensor, "batch time"], state: TransformerState) -> Float[Tensor, "batch vocab"]:
        """Read target tokens after what ``state`` holds; the log-probabilities of the next one."""
        return taken_back(super().step(tokens, state), self.config.smoothing)


@torch.no_grad()
def ranks(model: Transformer, telegrams: list[Telegram]) -> list[int]:
    """The place that [END] has among the first tokens, by their chances, a telegram each; 1 is the likeliest."""
    first = model(pairs(telegrams, empty=True))[:, 0]
    return (1 + (first > first[:, [spelling().vocab.need("end")]]).sum(1)).tolist()


def causes(name: str, updates: int, lr: float, seed: int) -> dict[str, Any]:
    """Of one run and its telegrams of `LONGEST` sentences: how many have an empty likeliest translation (``model``),
    for how many a perfect learner would prefer the empty one (``perfect``), and how many are ``both``; ``rank``, the
    median place of [END] in the first slot, and ``best rank``, its least; and `asked` with the smoothing ``undone``."""
    arm = ARMS[name]
    model, _ = learn(arm, updates, lr, seed, show=False)
    model.eval()
    telegrams = exam(arm.lost, LONGEST, seed, SOURCES)
    empty = [text is not None and not written(text) for text in (likeliest(model, one) for one in telegrams)]
    perfect = [prefers_empty(arm, *reading) for reading in ideal(arm.lost, LONGEST, seed)]
    places = ranks(model, telegrams)
    told: dict[str, Any] = {
        "model": fmean(empty), "perfect": fmean(perfect),
        "both": fmean(one and other for one, other in zip(empty, perfect, strict=True)),
        "rank": float(median(places)), "best rank": float(min(places))}
    return told | ({"undone": asked(Unsmoothed.of(model), arm.lost, telegrams, (1, 5, 20))}
                   if arm.smoothing else {})


def measure(parts: Parts, lr: float) -> dict[str, Any]:
    """"noise" and "smoothing" → `causes` after `JUDGED` updates at the rate of `noisy_translation`, with its spread."""
    runs = parts(causes, [(name, JUDGED, lr, seed) for name in ASKED for seed in SEEDS])
    return {name: spreads({seed: runs[name, JUDGED, lr, seed] for seed in SEEDS}) for name in ASKED}
