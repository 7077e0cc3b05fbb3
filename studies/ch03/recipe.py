"""Recipe of chapter 03: n-gram models and the LSTM on the same text, artificial and real; and the beam search curse."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch03 import amounts, empty_translations, noisy_translation, wikipedia


def main(parts: Parts) -> dict[str, Any]:
    """Record ``amounts``, ``wikipedia``, ``noisy translation`` and ``empty translations``; see their modules."""
    return {"amounts": amounts.measure(parts), "wikipedia": wikipedia.measure(parts),
            "noisy translation": noisy_translation.measure(parts),
            "empty translations": empty_translations.measure(parts)}
