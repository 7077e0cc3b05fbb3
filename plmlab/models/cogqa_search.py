"""How CogQA's graph grows (Ding et al. 2019, algorithm 1): the nodes at its frontier are read, what System 1 points at
becomes new nodes, the sentences where they were found go along as clues, and so on until the frontier is empty.

As in the authors' code a whole frontier is read at once. Where no paragraph has given an answer, the likeliest one that
was below the threshold is taken, of all paragraphs (theirs: the last frontier is read again, with a lower threshold).
What is compared differs too: of each of the two that a question names, the node on the way from it whose paragraph
points most surely at an answer (theirs: the two nodes with the most spans).
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
    """The texts that a question is answered from, one a title, all as ids."""

    def named(self, question: Ids) -> Sequence[str]:
        """The titles that stand in a question, in its order."""

    def find(self, words: Ids) -> str | None:
        """The title that these words are; None where nothing is called so."""

    def sentences(self, title: str) -> Sequence[Ids]:
        """The sentences of the page with this title; none where there is no such page."""

    def spelled(self, words: Ids) -> str:
        """The words as a person reads them."""


class Clue(NamedTuple):
    """A sentence in which a node was found: of the page with that ``title``, by its number."""

    title: str
    sentence: int


@dataclass(frozen=True)
class NodeReading:
    """What System 1 made of a node when it was read last: the ``clues`` that came with it, what it was given, the spans
    that it points at as ``hops`` and ``answers``, the likeliest ``answer`` even if it is below the threshold, and
    ``semantics``, what the node is to System 2 (of length model)."""

    clues: tuple[Clue, ...]
    read: NodeInput
    hops: tuple[FoundSpan, ...]
    answers: tuple[FoundSpan, ...]
    likeliest: FoundSpan | None
    semantics: Tensor

    @property
    def best_margin(self) -> float:
        """The margin of the likeliest answer; −inf where there is no paragraph."""
        return self.likeliest.margin if self.likeliest else -torch.inf


@dataclass(frozen=True)
class SearchState:
    """A graph half grown. ``graph`` is a networkx.DiGraph over titles, or over the words of an answer that has no page;
    a node has ``hop`` (it is read to go on) and ``answer`` (it was pointed at as one), an edge its ``clue``, and the
    ``margin`` with which System 1 has pointed at an answer, None where it has not. ``frontier`` is what is to be read
    next; ``visits`` holds what was read."""

    graph: "networkx.DiGraph"
    frontier: tuple[str, ...]
    visits: Mapping[str, NodeReading]

    def clues(self, node: str) -> tuple[Clue, ...]:
        """The sentences in which a node was found, in the order in which they were: clues[x, G]."""
        return tuple(Clue(*edge["clue"]) for _, _, edge in self.graph.in_edges(node, data=True))

    @property
    def answers(self) -> tuple[str, ...]:
        """The nodes that were pointed at as answers."""
        return tuple(node for node, answer in self.graph.nodes(data="answer") if answer)


@dataclass(frozen=True)
class CogQASearch:
    """A question that is answered by a CogQA, step by step: ``start()``, then ``step(state)`` while
    ``state.frontier``; or all of them by ``states()``. A state is never changed, so one can go back.

    ``max_hops`` and ``max_answers`` spans are followed from a node, up to ``max_nodes`` nodes in all. ``forbidden``
    holds nodes, and edges as pairs, that may not come into the graph. ``clues=False`` lets no clue go along.
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
        """The titles that the question names, in its order, each once: where the graph begins."""
        names = [name for name in dict.fromkeys(self.pages.named(self.question)) if name not in self.forbidden]
        return tuple(names[:self.max_nodes])

    @property
    def _device(self) -> torch.device:
        return next(self.model.parameters()).device

    def start(self) -> SearchState:
        """What the question names, nothing read."""
        import networkx

        graph = networkx.DiGraph()
        for name in self.named:
            graph.add_node(name, hop=True, answer=False)
        return SearchState(graph, tuple(graph), {})

    def states(self) -> Iterator[SearchState]:
        """The start, and what each step makes of it, until nothing is left to read."""
        state = self.start()
        yield state
        while state.frontier:
            yield (state := self.step(state))

    def finished(self) -> SearchState:
        """The graph when nothing is left to read."""
        *_, last = self.states()
        return last

    def step(self, state: SearchState) -> SearchState:
        """Read the frontier, and go on to what was found."""
        visits = {**state.visits, **self._read(state)}
        graph, frontier = state.graph.copy(), list[str]()
        for node in state.frontier:
            if graph.nodes[node]["hop"]:
                frontier += self._follow(graph, node, visits[node])
        grown = SearchState(graph, tuple(dict.fromkeys(frontier)), visits)
        return grown if grown.frontier or grown.answers else self._fallback_answer(grown)

    @torch.no_grad()
    def _read(self, state: SearchState) -> dict[str, NodeReading]:
        """Each node of the frontier as System 1 reads it, all of them at once."""
        if not state.frontier:
            return {}
        clues = [state.clues(node) if self.clues else () for node in state.frontier]
        read = [self.fit_to_length(node, some) for node, some in zip(state.frontier, clues, strict=True)]
        batch = Batch.of([one.example(self.vocab) for one in read], pad=self.vocab.need("pad"))
        logits, semantics = self.model.read(batch.to(self._device))
        found = {}
        for node, some, one, row, meaning in zip(state.frontier, clues, read, logits.cpu(), semantics.cpu(),
                                                 strict=True):
            hop_starts, hop_ends, starts, ends = row.unbind(-1)
            likeliest = best_spans(starts, ends, one.sentence_spans, 1, allow=torch.inf)
            found[node] = NodeReading(
                some, one, tuple(best_spans(hop_starts, hop_ends, one.sentence_spans, self.max_hops)),
                tuple(best_spans(starts, ends, one.sentence_spans, self.max_answers)), likeliest[0] if likeliest
                else None,
                meaning)
        return found

    def fit_to_length(self, node: str, clues: Sequence[Clue]) -> NodeInput:
        """The question, what goes along, and the page of a node, as far as the model has positions for it."""
        return fit_to_length(self.question, [self.pages.sentences(clue.title)[clue.sentence] for clue in clues],
                      self.pages.sentences(node), self.model.encoder.config.time)

    def _follow(self, graph: "networkx.DiGraph", node: str, visit: NodeReading) -> Iterator[str]:
        """Put what a node points at into the graph; what has to be read for that, now or again."""
        for span in visit.hops:
            title = self.pages.find(visit.read.words(span.start, span.end))
            if title is not None and self._link(graph, node, title, span, hop=True):
                yield title
        for span in visit.answers:
            if self._link(graph, node, self._name(visit, span), span, answer=True):
                yield self._name(visit, span)

    def _name(self, visit: NodeReading, span: FoundSpan) -> str:
        """The title that a span is, or its words where nothing is called so."""
        words = visit.read.words(span.start, span.end)
        return self.pages.find(words) or self.pages.spelled(words)

    def _link(self, graph: "networkx.DiGraph", source: str, target: str, span: FoundSpan, hop: bool = False,
              answer: bool = False) -> bool:
        """Let an edge lead to a node, new or old; whether the node is to be read, now or again."""
        if source == target or self.forbidden & {target, (source, target)}:
            return False
        if target not in graph:
            if len(graph) >= self.max_nodes:
                return False
            graph.add_node(target, hop=False, answer=False)
        known = graph.nodes[target]
        news = (source, target) not in graph.edges or (hop and not known["hop"])
        known["hop"], known["answer"] = known["hop"] or hop, known["answer"] or answer
        if (source, target) not in graph.edges:
            graph.add_edge(source, target, clue=Clue(source, span.sentence), margin=None)
        if answer:
            graph.edges[source, target]["margin"] = span.margin
        return news

    def _fallback_answer(self, state: SearchState) -> SearchState:
        """The same with the likeliest answer of all nodes in it, though it is below the threshold; to be read next. If
        its edge is there already, the next likeliest is taken too."""
        graph = state.graph.copy()
        for node, visit in sorted(state.visits.items(), key=lambda one: -one[1].best_margin):
            if visit.likeliest and graph.nodes[node]["hop"]:
                name = self._name(visit, visit.likeliest)
                if self._link(graph, node, name, visit.likeliest, answer=True):
                    return replace(state, graph=graph, frontier=(name,))
        return state

    @torch.no_grad()
    def scores(self, state: SearchState) -> dict[str, float]:
        """System 2's logit of each node that was read: of being the answer of a special question."""
        nodes = [node for node in state.graph if node in state.visits]
        if not nodes:
            return {}
        logits = self.model.reasoner(self._semantics(state, nodes), self._edges(state, nodes).to(self._device))
        return dict(zip(nodes, logits.tolist(), strict=True))

    @torch.no_grad()
    def chance(self, state: SearchState) -> float | None:
        """Of a comparison: the chance of the second of two, or of yes; None where there are no two to compare, and of a
        special question."""
        compared = self.comparison_pair(state) if self.kind != "special" else ()
        if len(compared) < 2:
            return None
        predictor = self.model.reasoner.either_or if self.kind == "either-or" else self.model.reasoner.yes_no
        one, other = self._semantics(state, compared)
        return float(predictor((one - other)[None]).sigmoid())

    def comparison_pair(self, state: SearchState) -> tuple[str, ...]:
        """For each of the first two nodes of the question, the node on the way from it that says what is compared."""
        import networkx

        starts = [node for node in self.named if node in state.visits][:2]
        found = []
        for start in starts:
            hops = [node for node in (start, *networkx.descendants(state.graph, start))
                    if node in state.visits and state.graph.nodes[node]["hop"]]
            found.append(max(hops, key=lambda node: state.visits[node].best_margin))
        return tuple(found)

    def answer(self, state: SearchState) -> str | None:
        """What CogQA answers: the answer node that System 2 finds likeliest, one of the two that the question names, or
        yes or no; None where it has nothing to say."""
        if self.kind == "special":
            scores = self.scores(state)
            among = [node for node in state.answers if node in scores]
            return max(among, key=scores.__getitem__) if among else None
        chance = self.chance(state)
        if chance is None:
            return None
        if self.kind == "yes-no":
            return "yes" if chance > 0.5 else "no"
        return self.named[int(chance > 0.5)]

    def likeliest(self, state: SearchState) -> str | None:
        """What System 1 alone would answer: of all answers that were pointed at, that with the largest margin over
        [CLS]; None where there is none."""
        pointed = [(margin, node) for _, node, margin in state.graph.edges(data="margin") if margin is not None]
        return max(pointed)[1] if pointed else None

    def _edges(self, state: SearchState, nodes: Sequence[str]) -> Bool[Tensor, "node node"]:
        """Between which of these nodes System 2 passes messages."""
        return edges_of(state.graph, nodes)

    def _semantics(self, state: SearchState, nodes: Sequence[str]) -> Float[Tensor, "node model"]:
        return torch.stack([state.visits[node].semantics for node in nodes]).to(self._device)


def edges_of(graph: "networkx.DiGraph", nodes: Sequence[str]) -> Tensor:
    """A between these nodes, [source target]."""
    import networkx

    return torch.from_numpy(networkx.to_numpy_array(graph, nodes, weight=None) > 0)
