"""Which layer tells the part of speech, and which the sense of a word (Peters et al. 2018, §5.3, tables 5 and 6)?

Said before it was run. The paper: layer 1 is better at parts of speech (all words), layer 2 at senses (here with 15
labelled sentences a sense). Each *holds* if with every seed the difference has that sign, and the mean of the
differences is more than twice its error, by which sentences of one pattern count together; it *fails* if with every
seed it has the other sign, as far; it is *open* otherwise. *Above CoVe* holds if, with every seed, the better layer of
the biLM of words is above the better layer of CoVe in both (the biLM of words, since CoVe has no letters). Where a rule
without a network is as good as the best layer, an exam asks for no understanding, whatever the layers do.
"""

from collections.abc import Mapping
from typing import Any

DECIDING = {"tags": "all", "senses": "15 labels"}
"""The exam by which the paper's claim is judged."""


def verdict(readers: Mapping[str, Any], what: str) -> str:
    """What the rule above says of the layers in "tags" or "senses": holds, fails or open."""
    told = readers["biLM"]["2 − 1"][what][DECIDING[what]]
    sign = -1 if what == "tags" else 1
    by_seed = [sign * value for value in told["values"]]
    far = abs(told["mean"]) > 2 * told["error"]
    if far and all(value > 0 for value in by_seed):
        return "holds"
    return "fails" if far and all(value < 0 for value in by_seed) else "open"


def above_cove(readers: Mapping[str, Any]) -> bool:
    """Whether, with every seed, the better layer of the biLM of words is above the better one of CoVe in both."""
    def best(name: str, what: str) -> list[float]:
        return [max(pair) for pair in zip(*(readers[name][layer][what][DECIDING[what]]["values"] for layer in "12"),
                                          strict=True)]
    return all(one > other for what in DECIDING
               for one, other in zip(best("biLM of words", what), best("CoVe", what), strict=True))
