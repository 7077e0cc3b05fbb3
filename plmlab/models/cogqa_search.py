"""Expansion of CogQA's graph (Ding et al. 2019, algorithm 1): System 1 processes the nodes of the frontier, the spans
that it predicts become new nodes, and the sentences in which they were found are passed on to them as clues. This is
repeated until the frontier is empty.

As in the authors' code, the whole frontier is processed at once. There are two differences. If no paragraph gives an
answer, the most likely span below the threshold is taken over all paragraphs; the authors process the last frontier
again with a lower threshold. And in a comparison, each of the two entities that a question names is represented by the
node reachable from it whose paragraph gives the most confident answer; the authors take the two nodes with the most
spans.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from plmlab.example import Batch
from plmlab.models.cogqa import CogQA, FoundSpan, best_spans
from plmlab.objectives.cognitive_graphs import Kind
from plmlab.objectives.cogqa_spans import NodeInput, fit_to_length
from plmlab.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    import networkx

Ids = Sequence[int]


class Pages(Protocol):
    """Interface of the corpus from which questions are answered: one page per title, as token ids."""

    def named(self, question: Ids) -> Sequence[str]:
        """The titles that occur in a question, in order of occurrence."""

    def find(self, words: Ids) -> str | None:
        """The title that consists of exactly these tokens; None if there is none."""

    def sentences(self, title: str) -> Sequence[Ids]:
        """The sentences of the page with this title; empty if there is no such page."""

    def spelled(self, words: Ids) -> str:
        """The tokens as readable text."""


class Clue(NamedTuple):
    """The sentence in which a node was found: the ``title`` of the page and the index of the ``sentence``."""

    title: str
    sentence: int


@dataclass(frozen=True)
class NodeReading:
    """System 1's most recent predictions for a node.

    Attributes:
        clues: the clues in the input.
        read: the input, truncated to the maximum length.
        hops: the spans predicted as next hops.
        answers: the spans predicted as answers.
        likeliest: the most likely answer span, even if it is below the threshold.
        semantics: the node representation for System 2, [model].
    """

    clues: tuple[Clue, ...]
    read: NodeInput
    hops: tuple[FoundSpan, ...]
    answers: tuple[FoundSpan, ...]
    likeliest: FoundSpan | None
    semantics: Tensor

    @property
    def best_margin(self) -> float:
        """Margin of the most likely answer span; −inf if the node has no paragraph."""
        return self.likeliest.margin if self.likeliest else -torch.inf


@dataclass(frozen=True)
class SearchState:
    """A partially expanded graph.

    ``graph`` is a networkx.DiGraph. Its nodes are titles, or the words of an answer that has no page. A node has the
    attributes ``hop`` (whether it is expanded) and ``answer`` (whether it was predicted as an answer). An edge has its
    ``clue`` and the ``margin`` of System 1's answer, None if the edge's target was not predicted as an answer.
    ``frontier`` holds the nodes to be processed next, ``visits`` the predictions for the nodes already processed.
    """

    graph: "networkx.DiGraph"
    frontier: tuple[str, ...]
    visits: Mapping[str, NodeReading]

    def clues(self, node: str) -> tuple[Clue, ...]:
        """The sentences in which a node was found, in order of discovery: clues[x, G]."""
        return tuple(Clue(*edge["clue"]) for _, _, edge in self.graph.in_edges(node, data=True))

    @property
    def answers(self) -> tuple[str, ...]:
        """The nodes that were predicted as answers."""
        return tuple(node for node, answer in self.graph.nodes(data="answer") if answer)


@dataclass(frozen=True)
class CogQASearch:
    """Answers a question with CogQA step by step: call ``start()``, then ``step(state)`` while ``state.frontier`` is
    not empty, or iterate over ``states()``. A step returns a new state and leaves the previous one unchanged.

    At most ``max_hops`` hop spans and ``max_answers`` answer spans per node are added, up to ``max_nodes`` nodes in
    total. ``forbidden`` holds nodes, and edges as pairs, that must not enter the graph. With ``clues=False`` no clues
    are passed on.
    """

    model: CogQA
    pages: Pages
    vocab: Vocabulary
    question: Ids
    kind: Kind
    max_hops: int = 3
    max_answers: int = 1
    max_nodes: int = 15
    forbidden: frozenset[str | tuple[str, str]] = field(default=frozenset())
    clues: bool = True

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The initial nodes: the titles that occur in the question, in order, without duplicates."""
        names = [name for name in dict.fromkeys(self.pages.named(self.question)) if name not in self.forbidden]
        return tuple(names[:self.max_nodes])

    @property
    def _device(self) -> torch.device:
        return next(self.model.parameters()).device

    def start(self) -> SearchState:
        """The initial state: the titles in the question, none of them processed yet."""
        import networkx

        graph = networkx.DiGraph()
        for name in self.named:
            graph.add_node(name, hop=True, answer=False)
        return SearchState(graph, tuple(graph), {})

    def states(self) -> Iterator[SearchState]:
        """The initial state and the state after each step, until the frontier is empty."""
        state = self.start()
        yield state
        while state.frontier:
            yield (state := self.step(state))

    def finished(self) -> SearchState:
        """The fully expanded graph."""
        *_, last = self.states()
        return last

    def step(self, state: SearchState) -> SearchState:
        """Process the frontier and add the predicted spans to the graph."""
        visits = {**state.visits, **self._read(state)}
        graph, frontier = state.graph.copy(), list[str]()
        for node in state.frontier:
            if graph.nodes[node]["hop"]:
                frontier += self._follow(graph, node, visits[node])
        grown = SearchState(graph, tuple(dict.fromkeys(frontier)), visits)
        return grown if grown.frontier or grown.answers else self._fallback_answer(grown)

    @torch.no_grad()
    def _read(self, state: SearchState) -> dict[str, NodeReading]:
        """Process all nodes of the frontier with System 1, as one batch."""
        if not state.frontier:
            return {}
        clues = [state.clues(node) if self.clues else () for node in state.frontier]
        inputs = [self.fit_to_length(node, own) for node, own in zip(state.frontier, clues, strict=True)]
        batch = Batch.of([given.example(self.vocab) for given in inputs], pad=self.vocab.need("pad"))
        logits, semantics = self.model.read(batch.to(self._device))
        visits = {}
        for node, own, given, row, vector in zip(state.frontier, clues, inputs, logits.cpu(), semantics.cpu(),
                                                 strict=True):
            hop_starts, hop_ends, starts, ends = row.unbind(-1)
            likeliest = best_spans(starts, ends, given.sentence_spans, 1, allow=torch.inf)
            visits[node] = NodeReading(
                own, given, tuple(best_spans(hop_starts, hop_ends, given.sentence_spans, self.max_hops)),
                tuple(best_spans(starts, ends, given.sentence_spans, self.max_answers)), likeliest[0] if likeliest
                else None,
                vector)
        return visits

    def fit_to_length(self, node: str, clues: Sequence[Clue]) -> NodeInput:
        """System 1's input for a node, question, clues and page, truncated to the model's maximum length."""
        return fit_to_length(self.question, [self.pages.sentences(clue.title)[clue.sentence] for clue in clues],
                             self.pages.sentences(node), self.model.encoder.config.time)

    def _follow(self, graph: "networkx.DiGraph", node: str, visit: NodeReading) -> Iterator[str]:
        """Add the spans predicted at a node to the graph. Yields the nodes to process (again) next."""
        for span in visit.hops:
            title = self.pages.find(visit.read.words(span.start, span.end))
            if title is not None and self._link(graph, node, title, span, hop=True):
                yield title
        for span in visit.answers:
            if self._link(graph, node, self._name(visit, span), span, answer=True):
                yield self._name(visit, span)

    def _name(self, visit: NodeReading, span: FoundSpan) -> str:
        """The title that a span matches, or the span's text if it matches none."""
        words = visit.read.words(span.start, span.end)
        return self.pages.find(words) or self.pages.spelled(words)

    def _link(self, graph: "networkx.DiGraph", source: str, target: str, span: FoundSpan, hop: bool = False,
              answer: bool = False) -> bool:
        """Add an edge, and its target node if that is new. Returns whether the target has to be processed (again)."""
        if source == target or self.forbidden & {target, (source, target)}:
            return False
        if target not in graph:
            if len(graph) >= self.max_nodes:
                return False
            graph.add_node(target, hop=False, answer=False)
        attributes = graph.nodes[target]
        changed = (source, target) not in graph.edges or (hop and not attributes["hop"])
        attributes["hop"], attributes["answer"] = attributes["hop"] or hop, attributes["answer"] or answer
        if (source, target) not in graph.edges:
            graph.add_edge(source, target, clue=Clue(source, span.sentence), margin=None)
        if answer:
            graph.edges[source, target]["margin"] = span.margin
        return changed

    def _fallback_answer(self, state: SearchState) -> SearchState:
        """Add the most likely answer span of all nodes, although it is below the threshold, as the next frontier. If
        its edge already exists, also add the next most likely one."""
        graph = state.graph.copy()
        for node, visit in sorted(state.visits.items(), key=lambda item: -item[1].best_margin):
            if visit.likeliest and graph.nodes[node]["hop"]:
                name = self._name(visit, visit.likeliest)
                if self._link(graph, node, name, visit.likeliest, answer=True):
                    return replace(state, graph=graph, frontier=(name,))
        return state

    @torch.no_grad()
    def scores(self, state: SearchState) -> dict[str, float]:
        """System 2's logit of each processed node as the answer to a special question."""
        nodes = [node for node in state.graph if node in state.visits]
        if not nodes:
            return {}
        logits = self.model.reasoner(self._semantics(state, nodes), self._edges(state, nodes).to(self._device))
        return dict(zip(nodes, logits.tolist(), strict=True))

    @torch.no_grad()
    def probability(self, state: SearchState) -> float | None:
        """For a comparison question, the predicted probability of the answer "yes" or, between two entities, of the
        second. None for other questions, or if there are not two nodes to compare."""
        compared = self.comparison_pair(state) if self.kind != "special" else ()
        if len(compared) < 2:
            return None
        predictor = self.model.reasoner.either_or if self.kind == "either-or" else self.model.reasoner.yes_no
        one, other = self._semantics(state, compared)
        return float(predictor((one - other)[None]).sigmoid())

    def comparison_pair(self, state: SearchState) -> tuple[str, ...]:
        """The nodes to compare: for each of the first two entities in the question, the node with the most confident
        answer among those reachable from it."""
        import networkx

        starts = [node for node in self.named if node in state.visits][:2]
        nodes = []
        for start in starts:
            hops = [node for node in (start, *networkx.descendants(state.graph, start))
                    if node in state.visits and state.graph.nodes[node]["hop"]]
            nodes.append(max(hops, key=lambda node: state.visits[node].best_margin))
        return tuple(nodes)

    def answer(self, state: SearchState) -> str | None:
        """CogQA's answer; None if there is no candidate. For a special question, the answer node with System 2's
        highest logit; for a comparison, one of the two entities in the question, or yes or no."""
        if self.kind == "special":
            scores = self.scores(state)
            candidates = [node for node in state.answers if node in scores]
            return max(candidates, key=scores.__getitem__) if candidates else None
        chance = self.probability(state)
        if chance is None:
            return None
        if self.kind == "yes-no":
            return "yes" if chance > 0.5 else "no"
        return self.named[int(chance > 0.5)]

    def likeliest(self, state: SearchState) -> str | None:
        """System 1's answer without System 2: the predicted answer with the largest margin over [CLS]; None if there is
        no answer."""
        predicted = [(margin, node) for _, node, margin in state.graph.edges(data="margin") if margin is not None]
        return max(predicted)[1] if predicted else None

    def _edges(self, state: SearchState, nodes: Sequence[str]) -> Bool[Tensor, "node node"]:
        """Adjacency matrix for System 2's message passing between these nodes."""
        return edges_of(state.graph, nodes)

    def _semantics(self, state: SearchState, nodes: Sequence[str]) -> Float[Tensor, "node model"]:
        return torch.stack([state.visits[node].semantics for node in nodes]).to(self._device)


def edges_of(graph: "networkx.DiGraph", nodes: Sequence[str]) -> Tensor:
    """The adjacency matrix A of these nodes, [source target]."""
    import networkx

    return torch.from_numpy(networkx.to_numpy_array(graph, nodes, weight=None) > 0)
