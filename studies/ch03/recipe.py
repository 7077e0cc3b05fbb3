"""What chapter 03 records: n-grams and the LSTM after the same text, made up and real; the curse of the beam."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch03 import amounts, empty_translations, noisy_translation, wikipedia


def main(parts: Parts) -> dict[str, Any]:
    """``amounts``, ``wikipedia``, ``noisy translation`` and ``empty translations``, as their modules tell."""
    return {"amounts": amounts.measure(parts), "wikipedia": wikipedia.measure(parts),
            "noisy translation": noisy_translation.measure(parts),
            "empty translations": empty_translations.measure(parts)}
