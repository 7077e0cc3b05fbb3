"""Exercises 14.3 and 14.4: CogQA's System 2, what a node hears from those before it, and what it makes of that."""

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor, rand, randn

from plmlab.chapters.ch14 import mistakes_graph
from plmlab.exercises.exercise import Exercise, Probes


def equal_shares(edges: Bool[Tensor, "node node"]) -> Float[Tensor, "node node"]:
    """How much of each node another one hears: AD⁻¹.

    ``edges[i, j]`` is True where an edge leads from node i to node j. Then j hears i. A node hears all
    nodes that lead to it in equal shares: if they are three, a third of each. Give a table where row
    i, column j says how much of what node i says node j hears. Each column adds up to 1. But the
    column of a node to which nobody leads is 0: it hears nothing.
    """
    return edges / edges.sum(0).clamp(min=1)


def table(nodes: int, *edges: tuple[int, int]) -> Bool[Tensor, "node node"]:
    """The edges as a table, from the first of each pair to the second."""
    found = torch.zeros(nodes, nodes, dtype=torch.bool)
    for source, target in edges:
        found[source, target] = True
    return found


def draw_edges(rng: Generator) -> Probes:
    """Inputs for 14.3: name → (edges,)."""
    return {
        "one node leads to another": (table(2, (0, 1)),),
        "two lead to a third": (table(3, (0, 2), (1, 2)),),
        "one leads to three, and these to one": (table(5, (0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)),),
        "a circle of three, with a way out": (table(4, (0, 1), (1, 2), (2, 0), (1, 3)),),
        "nobody leads to anybody": (table(3),),
        "one node": (table(1),),
        "two graphs side by side": (table(6, (0, 1), (1, 2), (0, 2), (4, 3), (5, 3)),),
        "everyone leads to everyone else": (~torch.eye(4, dtype=torch.bool),),
        "seven nodes": (rand(7, 7, generator=rng) < 0.4,),
    }


def graph_round(
    x: Float[Tensor, "node model"], heard: Float[Tensor, "node node"],
    w1: Float[Tensor, "model width"], w2: Float[Tensor, "model width"],
) -> Float[Tensor, "node width"]:
    """The nodes after one round of System 2: X′ = σ(X W₂ + Δ), where Δ = (AD⁻¹)ᵀ σ(X W₁).

    Row i of ``x`` is what node i is before. ``heard`` is AD⁻¹: row i, column j says how much of what node
    i says node j hears. σ is GELU, as in the authors' code: torch.nn.functional.gelu as it is, without
    an approximation. The paper's W₁ and W₂ are here ``w1`` and ``w2``. A row is multiplied by them from
    the left, and there is no bias.
    """
    gelu = torch.nn.functional.gelu
    return gelu(x @ w2 + heard.T @ gelu(x @ w1))


def draw_rounds(rng: Generator) -> Probes:
    """Inputs for 14.4: name → (x, heard, w1, w2)."""
    def drawn(edges: Tensor, model: int, width: int, scale: float = 1.0) -> tuple[Tensor, ...]:
        weights = (randn(model, width, generator=rng) for _ in range(2))
        return scale * randn(len(edges), model, generator=rng), equal_shares(edges), *weights

    return {
        "one node leads to another": (torch.tensor([[1.0, 0.0], [0.0, 1.0]]), equal_shares(table(2, (0, 1))),
                                      torch.tensor([[1.0, -1.0], [2.0, 0.0]]), torch.tensor([[0.0, 1.0], [1.0, 0.0]])),
        "three lead to one, that to a fifth": drawn(table(5, (0, 3), (1, 3), (2, 3), (3, 4)), 3, 3),
        "a circle of three, with a way out": drawn(table(4, (0, 1), (1, 2), (2, 0), (1, 3)), 2, 4),
        "nobody leads to anybody": drawn(table(3), 4, 2),
        "one node": drawn(table(1), 3, 2),
        "everyone leads to everyone else": drawn(~torch.eye(4, dtype=torch.bool), 4, 4),
        "small numbers": drawn(table(3, (0, 1), (0, 2), (1, 2)), 5, 3, 0.1),
    }


EXERCISES = (
    Exercise(
        "14.3", "what a node hears", equal_shares, draw_edges,
        mistakes=mistakes_graph.SHARES, properties=mistakes_graph.OF_SHARES,
        hints=(
            "Nodes 0 and 1 lead to node 2, and to nobody else. Write down the table, 3 by 3. Which row and which "
            "column have numbers? By what did you divide, and what stands in the columns 0 and 1?",
            "The number of nodes that lead to j is the sum of column j. Each column is divided by its own sum. "
            "Where that is 0, all of the column is 0 too, and any other number to divide by leaves it so.",
            "edges.sum(0) has one number for each column, and a table divided by it is divided column by column. "
            ".clamp(min=…) keeps numbers from being too small. / makes floats of True and False.",
        ),
    ),
    Exercise(
        "14.4", "a round of the graph network", graph_round, draw_rounds,
        mistakes=mistakes_graph.ROUND, properties=mistakes_graph.OF_ROUND,
        hints=(
            "Three nodes, two numbers each, and weights of two by four. Which shape has each product in the formula? "
            "What is left of the formula for a node to which nobody leads?",
            "First what each node says, σ(X W₁); then what each hears, a sum over those before it; then that is added "
            "to what it keeps of itself, X W₂, and σ goes over the sum. ``heard`` has who speaks in its rows and who "
            "hears in its columns.",
            "x @ w multiplies matrices, * number by number. heard.T turns rows into columns. The GELU is "
            "torch.nn.functional.gelu; it is called twice.",
        ),
    ),
)
