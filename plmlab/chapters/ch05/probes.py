"""Which layer encodes parts of speech, and which layer word senses (Peters et al. 2018, §5.3, tables 5 and 6)?

The rule was fixed before the runs. The paper claims that layer 1 is better for parts of speech (all words), and layer 2
for senses (here with 15 labelled sentences per sense). Each claim *holds* if the difference has this sign for every
seed and its mean is more than twice the standard error, which treats sentences of one pattern as a cluster; it *fails*
if the difference has the opposite sign for every seed, equally clearly; otherwise it is *open*. *Above CoVe* holds if
for every seed the better layer of the word-level biLM has a higher accuracy than the better layer of CoVe in both tasks
(the word-level biLM is compared because CoVe has no character input). If a baseline without a network is as good as the
best layer, the test set requires no understanding, whatever the layers encode.
"""

from collections.abc import Mapping
from typing import Any

DECIDING = {"tags": "all", "senses": "15 labels"}
"""The test sets on which the verdict is based."""


def verdict(readers: Mapping[str, Any], what: str) -> str:
    """Apply the rule above to the layers for "tags" or "senses": "holds", "fails" or "open"."""
    difference = readers["biLM"]["2 − 1"][what][DECIDING[what]]
    sign = -1 if what == "tags" else 1
    by_seed = [sign * value for value in difference["values"]]
    clear = abs(difference["mean"]) > 2 * difference["error"]
    if clear and all(value > 0 for value in by_seed):
        return "holds"
    return "fails" if clear and all(value < 0 for value in by_seed) else "open"


def above_cove(readers: Mapping[str, Any]) -> bool:
    """Return whether, for every seed and in both tasks, the better layer of the word-level biLM has a higher accuracy
    than the better layer of CoVe."""
    def best(name: str, what: str) -> list[float]:
        return [max(pair) for pair in zip(*(readers[name][layer][what][DECIDING[what]]["values"] for layer in "12"),
                                          strict=True)]
    return all(one > other for what in DECIDING
               for one, other in zip(best("biLM of words", what), best("CoVe", what), strict=True))
