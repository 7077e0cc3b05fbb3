"""CogQA with a confidence threshold: it follows a hop only if System 1 is confident of it.

The threshold in the paper only compares a start position with [CLS]. On a page with a hop, training drives the
probability of [CLS] to nearly 0, so any word of the page may exceed it, even with a probability of one in a thousand.
"""

from dataclasses import dataclass, replace

from plmlab.models.cogqa_search import CogQASearch, NodeReading, SearchState


@dataclass(frozen=True)
class ConfidenceThreshold(CogQASearch):
    """`CogQASearch` with a minimum start probability ``least`` for a hop."""

    least: float = 0.0

    def _read(self, state: SearchState) -> dict[str, NodeReading]:
        return {node: replace(visit, hops=tuple(span for span in visit.hops if span.probability >= self.least))
                for node, visit in super()._read(state).items()}
