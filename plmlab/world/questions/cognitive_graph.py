"""The gold cognitive graph of a question, as in CogQA (Ding et al. 2019, section 2)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import networkx

ANSWER = "answer"


class Clue(NamedTuple):
    """The article and the sentence in which an entity was found."""

    article: str          # key of the article's entity
    sentence: int


class Node(NamedTuple):
    """An entity on the path, or the outcome of a comparison."""

    key: str              # the entity's key; ANSWER for the outcome of a comparison
    role: str             # question, hop or answer
    entity: str | None    # None for yes and no


class Edge(NamedTuple):
    """A hop from an entity to one that its article mentions, or from a compared entity to the outcome."""

    source: str
    target: str
    relation: str         # "shot_at"; "~shot_at" from its object to its subject; <, > or = for a comparison
    clue: Clue | None     # None for a comparison


@dataclass(frozen=True)
class CognitiveGraph:
    """Nodes and edges in the order of discovery, starting with the start nodes (named in the question)."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def __getitem__(self, key: str) -> Node:
        """The node with this key (an entity's key, or ANSWER). Raises StopIteration if there is none."""
        return next(node for node in self.nodes if node.key == key)

    @property
    def start(self) -> tuple[Node, ...]:
        """The nodes named in the question."""
        return tuple(node for node in self.nodes if node.role == "question")

    @property
    def answer(self) -> Node:
        """The node of the answer; in a comparison, its outcome."""
        return next(node for node in self.nodes if node.role == "answer")

    def clues(self, key: str) -> tuple[Clue, ...]:
        """The sentences in which a node was found, one per predecessor: CogQA's clues[x, G]."""
        return tuple(edge.clue for edge in self.edges if edge.target == key and edge.clue)

    @property
    def frontiers(self) -> tuple[tuple[Node, ...], ...]:
        """The new nodes at each hop: the start nodes, the nodes found from them, and so on to the answer."""
        found = [self.start]
        seen = {node.key for node in self.start}
        while True:
            last = {node.key for node in found[-1]}
            reached = {edge.target for edge in self.edges if edge.source in last} - seen
            if not reached:
                return tuple(found)
            seen |= reached
            found.append(tuple(node for node in self.nodes if node.key in reached))

    def to_networkx(self) -> "networkx.DiGraph":
        """Convert to a networkx.DiGraph over keys: nodes carry role and entity, edges relation and clue."""
        import networkx

        graph = networkx.DiGraph()
        for node in self.nodes:
            graph.add_node(node.key, role=node.role, entity=node.entity)
        for edge in self.edges:
            graph.add_edge(edge.source, edge.target, relation=edge.relation, clue=edge.clue)
        return graph


def joined(nodes: Iterable[Node], edges: Iterable[Edge]) -> CognitiveGraph:
    """Merge several chains into one graph, in which shared nodes and edges appear once."""
    by_key: dict[str, Node] = {}
    for node in nodes:
        by_key.setdefault(node.key, node)
    return CognitiveGraph(tuple(by_key.values()), tuple(dict.fromkeys(edges)))
