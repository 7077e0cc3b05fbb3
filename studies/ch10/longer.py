"""Three times as many updates, so that who learns slowly comes to rest."""

from typing import Any

import torch

from plmlab.chapters.ch10 import recalling
from plmlab.chapters.ch10.arms import ARMS, LONGER, SEEDS, WINDOW, followed, said
from plmlab.chapters.ch10.distances import halves
from plmlab.chapters.ch10.readers import CountingTransformerXL
from plmlab.recipes import Parts, spreads

AGAIN = tuple(name for name in ARMS if name != "taught")


def longer(name: str, lr: float, seed: int) -> dict[str, Any]:
    """What an arm says in the exam after `LONGER` updates: ``in order``, and by ``windows`` if it is one; the
    ``halves`` of texts twice as long, if it counts their words; its ``history`` (number of updates, the price of an
    answer)."""
    model, history = followed(name, LONGER, lr, seed)
    exam = recalling.texts("exam")
    told: dict[str, Any] = {"in order": said(model, "exam")._asdict()}
    if ARMS[name].segment == WINDOW:
        with torch.no_grad():
            told["windows"] = recalling.said(recalling.by_windows(model, WINDOW, recalling.ids(exam)), exam)._asdict()
    if issubclass(ARMS[name].model, CountingTransformerXL):
        told["halves"] = halves(model)
    return told | {"history": [[step, -score] for step, score in history.scores]}


def measure(parts: Parts, rates: dict[str, float]) -> dict[str, Any]:
    """``updates``; and arm → ``lr``, the spread of what it says, and its ``history`` by seed; ``rates`` of the shorter
    runs, arm → rate."""
    runs = parts(longer, [(name, rates[name], seed) for name in AGAIN for seed in SEEDS])

    def told(name: str) -> dict[str, Any]:
        done = {seed: runs[name, rates[name], seed] for seed in SEEDS}
        return {"lr": rates[name],
                **spreads({seed: {way: run[way] for way in run if way != "history"} for seed, run in done.items()}),
                "history": {str(seed): run["history"] for seed, run in done.items()}}
    return {"updates": LONGER, "arms": {name: told(name) for name in AGAIN}}
