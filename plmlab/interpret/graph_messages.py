"""Edge ablations in a graph neural network: node logits with all edges, without edges, and without each single edge."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor


@dataclass(frozen=True)
class MessageEffects:
    """Node logits under edge ablations.

    ``logits`` are those with all edges, ``alone`` those without any edge. ``effects`` [source, target, node] is the
    increase in a node's logit caused by the message from source to target; 0 if there is no such edge.
    """

    logits: Float[Tensor, "node"]
    alone: Float[Tensor, "node"]
    effects: Float[Tensor, "node node node"]


@torch.no_grad()
def message_effects(reasoner: Callable[[Tensor, Tensor], Tensor], semantics: Float[Tensor, "node model"],
                    edges: Bool[Tensor, "node node"]) -> MessageEffects:
    """Ablate each edge of a graph separately.

    ``reasoner(semantics, edges)`` returns the logit of each node; ``edges[i, j]`` is True for an edge from i to j. When
    an edge is removed, the remaining messages of its target are normalized as if the edge had never existed. All
    ablated graphs are processed as one disconnected graph, so the reasoner must not pass messages between
    components.
    """
    pairs = edges.nonzero()
    ablated = edges.repeat(len(pairs), 1, 1)
    ablated[range(len(pairs)), pairs[:, 0], pairs[:, 1]] = False
    graphs = [edges, torch.zeros_like(edges), *ablated]
    logits, alone, *without = reasoner(semantics.repeat(len(graphs), 1), torch.block_diag(*graphs)).split(len(edges))
    effects = logits.new_zeros(*edges.shape, len(edges))
    for (source, target), ablated_logits in zip(pairs.tolist(), without, strict=True):
        effects[source, target] = logits - ablated_logits
    return MessageEffects(logits, alone, effects)
