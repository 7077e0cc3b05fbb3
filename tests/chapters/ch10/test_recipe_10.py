"""The recipe of chapter 10 on the smallest of scales: each experiment tells what the notebook reads."""

import math
from dataclasses import replace

import pytest
import torch

from plmlab.chapters.ch10 import arms, attention_masks
from plmlab.chapters.ch10.arms import Arm
from plmlab.models.transformer_xl import TransformerXL
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from studies.ch10 import arms as trained
from studies.ch10 import distances, effective_length, longer, positions, recipe, stories, wikipedia

pytestmark = pytest.mark.usefixtures("few_texts")
SEEDS = (0, 1)
SEGMENT, WINDOW = 40, 152
"""A text of 160 words is four segments; beyond the window are seven positions, each read in a window of its own."""


@pytest.fixture(scope="module")
def sizes() -> dict[str, object]:
    """Twenty texts to train on, of two lengths of waiting, and five in the exam."""
    return {"TRAIN_SIZE": 20, "TEST_SIZE": 5, "MAX_DISTANCES": (8, 128)}


@pytest.fixture(autouse=True)
def small_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """One layer of width 8, and two updates."""
    for name, segment in (("memory", SEGMENT), ("none", SEGMENT), ("with gradient", SEGMENT), ("window", WINDOW),
                          *((name, SEGMENT) for name in positions.RATES)):
        monkeypatch.setitem(arms.ARMS, name, arms.ARMS[name]._replace(segment=segment))
    for modules, names in (
            ((arms, stories, wikipedia), {"LAYERS": 1, "WIDTH": 8, "HEADS": 2, "TEXTS": 2}),
            ((trained,), {"WATCHED": 2, "EVERY": 1}), ((effective_length, stories), {"SEEDS": SEEDS}),
            ((trained, distances, effective_length), {"UPDATES": 2}), ((distances,), {"LIVE": 1}),
            ((distances, longer, attention_masks), {"WINDOW": WINDOW}), ((longer,), {"LONGER": 3})):
        for module in modules:
            for name, value in names.items():
                monkeypatch.setattr(module, name, value)


def best_at_5e_3(run: Run) -> float:
    return -abs(run.lr - 5e-3)


def best_at_1e_3(run: Run) -> float:
    return -abs(run.lr - 1e-3)


def toy(*names: str) -> Study:
    """The study of some arms, with two seeds; the best rate is known."""
    return replace(trained.STUDY, arms={(name,): trained.STUDY.arms[name,] for name in names}, updates=(2,),
                   seeds=SEEDS, pilots=(8,), development=best_at_5e_3, nothing=-math.inf)


def test_distances_and_the_lengths_of_their_arms(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    study = toy("memory", "none", "window", "with gradient")
    monkeypatch.setattr(trained, "LIKE", dict.fromkeys(("none", "window", "with gradient"), "memory"))
    monkeypatch.setattr(distances, "LIKE", trained.LIKE)
    monkeypatch.setattr(distances, "MEMORIES", (64, 144))
    for name, value in (("TEXTS", 1), ("STEP", 78), ("LONGEST", 156), ("SHARES", (0.1,)), ("GROUP", {
            "longer memory": ("memory", {"memory": 144}), "none": ("none", {}), "window": ("window", {})})):
        monkeypatch.setattr(effective_length, name, value)
    told = distances.measure(parts, trained.tuned(parts, study), study)
    assert 0.05 < told["chance"] < 0.2 and told["questions"] > 30
    for name, arm in told["arms"].items():
        assert arm["lr"] == 5e-3 and arm["updates"] == (1 if name == "live" else 2)
        assert arm["answers"]["seeds"] == [0, 1] and arm["answers"]["low"] > 0.5
        assert [step for step, _ in arm["history"]["1"]][-1] == arm["updates"]
        assert all(price > 0 for _, price in arm["history"]["1"])
    assert told["arms"]["none"]["like"] == "memory" and told["arms"]["memory"]["like"] == "memory"
    assert {name: sorted(ways) for name, ways in told["other modes"].items()} == {
        "memory": (modes := ["clamped", "halves", "memory 144", "memory 64"]), "window": ["windows"],
        "with gradient": modes}
    as_trained = told["other modes"]["memory"][f"memory {arms.MEMORY}"]
    assert as_trained["answers"]["values"] == pytest.approx(told["arms"]["memory"]["answers"]["values"])
    assert set(told["rule"]) == {"memory", "none", "window", "sliding"}
    assert told["rule"]["memory"]["16"] > told["rule"]["none"]["32"]

    lengths = effective_length.measure(parts)
    assert lengths["direct"] == {"longer memory": 156, "none": SEGMENT, "window": WINDOW}
    for kind in ("trained", "untrained"):
        assert all(found["values"][0] in (78, 156) for found in lengths[kind]["0.1"].values())


def test_longer_runs(parts: Parts) -> None:
    rates = {"memory": 1e-3, "window": 2e-3}
    told = longer.measure(parts, {name: (lr, {lr: 0.0}) for name, lr in rates.items()}, toy(*rates))
    assert told["updates"] == 3 and {name: arm["lr"] for name, arm in told["arms"].items()} == rates
    model, _ = arms.train_variant("memory", 3, 1e-3, 1, show=False)
    assert told["arms"]["memory"]["in order"]["all"]["values"][1] == pytest.approx(arms.evaluate(model, "test_set").all)
    assert {name: set(arm) - {"lr", "in order", "history"} for name, arm in told["arms"].items()} == {
        "memory": set(), "window": {"windows"}}
    assert [step for step, _ in told["arms"]["window"]["history"]["0"]] == [1, 2, 3]


def summary(*values: float) -> dict[str, object]:
    return {"mean": sum(values) / len(values), "low": min(values), "high": max(values), "values": list(values)}


def result(accuracies: tuple[float, ...], losses: tuple[float, ...]) -> dict[str, object]:
    return {"right": dict.fromkeys(("32", "48", "64"), summary(*accuracies)), "all": summary(*losses)}


def test_positions_have_rates_of_their_own(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """The best rate is the one that the development score prefers; the runs have other seeds than the pilot."""
    monkeypatch.setattr(positions, "LONGER", 2)
    some = {arm: rates for arm, rates in positions.STUDY.arms.items() if arm != ("no positions",)}
    study = replace(positions.STUDY, arms=some, updates=(2,), seeds=SEEDS, development=best_at_1e_3, nothing=-math.inf)
    monkeypatch.setattr(positions, "STUDY", study)
    assert not set(study.pilots) & set(positions.SEEDS)
    told = positions.measure(parts, result((0.9, 0.9), (0.1, 0.1)), study, replace(study, name="again"))
    assert told["updates"] == 2 and told["criteria"]["drop"] and {*told["arms"]} == {"absolute", "continued"}
    for name, arm in told["arms"].items():
        assert arm["lr"] == 1e-3 and [rate for rate, _ in arm["rates"]] == [3e-4, 1e-3, 3e-3]
        assert arm["answers"]["seeds"] == [0, 1] and ("halves" in arm) == (name == "continued")
    second = told["second rate"]
    assert second["lr"] == positions.SECOND_RATE and second["rates"] == told["arms"]["continued"]["rates"]
    assert second["answers"] == told["arms"]["continued"]["answers"], "here, the second rate is the best one"
    assert told["criteria, second rate"] == told["criteria"]


@pytest.mark.parametrize(("continued", "drop", "reason", "verdict"), [
    (result((0.61, 0.7, 0.61), (0.7, 0.8, 0.8)), True, True, "supported"),
    (result((0.59, 0.7, 0.61), (0.7, 0.8, 0.8)), True, False, "partly supported"),
    (result((0.61, 0.7, 0.61), (0.7, 0.8, 0.9)), True, False, "partly supported"),
])
def test_the_criteria_of_positions(continued: dict, drop: bool, reason: bool, verdict: str) -> None:
    """Every seed by 10 points in accuracy, and by any difference in the loss; the gap is that of the means."""
    relative, restarting = result((1, 1, 0.9), (0.6, 0.6, 0.65)), result((0.5, 0.3, 0.4), (0.9, 0.9, 0.9))
    told = positions.criteria(relative, restarting, continued)
    assert (told["drop"], told["reason"], told["verdict"]) == (drop, reason, verdict)
    best, least, some = (one["right"]["32"]["mean"] for one in (relative, restarting, continued))
    assert told["closed"] == pytest.approx((some - least) / (best - least))
    assert positions.criteria(restarting, relative, continued)["verdict"] == "not supported"


def test_wikipedia(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, size = torch.Generator().manual_seed(0), len(small_world_tokenizer())
    rows = {part: torch.randint(39, size, (4, 41), generator=draw) for part in ("read", "development", "test_set")}
    some = {"memory": Arm(TransformerXL, 8, 24), "none": Arm(TransformerXL, 8, 0), "window": Arm(TransformerXL, 32, 0)}
    for name, value in (("rows", rows.__getitem__), ("tokenizer", small_world_tokenizer), ("ARMS", some), ("TIME", 40),
                        ("MEMORY", 24), ("WINDOW", 32)):
        monkeypatch.setattr(wikipedia, name, value)
    toy = replace(wikipedia.STUDY, updates=(1,), pilot_updates=1, seeds=SEEDS, nothing=-math.inf,
                  development=lambda run: -abs(run.lr - 3e-3))
    told = wikipedia.measure(parts, toy)
    assert told["read"] == 4 * 41 and told["lr"] == 3e-3 and set(told["n-grams"]) == {"1", "2", "3"}
    assert {name: set(arm) - {"in order", "seconds"} for name, arm in told["arms"].items()} == {
        "memory": {"emptied", "longer"}, "none": set(), "window": {"windows"}}
    assert all(abs(arm["in order"]["mean"] - math.log(size)) < 2 for arm in told["arms"].values())


def test_stories(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stories, "STORIES", 3)
    some, threads = stories.test_set(), stories.threads
    for name, value in (("UPDATES", 1), ("SEGMENT", 128), ("test_set", lambda: some),
                        ("threads", lambda seed, count, farthest: threads(seed, min(count, 4), farthest))):
        monkeypatch.setattr(stories, name, value)
    told = stories.measure(parts, 5e-3)
    assert told["lr"] == 5e-3 and set(told["right"]) == {"threads", "stories", "long memory", "no story"}
    assert all(0 <= share["low"] <= share["high"] <= 1 for share in told["right"].values())
    assert 0 <= told["within memory"] <= 1
    assert told["word overlap"] in (0, pytest.approx(1 / 3), pytest.approx(2 / 3), 1)


def test_the_recipe_is_its_parts(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """All runs of the arms have the rates that were found once; stories have that of the memory."""
    tuned, given = {"memory": (3e-3, {}), "none": (1e-2, {})}, {}
    monkeypatch.setattr(trained, "tuned", lambda _: tuned)
    for module in (distances, positions, effective_length, wikipedia, stories):
        monkeypatch.setattr(module, "measure", lambda _, *more, of=module.__name__: given.update({of: more}) or of)
    runs = {"arms": {"memory": {"in order": "the relative runs"}}}
    monkeypatch.setattr(longer, "measure", lambda _, *more: given.update({longer.__name__: more}) or runs)
    told = recipe.main(parts)
    assert told.pop("longer") == runs
    assert {key: name.split(".")[-1] for key, name in told.items()} == {
        "distances": "distances", "positions": "positions", "effective length": "effective_length",
        "wikipedia": "wikipedia", "stories": "stories"}
    assert given == {"studies.ch10.distances": (tuned,), "studies.ch10.longer": (tuned,),
                     "studies.ch10.positions": ("the relative runs",),
                     "studies.ch10.effective_length": (), "studies.ch10.wikipedia": (), "studies.ch10.stories": (3e-3,)}
