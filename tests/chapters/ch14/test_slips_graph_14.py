"""Slips that people make in the exercises 14.3 and 14.4, written as they write them: each is named as what it is."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from plmlab.exercises import check

# 14.3

def divided(by=lambda a: a.sum(0), least=lambda d: d.clamp(min=1), finish=lambda s, a: s,
            table=lambda edges: edges.float()):
    """The table divided by its sums."""
    def answer(edges):
        a = table(edges)
        return finish(a / least(by(a)), a)
    return answer


def walked(over=lambda a, i, j: a[:, j], nobody=None, place=lambda i, j: (i, j), back=False):
    """Edge by edge."""
    def answer(edges):
        out = torch.zeros(edges.shape)
        for i in range(len(edges)):
            for j in range(len(edges)):
                if edges[i, j] or (back and edges[j, i]):
                    out[place(i, j)] = 1 / int(over(edges, i, j).sum())
        for j in range(len(edges)):
            if nobody and not edges[:, j].any():
                out[:, j] = nobody
        return out
    return answer


def by_matrix(order=lambda a, d: a @ d, inverse=lambda d: torch.diag(1 / d)):
    def answer(edges):
        a = edges.float()
        return order(a, inverse(a.sum(0)))
    return answer


def degrees_to_a_half(edges):
    a = edges.float()
    left, right = a.sum(1).clamp(min=1) ** -0.5, a.sum(0).clamp(min=1).rsqrt()
    return torch.diag(left) @ a @ torch.diag(right)


def looped(times):
    def answer(edges):
        a = edges + times * torch.eye(edges.shape[0])
        return a / a.sum(dim=0, keepdim=True)
    return answer


def masked_softmax(edges):
    return torch.zeros(edges.shape).masked_fill(~edges, float("-inf")).softmax(dim=0)


# 14.4

def round_of(first=F.gelu, second=F.gelu, mix=lambda heard, said: heard.T @ said, w_said=lambda w1, w2: w1,
             w_kept=lambda w1, w2: w2, sum_=torch.add, kept=lambda x, w: x @ w):
    """What is said, what is heard, what is kept, and their sum."""
    def answer(x, heard, w1, w2):
        said = first(x @ w_said(w1, w2))
        delta = mix(heard, said)
        return second(sum_(kept(x, w_kept(w1, w2)), delta))
    return answer


def as_linear(x, heard, w1, w2):
    """nn.Linear keeps its weights as [out in]."""
    one, two = nn.Linear(*w1.shape, bias=False), nn.Linear(*w2.shape, bias=False)
    with torch.no_grad():
        one.weight.copy_(w1)
        two.weight.copy_(w2)
        return F.gelu(two(x) + heard.T @ F.gelu(one(x)))


def heard_first(x, heard, w1, w2):
    return F.gelu(x @ w2 + F.gelu((heard.T @ x) @ w1))


def outside_alone(x, heard, w1, w2):
    return F.gelu(x @ w2) + heard.T @ F.gelu(x @ w1)


def in_place(x, heard, w1, w2):
    """The rows of a copy are written over while others still hear them."""
    x = x.clone()
    for i in range(x.size(0)):
        x[i] = F.gelu(x[i] @ w2 + heard[:, i] @ F.gelu(x @ w1))
    return x


def no_transpose_by_node(x, heard, w1, w2):
    said, rows = F.gelu(x @ w1), []
    for i in range(len(x)):
        rows.append(F.gelu(x[i] @ w2 + (heard[i][:, None] * said).sum(0)))
    return torch.stack(rows)


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("14.3", divided(least=lambda d: d), "NaN, 0 divided by 0"),
    ("14.3", masked_softmax, "NaN, 0 divided by 0"),
    ("14.3", by_matrix(), "NaN, 0 divided by 0"),
    ("14.3", by_matrix(inverse=lambda d: torch.linalg.inv(torch.diag(d))), "inverse of D does not exist"),
    ("14.3", by_matrix(inverse=lambda d: torch.diag(d).inverse()), "inverse of D does not exist"),
    ("14.3", by_matrix(order=lambda a, d: d @ a, inverse=lambda d: torch.diag(1 / d.clamp(min=1))),
     "ows are divided by the sums of the columns"),
    ("14.3", divided(by=lambda a: a.sum(1, keepdim=True)), "ows are divided by their sums: so"),
    ("14.3", divided(by=lambda a: a.sum(1, keepdim=True), least=lambda d: d), "ows are divided by their sums, and 0"),
    ("14.3", divided(by=lambda a: a.sum(1)), "olumns are divided by the sums of the rows"),
    ("14.3", divided(by=lambda a: a.sum(-1), least=lambda d: d), "the sums of the rows, and by 0"),
    ("14.3", divided(by=lambda a: a.sum(0)[:, None]), "ows are divided by the sums of the columns"),
    ("14.3", divided(finish=lambda s, a: s.T), "ows and columns have changed places"),
    ("14.3", divided(by=lambda a: torch.tensor(len(a))), "divided by the number of nodes"),
    ("14.3", divided(by=lambda a: a.sum()), "the number of all edges"),
    ("14.3", divided(least=lambda d: d + 1), "one more than their sums"),
    ("14.3", divided(by=lambda a: a.norm(dim=0), least=lambda d: d.clamp(min=1e-9)), "divided by √ of the sum"),
    ("14.3", lambda edges: F.normalize(edges.float(), dim=0), "divided by √ of the sum"),
    ("14.3", lambda edges: edges.float(), "othing is divided"),
    ("14.3", lambda edges: edges.float() // edges.sum(0).clamp(min=1), "// divides without a rest"),
    ("14.3", lambda edges: edges.float().softmax(dim=0), "softmax of 0 and 1"),
    ("14.3", divided(finish=lambda s, a: torch.where(a.sum(0) > 0, s, torch.tensor(1 / len(a)))), "1/n stands"),
    ("14.3", divided(finish=lambda s, a: s + torch.diag((a.sum(0) == 0).float())), "hears itself; it hears nothing"),
    ("14.3", looped(1), "A + I, as in a GCN"), ("14.3", looped(2), "A + 2I, as in the authors' code"),
    ("14.3", degrees_to_a_half, "another network's (GCN)"),
    ("14.3", divided(table=lambda edges: (edges | edges.T).float()), "in both directions"),
    ("14.3", divided(table=lambda edges: (edges + edges.T).float()), "in both directions"),
    ("14.3", divided(table=lambda edges: edges.T.float()), "turned over before it is divided"),
    ("14.3", walked(over=lambda a, i, j: a[i]), "ows are divided by their sums: so"),
    ("14.3", walked(place=lambda i, j: (j, i)), "ows and columns have changed places"),
    ("14.3", walked(over=lambda a, i, j: a), "the number of all edges"),
    ("14.3", walked(nobody=1.0), "nobody leads 1 stands"),
    ("14.3", lambda edges: edges / edges.sum(0).clamp(max=1), "lamp(max="),
    ("14.4", round_of(mix=torch.matmul), "is not transposed"),
    ("14.4", no_transpose_by_node, "is not transposed"),
    ("14.4", round_of(mix=lambda heard, said: (heard > 0).float().T @ said), "counted as whole edges"),
    ("14.4", round_of(mix=lambda heard, said: heard.T @ said + said), "hears itself too"),
    ("14.4", round_of(first=lambda t: t), "inner σ is missing"),
    ("14.4", round_of(second=lambda t: t), "outer σ is missing"),
    ("14.4", round_of(first=lambda t: t, second=lambda t: t), "oth σ are missing"),
    ("14.4", round_of(first=torch.sigmoid, second=torch.sigmoid), "sigmoid is taken for σ"),
    ("14.4", round_of(first=torch.relu, second=torch.relu), "ReLU is taken for σ"),
    ("14.4", round_of(first=torch.tanh, second=torch.tanh), "anh is taken for σ"),
    ("14.4", round_of(first=nn.GELU("tanh"), second=nn.GELU("tanh")), "approximated by tanh"),
    ("14.4", outside_alone, "goes over X W₂ alone"), ("14.4", heard_first, "inner σ goes over what is heard"),
    ("14.4", round_of(w_said=lambda w1, w2: w2, w_kept=lambda w1, w2: w1), "w1 and w2 have changed places"),
    ("14.4", round_of(w_kept=lambda w1, w2: w1), "W₁ stands in both places"),
    ("14.4", round_of(w_said=lambda w1, w2: w2), "W₂ stands in both places"),
    ("14.4", as_linear, "weights are transposed"),
    ("14.4", round_of(w_said=lambda w1, w2: w1.T, w_kept=lambda w1, w2: w2.T), "weights are transposed"),
    ("14.4", round_of(sum_=lambda kept, delta: kept), "second term is missing"),
    ("14.4", round_of(sum_=lambda kept, delta: delta), "first term is missing"),
    ("14.4", round_of(sum_=torch.sub), "is taken away; it is added"),
    ("14.4", round_of(sum_=torch.mul), "W₂ and Δ are multiplied"),
    ("14.4", round_of(kept=lambda x, w: x), "X itself is kept"),
    ("14.4", round_of(kept=lambda x, w: x + x @ w), "X itself is added as well"),
    ("14.4", round_of(mix=lambda heard, said: (heard.T @ said).sum(0)), "what all nodes say together"),
    ("14.4", in_place, "changed one by one"),
    ("14.4", lambda x, heard, w1, w2: heard.T @ F.gelu(x @ w1), "his is Δ"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("14.3", divided()), ("14.3", walked()), ("14.4", round_of())])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
