"""Entity memory (实体记忆): one learned vector per entity, to which the mentions in a text attend (Févry et al. 2020,
§2.2)."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.layers.hooks import HookPoint
from plmlab.layers.initialise import initialise
from plmlab.mentions import Mentions
from plmlab.retrieval.retrieved import Retrieved


class MemoryAccess(NamedTuple):
    """Result of an access to the entity memory: the new hidden states, and the query of each mention."""

    hidden: Tensor      # [batch time model]
    queries: Tensor     # [mention width]


class EntityMemory(nn.Module):
    """Entity memory of ``entities`` vectors of size ``width``.

    The query of a mention is h = W_f [x_start ∥ x_end]; its attention weights are the softmax of h · e over the
    entities. The weighted sum of the entity vectors is projected by W_b and added at the first token of the mention.
    Then all positions are normalized. ``std`` is the standard deviation of the initial entity vectors.
    """

    def __init__(self, entities: int, width: int, model: int, eps: float, std: float = 0.02) -> None:
        super().__init__()
        self.entities = nn.Embedding(entities, width)
        self.query = nn.Linear(2 * model, width)   # W_f
        self.output = nn.Linear(width, model)      # W_b
        self.norm = nn.LayerNorm(model, eps=eps)
        self.added = HookPoint()                   # [mention model]
        self.apply(initialise)
        initialise(self.entities, std)

    def scores(self, queries: Float[Tensor, "mention width"]) -> Float[Tensor, "mention entity"]:
        """The score h · e of every entity for each query."""
        return queries @ self.entities.weight.T

    def retrieve(self, queries: Float[Tensor, "mention width"], top_k: int) -> Retrieved:
        """The ``top_k`` entities with the highest scores, best first; all of them if there are fewer."""
        best = self.scores(queries).topk(min(top_k, self.entities.num_embeddings), 1)
        return Retrieved(best.indices, best.values)

    def read(self, retrieved: Retrieved) -> Float[Tensor, "mention width"]:
        """Sum of the retrieved entities' vectors, weighted by the softmax of their scores."""
        return (retrieved.probs()[:, None] @ self.entities(retrieved.numbers)).squeeze(1)

    def attend(self, queries: Float[Tensor, "mention width"]) -> Float[Tensor, "mention width"]:
        """Sum of all entities' vectors, weighted by the softmax of their scores."""
        return self.scores(queries).softmax(1) @ self.entities.weight

    def forward(self, hidden: Float[Tensor, "batch time model"], mentions: Mentions, top_k: int | None = None,
                ) -> MemoryAccess:
        """Access the memory for the given mentions: LayerNorm(x + W_b Σ_j α_j e_j) at the first token of a mention, and
        LayerNorm(x) elsewhere. The sum is over the ``top_k`` best entities j of each mention (None: all entities)."""
        queries = self.query(mentions.ends(hidden))
        found = self.attend(queries) if top_k is None else self.read(self.retrieve(queries, top_k))
        vectors = self.added(self.output(found).to(hidden.dtype))
        added = torch.zeros_like(hidden).index_put((mentions.rows, mentions.first), vectors)
        return MemoryAccess(self.norm(hidden + added), queries)
