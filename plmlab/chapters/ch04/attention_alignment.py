"""Unsupervised alignment: does the source position with the highest attention weight match the gold alignment?

Only words with a certain translation are evaluated (`gold`: content words and words of names). Each word has one gold
link and one predicted link, so that the alignment error rate (Och and Ney 2003) is 1 − accuracy. The reference
translation is given (forced decoding), and the weights are those of the step that predicts the word itself.

The rule was fixed before the runs and applies to passages of 30 words; "more" means at least 2 percentage points more
for all three seeds, on the same passages:

- **Supported** for an attention mechanism: more correct links than the strongest baseline, IBM model 1 with a diagonal
  prior.
- **Partly supported**: more than IBM model 1 without the prior, but not more than with the prior.
- **Not supported**: IBM model 1 without the prior has more. **Undecided**: otherwise.
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


def attention_matrices(model: torch.nn.Module, some: Sequence[Passage]) -> list[Float[Tensor, "time key"]]:
    """Attention weights of each passage under forced decoding, without padding."""
    return list(cross_attention_weights(model, pairs(some)))


def verdict(record: dict[str, Any], name: str) -> str:
    """Apply the rule above to an attention mechanism (``name``: kind and number of updates); ``record`` is the stored
    record."""
    attention = record["attention"][name]["30"]["shift 0"]["values"]
    plain, pulled = (record["ibm"][f"{pull:g}"]["30"]["values"] for pull in (0.0, record["pull"]))

    def more(first: list[float], second: list[float]) -> bool:
        return all(one >= other + MARGIN for one, other in zip(first, second, strict=True))

    if more(plain, attention):
        return "not supported"
    if more(attention, plain):
        return "supported" if more(attention, pulled) else "partly supported"
    return "undecided"
