"""The Softmax Lab without a browser: against torch, and what it says of scores that it cannot show."""

import json
import math
from pathlib import Path

import pytest
import torch
from traitlets import TraitError

from plmlab.labs import SoftmaxLab

FILE = Path(__file__).with_name("softmax_fixtures.json")
SCORES = ([2.0, 1.5, 0.5, -1.0], [10.0, -10.0], [3.0, 3.0, 3.0], [-9.5, -10.0, -10.0], [0.0, 7.5, 7.0, -2.5, 1.0])


def cases() -> list[dict[str, object]]:
    """Scores at some temperatures with torch's own softmax and entropy, for JavaScript to agree with."""
    found = []
    for scores in SCORES:
        for temperature in (0.1, 0.7, 1.0, 5.0):
            logits = torch.tensor(scores, dtype=torch.float64) / temperature
            entropy = torch.distributions.Categorical(logits=logits).entropy()
            found.append({"scores": scores, "temperature": temperature, "shares": logits.softmax(-1).tolist(),
                          "entropy": entropy.item()})
    return found


def test_what_javascript_computes_too_is_stored() -> None:
    """softmax_lab.test.mjs reads the file; ``python tests/labs/test_softmax_lab.py`` writes it anew."""
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    for was, now in zip(stored, cases(), strict=True):
        assert was["scores"] == now["scores"] and was["shares"] == pytest.approx(now["shares"], abs=1e-12)
        assert was["entropy"] == pytest.approx(now["entropy"], abs=1e-9)


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case['scores']} at {case['temperature']}")
def test_shares_are_torch_s(case: dict) -> None:
    lab = SoftmaxLab({f"token {i}": score for i, score in enumerate(case["scores"])}, case["temperature"])
    assert list(lab.shares().values()) == pytest.approx(case["shares"], abs=1e-12)
    assert repr(lab).startswith(f"<SoftmaxLab: T = {case['temperature']:g}: token 0 ")


@pytest.mark.parametrize("scores, told", [({"a": 1.0}, "2 to 12 scores; 1 were given"),
                                          ({str(i): 0.0 for i in range(13)}, "13 were given"),
                                          ({"a": 1.0, "b": math.inf}, "'b' has inf"),
                                          ({"a": 10.5, "b": 0}, "'a' has 10.5")])
def test_scores_that_no_slider_shows_are_refused(scores: dict[str, float], told: str) -> None:
    with pytest.raises(TraitError, match=told):
        SoftmaxLab(scores)


@pytest.mark.parametrize("temperature", [0.0, -1.0, 5.1, math.nan])
def test_a_temperature_that_cannot_be_set_is_refused_and_the_old_one_stays(temperature: float) -> None:
    lab = SoftmaxLab()
    with pytest.raises(TraitError, match=r"from 0\.1 to 5\.0"):
        lab.temperature = temperature
    assert lab.temperature == 1.0


def test_scores_are_kept_as_the_sliders_have_them() -> None:
    lab = SoftmaxLab({"a": 0.25, "b": -0.349}, 0.7499)
    assert lab.scores == [("a", 0.2), ("b", -0.3)] and lab.temperature == 0.7
    with pytest.raises(TraitError):
        lab.scores = [("a", 1.0, 2.0), ("b", 1.0)]


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases()) + "\n", encoding="utf-8")
