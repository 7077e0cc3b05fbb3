"""The solutions of chapter 14 against independent ones; and what is wrong with an answer that no list foresees."""

from itertools import product
from math import erf, sqrt

import networkx as nx
import pytest
import torch
from torch.nn import functional as F

from plmlab.chapters.ch14 import exercises as right
from plmlab.chapters.ch14 import exercises_graph as graph
from plmlab.chapters.ch14 import exercises_growth as growth
from plmlab.chapters.ch14.scores import answer_match, set_match
from plmlab.exercises import check
from plmlab.models.cognitive_gnn import CognitiveGNN, GraphLayer
from plmlab.models.cogqa import best_spans, pointing

RNG = torch.Generator()


def drawn(seed: int, *size: int) -> torch.Tensor:
    return torch.randn(*size, generator=RNG.manual_seed(seed))


# The solutions

@pytest.mark.parametrize(("targets", "gold"), [
    ([2], [0, 0, 1, 0]), ([1, 3], [0, 0.5, 0, 0.5]), ([], [1, 0, 0, 0]), ([3, 1, 2], [0, 1 / 3, 1 / 3, 1 / 3])])
def test_the_loss_is_the_cross_entropy_with_soft_targets(targets: list[int], gold: list[float]) -> None:
    """And its gradient is p − gt."""
    logits, wanted = drawn(3, 4).requires_grad_(), torch.tensor(gold, dtype=torch.float32)
    loss = right.pointing_loss(logits, targets)
    loss.backward()
    torch.testing.assert_close(loss, F.cross_entropy(logits, wanted))
    assert logits.grad is not None
    torch.testing.assert_close(logits.grad, logits.detach().softmax(0) - wanted)


def test_the_loss_is_what_cogqa_learns_by() -> None:
    logits, targets = drawn(5, 4, 7), [[1, 4], [6], [], [2, 3, 5]]
    pointers = torch.zeros(7, 4, dtype=torch.long)
    for column, slots in enumerate(targets):
        pointers[slots or [0], column] = 1
    mine = [right.pointing_loss(row, slots) for row, slots in zip(logits, targets, strict=True)]
    torch.testing.assert_close(torch.stack(mine), pointing(logits.T[None], pointers[None]))


@pytest.mark.parametrize("seed", range(6))
def test_spans_by_brute_force(seed: int) -> None:
    """Of all spans that are not too long, for each start that of the likeliest end; then those above [CLS], by rank."""
    starts, ends, most, longest = *drawn(seed, 2, 14), 1 + seed, 1 + seed % 4
    best: dict[int, tuple[float, int]] = {}
    for start, size in product(range(14), range(1, longest + 1)):
        if start + size <= 14:
            best[start] = max(best.get(start, (-9e9, 0)), (float(ends[start + size - 1]), start + size))
    ranked = sorted((slot for slot in best if starts[slot] > starts[0]), key=lambda slot: float(starts[slot]))[::-1]
    assert right.pointed_spans(starts, ends, most, longest) == [(slot, best[slot][1]) for slot in ranked[:most]]


@pytest.mark.parametrize("seed", range(4))
def test_spans_are_plmlabs_where_all_is_one_sentence(seed: int) -> None:
    starts, ends = drawn(seed, 2, 20)
    theirs = best_spans(starts, ends, [(1, 20)], 4, longest=5)
    assert theirs and right.pointed_spans(starts, ends, 4, 5) == [(span.start, span.end) for span in theirs]


def test_shares_are_those_of_a_walk_against_the_edges() -> None:
    """networkx divides what leads away from a node by how many that are; so all edges are turned round first."""
    for seed in range(5):
        edges = drawn(seed, 6, 6) > 0.4
        walk = nx.stochastic_graph(nx.from_numpy_array(edges.numpy().astype(float), create_using=nx.DiGraph).reverse())
        torch.testing.assert_close(graph.equal_shares(edges), torch.from_numpy(nx.to_numpy_array(walk)).float().T)
        torch.testing.assert_close(graph.equal_shares(edges), CognitiveGNN.shares(edges.float()))


def test_a_node_that_nobody_leads_to_hears_nothing() -> None:
    assert graph.equal_shares(graph.table(3, (0, 2), (1, 2))).tolist() == [[0, 0, 0.5], [0, 0, 0.5], [0, 0, 0]]


def gelu(number: float) -> float:
    return number * (1 + erf(number / sqrt(2))) / 2


def test_a_round_by_hand() -> None:
    """Nodes 0 and 1 lead to node 2: X W₁ = 1, 3, 0; X W₂ = 0, 1, −1; node 2 hears half of each."""
    x, heard = torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.5, -0.5]]), graph.equal_shares(graph.table(3, (0, 2), (1, 2)))
    after = graph.graph_round(x, heard, torch.tensor([[1.0], [1.0]]), torch.tensor([[-0.5], [2.0]]))
    said = [gelu(1.0), gelu(3.0)]
    assert after.flatten().tolist() == pytest.approx(
        [gelu(-0.5), gelu(1.0), gelu(-1.25 + sum(said) / 2)], abs=1e-5)


def test_a_round_is_that_of_system_2() -> None:
    layer, x, edges = GraphLayer(5), drawn(1, 6, 5), drawn(2, 6, 6) > 0.3
    with torch.no_grad():
        for linear in (layer.passed_on, layer.retained):
            linear.weight.copy_(drawn(linear.weight.shape[0], 5, 5))
        layer.retained.weight.mul_(-0.7)
        shares = CognitiveGNN.shares(edges.float())
        mine = graph.graph_round(x, shares, layer.passed_on.weight.T, layer.retained.weight.T)
        torch.testing.assert_close(layer(x, shares), mine)


@pytest.mark.parametrize(("answer", "gold", "found", "supporting", "score"), [
    ("adam", "adam bell", [("a", 1), ("b", 2)], [("a", 1)], 1 / 2),
    ("adam bell junior", "adam bell", [("a", 1), ("b", 2)], [("a", 1), ("b", 2), ("c", 0)], 2 / 3),
    ("adam", "adam bell", [("a", 1)], [("a", 1), ("c", 0)], 2 * 1 * (1 / 4) / (1 + 1 / 4)),
    ("yes", "no", [("a", 1)], [("a", 1)], 0), ("yes", "yes", [("a", 1)], [("a", 1)], 1),
    ("no bell", "no", [("a", 1)], [("a", 1)], 0), ("no bell", "no man", [("a", 1)], [("a", 1)], 1 / 2),
    ("", "no man", [("a", 1)], [("a", 1)], 0), ("bell", "bell", [], [("a", 1)], 0),
    ("bell bell", "bell", [("a", 1), ("a", 1)], [("a", 1)], 2 / 3)])
def test_joint_f1_by_hand(answer, gold, found, supporting, score: float) -> None:
    assert growth.joint_f1(answer, gold, found, supporting) == pytest.approx(score)


def test_joint_f1_is_that_of_the_chapters_scores() -> None:
    """Of all answers and sentences that the exercise is tried on, with each other."""
    tried = growth.draw_answers(torch.Generator()).values()
    scores = []
    for (answer, gold, *_), (*_, found, supporting) in product(tried, tried):
        scores.append(growth.joint_f1(answer, gold, found, supporting))
        assert scores[-1] == pytest.approx(answer_match(answer, gold).together(set_match(found, supporting)).f1)
    assert len({round(score, 4) for score in scores}) > 15


# Wrong in other words

def starts_in_place(starts, ends, most, longest):
    spans = right.pointed_spans(starts, ends, most, longest)
    starts[0] = float("-inf")
    return spans


def frontier_in_place(read, named, most):
    edges = growth.grown_edges(read, named, most)
    named.clear()
    return edges


def loss_other_than(change):
    return lambda logits, targets: change(right.pointing_loss(logits, targets), logits)


def spans_other_than(change):
    return lambda *args: change(right.pointed_spans(*args))


def shares_other_than(change):
    return lambda edges: change(graph.equal_shares(edges), edges)


def round_other_than(change):
    return lambda x, heard, w1, w2: change(graph.graph_round(x, heard, w1, w2), heard)


def edges_other_than(change):
    return lambda *args: change(growth.grown_edges(*args))


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("14.1", loss_other_than(lambda loss, _: loss[None]), "has the shape [1]; expected was []"),
    ("14.1", loss_other_than(lambda loss, _: float(loss)), "expected was a tensor []"),
    ("14.1", loss_other_than(lambda loss, _: loss + 0.01), "less than that of the likeliest target, or more"),
    ("14.1", loss_other_than(lambda loss, logits: loss + 0.01 * (len(logits) == 8)), "ours is 3.7309, right is 3.7209"),
    ("14.1", lambda logits, targets: right.pointing_loss(logits, targets.append(0) or targets[:-1]),
     "`targets` is changed in place"),
    ("14.2", starts_in_place, "`starts` is changed in place"),
    ("14.2", spans_other_than(lambda spans: torch.tensor(spans)), "is [[2, 4]]; expected was a list"),
    ("14.2", spans_other_than(lambda spans: spans[0]), "At [0]: yours is 2, right is (2, 4)"),
    ("14.2", spans_other_than(lambda spans: [(*span, 0.5) for span in spans]), "yours is (2, 4, 0.5), right is (2, 4)"),
    ("14.2", spans_other_than(lambda spans: spans[:2]), "At [2]: yours is nothing, right is (1, 4)"),
    ("14.3", shares_other_than(lambda shares, _: shares.tolist()), "expected was a tensor [2, 2]"),
    ("14.3", shares_other_than(lambda shares, _: shares.double()), "holds float64 numbers; expected were float32"),
    ("14.3", shares_other_than(lambda shares, _: shares + 0.01), "heard where no edge leads"),
    ("14.3", shares_other_than(lambda shares, _: 0.9 * shares), "column to which somebody leads does not add up to 1"),
    ("14.3", shares_other_than(lambda shares, edges: shares + 0.1 * edges * torch.arange(len(edges))[:, None] * (
        edges.sum(0) > 1)), "does not add up to 1"),
    ("14.4", round_other_than(lambda x, _: x[None]), "has the shape [1, 2, 2]; expected was [2, 2]"),
    ("14.4", round_other_than(lambda x, _: x + 0.1), "node to which nobody leads is not σ(X W₂)"),
    ("14.4", round_other_than(lambda x, heard: x + 0.1 * heard.any(0)[:, None]), "At [1, 0]: yours is 1."),
    ("14.5", frontier_in_place, "`named` is changed in place"),
    ("14.5", edges_other_than(set), "an object of type set; expected was a list"),
    ("14.5", edges_other_than(lambda edges: dict.fromkeys(edges)), "an object of type dict; expected was a list"),
    ("14.5", edges_other_than(lambda edges: [*edges, ("A", "A")]), "yours is (A, A), right is nothing"),
    ("14.6", lambda *args: (growth.joint_f1(*args),), "expected was a number"),
    ("14.6", lambda *args: growth.joint_f1(*args) * 0.9, "ours is 0.45, right is 0.5"),
])
def test_what_is_wrong_is_said(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback
