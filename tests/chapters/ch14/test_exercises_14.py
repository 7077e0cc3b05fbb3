"""The solutions of chapter 14 against independent ones; other right ways are not refused, and slips are named."""

from collections import Counter, defaultdict, deque
from fractions import Fraction
from itertools import product
from math import erf, sqrt

import networkx as nx
import numpy as np
import pytest
import torch
from torch.nn import functional as F

from plmlab.chapters.ch14 import exercises as right
from plmlab.chapters.ch14 import exercises_growth as growth
from plmlab.chapters.ch14.scores import answer_match, set_match
from plmlab.exercises import check
from plmlab.models.cognitive_gnn import CognitiveGNN, GraphLayer
from plmlab.models.cogqa import best_spans, span_losses

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
    for column, positions in enumerate(targets):
        pointers[positions or [0], column] = 1
    mine = [right.pointing_loss(row, positions) for row, positions in zip(logits, targets, strict=True)]
    torch.testing.assert_close(torch.stack(mine), span_losses(logits.T[None], pointers[None]))


@pytest.mark.parametrize("seed", range(6))
def test_spans_by_brute_force(seed: int) -> None:
    """Of all spans that are not too long, for each start that of the likeliest end; then those above [CLS], by rank."""
    starts, ends, most, longest = *drawn(seed, 2, 14), 1 + seed, 1 + seed % 4
    best: dict[int, tuple[float, int]] = {}
    for start, size in product(range(14), range(1, longest + 1)):
        if start + size <= 14:
            best[start] = max(best.get(start, (-9e9, 0)), (float(ends[start + size - 1]), start + size))
    ranked = sorted((position for position in best if starts[position] > starts[0]),
                    key=lambda position: float(starts[position]))[::-1]
    assert right.pointed_spans(starts, ends, most, longest) == [(position, best[position][1])
                                                                for position in ranked[:most]]


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
        expected = torch.from_numpy(nx.to_numpy_array(walk)).float().T
        torch.testing.assert_close(right.normalized_adjacency(edges), expected)
        torch.testing.assert_close(right.normalized_adjacency(edges), CognitiveGNN.shares(edges.float()))


def test_a_node_that_nobody_leads_to_hears_nothing() -> None:
    assert right.normalized_adjacency(right.graph(3, (0, 2), (1, 2))).tolist() == [[0, 0, 0.5], [0, 0, 0.5], [0, 0, 0]]


def gelu(number: float) -> float:
    return number * (1 + erf(number / sqrt(2))) / 2


def test_a_round_by_hand() -> None:
    """Nodes 0 and 1 lead to node 2: X W₁ = 1, 3, 0; X W₂ = 0, 1, −1; node 2 hears half of each."""
    x = torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.5, -0.5]])
    heard = right.normalized_adjacency(right.graph(3, (0, 2), (1, 2)))
    after = right.gnn_layer(x, heard, torch.tensor([[1.0], [1.0]]), torch.tensor([[-0.5], [2.0]]))
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
        mine = right.gnn_layer(x, shares, layer.passed_on.weight.T, layer.retained.weight.T)
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


# Other right ways, and slips, as people write them

def weighed(logp=lambda logits: logits.log_softmax(dim=0), cost=lambda gt, logp: -(gt * logp)[gt > 0].sum(), none=(0,)):
    """A row of weights, and the sum of its products."""
    def answer(logits, targets):
        targets = targets if targets else list(none)
        gt = torch.zeros(len(logits))
        for target in targets:
            gt[target] = 1 / len(targets)
        return cost(gt, logp(logits))
    return answer


def loss_in_a_loop(logits, targets):
    if len(targets) == 0:
        targets = [0]
    total = torch.tensor(0.0)
    for target in targets:
        total = total + F.cross_entropy(logits, torch.tensor(target))
    return total / len(targets)


def soft_targets(logits, targets):
    """cross_entropy with probabilities multiplies padding's −∞ by 0."""
    gt = torch.zeros(len(logits))
    gt[targets or [0]] = 1 / len(targets or [0])
    return F.cross_entropy(logits, gt)


def marginal(logits, targets):
    return -torch.log(logits.softmax(0)[targets or [0]].mean())


def by_topk(most=lambda most, starts: min(most, len(starts)), above=torch.gt,
            piece=lambda ends, start, longest: ends[start:start + longest], end=lambda start, place: start + place + 1):
    """The K largest starts, one after the other."""
    def answer(starts, ends, given, longest):
        spans = []
        for start in starts.topk(most(given, starts)).indices.tolist():
            if above(starts[start], starts[0]):
                spans.append((start, end(start, int(piece(ends, start, longest).argmax()))))
        return spans
    return answer


def along_the_text(best=float("-inf")):
    """Position by position, in plain Python; sorted in the end."""
    def answer(starts, ends, most, longest):
        s, e, spans = starts.tolist(), ends.tolist(), []
        for i in range(1, len(s)):
            if s[i] > s[0]:
                high, last = best, i
                for j in range(i, min(i + longest, len(e))):
                    if e[j] > high:
                        high, last = e[j], j
                spans.append((s[i], i, last + 1))
        return [(i, j) for _, i, j in sorted(spans, reverse=True)[:most]]
    return answer


def spans_with_numpy(starts, ends, most, longest):
    order = np.argsort(-starts.numpy())
    order = [position for position in order if starts[position] > starts[0]][:most]
    return tuple((position, position + np.argmax(ends.numpy()[position:position + longest]) + 1) for position in order)


def starts_in_place(starts, ends, most, longest):
    spans = right.pointed_spans(starts, ends, most, longest)
    starts[0] = float("-inf")
    return spans


def shares_by_where(edges):
    total = edges.sum(dim=0, keepdim=True)
    return torch.where(total > 0, edges / total, torch.zeros(1))


def shares_in_loops(over):
    def answer(edges):
        out = torch.zeros(edges.shape)
        for i, j in edges.nonzero().tolist():
            out[i, j] = 1 / int(over(edges, i, j).sum())
        return out
    return answer


def by_matrix(inverse):
    return lambda edges: edges.float() @ inverse(torch.diag(edges.sum(0).float()))


def round_of(inner=F.gelu, mix=lambda heard, said: heard.mT.matmul(said), turned=lambda w: w.T):
    """By F.linear, whose weights are transposed."""
    return lambda x, heard, w1, w2: F.gelu(F.linear(x, turned(w2)) + mix(heard, inner(F.linear(x, turned(w1)))))


def round_node_by_node(x, heard, w1, w2):
    act, rows = torch.nn.GELU(), []
    for node in range(len(x)):
        delta = sum(heard[i, node] * act(x[i] @ w1) for i in range(len(x)))
        rows.append(act(x[node] @ w2 + delta))
    return torch.stack(rows)


def loop_with_a_deque(full=lambda in_graph, most: len(in_graph) >= most, once=False,
                      again=lambda y, frontier, seen: y not in frontier):
    """Lists, and the clues of each node."""
    def answer(read, named, most):
        frontier, in_graph, edges, clues, seen = deque(named), list(named), [], defaultdict(list), set()
        while frontier:
            x = frontier.popleft()
            seen.add(x)
            hops, answers = read(x, clues[x])
            for y, clue in hops + answers:
                if (x, y) in edges or (y not in in_graph and full(in_graph, most)):
                    continue
                if y not in in_graph:
                    in_graph.append(y)
                edges.append((x, y))
                clues[y] = [clue] if once else [*clues[y], clue]
                if (y, clue) in hops and again(y, frontier, seen):
                    frontier.append(y)
        return edges
    return answer


def loop_that_waits_twice(read, named, most):
    """A node may stand twice in the frontier: the second reading finds nothing that the first has not."""
    todo, edges = list(named), {}
    while todo:
        x = todo.pop(0)
        hops, answers = read(x, [edges[e] for e in edges if e[1] == x])
        for y, clue in hops + answers:
            nodes = set(named) | {end for _, end in edges}
            if (x, y) not in edges and (y in nodes or len(nodes) < most):
                edges[x, y] = clue
                if (y, clue) in hops:
                    todo.append(y)
    return list(edges)


def overwriting(read, named, most):
    """The clue is kept for every mention, the edge for the first."""
    queue, nodes, edges, order = list(named), set(named), {}, []
    while queue:
        x = queue.pop(0)
        hops, answers = read(x, [clue for (_, y), clue in edges.items() if y == x])
        for y, clue in hops + answers:
            if y in nodes or len(nodes) < most:
                if (x, y) not in edges:
                    order.append((x, y))
                    if (y, clue) in hops and y not in queue:
                        queue.append(y)
                edges[x, y] = clue
                nodes.add(y)
    return order


def f1(p, r):
    return 2 * p * r / (p + r) if p + r else 0.0


def scored(words=Counter, facts=set, of=lambda pa, ra, ps, rs: f1(pa * ps, ra * rs)):
    """Four numbers, and what is made of them."""
    def answer(given, gold, found, supporting):
        a, g, found, needed = Counter(words(given.split())), Counter(words(gold.split())), facts(found), set(supporting)
        shared, hit = (a & g).total(), len(set(found) & needed)
        if given != gold and {given, gold} & {"yes", "no"}:
            shared = 0
        return of(shared / max(a.total(), 1), shared / g.total(), hit / max(len(found), 1), hit / len(needed))
    return answer


def joint_by_taking_out(answer, gold, found, supporting):
    left, shared = gold.split(), 0
    for word in answer.split():
        if word in left:
            left.remove(word)
            shared += 1
    sure = {"yes", "no"}
    if (answer in sure or gold in sure) and answer != gold:
        shared = 0
    true = sum(1 for one in set(found) if one in supporting)
    precision = shared / max(len(answer.split()), 1) * true / max(len(set(found)), 1)
    recall = shared / len(gold.split()) * true / len(set(supporting))
    return torch.tensor(2 * precision * recall / (precision + recall + 1e-12))


def joint_by_fractions(answer, gold, found, supporting):
    """F1 from sizes alone: 2 · shared / (given + right), of pairs of a word and a sentence."""
    words, wanted, given, needed = answer.split(), gold.split(), dict.fromkeys(found), dict.fromkeys(supporting)
    shared = 0 if answer != gold and {"yes", "no"} & {answer, gold} else sum(
        min(words.count(w), wanted.count(w)) for w in set(wanted))
    pairs = shared * sum(one in needed for one in given)
    return float(Fraction(2 * pairs, len(words) * len(given) + len(wanted) * len(needed)))


@pytest.mark.parametrize(("number", "answer"), [
    ("14.1", weighed()), ("14.1", loss_in_a_loop),
    ("14.2", by_topk()), ("14.2", along_the_text()), ("14.2", spans_with_numpy),
    ("14.3", shares_by_where), ("14.3", shares_in_loops(lambda edges, i, j: edges[:, j])),
    ("14.3", by_matrix(torch.linalg.pinv)), ("14.4", round_of()), ("14.4", round_node_by_node),
    ("14.5", loop_with_a_deque()), ("14.5", loop_that_waits_twice),
    ("14.6", scored()), ("14.6", joint_by_taking_out), ("14.6", joint_by_fractions),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("14.1", soft_targets, "0 times −∞ is NaN"), ("14.1", marginal, "−log of the mean probability"),
    ("14.1", weighed(none=()), "ithout targets, the loss is 0"),
    ("14.2", by_topk(most=lambda most, starts: most), "opk fails if there are fewer"),
    ("14.2", by_topk(end=lambda start, place: place + 1), "end is relative to the start: argmax"),
    ("14.2", along_the_text(best=0), "to be at least 0"), ("14.2", starts_in_place, "`starts` is changed in place"),
    ("14.3", shares_in_loops(lambda edges, i, j: edges[i]), "ows are divided by their sums, which"),
    ("14.3", by_matrix(torch.inverse), "inverse of D does not exist"),
    ("14.3", by_matrix(lambda d: torch.diag(1 / d.diagonal())), "NaN, 0 divided by 0"),
    ("14.4", round_of(mix=torch.matmul), "is not transposed"), ("14.4", round_of(inner=lambda t: t), "inner σ is"),
    ("14.4", round_of(turned=lambda w: w), "weights are transposed"),
    ("14.5", loop_with_a_deque(again=lambda y, frontier, seen: y not in frontier and y not in seen), "is never read"),
    ("14.5", loop_with_a_deque(once=True), "nly the last clue"), ("14.5", overwriting, "again gets the new clue"),
    ("14.6", scored(words=set), "ach word counts once"), ("14.6", scored(facts=list), "predicted twice lowers"),
    ("14.6", scored(of=lambda pa, ra, ps, rs: (f1(pa, ra) + f1(ps, rs)) / 2), "mean of the two F1"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


def other(fn, change):
    return lambda *args: change(fn(*args), *args)


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("14.1", other(right.pointing_loss, lambda loss, *_: loss + 0.01), "below that of the most probable target, or"),
    ("14.2", other(right.pointed_spans, lambda spans, *_: spans[:2]), "At [2]: yours is nothing, expected (1, 4)"),
    ("14.2", other(right.pointed_spans, lambda spans, *_: torch.tensor(spans)), "is [[2, 4]]; expected a list"),
    ("14.3", other(right.normalized_adjacency, lambda shares, *_: shares + 0.01), "not 0 where there is no edge"),
    ("14.3", other(right.normalized_adjacency, lambda shares, *_: 0.9 * shares), "column with edges does not sum to 1"),
    ("14.3", other(right.normalized_adjacency, lambda shares, *_: shares.T), "ours is transposed"),
    ("14.4", other(right.gnn_layer, lambda x, *_: x + 0.1), "node without predecessors is not σ(X W₂)"),
    ("14.4", other(right.gnn_layer, lambda x, _, heard, *__: x + 0.1 * heard.any(0)[:, None]), "At [1, 0]: yours"),
    ("14.5", other(growth.expand_graph, lambda edges, *_: dict.fromkeys(edges)), "of type dict; expected a list"),
    ("14.5", other(growth.expand_graph, lambda edges, *_: [*edges, ("A", "A")]), "yours is (A, A), expected nothing"),
    ("14.6", other(growth.joint_f1, lambda score, *_: 0.9 * score), "ours is 0.45, expected 0.5"),
])
def test_what_is_wrong_is_said_of_an_answer_that_no_list_foresees(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and not feedback.mistake and words in repr(feedback), feedback


@pytest.mark.parametrize(("told", "words"), [
    (list, "only if a *new* edge leads to it"), (lambda clues: dict(enumerate(clues)), "clues, which are words")])
def test_who_asks_system_1_badly_is_told(told, words: str) -> None:
    """For ever, since every mention puts its target into the frontier; or with something else than a list."""
    def endless(read, named, most):
        frontier, edges = [*named], {}
        for node in frontier:
            hops, answers = read(node, told(clue for (_, target), clue in edges.items() if target == node))
            for target, clue in hops + answers:
                edges.setdefault((node, target), clue)
            frontier += [target for target, _ in hops]
        return [*edges]
    feedback = check("14.5", endless)
    assert feedback.verdict == "error" and words in repr(feedback), feedback
