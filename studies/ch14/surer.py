"""CogQA that follows a hop only if System 1 is sure of it.

The paper's threshold compares a start with [CLS] alone. Where a page has a hop, training drives [CLS] to nothing, and
so any word of it may be likelier than [CLS], one in a thousand too.
"""

from dataclasses import dataclass, replace

from plmlab.models.cogqa_search import CogQASearch, NodeReading, SearchState


@dataclass(frozen=True)
class Surer(CogQASearch):
    """The same growth, in which a hop must also have the chance ``least`` of starting where it does."""

    least: float = 0.0

    def _read(self, state: SearchState) -> dict[str, NodeReading]:
        return {node: replace(visit, hops=tuple(span for span in visit.hops if span.chance >= self.least))
                for node, visit in super()._read(state).items()}
