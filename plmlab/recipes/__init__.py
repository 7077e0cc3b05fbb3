"""Recipes: results that need several seeds, sizes or minutes are computed once, by committed code, and recorded.

A recipe is a module ``studies/chNN/recipe.py`` for chapter NN, in the course's folder next to the package. Its function
``main(parts) -> dict`` returns the chapter's numbers, mostly those of a `Study` (``plmlab.recipes.study``). Long
computations go through ``parts`` (:class:`Parts`), which stores each result, so that the same command resumes after an
interruption. The chapter plots the recorded numbers and repeats one run live.
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
from plmlab.recipes.statistics import compare_models, seed_statistics, seed_summary, separated

__all__ = [
    "Parts",
    "chapters",
    "compare_models",
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
    """The two-digit numbers of the chapters that have a recipe."""
    return chapters_with("recipe", ROOT / "studies")


def run(chapter: str, results: Path | None = None) -> Path:
    """Compute a chapter's recipe and record it in ``results/NN.json``. Returns the path.

    ``results`` defaults to the course's ``data/results``; until everything is computed, finished parts are stored there
    in ``NN.parts.jsonl``. Raises ValueError, listing the available recipes, if the chapter has none.
    """
    if chapter not in chapters():
        available = ", ".join(chapters()) or "none yet"
        raise ValueError(f"there is no recipe for chapter {chapter!r}; available recipes: {available}")
    results = results or DATA / "results"
    parts = Parts(results / f"{chapter}.parts.jsonl")
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))  # the studies are outside the package, so they are not installed
    recipe = importlib.import_module(f"studies.ch{chapter}.recipe")
    path = record(chapter, recipe.main(parts), parts.seconds, results)
    parts.path.unlink(missing_ok=True)
    shutil.rmtree(parts.folder, ignore_errors=True)
    return path


def record(chapter: str, numbers: Mapping[str, Any], seconds: float, results: Path) -> Path:
    """Write a chapter's numbers to ``results/NN.json``, with the device, the seconds, package versions and the date.
    Returns the path."""
    entry = {
        "chapter": chapter, "numbers": dict(numbers), "device": device(), "seconds": round(seconds, 1),
        "versions": {"python": platform.python_version()}
        | {name: metadata.version(name) for name in RECORDED_PACKAGES},
        "date": datetime.now(UTC).date().isoformat(),
    }
    results.mkdir(parents=True, exist_ok=True)
    path = results / f"{chapter}.json"
    path.write_text(json.dumps(entry, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def device() -> str:
    """The device of the computation, as text: the GPU's name, or the CPU."""
    import torch
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU, one thread a part"


def recorded(chapter: str, results: Path | None = None) -> dict[str, Any]:
    """The recorded results of a chapter: ``numbers``, and ``device``, ``seconds``, ``versions`` and ``date``. Raises
    ValueError, with the command that computes them, if nothing is recorded."""
    path = (results or DATA / "results") / f"{chapter}.json"
    if not path.is_file():
        raise ValueError(f"no results are recorded for chapter {chapter!r}; compute them with "
                         f"`plmlab recipe {chapter}`")
    return json.loads(path.read_text(encoding="utf-8"))
