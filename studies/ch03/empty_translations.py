"""Why the empty translation is the most probable one, in models trained by `noisy_translation`: the rank of [END] as
first token, the preference of the objective's optimum, and label smoothing undone."""

from statistics import fmean, median
from typing import Any

import torch

from plmlab.chapters.ch03.empty_translations import Unsmoothed
from plmlab.chapters.ch03.noisy_translation import (
    ARMS,
    SOURCES,
    VERDICT_UPDATES,
    likeliest,
    pairs,
    test_set,
    tokenizer,
    written,
)
from plmlab.chapters.ch03.telegrams import LONGEST, Telegram
from plmlab.models.transformer import Transformer
from plmlab.recipes import Parts, seed_statistics
from studies.ch03.ideal_reader import ideal, prefers_empty
from studies.ch03.noisy_translation import STUDY, asked

ASKED = ("noise", "smoothing")


@torch.no_grad()
def ranks(model: Transformer, telegrams: list[Telegram]) -> list[int]:
    """Rank of [END] by probability among all first tokens, one per telegram; 1 is the most probable token."""
    first = model(pairs(telegrams, empty=True))[:, 0]
    return (1 + (first > first[:, [tokenizer().vocab.need("end")]]).sum(1)).tolist()


def causes(model: Transformer, name: str, seed: int) -> dict[str, Any]:
    """Evaluate the model of one configuration and seed on its telegrams of `LONGEST` sentences.

    Returns the fractions of sources for which the model's most probable translation is empty (``model``), for which the
    optimum of the training objective prefers the empty translation (``perfect``), and for which both are true
    (``both``); the median ``rank`` of [END] as first token, and its ``best rank``; and the output of `asked` with the
    smoothing ``undone``.
    """
    arm = ARMS[name]
    telegrams = test_set(arm.lost, LONGEST, seed, SOURCES)
    empty = [text is not None and not written(text) for text in (likeliest(model, telegram) for telegram in telegrams)]
    perfect = [prefers_empty(arm, *reading) for reading in ideal(arm.lost, LONGEST, seed)]
    end_ranks = ranks(model, telegrams)
    figures: dict[str, Any] = {
        "model": fmean(empty), "perfect": fmean(perfect),
        "both": fmean(one and other for one, other in zip(empty, perfect, strict=True)),
        "rank": float(median(end_ranks)), "best rank": float(min(end_ranks))}
    return figures | ({"undone": asked(Unsmoothed.of(model), arm.lost, telegrams, (1, 5, 20))}
                      if arm.smoothing else {})


def of_a_run(folder: str, name: str, seed: int) -> dict[str, Any]:
    """`causes` for a stored model, after `VERDICT_UPDATES` updates."""
    return causes(STUDY.trained(folder, name, updates=VERDICT_UPDATES, seed=seed), name, seed)


def measure(parts: Parts) -> dict[str, Any]:
    """"noise" and "smoothing" → `causes` with its spread; needs the models of `noisy_translation`."""
    folder = str(parts.folder)
    runs = parts(of_a_run, [(folder, name, seed) for name in ASKED for seed in STUDY.seeds])
    return {name: seed_statistics({seed: runs[folder, name, seed] for seed in STUDY.seeds}) for name in ASKED}
