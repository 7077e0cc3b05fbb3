"""Does it help a fixed vector to read the source backwards, and why?

Sutskever et al. (2014, §3.3): BLEU 25.9 → 30.6, perplexity 5.8 → 4.7, and on long sentences too. Their reason: on
average source words come no nearer to their partners, but the first ones do, so that "minimal time lag" is short and
learning finds a beginning.

Written down before the runs, of arms with the same 2,000 updates:

- **Helps**: on passages of 30 words the loss of every seed that reads backwards is below that of every seed that reads
  forwards. **Hurts**: the other way round. **Open**: the seeds overlap.
- **The reason** is the shortest lag if what counts is when learning begins: the updates until the loss on passages of
  30 words is below 0.5 nats a word (who writes Chinese and does not look at the source pays some 0.6). Two signs.
  (1) Who reads the last sentence first, each sentence forwards, has a lag as short, and the same mean: every seed
  begins before every seed that reads forwards. (2) 10 slots of nothing make the shortest lag backwards what it is
  forwards without them: backwards with them begins, in the mean, no earlier than forwards without.
  An arm that does not begin within its updates counts as beginning after them; if the delay stops both arms from
  beginning at all, sign 2 is open.
"""

from collections.abc import Sequence
from math import inf, isinf
from statistics import fmean
from typing import Any

import torch

from plmlab.chapters.ch04.arms import ARMS, DELAY, SEEDS, UPDATES, trained
from plmlab.chapters.ch04.translation import AIMS, Arm, exam, pairs
from plmlab.example import IGNORE
from plmlab.recipes import Parts, spread
from plmlab.world.datasets.passages import Passage

COUNT = 60
WAYS = ("fixed", "backwards", "last sentence first", "delay", "delay, backwards")
BEGUN = 0.5
"""A loss in nats a word that no decoder reaches without the source."""


def lags(some: Sequence[Passage], arm: Arm) -> dict[str, float]:
    """Steps of the state from a source word to the slot that says its partner: the ``mean`` over all partners, and the
    mean over passages of the ``shortest`` one."""
    steps = []
    for passage in some:
        read = arm.reads(passage)
        bridge = len(read.english) + arm.delay + 1
        steps.append([bridge - other + one for one, other in read.partners])
    return {"mean": fmean(lag for row in steps for lag in row), "shortest": fmean(min(row) for row in steps if row)}


@torch.no_grad()
def by_thirds(folder: str, name: str, seed: int) -> dict[str, dict[str, float]]:
    """Length → the loss in nats a token, in the ``whole`` and in the ``first``, ``middle`` and ``last`` third of the
    Chinese, [END] being in the last."""
    model, arm, told = trained(folder, name, UPDATES, seed), ARMS[name], {}
    for aim in AIMS:
        batch = pairs(exam(aim, seed, COUNT), arm)
        logprobs = model(batch).log_softmax(-1)
        asked = batch.targets != IGNORE
        lost = -logprobs.gather(-1, batch.targets.clamp(min=0)[..., None])[..., 0]
        place = asked.cumsum(-1) - 1
        third = 3 * place // asked.sum(-1, keepdim=True)
        told[str(aim)] = {"whole": float(lost[asked].mean())} | {
            part: float(lost[asked & (third == number)].mean())
            for number, part in enumerate(("first", "middle", "last"))}
    return told


def measure(parts: Parts) -> dict[str, Any]:
    """``loss``: arm → length → part → the loss with its spread; ``lags``: arm → length → `lags` of the first seed's
    exam; ``delay``: the slots of nothing."""
    folder = str(parts.folder)
    runs = parts(by_thirds, [(folder, name, seed) for name in WAYS for seed in SEEDS])
    return {"delay": DELAY, "loss": {name: {str(aim): {part: spread(
        {seed: runs[folder, name, seed][str(aim)][part] for seed in SEEDS})
        for part in runs[folder, name, SEEDS[0]][str(aim)]} for aim in AIMS} for name in WAYS},
        "lags": {name: {str(aim): lags(exam(aim, SEEDS[0], COUNT), ARMS[name]) for aim in AIMS} for name in WAYS}}


def verdict(told: dict[str, Any]) -> str:
    """What the rule above says: helps, hurts, or open. ``told`` is ``loss`` of `measure`."""
    plain, turned = (told[name]["30"]["whole"] for name in ("fixed", "backwards"))
    if turned["high"] < plain["low"]:
        return "helps"
    return "hurts" if plain["high"] < turned["low"] else "open"


def begun(history: Sequence[Sequence[int | float]]) -> float:
    """The number of updates after which a loss was first below `BEGUN`; infinite if it never was. ``history`` holds
    (number of updates, loss)."""
    return next((float(updates) for updates, lost in history if lost < BEGUN), inf)


def signs(arms: dict[str, Any]) -> tuple[bool, bool | None]:
    """Whether the two signs of the shortest lag are seen; None for the second where the delay stops both arms.
    ``arms`` as `plmlab.chapters.ch04.arms.trainings` tells them."""
    when = {name: [begun(history) for history in arms[name]["history"].values()] for name in WAYS}
    first = max(when["last sentence first"]) < min(when["fixed"])
    if isinf(min(*when["delay"], *when["delay, backwards"])):
        return first, None
    return first, fmean(when["delay, backwards"]) >= fmean(when["fixed"])
