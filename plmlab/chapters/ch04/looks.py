"""Are alignments found without being told? The position that a decoder looks at most, against the gold partners.

Only words of which the partner is sure are asked (`gold`: content words and words of names). Each has one link, and
one is proposed for each, so that the alignment error rate (Och and Ney 2003) is 1 − the share of right ones. The right
words are given as they were (forced decoding), and the weights are those with which the word itself is said.

Written down before the runs, for passages of 30 words; "more" is at least 2 of 100 more in each of three seeds, on the
same passages:

- **Holds**, of an attention: more right links than the strongest counting rival has.
- **Holds in part**: more than IBM model 1 without a pull, but not than with one.
- **Fails**: IBM model 1 without a pull has more. **Open**: otherwise.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.chapters.ch04.translation import pairs
from plmlab.interpret.alignments import cross_attention_weights
from plmlab.world.datasets.passages import Passage

MARGIN = 0.02


def looked(model: torch.nn.Module, some: Sequence[Passage]) -> list[Float[Tensor, "time key"]]:
    """The weights of each passage, its right words being given; padding has none."""
    return list(cross_attention_weights(model, pairs(some)))


def verdict(told: dict[str, Any], name: str) -> str:
    """What the rule above says of an attention, by kind and updates; ``told`` as it is recorded."""
    found = told["attention"][name]["30"]["shift 0"]["values"]
    plain, pulled = (told["ibm"][f"{pull:g}"]["30"]["values"] for pull in (0.0, told["pull"]))

    def more(these: list[float], those: list[float]) -> bool:
        return all(one >= other + MARGIN for one, other in zip(these, those, strict=True))

    if more(plain, found):
        return "fails"
    if more(found, plain):
        return "holds" if more(found, pulled) else "holds in part"
    return "open"
