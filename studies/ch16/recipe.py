"""Chapter 16: REALM without each of its parts, beside its rivals, by heart, with edited documents, and asked open
questions; and retrieval from Wikipedia.

What would hold, and what would fail, the modules of the experiments say.
"""

from typing import Any

from plmlab.recipes import Parts
from studies.ch16 import ablated, baselines, by_heart, closed_book, edited, on_wikipedia, open_domain


def main(parts: Parts) -> dict[str, Any]:
    """``arms``: REALM and what lacks a part; ``baselines``, and the ``closed book``; ``by heart``; ``edited``: what
    became of answers; ``open domain``: what pretraining is worth to questions; ``from_pretrained Wikipedia``: who finds
    what there."""
    arms = ablated.measure(parts)
    lr = arms[ablated.FULL]["lr"]
    return {"arms": arms, "baselines": baselines.measure(parts, lr), "closed book": closed_book.measure(parts),
            "by heart": by_heart.measure(parts, lr), "edited": edited.measure(parts, lr),
            "open domain": open_domain.measure(parts, {name: arm["lr"] for name, arm in arms.items()}),
            "on Wikipedia": on_wikipedia.measure(parts)}
