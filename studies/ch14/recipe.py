"""Recipe of chapter 14: CogQA by number of hops, compared with its baselines and ablations; its sources of error; and
real text.

The criteria are stated in the modules of the experiments.
"""

from typing import Any

from plmlab.recipes import Parts
from studies.ch14 import compared, on_wikipedia


def main(parts: Parts) -> dict[str, Any]:
    """``compared``: the comparison in the world, by number of hops; ``on Wikipedia``: the results of a real BERT on
    real text."""
    return {"compared": compared.measure(parts), "on Wikipedia": on_wikipedia.measure(parts)}
