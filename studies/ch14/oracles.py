"""Where errors come from: the same CogQA with the first steps of each question taken as they should be."""

from dataclasses import dataclass, field, replace

from plmlab.chapters.ch14.gold_graphs import GoldGraph
from plmlab.models.cogqa import FoundSpan
from plmlab.models.cogqa_search import CogQASearch, NodeReading, SearchState


@dataclass(frozen=True)
class Led(CogQASearch):
    """A question whose first ``led`` hops go where the ``gold`` graph goes, whatever System 1 points at; what is an
    answer it says itself."""

    gold: GoldGraph = field(default_factory=GoldGraph)
    led: int = 0

    def _read(self, state: SearchState) -> dict[str, NodeReading]:
        return {name: self._lead(name, visit) if self._distance(state, name) < self.led else visit
                for name, visit in super()._read(state).items()}

    def _distance(self, state: SearchState, name: str) -> int:
        import networkx

        return min(networkx.shortest_path_length(state.graph, start, name) for start in self.named
                   if networkx.has_path(state.graph, start, name))

    def _lead(self, name: str, visit: NodeReading) -> NodeReading:
        """What was read of a node, with its gold hops."""
        told = self.gold.nodes[name].hops if name in self.gold.nodes else ()
        first = [begin for begin, _ in visit.read.sentence_spans]
        return replace(visit, hops=tuple(
            FoundSpan(first[sentence] + start, first[sentence] + end, sentence, float("inf"), 1.0)
            for sentence, (start, end) in told if sentence < len(first)))
