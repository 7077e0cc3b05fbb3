"""Why the empty translation wins, of the runs that `noisy_translation` has trained: what [END] has at the beginning,
what a perfect learner prefers, smoothing undone."""

from statistics import fmean, median
from typing import Any

from plmlab.chapters.ch03.empty_translations import Unsmoothed, ranks
from plmlab.chapters.ch03.noisy_translation import ARMS, JUDGED, SOURCES, likeliest, test_set, written
from plmlab.chapters.ch03.telegrams import LONGEST
from plmlab.models.transformer import Transformer
from plmlab.recipes import Parts, seed_statistics
from studies.ch03.ideal_reader import ideal, prefers_empty
from studies.ch03.noisy_translation import STUDY, asked

ASKED = ("noise", "smoothing")


def causes(model: Transformer, name: str, seed: int) -> dict[str, Any]:
    """Of an arm's model, trained with a seed, and its telegrams of `LONGEST` sentences: how many have an empty
    likeliest translation (``model``), for how many a perfect learner would prefer the empty one (``perfect``), and how
    many are ``both``; ``rank``, the median place of [END] in the first position, and ``best rank``, its least; and
    `asked` with the smoothing ``undone``."""
    arm = ARMS[name]
    telegrams = test_set(arm.lost, LONGEST, seed, SOURCES)
    empty = [text is not None and not written(text) for text in (likeliest(model, one) for one in telegrams)]
    perfect = [prefers_empty(arm, *reading) for reading in ideal(arm.lost, LONGEST, seed)]
    places = ranks(model, telegrams)
    told: dict[str, Any] = {
        "model": fmean(empty), "perfect": fmean(perfect),
        "both": fmean(one and other for one, other in zip(empty, perfect, strict=True)),
        "rank": float(median(places)), "best rank": float(min(places))}
    return told | ({"undone": asked(Unsmoothed.of(model), arm.lost, telegrams, (1, 5, 20))}
                   if arm.smoothing else {})


def of_a_run(folder: str, name: str, seed: int) -> dict[str, Any]:
    """`causes` of a run that was kept, after `JUDGED` updates."""
    return causes(STUDY.trained(folder, name, updates=JUDGED, seed=seed), name, seed)


def measure(parts: Parts) -> dict[str, Any]:
    """"noise" and "smoothing" → `causes`, with its spread; after `noisy_translation` was measured."""
    folder = str(parts.folder)
    runs = parts(of_a_run, [(folder, name, seed) for name in ASKED for seed in STUDY.seeds])
    return {name: seed_statistics({seed: runs[folder, name, seed] for seed in STUDY.seeds}) for name in ASKED}
