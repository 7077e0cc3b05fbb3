"""The interface of a graph expansion, as needed by the Cognitive Graph Lab, and a complete run of one expansion."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import networkx


class GraphState(Protocol):
    """A partly expanded graph: a networkx.DiGraph over names, its frontier, and the visits so far."""

    @property
    def graph(self) -> "networkx.DiGraph":
        """The graph; nodes have the attributes ``hop`` and ``answer``, edges a ``clue``, given as (title, sentence
        index)."""

    @property
    def frontier(self) -> tuple[str, ...]:
        """The nodes to visit next."""

    @property
    def visits(self) -> Mapping[str, Any]:
        """System 1's output for each visited node."""


class GraphSearch(Protocol):
    """Step-by-step answering of one question, as in `plmlab.models.cogqa_search.CogQASearch`."""

    @property
    def model(self) -> Any:
        """The model; ``reasoner(semantics, edges)`` returns one logit per node."""

    @property
    def pages(self) -> Any:
        """The pages, with the methods ``named``, ``find``, ``sentences`` and ``spelled``."""

    @property
    def named(self) -> tuple[str, ...]:
        """The start nodes: the titles named in the question."""

    def states(self) -> Iterator[Any]:
        """The initial state, and the state after each step."""

    def answer(self, state: Any) -> str | None:
        """The answer given by both systems together."""

    def likeliest(self, state: Any) -> str | None:
        """The answer of System 1 alone: its most confident answer span."""

    def probability(self, state: Any) -> float | None:
        """For comparison questions, the probability of "yes", or of the second of the two compared nodes."""

    def comparison_pair(self, state: Any) -> tuple[str, ...]:
        """The two nodes that a comparison question compares."""


StartSearch = Callable[..., GraphSearch]
"""``grow(question, kind, forbidden=frozenset())``: starts answering a question, given as ids."""


@dataclass(frozen=True, eq=False)
class Run:
    """A complete run: all ``states``, from the initial one to the one with an empty frontier."""

    growing: GraphSearch
    states: tuple[Any, ...]

    @cached_property
    def last(self) -> GraphState:
        """The final state, with an empty frontier."""
        return self.states[-1]

    @cached_property
    def answer(self) -> str | None:
        """The answer in the final state."""
        return self.growing.answer(self.last)

    @cached_property
    def since(self) -> dict[Any, int]:
        """Map each node, and each edge as a pair, to the index of the first state that contains it."""
        return {thing: step for step, state in reversed([*enumerate(self.states)])
                for thing in (*state.graph.nodes, *state.graph.edges)}

    def name(self, words: Any) -> str:
        """The page title with these ids; if there is no such page, the words of the ids."""
        return self.growing.pages.find(words) or self.growing.pages.spelled(words)
