"""Recipe of chapter 14: CogQA by number of hops, compared with its baselines and ablations; its sources of error; and
real text.

The criteria are stated in the modules of the experiments.
"""

from typing import Any

from plmlab.recipes import Parts
from studies.ch14 import candidates, compared, gold_path, multi_hop, on_wikipedia


def main(parts: Parts) -> dict[str, Any]:
    """``compared``: the comparison in the world, by number of hops; ``multi-hop baselines``: the same for baselines
    without a network; ``gold path`` and ``candidates``: what fails on unseen compositions, and what System 2 chooses,
    in the bundled model; ``on Wikipedia``: the results of a real BERT on real text."""
    return {"compared": compared.measure(parts), "multi-hop baselines": multi_hop.measure(parts),
            "gold path": gold_path.measure(parts), "candidates": candidates.measure(parts),
            "on Wikipedia": on_wikipedia.measure(parts)}
