"""Recipes: what needs several seeds, sizes or minutes is computed once, by committed code, and recorded.

A recipe is a module ``studies/chNN/recipe.py`` of the course's folder, beside the package, for chapter NN, with a
function ``main(parts) -> dict`` that gives its numbers, mostly those of a `Study` (``plmlab.recipes.study``). What
takes long it computes through ``parts`` (:class:`Parts`), which keeps what is done: the same command goes on after a
stop. The chapter draws what was recorded and re-runs one point live.
"""

import importlib
import json
import platform
import shutil
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from plmlab.course import chapters_with
from plmlab.paths import DATA, ROOT
from plmlab.recipes.parts import Parts
from plmlab.recipes.rates import (
    none_if_diverged,
    pilot_score,
    rates_tried,
    runs_at_best_rates,
    tune_learning_rate,
    tune_learning_rates,
    tuned_by_all_seeds,
)
from plmlab.recipes.statistics import seed_statistics, seed_summary, separated

__all__ = [
    "Parts",
    "chapters",
    "none_if_diverged",
    "pilot_score",
    "rates_tried",
    "record",
    "recorded",
    "run",
    "runs_at_best_rates",
    "seed_statistics",
    "seed_summary",
    "separated",
    "tune_learning_rate",
    "tune_learning_rates",
    "tuned_by_all_seeds",
]

RECORDED_PACKAGES = ("plmlab", "torch", "tokenizers", "transformers", "accelerate", "numpy")


def chapters() -> list[str]:
    """The chapters that have a recipe: their numbers, two digits each."""
    return chapters_with("recipe", ROOT / "studies")


def run(chapter: str, results: Path | None = None) -> Path:
    """Compute a chapter's recipe and record it in ``results/NN.json``, which is returned.

    ``results`` is the course's ``data/results`` unless another folder is given; until all is computed, the parts that
    are lie there in ``NN.parts.jsonl``. ValueError if there is no such recipe, with those that there are.
    """
    if chapter not in chapters():
        there = ", ".join(chapters()) or "none yet"
        raise ValueError(f"there is no recipe for chapter {chapter!r}; there is one for: {there}")
    results = results or DATA / "results"
    parts = Parts(results / f"{chapter}.parts.jsonl")
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))  # the studies stand beside the package, and so in no environment
    recipe = importlib.import_module(f"studies.ch{chapter}.recipe")
    path = record(chapter, recipe.main(parts), parts.seconds, results)
    parts.path.unlink(missing_ok=True)
    shutil.rmtree(parts.folder, ignore_errors=True)
    return path


def record(chapter: str, numbers: Mapping[str, Any], seconds: float, results: Path) -> Path:
    """Write a chapter's numbers to ``results/NN.json``, with the device, the seconds, the versions and
    the date; returns the path."""
    told = {
        "chapter": chapter, "numbers": dict(numbers), "device": device(), "seconds": round(seconds, 1),
        "versions": {"python": platform.python_version()}
        | {name: metadata.version(name) for name in RECORDED_PACKAGES},
        "date": datetime.now(UTC).date().isoformat(),
    }
    results.mkdir(parents=True, exist_ok=True)
    path = results / f"{chapter}.json"
    path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def device() -> str:
    """What the numbers were computed on, in words: the GPU's name, or the CPU."""
    import torch
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU, one thread a part"


def recorded(chapter: str, results: Path | None = None) -> dict[str, Any]:
    """What was recorded for a chapter: ``numbers``, and ``device``, ``seconds``, ``versions`` and ``date``. ValueError
    with the command that records it if nothing was."""
    path = (results or DATA / "results") / f"{chapter}.json"
    if not path.is_file():
        raise ValueError(f"nothing is recorded for chapter {chapter!r}; `plmlab recipe {chapter}` computes it")
    return json.loads(path.read_text(encoding="utf-8"))
