"""Where the nodes of a graph stand: a column for each distance from where it begins, in it the order of finding."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from plmlab.labs.cognitive_graph.presets import Gold

if TYPE_CHECKING:
    import networkx


class Place(NamedTuple):
    """A node's place, from 0; ``missed``: it is right, and was not found."""

    name: str
    column: int
    row: int
    missed: bool = False


def distances(graph: "networkx.DiGraph", starts: Iterable[str]) -> dict[str, int]:
    """How many edges lead to each node from the nearest of some; those that none leads to are left out."""
    import networkx

    found = dict[str, int]()
    for start in starts:
        for node, far in networkx.single_source_shortest_path_length(graph, start).items():
            found[node] = min(far, found.get(node, far))
    return found


def places(graph: "networkx.DiGraph", starts: Iterable[str], gold: Gold | None) -> list[Place]:
    """All nodes of a graph in its order, behind them the gold ones that it misses. Where these stand is told by the
    gold graph; nothing that was found moves for them."""
    import networkx

    wanted = networkx.DiGraph()
    if gold is not None:
        wanted.add_nodes_from(gold.nodes)
        wanted.add_edges_from(gold.edges)
    far = distances(graph, starts)
    gold_far = distances(wanted, [node for node, before in wanted.in_degree() if not before])
    return [*_in_rows([*((node, far[node], False) for node in graph),
                       *((node, gold_far.get(node, 0), True) for node in wanted if node not in graph)])]


def _in_rows(nodes: Iterable[tuple[str, int, bool]]) -> Iterator[Place]:
    filled = Counter[int]()
    for name, column, missed in nodes:
        yield Place(name, column, filled[column], missed)
        filled[column] += 1
