"""Error analysis with oracles: the same CogQA, given the correct first hops of each question."""

from dataclasses import dataclass, field, replace

from plmlab.chapters.ch14.gold_graphs import GoldGraph
from plmlab.models.cogqa import FoundSpan
from plmlab.models.cogqa_search import CogQASearch, NodeReading, SearchState


@dataclass(frozen=True)
class GoldPathSearch(CogQASearch):
    """A `CogQASearch` whose first ``gold_hops`` hops are those of the ``gold`` graph, whatever System 1 predicts; the
    answer spans are still predicted by System 1."""

    gold: GoldGraph = field(default_factory=GoldGraph)
    gold_hops: int = 0

    def _read(self, state: SearchState) -> dict[str, NodeReading]:
        return {name: self._with_gold_hops(name, visit) if self._distance(state, name) < self.gold_hops else visit
                for name, visit in super()._read(state).items()}

    def _distance(self, state: SearchState, name: str) -> int:
        import networkx

        return min(networkx.shortest_path_length(state.graph, start, name) for start in self.named
                   if networkx.has_path(state.graph, start, name))

    def _with_gold_hops(self, name: str, visit: NodeReading) -> NodeReading:
        """The spans predicted at a node, with its hops replaced by the gold ones."""
        gold = self.gold.nodes[name].hops if name in self.gold.nodes else ()
        first = [begin for begin, _ in visit.read.sentence_spans]
        return replace(visit, hops=tuple(
            FoundSpan(first[sentence] + start, first[sentence] + end, sentence, float("inf"), 1.0)
            for sentence, (start, end) in gold if sentence < len(first)))
