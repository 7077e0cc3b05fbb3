"""Learning-rate schedule: linear warm-up, then decay."""

from math import cos, pi

from plmlab.train.settings import Settings


def rate(settings: Settings, step: int) -> float:
    """The learning rate of update ``step``, counted from 0.

    It increases linearly to ``lr`` over ``warmup`` updates (the first update already has lr / warmup) and then decays
    to ``lr_end``: along a half cosine (Loshchilov & Hutter 2017, eq. 5, without restarts), linearly as in BERT, or not
    at all.
    """
    if step < settings.warmup:
        return settings.lr * (step + 1) / settings.warmup
    progress = (step - settings.warmup) / max(1, settings.steps - settings.warmup)
    left = {"cosine": (1 + cos(pi * progress)) / 2, "linear": 1 - progress, "none": 1.0}[settings.decay]
    return settings.lr_end + (settings.lr - settings.lr_end) * left if left < 1 else settings.lr
