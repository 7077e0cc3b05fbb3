"""What chapter 03 records: n-grams and the LSTM after the same text, by amount."""

from typing import Any

from plmlab.chapters.ch03 import amounts
from plmlab.recipes import Parts


def main(parts: Parts) -> dict[str, Any]:
    """``amounts``, as its module tells."""
    return {"amounts": amounts.measure(parts)}
