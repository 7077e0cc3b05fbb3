"""Chapter 14: CogQA by how many hops a question takes, beside its rivals and without its parts, where its errors come
from, and what it makes of real text.

What would hold, and what would fail, the modules of the experiments say.
"""

from typing import Any

from plmlab.recipes import Parts
from studies.ch14 import compared, on_wikipedia


def main(parts: Parts) -> dict[str, Any]:
    """What is ``compared`` in the world, by hops; and, of a real BERT, ``from_pretrained Wikipedia``."""
    return {"compared": compared.measure(parts), "on Wikipedia": on_wikipedia.measure(parts)}
