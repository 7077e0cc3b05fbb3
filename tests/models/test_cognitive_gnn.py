"""System 2's graph network: each node's sum by loops, both readings of the adjacency, graphs side by side."""

from math import erf, sqrt

import pytest
import torch
from torch import Tensor, nn

from plmlab.models.cognitive_gnn import CognitiveGNN, GraphLayer, SelfLoopGNN
from plmlab.objectives.cognitive_graphs import adjacency

GRAPHS = {
    "a chain": (3, [(0, 1), (1, 2)]),
    "nobody leads to two of them": (4, [(0, 2), (1, 2), (2, 3)]),
    "a circle": (3, [(0, 1), (1, 2), (2, 0)]),
    "there and back": (2, [(0, 1), (1, 0)]),
    "alone": (1, []),
    "no edge": (3, []),
}
BOTH = pytest.mark.parametrize("kind", [CognitiveGNN, SelfLoopGNN])


def made(kind: type[CognitiveGNN], model: int = 5) -> CognitiveGNN:
    torch.manual_seed(3)
    gnn = kind(model, dropout=0.0).double().eval()
    for parameter in gnn.parameters():
        nn.init.normal_(parameter, std=0.6)
    return gnn


def gelu(x: float) -> float:
    return x * (1 + erf(x / sqrt(2))) / 2


def by_loops(layer: GraphLayer, x: list[list[float]], edges: list[tuple[int, int]], loops: bool) -> list[list[float]]:
    """A round, number by number, from the formula."""
    def through(weight: Tensor, row: list[float]) -> list[float]:
        return [sum(value * row[j] for j, value in enumerate(weights)) for weights in weight.tolist()]
    new = []
    for node, row in enumerate(x):
        heard = [(1, x[source]) for source, target in edges if target == node] + [(2, row)] * loops
        delta = [0.0] * len(row)
        for weight, said in heard:
            for i, value in enumerate(through(layer.passed_on.weight, said)):
                delta[i] += weight * gelu(value) / sum(one for one, _ in heard)
        new.append([gelu(kept + more) for kept, more in zip(through(layer.retained.weight, row), delta, strict=True)])
    return new


@BOTH
@pytest.mark.parametrize("graph", GRAPHS)
def test_two_rounds_are_the_formula_by_loops(graph: str, kind: type[CognitiveGNN]) -> None:
    nodes, edges = GRAPHS[graph]
    gnn = made(kind)
    x = torch.randn(nodes, 5, dtype=torch.float64)
    expected = x.tolist()
    for _ in range(2):
        expected = by_loops(gnn.layer, expected, edges, loops=kind is SelfLoopGNN)
    said = gnn.answer(torch.tensor(expected, dtype=torch.float64))
    torch.testing.assert_close(gnn(x, adjacency(edges, nodes)), said, rtol=0, atol=1e-10)


@pytest.mark.parametrize("graph", GRAPHS)
def test_what_a_node_hears_adds_up_to_one(graph: str) -> None:
    nodes, edges = GRAPHS[graph]
    found = adjacency(edges, nodes).double()
    paper, loops = CognitiveGNN.shares(found), SelfLoopGNN.shares(found)
    for node in range(nodes):
        before = [source for source, target in edges if target == node]
        assert paper[:, node].tolist() == pytest.approx([(i in before) / max(1, len(before)) for i in range(nodes)])
        total = len(before) + 2
        assert loops[:, node].tolist() == pytest.approx([((i in before) + 2 * (i == node)) / total
                                                         for i in range(nodes)])


@BOTH
def test_nobody_hears_who_comes_behind(kind: type[CognitiveGNN]) -> None:
    gnn, edges = made(kind), adjacency([(0, 1), (1, 2)], 3)
    x = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    for node in range(3):
        heard, = torch.autograd.grad(gnn(x, edges)[node], x)
        assert [bool(row.any()) for row in heard] == [source <= node for source in range(3)]


@BOTH
def test_two_rounds_reach_two_edges_far(kind: type[CognitiveGNN]) -> None:
    x = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    heard, = torch.autograd.grad(made(kind)(x, adjacency([(0, 1), (1, 2), (2, 3)], 4))[3], x)
    assert [bool(row.any()) for row in heard] == [False, True, True, True]


@BOTH
def test_graphs_side_by_side_do_not_meet(kind: type[CognitiveGNN]) -> None:
    gnn, alone, xs, whole, first = made(kind), [], [], [], 0
    for nodes, edges in GRAPHS.values():
        xs.append(torch.randn(nodes, 5, dtype=torch.float64))
        alone.append(gnn(xs[-1], adjacency(edges, nodes)))
        whole += [(first + source, first + target) for source, target in edges]
        first += nodes
    together = gnn(torch.cat(xs), adjacency(whole, first))
    torch.testing.assert_close(together, torch.cat(alone), rtol=0, atol=1e-12)


def test_an_edge_counts_once_and_must_have_both_ends() -> None:
    assert adjacency([(0, 1), (0, 1)], 2).tolist() == [[False, True], [False, False]]
    with pytest.raises(ValueError, match="from node 0 to node 2, but the nodes are 0 to 1"):
        adjacency([(0, 2)], 2)
