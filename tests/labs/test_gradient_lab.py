"""The Gradient Lab without a browser: its fixtures, its numbers as the sliders have them, and what it refuses."""

import json
import math

import gradient_fixtures
import pytest
from traitlets import TraitError

from plmlab.labs import GradientLab


def flat(value: object) -> list[float]:
    """Every number in a nest of lists and dicts, in order."""
    if isinstance(value, dict | list):
        return [n for part in (value.values() if isinstance(value, dict) else value) for n in flat(part)]
    return [value] if isinstance(value, int | float) else []


def test_what_javascript_must_agree_with_is_stored() -> None:
    """gradient_lab.test.mjs reads the file; ``python tests/labs/gradient_fixtures.py`` writes it anew."""
    stored = json.loads(gradient_fixtures.FILE.read_text(encoding="utf-8"))
    made = json.loads(json.dumps(gradient_fixtures.cases()))
    assert [case["cell"] for case in stored["pushes"]] == [case["cell"] for case in made["pushes"]]
    assert flat(stored) == pytest.approx(flat(made), abs=1e-9)


def test_the_fixtures_can_tell_cells_and_pushes_apart() -> None:
    """No size is trivial: a push travels, and one of the memory is not one of the state."""
    for case in gradient_fixtures.pushes():
        assert all(row[t] == pytest.approx(1) for t, row in enumerate(case["state"]))
        assert any(row[0] > 0.001 and abs(row[0] - 1) > 0.01 for row in case["state"][1:])
        if case["cell"] == "lstm":
            assert abs(case["memory"][5][0] - case["state"][5][0]) > 1e-3


def test_numbers_are_kept_as_the_sliders_have_them() -> None:
    lab = GradientLab("lstm", radius=1.12, forget_bias=2.3, input_size=0.44, rate=0.21, w=4.497, b=-2.503)
    assert (lab.radius, lab.forget_bias, lab.input_size, lab.rate) == (1.1, 2.5, 0.4, 0.2)
    assert (lab.w, lab.b) == (4.5, -2.5)


@pytest.mark.parametrize(("name", "value", "told"), [
    ("cell", "elman", "cell is one of rnn, irnn, lstm, gru; 'elman' was given"),
    ("view", "hill", "view is one of map, cliff"), ("push", "c", "push is one of memory, state"),
    ("radius", 2.1, "the spectral radius must be from 0.5 to 2; 2.1 was given"),
    ("radius", math.nan, "the spectral radius must be from 0.5 to 2; nan"),
    ("width", 33, "the width must be from 2 to 32"), ("steps", 3, "the number of steps must be from 4 to 32"),
    ("clip", 0.0, "the clipping threshold must be from 0.1 to 3"), ("b", -4.0, "the initial bias b"),
])
def test_what_no_control_can_be_set_to_is_refused_and_the_old_stays(name: str, value: object, told: str) -> None:
    lab = GradientLab()
    before = getattr(lab, name)
    with pytest.raises(TraitError, match=told):
        setattr(lab, name, value)
    assert getattr(lab, name) == before


def test_an_unknown_setting_is_told() -> None:
    with pytest.raises(TypeError, match="has no setting temperature; its settings are radius, forget_bias"):
        GradientLab(temperature=1.0)


def test_the_summary_names_what_is_drawn() -> None:
    assert repr(GradientLab()) == ("<GradientLab: an RNN with tanh, spectral radius 1.1, inputs of size 0.5, 16 units, "
                                   "20 steps, seed 0>")
    assert "an LSTM, spectral radius 1.1, forget bias 1, inputs" in GradientLab("lstm").summary()
    assert GradientLab(view="cliff").summary() == (
        "descent from w = 4.5, b = -2.5, learning rate 0.2, without clipping and with the gradient norm clipped at 1")


def test_the_page_is_told_every_limit() -> None:
    assert GradientLab().limits["radius"] == [0.5, 2.0, 0.05]
    assert '"limits"' in GradientLab().html()
