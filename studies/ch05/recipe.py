"""Recipe of chapter 05: pretraining, probing of layers, downstream tasks, and the CNN softmax."""

from typing import Any

from plmlab.recipes import Parts
from studies.ch05 import cnn_softmax, pretrained, probes, tasks


def main(parts: Parts) -> dict[str, Any]:
    """Record ``pretrained``, ``probes``, ``tasks`` and ``cnn softmax``; see their modules."""
    return {"pretrained": pretrained.measure(parts), "probes": probes.measure(parts), "tasks": tasks.measure(parts),
            "cnn softmax": cnn_softmax.measure(parts)}
