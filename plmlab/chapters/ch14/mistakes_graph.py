"""Wrong answers to the exercises 14.3 and 14.4, what a node of CogQA's graph hears and what it makes of that, under the
names of their mistakes, and what holds of any right one."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from plmlab.exercises.mistakes import Mistakes, Properties

# 14.3, what a node hears

def shared(edges: Tensor) -> Tensor:
    """The exercise's function."""
    return edges / edges.sum(0).clamp(min=1)


def with_loops(times: float) -> Callable[[Tensor], Tensor]:
    """The shares where each node also leads to itself, so many times."""
    def answer(edges: Tensor) -> Tensor:
        looped = edges + times * torch.eye(len(edges))
        return looped / looped.sum(0)
    return answer


def nobody_is(share: Callable[[int], float]) -> Callable[[Tensor], Tensor]:
    """The shares, with something else, made from how many nodes there are, in a column to which nobody leads."""
    return lambda edges: shared(edges).masked_fill(~edges.any(0), share(len(edges)))


def to_itself(edges: Tensor) -> Tensor:
    """The shares, where a node to which nobody leads hears itself."""
    return shared(edges) + torch.diag((~edges.any(0)).float())


def on_both_sides(edges: Tensor) -> Tensor:
    """D^−½ A D^−½, with the columns' sums to the right and the rows' to the left."""
    return edges / (edges.sum(0).clamp(min=1) * edges.sum(1, keepdim=True).clamp(min=1)) ** 0.5


def in_both_directions(edges: Tensor) -> Tensor:
    """The shares where each edge leads back, too."""
    return shared(edges | edges.T)


def inverse(edges: Tensor) -> Tensor:
    """A times the inverse of D: an error where there is none."""
    return edges.float() @ torch.linalg.inv(torch.diag(edges.sum(0).float()))


SHARES: Mistakes = {
    "a column to which nobody leads is NaN, 0 divided by 0: D⁻¹ exists only where somebody leads to every node":
        lambda edges: edges / edges.sum(0),
    "the inverse of D does not exist where nobody leads to a node: divide column by column": inverse,
    "in a column to which nobody leads 1/n stands; such a node hears nothing": nobody_is(lambda nodes: 1 / nodes),
    "in a column to which nobody leads 1 stands; such a node hears nothing": nobody_is(lambda nodes: 1.0),
    "a node to which nobody leads hears itself; it hears nothing": to_itself,
    "rows are divided by their sums: so what is divided is what a node *says*, and a column need not add up to 1":
        lambda edges: edges / edges.sum(1, keepdim=True).clamp(min=1),
    "rows are divided by their sums, and 0 by 0": lambda edges: edges / edges.sum(1, keepdim=True),
    "columns are divided by the sums of the rows: sum(0) adds up the rows of a column":
        lambda edges: edges / edges.sum(1).clamp(min=1),
    "columns are divided by the sums of the rows, and by 0": lambda edges: edges / edges.sum(1),
    "rows are divided by the sums of the columns: D⁻¹ stands to the right of A, and a column has one number to divide "
    "by": lambda edges: edges / edges.sum(0).clamp(min=1)[:, None],
    "rows and columns have changed places: row i, column j is what j hears of i": lambda edges: shared(edges).T,
    "the table is turned over before it is divided: a node hears those that it leads to": lambda edges: shared(
        edges.T),
    "nothing is divided: of three that lead to a node each is heard as loudly as one alone":
        lambda edges: edges.float(),
    "all columns are divided by the number of nodes; each has its own number of nodes that lead to it":
        lambda edges: edges / len(edges),
    "all columns are divided by the number of all edges; each has its own": lambda edges: edges / edges.sum().clamp(
        min=1),
    "columns are divided by one more than their sums (+ 1 to avoid 0): clamp(min=1) changes only the zeros":
        lambda edges: edges / (edges.sum(0) + 1),
    "clamp(max=1) makes a 1 of all larger sums, and leaves the 0 to divide by: clamp(min=1)":
        lambda edges: edges / edges.sum(0).clamp(max=1),
    "// divides without a rest: shares are parts": lambda edges: (edges // edges.sum(0).clamp(min=1)).float(),
    "it is divided by √ of the sum; shares add up to 1": lambda edges: edges / edges.sum(0).clamp(min=1) ** 0.5,
    "D^−½ A D^−½ is another network's (GCN): here each column is divided by its sum": on_both_sides,
    "a node hears itself as well (A + I, as in a GCN); here it hears those that lead to it": with_loops(1.0),
    "a node hears itself twice (A + 2I, as in the authors' code); here it hears those that lead to it":
        with_loops(2.0),
    "an edge is taken in both directions; it leads from i to j alone": in_both_directions,
    "a softmax of 0 and 1 leaves something to those that do not lead there": lambda edges: edges.float().softmax(0),
}

OF_SHARES: Properties = {
    "a node is heard where no edge leads from it": lambda out, edges: not bool(out[~edges].any()),
    "a column to which somebody leads does not add up to 1": lambda out, edges: torch.allclose(
        out.sum(0), edges.any(0).float(), atol=1e-4),
}


# 14.4, a round of the graph network

Round = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
by_tanh = partial(F.gelu, approximate="tanh")


def plain(x: Tensor) -> Tensor:
    """The numbers as they are."""
    return x


def in_a_round(*, inner: Callable[[Tensor], Tensor] = F.gelu, outer: Callable[[Tensor], Tensor] = F.gelu,
               heard_by: Callable[[Tensor], Tensor] = lambda heard: heard.T) -> Round:
    """The exercise's function with another σ inside or outside, or with another table of who hears whom."""
    return lambda x, heard, w1, w2: outer(x @ w2 + heard_by(heard) @ inner(x @ w1))


def one_by_one(x: Tensor, heard: Tensor, w1: Tensor, w2: Tensor) -> Tensor:
    """Each node hears of those with a smaller number what they have become: an error where they are not as wide."""
    now = x.clone()
    for node in range(len(x)):
        now[node] = F.gelu(x[node] @ w2 + heard[:, node] @ F.gelu(now @ w1))
    return now


def over_all(x: Tensor, heard: Tensor, w1: Tensor, w2: Tensor) -> Tensor:
    """What is heard is added up over all nodes."""
    return F.gelu(x @ w2 + (heard.T @ F.gelu(x @ w1)).sum(0))


ROUND: Mistakes = {
    "(AD⁻¹)ᵀ is not transposed: a node hears those that it leads to": in_a_round(heard_by=plain),
    "the shares are counted as whole edges: a node hears the sum of those before it, not their mean":
        in_a_round(heard_by=lambda heard: (heard.T > 0).float()),
    "a node hears itself too": in_a_round(heard_by=lambda heard: heard.T + torch.eye(len(heard))),
    "everyone hears what all nodes say together; each hears those before it": over_all,
    "the inner σ is missing: what is said is σ(X W₁)": in_a_round(inner=plain),
    "the outer σ is missing: it goes over X W₂ + Δ": in_a_round(outer=plain),
    "both σ are missing": in_a_round(inner=plain, outer=plain),
    "the outer σ goes over X W₂ alone; it goes over the sum X W₂ + Δ":
        lambda x, heard, w1, w2: F.gelu(x @ w2) + heard.T @ F.gelu(x @ w1),
    "the inner σ goes over what is heard; it goes over what each node says, before the shares":
        lambda x, heard, w1, w2: F.gelu(x @ w2 + F.gelu(heard.T @ x @ w1)),
    "Δ is bent by σ once more, as the paper writes it; asked is σ(X W₂ + (AD⁻¹)ᵀ σ(X W₁)), as in its authors' code":
        lambda x, heard, w1, w2: F.gelu(x @ w2 + F.gelu(heard.T @ F.gelu(x @ w1))),
    "the weights w1 and w2 have changed places: W₁ is for what is said, W₂ for what a node keeps":
        lambda x, heard, w1, w2: in_a_round()(x, heard, w2, w1),
    "W₁ stands in both places": lambda x, heard, w1, w2: in_a_round()(x, heard, w1, w1),
    "W₂ stands in both places": lambda x, heard, w1, w2: in_a_round()(x, heard, w2, w2),
    "the weights are transposed, as those of nn.Linear are; here X is multiplied by W as it is":
        lambda x, heard, w1, w2: in_a_round()(x, heard, w1.T, w2.T),
    "the first term is missing, what a node keeps of itself: X W₂":
        lambda x, heard, w1, w2: F.gelu(heard.T @ F.gelu(x @ w1)),
    "the second term is missing, what a node hears: Δ": lambda x, heard, w1, w2: F.gelu(x @ w2),
    "this is Δ, what a node hears; what it is after the round is σ(X W₂ + Δ)":
        lambda x, heard, w1, w2: heard.T @ F.gelu(x @ w1),
    "X itself is kept, as in a residual connection; here X W₂ is":
        lambda x, heard, w1, w2: F.gelu(x + heard.T @ F.gelu(x @ w1)),
    "X itself is added as well, as in a residual connection; the paper's round has X W₂ and Δ alone":
        lambda x, heard, w1, w2: F.gelu(x + x @ w2 + heard.T @ F.gelu(x @ w1)),
    "X W₂ and Δ are multiplied; they are added": lambda x, heard, w1, w2: F.gelu(
        x @ w2 * (heard.T @ F.gelu(x @ w1))),
    "Δ is taken away; it is added": lambda x, heard, w1, w2: F.gelu(x @ w2 - heard.T @ F.gelu(x @ w1)),
    "the sigmoid is taken for σ; here σ is the GELU": in_a_round(inner=torch.sigmoid, outer=torch.sigmoid),
    "the ReLU is taken for σ; here σ is the GELU": in_a_round(inner=F.relu, outer=F.relu),
    "tanh is taken for σ; here σ is the GELU": in_a_round(inner=torch.tanh, outer=torch.tanh),
    "the GELU is approximated by tanh; asked is the GELU as it is": in_a_round(inner=by_tanh, outer=by_tanh),
    "the nodes are changed one by one, and hear what others have already become; all hear what was before":
        one_by_one,
}


def alone(out: Tensor, x: Tensor, heard: Tensor, w1: Tensor, w2: Tensor) -> bool:
    """Whether the nodes that hear nothing are what they keep of themselves."""
    silent = ~heard.any(0)
    return torch.allclose(out[silent], F.gelu(x @ w2)[silent], atol=1e-3)


OF_ROUND: Properties = {
    "a node to which nobody leads is not σ(X W₂)": alone,
}
