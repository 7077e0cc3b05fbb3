"""The learning rate of each step: a linear warm-up, then a decay."""

from math import cos, pi

from plmlab.train.settings import Settings


def rate(settings: Settings, step: int) -> float:
    """The learning rate of update ``step``, counted from 0.

    It climbs in ``warmup`` equal strides to ``lr`` (the first update already takes one), then falls towards
    ``lr_end``: along half a cosine (Loshchilov & Hutter 2017, eq. 5, without restarts), or in a straight line
    as in BERT, or not at all.
    """
    if step < settings.warmup:
        return settings.lr * (step + 1) / settings.warmup
    gone = (step - settings.warmup) / max(1, settings.steps - settings.warmup)
    left = {"cosine": (1 + cos(pi * gone)) / 2, "linear": 1 - gone, "none": 1.0}[settings.decay]
    return settings.lr_end + (settings.lr - settings.lr_end) * left if left < 1 else settings.lr
