"""Layout of a graph: one column per distance from the start nodes; within a column, nodes in the order of discovery."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from plmlab.labs.cognitive_graph.presets import Gold

if TYPE_CHECKING:
    import networkx


class Place(NamedTuple):
    """Column and row of a node, counted from 0; ``missed`` marks a gold node that was not found."""

    name: str
    column: int
    row: int
    missed: bool = False


def distances(graph: "networkx.DiGraph", starts: Iterable[str]) -> dict[str, int]:
    """Distance in edges of each reachable node from the nearest of the ``starts``."""
    import networkx

    nearest = dict[str, int]()
    for start in starts:
        for node, distance in networkx.single_source_shortest_path_length(graph, start).items():
            nearest[node] = min(distance, nearest.get(node, distance))
    return nearest


def places(graph: "networkx.DiGraph", starts: Iterable[str], gold: Gold | None) -> list[Place]:
    """Layout of all nodes of a graph, followed by the gold nodes missing from it. The gold graph determines the columns
    of the missing nodes, which do not move the nodes that were found."""
    import networkx

    gold_graph = networkx.DiGraph()
    if gold is not None:
        gold_graph.add_nodes_from(gold.nodes)
        gold_graph.add_edges_from(gold.edges)
    columns = distances(graph, starts)
    gold_columns = distances(gold_graph, [node for node, degree in gold_graph.in_degree() if not degree])
    return [*_in_rows([*((node, columns[node], False) for node in graph),
                       *((node, gold_columns.get(node, 0), True) for node in gold_graph if node not in graph)])]


def _in_rows(nodes: Iterable[tuple[str, int, bool]]) -> Iterator[Place]:
    filled = Counter[int]()
    for name, column, missed in nodes:
        yield Place(name, column, filled[column], missed)
        filled[column] += 1
