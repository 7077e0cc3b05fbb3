"""Every lab's repr is that of what is drawn: where an input cannot be read, what stood stands there too."""

import contextlib

import pytest
import traitlets
from beginnings import BEGINNINGS, made

WRONG: dict[type, list[object]] = {
    traitlets.Unicode: ["", "zzz ???", "[MASK] [MASK]"], traitlets.Int: [-7, 10 ** 6], traitlets.Float: [-7.5, 1e9],
    traitlets.List: [[10 ** 6], [10 ** 6, 0], [[-7, 10 ** 6, 1]], ["zzz", "zzz"], [{"zzz": 1}]],
    traitlets.Dict: [{"zzz": 1}, {"do": "zzz"}],
}


@pytest.mark.parametrize("lab_class", BEGINNINGS)
def test_what_cannot_be_drawn_is_not_told(lab_class: str) -> None:
    lab = made(BEGINNINGS[lab_class][0])
    told, tried = repr(lab), 0
    for name in lab.inputs:
        stood = getattr(lab, name)
        for value in WRONG.get(type(lab.traits()[name]), []):
            with contextlib.suppress(traitlets.TraitError):
                setattr(lab, name, value)
            if lab.stale:
                tried += 1
                assert repr(lab) == told, f"{name} = {value!r}: {lab.message}"
            setattr(lab, name, stood)
            told = repr(lab)
    assert tried or not lab.inputs


def test_what_was_computed_beside_an_error_leaves_the_drawn_inputs_as_they_were() -> None:
    """The characters of a word are read while the places that were asked for are none of the sentences'."""
    lab = made("layer_models.lab()")
    told, cosines = repr(lab), lab.cosines()
    lab.places = [10 ** 6, 0]
    lab.spelled = "bankful"
    assert lab.stale and lab.spelling["word"] == "bankful"
    assert repr(lab) == told and lab.cosines().equal(cosines)
    lab.places = [0, 0]
    assert not lab.stale and repr(lab) != told
