"""The recipe of chapter 12 puts its experiments together: what is tuned is pretrained before."""

from collections.abc import Callable
from typing import Any

import pytest

from plmlab.recipes import Parts
from studies.ch12 import (
    as_cloze,
    blanks_ablated,
    pretrained,
    recipe,
    shares,
    targets,
    translating,
    tuned,
    unknown_length,
    writing,
)


def test_the_recipe_puts_its_experiments_together(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def told(name: str) -> Callable[..., dict[str, Any]]:
        def measure(given: Parts, updates: int = 7) -> dict[str, Any]:
            assert given is parts and updates == 7
            made.append(name)
            return {"of": name, "updates": updates}
        return measure
    names = {"pretrained": pretrained, "writing": writing, "reading": tuned, "shares": shares, "targets": targets,
             "unknown length": unknown_length, "without": blanks_ablated, "as cloze": as_cloze}
    for name, module in {**names, "translating": translating}.items():
        monkeypatch.setattr(module, "measure", told(name))
    found = recipe.main(parts)
    assert {name: one["of"] for name, one in found.items()} == {
        **{name: name for name in names}, "shares": "translating"}
    assert made.index("pretrained") < min(made.index("writing"), made.index("reading"))
    assert made.index("shares") < made.index("translating"), "what is tuned on translations is kept before"
