"""Who hears whom in System 2: against the shares of both networks, against the Jacobian of what passes, and by hand."""

from itertools import product
from random import Random

import pytest
import torch
from torch import nn

from plmlab.models.cognitive_gnn import CognitiveGNN, SelfLoopGNN
from plmlab.objectives.cognitive_graphs import adjacency
from plmlab.objectives.message_masks import in_neighbours, in_neighbours_and_self
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import PairsRule, Visibility

BOTH = pytest.mark.parametrize(("make", "network"),
                               [(in_neighbours, CognitiveGNN), (in_neighbours_and_self, SelfLoopGNN)])
VOCAB, RNG = Vocabulary(60), Random(0)
GRAPHS = {"none": [], "a chain": [(0, 1), (1, 2), (2, 3)], "two clues": [(0, 2), (1, 2), (2, 3), (2, 4)],
          "a circle": [(0, 1), (1, 0), (1, 2), (2, 4)], "twice": [(0, 1), (0, 1), (3, 1)]}
NODES = 5


@BOTH
@pytest.mark.parametrize("name", GRAPHS)
def test_heard_is_what_the_network_lets_pass(make, network: type[CognitiveGNN], name: str) -> None:
    """A node's Δ has a derivative by what another node was just where it hears it."""
    torch.manual_seed(0)
    gnn = network(6, 0.0).double()
    nn.init.normal_(gnn.layer.passed_on.weight)
    shares = gnn.shares(adjacency(GRAPHS[name], NODES).double())
    jacobian = torch.autograd.functional.jacobian(
        lambda x: (shares.T @ nn.functional.gelu(gnn.layer.passed_on(x))).sum(-1), torch.randn(NODES, 6).double())
    example = make(range(40, 45), vocab=VOCAB, rng=RNG, edges=[(40 + a, 40 + b) for a, b in GRAPHS[name]])
    assert torch.equal(example.visible.dense(), jacobian.abs().sum(-1) > 0)
    assert torch.equal(example.visible.dense(), shares.T > 0)


def test_each_cell_says_why() -> None:
    words = ["Roma", "Dusk", "Adam"]
    paper, authors = (make([40, 41, 42], vocab=VOCAB, rng=RNG, edges=[(40, 41), (41, 42)]).visible
                      for make in (in_neighbours, in_neighbours_and_self))
    assert paper.reason(1, 0, words) == "Dusk can attend to Roma: Dusk was found on the page of Roma."
    assert paper.reason(0, 0, words) == "Roma cannot attend to Roma: Roma was not found on the page of Roma."
    assert authors.reason(0, 0, words).startswith("Roma can attend to Roma: 2I + A: a self-loop of weight 2")
    for query, key in product(range(3), repeat=2):
        if query != key:
            assert authors.reason(query, key, words) == paper.reason(query, key, words)


def test_an_edge_without_an_end_is_left_out() -> None:
    example = in_neighbours([42, 40], vocab=VOCAB, rng=RNG, edges=[(40, 41), (41, 42), (40, 42)])
    assert example.visible.dense().tolist() == [[False, True], [False, False]]
    assert example.tokens.tolist() == [42, 40] and example.position_ids.tolist() == [[0, 1]]


@pytest.mark.parametrize(("tokens", "told"), [([], "got 0 nodes, 0 of them"), ([40, 41, 40], "got 3 nodes, 2 of")])
@pytest.mark.parametrize("make", [in_neighbours, in_neighbours_and_self])
def test_nodes_that_are_none(make, tokens: list[int], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        make(tokens, vocab=VOCAB, rng=RNG, edges=[])


@pytest.mark.parametrize("seed", range(5))
def test_a_list_of_pairs_is_a_rule_of_its_own(seed: int) -> None:
    pairs = torch.rand(4, 6, generator=torch.Generator().manual_seed(seed)) > 0.5
    rule = PairsRule.of("listed", "{key} is in the list.", pairs)
    assert torch.equal(rule.allows(), pairs) and torch.equal(Visibility((rule,)).dense(), pairs)
