"""The recipe of chapter 12 puts its studies together: what is tuned is pretrained before."""

from collections.abc import Callable
from typing import Any

import pytest

from plmlab.recipes import Parts
from studies.ch12 import recipe

MODULES = {"pretrained": "pretrained", "generation": "generation", "reading": "tuned", "mask mixture": "mask_mixture",
           "target masking": "target_masking", "unknown length": "unknown_length", "ablations": "blanks_ablated",
           "as cloze": "as_cloze", "fine_tuned_translation": "fine_tuned_translation"}


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
    assert set(found) == set(MODULES) - {"fine_tuned_translation"} and all(name in one for name, one in found.items())
    assert "fine_tuned_translation" in found["mask mixture"] and len(made) == len(MODULES)
    assert made.index("pretrained") < min(made.index("generation"), made.index("reading"))
    assert made.index("mask mixture") < made.index("fine_tuned_translation"), "fine-tuned after"
