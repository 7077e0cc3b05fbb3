"""What the Cognitive Graph Lab asks of a graph that grows, whoever grows it; and a run of one, from start to end."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import networkx


class GrownState(Protocol):
    """A graph half grown: a networkx.DiGraph over names, what is to be read next, and what was read."""

    @property
    def graph(self) -> "networkx.DiGraph":
        """Nodes with ``hop`` and ``answer``, edges with their ``clue``: (title, number of the sentence)."""

    @property
    def frontier(self) -> tuple[str, ...]:
        """What is to be read next."""

    @property
    def visits(self) -> Mapping[str, Any]:
        """What System 1 made of each node that was read."""


class Growing(Protocol):
    """A question that is answered step by step, such as `plmlab.models.cogqa_search.CogQASearch`."""

    @property
    def model(self) -> Any:
        """What reads; its ``reasoner(semantics, edges)`` gives a logit for each node."""

    @property
    def pages(self) -> Any:
        """What is read: ``named``, ``find``, ``sentences`` and ``spelled``."""

    @property
    def named(self) -> tuple[str, ...]:
        """Where the graph begins."""

    def states(self) -> Iterator[Any]:
        """The start, and what each step makes of it."""

    def answer(self, state: Any) -> str | None:
        """What both systems together answer."""

    def likeliest(self, state: Any) -> str | None:
        """What System 1 alone would answer."""

    def chance(self, state: Any) -> float | None:
        """Of a comparison: the chance of the second of two, or of yes."""

    def compared(self, state: Any) -> tuple[str, ...]:
        """The two nodes that a comparison compares."""


Grow = Callable[..., Growing]
"""``grow(question, kind, forbidden=frozenset())``: a question as ids, to be answered."""


@dataclass(frozen=True, eq=False)
class Run:
    """A question answered: its ``states``, the first with nothing read, the last with nothing left to read."""

    growing: Growing
    states: tuple[Any, ...]

    @cached_property
    def last(self) -> GrownState:
        """The state with nothing left to read."""
        return self.states[-1]

    @cached_property
    def answer(self) -> str | None:
        """The answer when nothing is left to read."""
        return self.growing.answer(self.last)

    @cached_property
    def since(self) -> dict[Any, int]:
        """A node, or an edge as a pair → the number of the first state that has it."""
        return {thing: step for step, state in reversed([*enumerate(self.states)])
                for thing in (*state.graph.nodes, *state.graph.edges)}

    def name(self, words: Any) -> str:
        """The title that some ids are, or their words where nothing is called so."""
        return self.growing.pages.find(words) or self.growing.pages.spelled(words)
