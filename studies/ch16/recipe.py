"""Recipe of chapter 16: REALM and its ablations, baselines, memorization, edited documents and open-domain question
answering; and retrieval from Wikipedia.

The criteria are stated in the modules of the experiments.
"""

from typing import Any

from plmlab.recipes import Parts
from studies.ch16 import ablated, baselines, closed_book, converged, edited, memorization, on_wikipedia, open_domain


def main(parts: Parts) -> dict[str, Any]:
    """``arms``: REALM and its ablations; ``baselines``: the baselines, and the ``closed book`` model; ``converged``:
    `realm-world`, compared with BM25; ``memorization``: a model of a single world; ``edited``: what became of the
    answers; ``open domain``: the benefit of pretraining for question answering; ``on Wikipedia``: retrieval from real
    text."""
    arms = ablated.measure(parts)
    lr = arms[ablated.FULL]["lr"]
    return {"arms": arms, "baselines": baselines.measure(parts, lr), "closed book": closed_book.measure(parts),
            "converged": converged.measure(parts), "memorization": memorization.measure(parts, lr),
            "edited": edited.measure(parts, lr),
            "open domain": open_domain.measure(parts, {name: arm["lr"] for name, arm in arms.items()}),
            "on Wikipedia": on_wikipedia.measure(parts)}
