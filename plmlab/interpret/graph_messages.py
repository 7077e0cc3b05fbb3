"""What messages do in a graph network: the logit of each node with all edges, with none, and with one edge less."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor


@dataclass(frozen=True)
class MessageEffects:
    """The ``logits`` of the nodes; those of each ``alone``, no edge being there; and the ``effects`` [source, target,
    node]: by how much the message from source to target raises the logit of a node, 0 where there is no such edge.
    """

    logits: Float[Tensor, "node"]
    alone: Float[Tensor, "node"]
    effects: Float[Tensor, "node node node"]


@torch.no_grad()
def message_effects(reasoner: Callable[[Tensor, Tensor], Tensor], semantics: Float[Tensor, "node model"],
                    edges: Bool[Tensor, "node node"]) -> MessageEffects:
    """Each edge taken out of a graph by itself, all else as it was.

    ``reasoner(semantics, edges)`` gives the logit of each node; ``edges[i, j]`` is true from i to j. Without an edge
    the network shares out what its target hears as if that edge had never been found. All graphs are read at once, side
    by side: a reasoner must let nothing pass between graphs that do not meet.
    """
    found = edges.nonzero()
    fewer = edges.repeat(len(found), 1, 1)
    fewer[range(len(found)), found[:, 0], found[:, 1]] = False
    graphs = [edges, torch.zeros_like(edges), *fewer]
    logits, alone, *without = reasoner(semantics.repeat(len(graphs), 1), torch.block_diag(*graphs)).split(len(edges))
    effects = logits.new_zeros(*edges.shape, len(edges))
    for (source, target), less in zip(found.tolist(), without, strict=True):
        effects[source, target] = logits - less
    return MessageEffects(logits, alone, effects)
