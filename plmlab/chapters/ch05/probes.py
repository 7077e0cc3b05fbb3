"""Which layer encodes parts of speech, and which layer word senses (Peters et al. 2018, §5.3, tables 5 and 6)?

The rule was fixed before the runs. The paper claims that layer 1 is better for parts of speech (all words), and layer 2
for senses (here with 15 labelled sentences per sense). Each claim is supported if the difference has this sign for
every seed and its mean is more than twice the standard error, which treats sentences of one pattern as a cluster; it is
not supported if the difference has the opposite sign for every seed, equally clearly; otherwise it is inconclusive.
*Above CoVe* is supported if for every seed the better layer of the word-level biLM has a higher accuracy than the
better layer of CoVe in both tasks (the word-level biLM is compared because CoVe has no character input).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plmlab.tables import spreads

READERS = {"word vectors": ("word vectors (chapter 02)", "0"), "biLM, untrained": ("untrained ELMo", "12"),
           "biLM": ("ELMo", "012"), "biLM of words": ("word-level ELMo", "12"), "CoVe": ("CoVe", "12"),
           "elmo-world": ("elmo-world", "12"), "BERT": ("bert-world", "0123")}
"""Recorded reader → its name in the tables, and the layers that they show."""
RULES = {"by word or ending": "most frequent tag of the word or ending", "most frequent": "most frequent sense",
         "by word, endings and neighbours": "linear probe on word, ending, neighbours", "bag of words": "bag of words",
         "other words' vectors": "mean of the other words' vectors"}
"""Recorded baseline → its name in the tables."""

DECIDING = {"tags": "all", "senses": "15 labels"}
"""The test sets on which the verdict is based."""


def outcome(supported: bool, opposite: bool) -> str:
    """The outcome as a word of a verdict; "inconclusive" if neither is true."""
    return "supported" if supported else "not supported" if opposite else "inconclusive"


def verdict(readers: Mapping[str, Any], what: str) -> str:
    """Apply the rule above to the layers for "tags" or "senses"."""
    difference = readers["biLM"]["2 − 1"][what][DECIDING[what]]
    sign = -1 if what == "tags" else 1
    by_seed = [sign * value for value in difference["values"]]
    clear = abs(difference["mean"]) > 2 * difference["error"]
    return outcome(clear and all(value > 0 for value in by_seed), clear and all(value < 0 for value in by_seed))


def above_cove(readers: Mapping[str, Any]) -> bool:
    """Return whether, for every seed and in both tasks, the better layer of the word-level biLM has a higher accuracy
    than the better layer of CoVe."""
    def best(name: str, what: str) -> list[float]:
        return [max(pair) for pair in zip(*(readers[name][layer][what][DECIDING[what]]["values"] for layer in "12"),
                                          strict=True)]
    return all(one > other for what in DECIDING
               for one, other in zip(best("biLM of words", what), best("CoVe", what), strict=True))


def rows_by_layer(recorded: Mapping[str, Any], what: str, test_sets: Sequence[str]) -> dict[str, list[str]]:
    """Table rows with the accuracy (%) on "tags" or "senses": the baselines, each layer of each reader, and the mean of
    ELMo's layers. The range of the seeds is in brackets where there are several."""
    rows = {f"no network: {RULES[rule]}": [f"{100 * scores[test_set]['share']:.0f}" for test_set in test_sets]
            for rule, scores in recorded["rules"][what].items()}
    for reader, (title, layers) in READERS.items():
        for layer in (*layers, *(["mean"] if reader == "biLM" else [])):
            scores = [recorded["readers"][reader][layer][what][test_set] for test_set in test_sets]
            several = len(scores[0]["values"]) > 1
            rows[f"{title}, mean of the layers" if layer == "mean" else f"{title}, layer {layer}"] = [
                cell if several else cell.split()[0] for cell in spreads(scores)]
    return rows
