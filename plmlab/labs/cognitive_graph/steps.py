"""Convert a run of the graph expansion for JavaScript: layout, pages, edges with clues, and the state at each step."""

from collections.abc import Sequence
from typing import Any

import torch

from plmlab.interpret.graph_messages import message_effects
from plmlab.labs.cognitive_graph.columns import places
from plmlab.labs.cognitive_graph.presets import Gold
from plmlab.labs.cognitive_graph.protocol import GraphState, Run
from plmlab.labs.cognitive_graph.state import Choice, Edge, Effect, Graph, Node, Span, Step, Visit
from plmlab.objectives.cognitive_graphs import adjacency


def short(value: float) -> float:
    """Round to six significant digits, which suffice for display."""
    return float(f"{value:.6g}")


class Drawing:
    """A run with its gold graph; nodes are indexed, first the nodes that were found, then the missed ones. For a
    ``special`` question System 2 chooses among the nodes; other questions are answered without the graph."""

    def __init__(self, run: Run, gold: Gold | None, *, special: bool) -> None:
        self.run, self.gold, self.special, self.pages = run, gold, special, run.growing.pages
        self.places = places(run.last.graph, run.growing.named, gold)
        self.number = {place.name: number for number, place in enumerate(self.places)}
        self._visits: list[tuple[Any, Visit]] = []

    def state(self) -> Graph:
        """The whole run as JSON-compatible data."""
        steps = [self._step(state) for state in self.run.states]
        return {"nodes": self._nodes(), "edges": self._edges(), "visits": [drawn for _, drawn in self._visits],
                "steps": steps, "gold": self.gold is not None}

    def _nodes(self) -> list[Node]:
        gold = set(self.gold.nodes) if self.gold else set()
        return [{"name": place.name, "column": place.column, "row": place.row, "missed": place.missed,
                 "gold": place.name in gold, "start": place.name in self.run.growing.named,
                 "since": self.run.since.get(place.name),
                 "sentences": [[self.pages.spelled([id]) for id in sentence]
                               for sentence in self.pages.sentences(place.name)]} for place in self.places]

    def _edges(self) -> list[Edge]:
        gold_edges = self.gold.edges if self.gold else {}
        found: list[Edge] = [
            {"source": self.number[source], "target": self.number[target], "gold": (source, target) in gold_edges,
             "since": self.run.since[source, target], "sentence": attributes["clue"][1],
             "span": self._found_by(source, target)} for source, target, attributes in
            self.run.last.graph.edges(data=True)]
        missed: list[Edge] = [
            {"source": self.number[source], "target": self.number[target], "gold": True, "since": None,
             "sentence": sentence, "span": None} for (source, target), sentence in gold_edges.items()
            if (source, target) not in self.run.last.graph.edges]
        return found + missed

    def _found_by(self, source: str, target: str) -> Span:
        """The span through which an edge was first found."""
        visit = self.run.states[self.run.since[source, target]].visits[source]
        return next(span for span in self._spans(source, visit) if span["leads"] == self.number[target])

    def _spans(self, name: str, visit: Any) -> list[Span]:
        """The spans that System 1 predicted in a page, and the most probable answer span with a probability below that
        of [CLS], if that span was used."""
        spans = [self._span(visit, as_what, span) for as_what, spans in (("hop", visit.hops), ("answer", visit.answers))
                 for span in spans]
        if visit.likeliest and not visit.answers:
            taken = self.run.last.graph.get_edge_data(name, self.run.name(visit.read.words(*visit.likeliest[:2])), {})
            if taken.get("margin") is not None:
                spans.append(self._span(visit, "below", visit.likeliest))
        return spans

    def _span(self, visit: Any, as_what: str, span: Any) -> Span:
        first = visit.read.sentence_spans[span.sentence][0]
        words = visit.read.words(span.start, span.end)
        name = self.pages.find(words) if as_what == "hop" else self.run.name(words)
        return {"as": as_what, "sentence": span.sentence, "start": span.start - first, "end": span.end - first,
                "margin": short(span.margin), "chance": short(span.probability),
                "page": self.pages.find(words) is not None, "leads": self.number.get(name)}

    def _visit(self, name: str, visit: Any) -> int:
        """The index of a visit; it stays the same in all steps."""
        for number, (known, _) in enumerate(self._visits):
            if known is visit:
                return number
        clue_count = len(visit.read.clues)
        self._visits.append((visit, {
            "clues": [[self.number[title], sentence, i < clue_count]
                      for i, (title, sentence) in enumerate(visit.clues)],
            "read": len(visit.read.sentences), "spans": self._spans(name, visit)}))
        return len(self._visits) - 1

    def _numbers(self, names: Sequence[str]) -> list[int]:
        return [self.number[name] for name in names]

    def _step(self, state: GraphState) -> Step:
        """The state at a step."""
        growing, nodes = self.run.growing, state.graph.nodes
        answer = growing.answer(state)
        return {"frontier": self._numbers(state.frontier),
                "hops": self._numbers([name for name in nodes if nodes[name]["hop"]]),
                "answers": self._numbers([name for name in nodes if nodes[name]["answer"]]),
                "visits": {self.number[name]: self._visit(name, visit) for name, visit in state.visits.items()},
                "answer": answer, "likeliest": growing.likeliest(state), "chance": growing.probability(state),
                "compared": self._numbers(growing.comparison_pair(state)), **self._choice(state, answer)}

    def _choice(self, state: GraphState, answer: str | None) -> Choice:
        """System 2 on the visited nodes: ``chances``, each node's probability of being the answer as [without edges,
        with edges]; and ``effects``, the change that each edge's message makes to the logits of the edge's target and
        of the answer."""
        read = [name for name in state.graph if name in state.visits]
        if not read or not self.special:
            return {"chances": {}, "effects": []}
        edges = [(read.index(source), read.index(target)) for source, target in state.graph.edges
                 if source in read and target in read]
        model = self.run.growing.model
        device = next(model.parameters()).device
        found = message_effects(model.reasoner, torch.stack([state.visits[name].semantics for name in read]).to(device),
                                adjacency(edges, len(read)).to(device))
        chosen = read.index(answer) if answer in read else None

        def effect(source: int, target: int) -> Effect:
            moved = found.effects[source, target]
            return {"source": self.number[read[source]], "target": self.number[read[target]],
                    "on_target": short(float(moved[target])),
                    "on_answer": None if chosen is None else short(float(moved[chosen]))}

        chances = torch.stack([found.alone.softmax(0), found.logits.softmax(0)], 1).tolist()
        return {"chances": {self.number[name]: [short(p) for p in pair]
                            for name, pair in zip(read, chances, strict=True)},
                "effects": [effect(*edge) for edge in edges]}
