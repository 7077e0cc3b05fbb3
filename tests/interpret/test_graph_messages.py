"""What messages do: by hand in a network that adds, one graph after the other in CogQA's, and where nothing is said."""

from math import erf, sqrt

import pytest
import torch
from torch import Tensor, nn

from plmlab.interpret.graph_messages import message_effects
from plmlab.models.cognitive_gnn import CognitiveGNN, SelfLoopGNN
from plmlab.objectives.cognitive_graphs import adjacency


def adds(x: Tensor, edges: Tensor) -> Tensor:
    """Two rounds in which each node adds what those before it have."""
    for _ in range(2):
        x = x + edges.to(x.dtype).T @ x
    return x[:, 0]


def test_by_hand_where_messages_add_up() -> None:
    """1 → 10 → 100, and 1 → 100: after a round 1, 11, 111; after two 1, 12, 123."""
    found = message_effects(adds, torch.tensor([[1.0], [10.0], [100.0]]), adjacency([(0, 1), (1, 2), (0, 2)], 3))
    assert found.logits.tolist() == [1, 12, 123] and found.alone.tolist() == [1, 10, 100]
    assert found.effects[0, 1].tolist() == [0, 2, 1]
    assert found.effects[1, 2].tolist() == [0, 0, 21]
    assert found.effects[0, 2].tolist() == [0, 0, 2]
    assert found.effects.count_nonzero() == 4, "nothing where there is no edge"


def test_by_hand_what_a_target_hears_is_shared_out_anew() -> None:
    """With all weights 1, the answer being the node itself: two before a node are heard by halves, one alone whole."""
    gnn = CognitiveGNN(1, 0.0).double().eval()
    nn.init.ones_(gnn.layer.passed_on.weight)
    nn.init.ones_(gnn.layer.retained.weight)
    gnn.answer = nn.Flatten(0)  # type: ignore[assignment]

    def gelu(x: float) -> float:
        return x * (1 + erf(x / sqrt(2))) / 2

    a, b, c = 1.0, 2.0, 0.5
    once = [gelu(a), gelu(b), gelu(c + (gelu(a) + gelu(b)) / 2)]
    both = gelu(once[2] + (gelu(once[0]) + gelu(once[1])) / 2)
    one = gelu(gelu(c + gelu(b)) + gelu(once[1]))
    found = message_effects(gnn, torch.tensor([[a], [b], [c]], dtype=torch.float64), adjacency([(0, 2), (1, 2)], 3))
    assert found.effects[0, 2].tolist() == pytest.approx([0, 0, both - one])
    assert found.alone.tolist() == pytest.approx([gelu(gelu(x)) for x in (a, b, c)])


@pytest.mark.parametrize("kind", [CognitiveGNN, SelfLoopGNN])
@pytest.mark.parametrize("edges", [[(0, 1), (1, 2), (2, 0), (0, 3)], [(0, 1), (1, 0)], [(2, 3)], []])
def test_side_by_side_is_one_graph_after_the_other(kind: type[CognitiveGNN], edges: list[tuple[int, int]]) -> None:
    torch.manual_seed(2)
    gnn, x = kind(6, 0.0).double().eval(), torch.randn(4, 6, dtype=torch.float64)
    for parameter in gnn.parameters():
        nn.init.normal_(parameter, std=0.6)
    found = message_effects(gnn, x, adjacency(edges, 4))
    assert not found.effects.requires_grad
    with torch.no_grad():
        torch.testing.assert_close(found.logits, gnn(x, adjacency(edges, 4)), rtol=0, atol=1e-10)
        torch.testing.assert_close(found.alone, torch.cat([gnn(row[None], adjacency([], 1)) for row in x]),
                                   rtol=0, atol=1e-10)
        for source in range(4):
            for target in range(4):
                rest = [edge for edge in edges if edge != (source, target)]
                expected = found.logits - gnn(x, adjacency(rest, 4))
                torch.testing.assert_close(found.effects[source, target], expected, rtol=0, atol=1e-10)
        assert bool(found.effects.count_nonzero()) == bool(edges)
