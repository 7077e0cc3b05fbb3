"""What chapter 05 records: where its vectors come from, what layers tell and are worth; softmaxes that spell."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch05 import cnn_softmax, pretrained, probes, tasks


def main(parts: Parts) -> dict[str, Any]:
    """``pretrained``, ``probes``, ``tasks`` and ``cnn softmax``, as their modules tell."""
    return {"pretrained": pretrained.measure(parts), "probes": probes.measure(parts), "tasks": tasks.measure(parts),
            "cnn softmax": cnn_softmax.measure(parts)}
