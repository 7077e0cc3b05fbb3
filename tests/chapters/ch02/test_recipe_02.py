"""The recipe of chapter 02 on the smallest of scales: each experiment tells what the notebook reads."""

from collections.abc import Callable, Iterator

import pytest

from plmlab import world
from plmlab.chapters.ch02 import sampling as trained
from plmlab.chapters.ch02.factorisation import pair_loss
from plmlab.recipes import Parts
from plmlab.world.datasets.analogies import FACTS, FORMS
from studies.ch02 import recipe, sampling, sizes

WAYS = {"b − a + c", "c alone", "b alone", "b + c", "left in", "it is b", "it is c"}


@pytest.fixture(autouse=True)
def small_as_full(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The small world in the full one's place, nothing of which is kept."""
    monkeypatch.setattr(world, "full", world.small)
    for kept in (pair_loss, trained.text):
        kept.cache_clear()
    yield
    for kept in (pair_loss, trained.text):
        kept.cache_clear()


def shares(told: dict) -> None:
    """Every relation of which there is a question has every way of answering, with the spread of the seeds."""
    assert "noun: plural" in told and set(told) <= {*FORMS, *FACTS}
    for ways in told.values():
        assert set(ways) == WAYS and all(spread["seeds"] == [0, 1] for spread in ways.values())
    assert 0 <= told["noun: plural"]["b − a + c"]["low"] <= told["noun: plural"]["b − a + c"]["high"] <= 1


def test_sizes_tells_the_descent_and_truncated_svd(
        parts: Parts, monkeypatch: pytest.MonkeyPatch, best_at: Callable) -> None:
    for name, value in (("SIZES", (2, 20)), ("SEEDS", (0, 1)), ("PILOTS", (8,)), ("STEPS", 60), ("LONGER", 400),
                        ("falls_short", best_at(0.1))):
        monkeypatch.setattr(sizes, name, value)
    told, loss = sizes.measure(parts), pair_loss("full")
    assert told["words"] == len(loss.words) < 200 and told["floor"] == loss.floor
    assert 0 < told["occurring"] < 0.5 and 0 < told["negatives that occur"] < 1
    assert list(told["descent"]) == ["2", "20"] and told["longer"]["above"] < told["descent"]["20"]["above"]["low"]
    for run in told["descent"].values():
        assert run["lr"] == 0.1 and set(run["tried"]) == {"0.03", "0.1", "0.3"}
        assert run["above"]["seeds"] == [0, 1] and run["above"]["low"] > 0 and 0 <= run["kin"]["mean"] <= 1
        assert run["never"]["high"] < 0, "what never occurs is pushed below 0"
        shares(run["answers"])
    assert told["descent"]["20"]["above"]["high"] < told["descent"]["2"]["above"]["low"]
    for way in ("positive", "zeros"):
        assert set(told["svd"][way]) == {"2", "20"} and told["svd"][way]["20"]["above"] > 0
        assert set(told["rows"][way]["answers"]) == {*FORMS, *FACTS}
    assert told["svd above"]["5"]["20"] == told["svd"]["positive"]["20"]["above"]
    assert list(told["svd above"]) == ["1", "5", "15"] and list(told["svd above"]["1"]) == ["0", "2", "20"]


def test_sampling_tells_ours_beside_gensims(
        parts: Parts, monkeypatch: pytest.MonkeyPatch, best_at: Callable) -> None:
    for name, value in (("SENTENCES", (300, 1200)), ("SEEDS", (0, 1)), ("PILOTS", (8,)),
                        ("closeness", best_at(0.03))):
        monkeypatch.setattr(sampling, name, value)
    monkeypatch.setattr(trained, "SIZE", 6)
    told = sampling.measure(parts)
    assert (told["window"], told["negatives"]) == (5, 5)
    for who in ("ours", "gensim"):
        assert list(told[who]) == ["300", "1200"]
        for run in told[who].values():
            assert run["lr"] == 0.03 and run["above"]["low"] > 0 and run["distance"]["low"] > 0
            assert len(set(run["above"]["values"])) == 2, "seeds differ"
            shares(run["answers"])
        assert told[who]["1200"]["above"]["high"] < told[who]["300"]["above"]["low"]


def test_a_rate_is_scored_by_the_exact_loss() -> None:
    """More text comes nearer to the least loss, and the score is minus how far it is above it."""
    assert sampling.closeness("gensim", 2000, 0.05, 0) == -sampling.sampled("gensim", 2000, 0.05, 0)["above"] < 0
    assert sampling.closeness("gensim", 2000, 0.05, 0) > sampling.closeness("gensim", 50, 0.05, 0)
    assert sizes.falls_short(4, 0.1, 0) == -sizes.minimised(4, sizes.PILOT_STEPS, 0.1, 0)["above"] < 0


def test_the_text_is_the_seeds() -> None:
    assert trained.text(20, 0) == trained.text(30, 0)[:20] != trained.text(20, 1)
    said = set(world.small().automaton().vocabulary)
    assert all(set(words) <= said for words in trained.text(20, 0))


def test_the_recipe_is_its_experiments(monkeypatch: pytest.MonkeyPatch, parts: Parts) -> None:
    """Each module's ``measure`` under the module's name."""
    experiments = [name for name, found in vars(recipe).items() if hasattr(found, "measure")]
    assert {"sizes", "sampling"} <= set(experiments)
    for name in experiments:
        monkeypatch.setattr(getattr(recipe, name), "measure", lambda given, name=name: (name, given is parts))
    assert recipe.main(parts) == {name: (name, True) for name in experiments}
