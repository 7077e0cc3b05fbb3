"""The recipe of chapter 12 puts its experiments together: what is tuned is pretrained before."""

from collections.abc import Callable

import pytest

from plmlab.chapters.ch12 import (
    as_cloze,
    blanks_ablated,
    pretrained,
    recipe,
    shares,
    targets,
    tuned,
    unknown_length,
    writing,
)
from plmlab.recipes import Parts


def test_the_recipe_puts_its_experiments_together(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def told(name: str) -> Callable[[Parts], dict[str, str]]:
        def measure(given: Parts) -> dict[str, str]:
            assert given is parts
            made.append(name)
            return {"of": name}
        return measure
    names = {"pretrained": pretrained, "writing": writing, "reading": tuned, "shares": shares, "targets": targets,
             "unknown length": unknown_length, "without": blanks_ablated, "as cloze": as_cloze}
    for name, module in names.items():
        monkeypatch.setattr(module, "measure", told(name))
    assert recipe.main(parts) == {name: {"of": name} for name in names}
    assert made.index("pretrained") < min(made.index("writing"), made.index("reading"))
    assert made.index("shares") < made.index("targets"), "the mix's weights are tuned on targets"
