"""The recipe of chapter 12 puts its studies together: what is tuned is pretrained before."""

from collections.abc import Callable
from typing import Any

import pytest

from plmlab.recipes import Parts
from studies.ch12 import recipe

MODULES = {"pretrained": "pretrained", "writing": "writing", "reading": "tuned", "shares": "shares",
           "targets": "targets", "unknown length": "unknown_length", "without": "blanks_ablated",
           "as cloze": "as_cloze", "translating": "translating"}


def test_the_recipe_puts_its_studies_together(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def told(name: str) -> Callable[..., dict[str, Any]]:
        def measure(given: Parts, updates: int = 7) -> dict[str, Any]:
            assert given is parts and updates == 7
            made.append(name)
            return {name: True, "updates": updates}
        return measure
    for name, module in MODULES.items():
        monkeypatch.setattr(vars(recipe)[module], "measure", told(name))
    found = recipe.main(parts)
    assert set(found) == set(MODULES) - {"translating"} and all(name in one for name, one in found.items())
    assert "translating" in found["shares"] and len(made) == len(MODULES)
    assert made.index("pretrained") < min(made.index("writing"), made.index("reading"))
    assert made.index("shares") < made.index("translating"), "what is tuned on translations is kept before"
