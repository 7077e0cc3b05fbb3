"""Fact memory (事实记忆): keys of facts are computed from subject and relation, values are the sets of their objects
(Verga et al. 2020, §2)."""

from dataclasses import replace
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.layers.initialise import initialise
from plmlab.retrieval.facts import FactTable
from plmlab.retrieval.retrieved import Retrieved

Entities = Float[Tensor, "entity width"]


class FactMemory(nn.Module):
    """The learned part of a fact memory: embeddings of ``relations``, the projection of keys, and the key of the null
    fact. The facts are given in each call, and the entity vectors are those of the entity memory. ``std`` is the
    standard deviation of the initial relation vectors and of the null fact's key.

    The key of a fact is W_a [e_subject ∥ r]. The null fact stands for "no fact of the memory answers the query".
    """

    def __init__(self, relations: int, width: int, std: float = 0.02) -> None:
        super().__init__()
        self.relations = nn.Embedding(relations, width)
        self.key = nn.Linear(2 * width, width, bias=False)  # W_a
        self.null = nn.Parameter(torch.empty(width))
        self.apply(initialise)
        initialise(self.relations, std)
        nn.init.normal_(self.null, std=std)

    def keys(self, facts: FactTable, entities: Entities) -> Float[Tensor, "fact width"]:
        """The key of each fact, which does not depend on its objects."""
        return self.key(torch.cat([entities[facts.subjects], self.relations(facts.relations)], 1))

    def scored(self, queries: Float[Tensor, "mention width"], found: Retrieved, facts: FactTable, entities: Entities,
               ) -> Retrieved:
        """The facts ``found`` for each query and, as the first, the null fact; all with new scores, the inner products
        of query and key. ``facts`` has one row per document of `Retrieved.documents`."""
        found = found[:]
        scores = (queries @ self.keys(facts, entities).T).gather(1, rows_of(found))
        scores = scores.masked_fill(~found.doc_mask, -torch.inf)
        return replace(found.with_null(), scores=torch.cat([(queries @ self.null)[:, None], scores], 1))


class FactReading(NamedTuple):
    """Result of a query to the fact memory: the probability of the null fact, and the probability that the facts assign
    to each entity; together they sum to 1."""

    null: Tensor        # [mention]
    entities: Tensor    # [mention entity]


def read_facts(scored: Retrieved, facts: FactTable, logits: Float[Tensor, "mention entity"]) -> FactReading:
    """Read the objects of the facts, weighted by p(fact); ``scored`` begins with the null fact.

    The probability of a fact is divided among its objects by a softmax of their ``logits``. Objects of several facts
    add up their shares.
    """
    probs, found = scored.probs(), replace(scored, numbers=scored.numbers[:, 1:], scores=scored.scores[:, 1:])
    rows = rows_of(found)                                                # [mention doc]
    objects, mask = facts.objects[rows], facts.object_mask[rows]         # [mention doc object]
    flat = objects.clamp(min=0).flatten(1)
    shares = logits.gather(1, flat).view(objects.shape).masked_fill(~mask, -torch.inf).softmax(2)
    weights = probs[:, 1:, None] * shares.masked_fill(~mask, 0)
    return FactReading(probs[:, 0], weights.new_zeros(logits.shape).scatter_add(1, flat, weights.flatten(1)))


def rows_of(found: Retrieved) -> Int[Tensor, "query doc"]:
    """The row of each document in a table of `Retrieved.documents`."""
    return torch.searchsorted(found.documents, found.numbers.contiguous()).clamp(max=max(0, len(found.documents) - 1))
