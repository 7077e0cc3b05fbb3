"""Who hears whom in System 2 of CogQA (Ding et al. 2019, §3.3), as an Example: a position a node, in the order in which
the nodes were found. A query hears a key, by the two readings of the adjacency that `plmlab.models.cognitive_gnn` has.

What a node hears is Δ, what those before it pass on; what it was itself, XW₂, it keeps in either reading.
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
    """By the paper's A: a node hears the pages that it was found on; one that only the question names hears nobody.

    ``tokens`` stand for the nodes, each once; ``edges`` go from a page to what was found there, both by their tokens,
    and one that lacks an end is left out. Nothing is drawn at random, nothing is to be predicted. ValueError where
    there is no node, or where one stands twice.
    """
    position = {token: number for number, token in enumerate(tokens)}
    if not tokens or len(position) < len(tokens):
        raise ValueError(f"{len(tokens)} nodes were given, {len(position)} of them different; give one or more, each "
                         f"once")
    within = [(position[source], position[target]) for source, target in edges if source in position
              and target in position]
    rule = PairsRule.of("found from it", "{query} was found on the page of {key}.", adjacency(within, len(position)).T)
    ids = torch.tensor(tokens)
    return Example(ids, torch.arange(len(ids))[None], torch.zeros_like(ids), Visibility(
        (rule,), otherwise="{query} was not found on the page of {key}."), torch.full_like(ids, IGNORE))


def in_neighbours_and_self(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, edges: Iterable[tuple[int, int]],
                         ) -> Example:
    """By the 2I + A of the authors' code: the same, and each node hears itself. Of ``tokens`` and ``edges`` see
    `in_neighbours`."""
    example = in_neighbours(tokens, vocab=vocab, rng=rng, edges=edges)
    itself = PairsRule.of("itself", "2I + A: each node hears itself, twice as loudly as each page that it was found "
                                    "on.",
                       torch.eye(len(tokens), dtype=torch.bool))
    return replace(example, visible=replace(example.visible, rules=(*example.visible.rules, itself)))
