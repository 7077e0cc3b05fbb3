"""What chapter 03 records: n-grams and the LSTM after the same text, made up and real; the curse of the beam."""

from typing import Any

from plmlab.chapters.ch03 import amounts, empty_translations, noisy_translation
from plmlab.recipes import Parts
from studies.ch03 import wikipedia


def main(parts: Parts) -> dict[str, Any]:
    """``amounts``, ``wikipedia``, ``noisy translation`` and ``empty translations``, as their modules tell."""
    curse = noisy_translation.measure(parts)
    return {"amounts": amounts.measure(parts), "wikipedia": wikipedia.measure(parts), "noisy translation": curse,
            "empty translations": empty_translations.measure(parts, curse["lr"])}
