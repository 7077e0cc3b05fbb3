"""Other right ways to solve the exercises of chapter 14, which are not refused."""

from collections import Counter, defaultdict, deque
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import torch
from torch.nn import functional as F

from plmlab.exercises import check


def loss_with_gold(logits, targets):
    """All slots with their weights; what has no weight is left out before −∞ can be multiplied by it."""
    gt = torch.zeros(len(logits))
    for target in targets or [0]:
        gt[target] = 1 / max(len(targets), 1)
    return -(gt * F.log_softmax(logits, dim=0))[gt > 0].sum()


def loss_in_a_loop(logits, targets):
    if len(targets) == 0:
        targets = [0]
    total = torch.tensor(0.0)
    for target in targets:
        total = total + F.cross_entropy(logits, torch.tensor(target))
    return total / len(targets)


def loss_as_a_batch(logits, targets):
    wanted = torch.tensor(targets if targets else [0])
    return F.nll_loss(logits.log_softmax(-1).expand(len(wanted), -1), wanted)


def loss_by_logsumexp(logits, targets):
    if not targets:
        return logits.logsumexp(0) - logits[0]
    return logits.logsumexp(0) - sum(logits[t] for t in targets) / len(targets)


def spans_by_topk(starts, ends, most, longest):
    found = []
    values, slots = torch.topk(starts, min(most, len(starts)))
    for value, start in zip(values, slots, strict=True):
        if value <= starts[0]:
            break
        last = start + torch.argmax(ends[start:start + longest])
        found.append((start.item(), last.item() + 1))
    return found


def spans_by_hand(starts, ends, most, longest):
    pairs = []
    for i in range(1, len(starts)):
        if starts[i] > starts[0]:
            best = i
            for j in range(i, min(i + longest, len(ends))):
                if ends[j] > ends[best]:
                    best = j
            pairs.append((float(starts[i]), i, best + 1))
    pairs.sort(reverse=True)
    return [(i, j) for _, i, j in pairs[:most]]


def spans_by_scores(starts, ends, most, longest):
    """A table of all pairs, the impossible ones at −∞."""
    place = torch.arange(len(starts))
    far = place - place[:, None]
    table = ends.expand(len(ends), -1).masked_fill((far < 0) | (far >= longest), float("-inf"))
    above = (starts > starts[0]).nonzero()[:, 0]
    ranked = above[starts[above].argsort(descending=True)][:most]
    return torch.stack([ranked, table[ranked].argmax(1) + 1], 1).tolist()


def spans_with_numpy(starts, ends, most, longest):
    order = np.argsort(-starts.numpy())
    order = [slot for slot in order if starts[slot] > starts[0]][:most]
    return tuple((slot, slot + np.argmax(ends.numpy()[slot:slot + longest]) + 1) for slot in order)


def shares_by_where(edges):
    total = edges.sum(dim=0, keepdim=True)
    return torch.where(total > 0, edges / total, torch.zeros(1))


def shares_by_nan(edges):
    return torch.nan_to_num(edges.float() / edges.float().sum(0))


def shares_by_pinv(edges):
    return edges.float() @ torch.linalg.pinv(torch.diag(edges.sum(0).float()))


def shares_in_loops(edges):
    out = torch.zeros(edges.shape)
    for j in range(edges.shape[1]):
        before = [i for i in range(len(edges)) if edges[i, j]]
        for i in before:
            out[i, j] = 1 / len(before)
    return out


def shares_normalised(edges):
    return F.normalize(edges.float(), p=1, dim=0)


def shares_by_epsilon(edges):
    return edges / (edges.sum(0) + 1e-8)


def round_with_linear(x, heard, w1, w2):
    said = F.gelu(F.linear(x, w1.T))
    return F.gelu(F.linear(x, w2.T) + heard.mT.matmul(said))


def round_in_einsum(x, heard, w1, w2):
    said = F.gelu(torch.einsum("nm,mw->nw", x, w1))
    return F.gelu(torch.einsum("nm,mw->nw", x, w2) + torch.einsum("ij,iw->jw", heard, said))


def round_node_by_node(x, heard, w1, w2):
    act, rows = torch.nn.GELU(), []
    for node in range(len(x)):
        delta = sum(heard[i, node] * act(x[i] @ w1) for i in range(len(x)))
        rows.append(act(x[node] @ w2 + delta))
    return torch.stack(rows)


def round_by_erf(x, heard, w1, w2):
    def gelu(t):
        return t * 0.5 * (1 + torch.erf(t / 2 ** 0.5))
    return gelu(x @ w2 + (gelu(x @ w1).T @ heard).T)


def loop_with_a_deque(read, named, most):
    frontier, in_graph, edges, clues = deque(named), list(named), [], defaultdict(list)
    while frontier:
        x = frontier.popleft()
        hops, answers = read(x, clues[x])
        for y, clue in hops:
            if (x, y) in edges:
                continue
            if y not in in_graph:
                if len(in_graph) == most:
                    continue
                in_graph.append(y)
            edges.append((x, y))
            clues[y].append(clue)
            if y not in frontier:
                frontier.append(y)
        for y, clue in answers:
            if (x, y) in edges or (y not in in_graph and len(in_graph) >= most):
                continue
            if y not in in_graph:
                in_graph.append(y)
            edges.append((x, y))
            clues[y].append(clue)
    return edges


def loop_with_networkx(read, named, most):
    graph, order = nx.DiGraph(), []
    graph.add_nodes_from(named)
    queue = list(graph)
    while len(queue):
        node, *queue = queue
        found = sorted((told["number"], told["clue"]) for _, _, told in graph.in_edges(node, data=True))
        hops, answers = read(node, [clue for _, clue in found])
        for kind in (hops, answers):
            for target, clue in kind:
                full = target not in graph and len(graph) >= most
                if not full and not graph.has_edge(node, target):
                    graph.add_edge(node, target, clue=clue, number=len(order))
                    order.append((node, target))
                    if kind is hops and target not in queue:
                        queue.append(target)
    return order


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


def joint_by_counters(answer, gold, found, supporting):
    given, wanted = Counter(answer.split()), Counter(gold.split())
    shared = (given & wanted).total()
    if answer != gold and (answer in ("yes", "no") or gold in ("yes", "no")):
        shared = 0
    hit = len(set(found) & set(supporting))
    if shared == 0 or hit == 0:
        return 0
    p = shared / given.total() * hit / len(set(found))
    r = shared / wanted.total() * hit / len(set(supporting))
    return 2 * p * r / (p + r)


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
    words, wanted, given, right = answer.split(), gold.split(), dict.fromkeys(found), dict.fromkeys(supporting)
    shared = 0 if answer != gold and {"yes", "no"} & {answer, gold} else sum(
        min(words.count(w), wanted.count(w)) for w in set(wanted))
    pairs = shared * sum(one in right for one in given)
    return float(Fraction(2 * pairs, len(words) * len(given) + len(wanted) * len(right)))


@pytest.mark.parametrize(("number", "answer"), [
    ("14.1", loss_with_gold), ("14.1", loss_in_a_loop), ("14.1", loss_as_a_batch), ("14.1", loss_by_logsumexp),
    ("14.2", spans_by_topk), ("14.2", spans_by_hand), ("14.2", spans_by_scores), ("14.2", spans_with_numpy),
    ("14.3", shares_by_where), ("14.3", shares_by_nan), ("14.3", shares_by_pinv), ("14.3", shares_in_loops),
    ("14.3", shares_normalised), ("14.3", shares_by_epsilon),
    ("14.4", round_with_linear), ("14.4", round_in_einsum), ("14.4", round_node_by_node), ("14.4", round_by_erf),
    ("14.5", loop_with_a_deque), ("14.5", loop_with_networkx), ("14.5", loop_that_waits_twice),
    ("14.6", joint_by_counters), ("14.6", joint_by_taking_out), ("14.6", joint_by_fractions),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
