"""Message passing in System 2 of CogQA (Ding et al. 2019, §3.3), represented as an Example: one position per node, in
the order in which the nodes were found. A query receives messages from the visible keys. There is one function per
definition of the adjacency matrix in `plmlab.models.cognitive_gnn`.

The mask covers the messages of a node's predecessors, Δ; both definitions also keep the node's own term, XW₂.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

import torch

from plmlab.example import IGNORE, Example
from plmlab.objectives.cognitive_graphs import adjacency
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import PairsRule, Visibility


def in_neighbours(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random,
                  edges: Iterable[tuple[int, int]]) -> Example:
    """Messages under the paper's A: a node receives messages from the nodes on whose pages it was found; a node named
    only in the question receives none.

    ``tokens`` are the ids of the nodes, each once; ``edges`` are (page, node found on it) pairs of these ids. Edges
    with an unknown node are ignored. ``rng`` is not used, and there are no targets. Raises ValueError if there is no
    node or a node is repeated.
    """
    index = {token: number for number, token in enumerate(tokens)}
    if not tokens or len(index) < len(tokens):
        raise ValueError(f"got {len(tokens)} nodes, {len(index)} of them distinct; give at least one, each once")
    within = [(index[source], index[target]) for source, target in edges if source in index and target in index]
    rule = PairsRule.of("in-neighbours", "{query} was found on the page of {key}.", adjacency(within, len(index)).T)
    ids = torch.tensor(tokens)
    return Example(ids, torch.arange(len(ids))[None], torch.zeros_like(ids), Visibility(
        (rule,), otherwise="{query} was not found on the page of {key}."), torch.full_like(ids, IGNORE))


def in_neighbours_and_self(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, edges: Iterable[tuple[int, int]],
                         ) -> Example:
    """Messages under the authors' code, 2I + A: like `in_neighbours`, plus a self-loop at each node. The arguments are
    the same."""
    example = in_neighbours(tokens, vocab=vocab, rng=rng, edges=edges)
    itself = PairsRule.of("self-loop", "2I + A: a self-loop of weight 2; each page that the node was found on has "
                          "weight 1.", torch.eye(len(tokens), dtype=torch.bool))
    return replace(example, visible=replace(example.visible, rules=(*example.visible.rules, itself)))
