"""Facts as Experts, FaE (Verga et al. 2020): EaE with a fact memory, which can be edited without training.

A fact has a key, its subject and relation, and a value, the set of its objects. After the last layer, each mention
queries the memory. The predicted entity depends on the context and on the objects of the retrieved facts; the
probability λ of a null fact decides between the two: q = λ·c + (1 − λ)·f, where c is the vector of EntityPred and f the
weighted sum of the objects' vectors. Facts are data and not weights, as the documents of REALM are: a new, changed or
removed fact has an effect at once. Keys and values consist of the vectors of the entity memory.

Differences from the paper: EaE's losses for mention detection and masked tokens are added to the paper's four, which
are those of entity linking, EntityPred, fact retrieval and the answer; training attends to all facts, as EaE does to
all entities, and only inference to the ``top_k_facts`` best ones; the objects of a fact are weighted by their scores
against c; if several facts are correct, the loss is −log of the sum of their probabilities; the key of the null fact is
a free vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.layers.fact_memory import FactMemory, read_facts
from plmlab.mentions import Mentions
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import classification_loss
from plmlab.models.eae import EaEConfig, EaEPretraining, Reading, total
from plmlab.models.registry import model
from plmlab.objectives.fact_batches import FactBatch
from plmlab.retrieval.facts import Fact, FactCorpus, FactTable
from plmlab.retrieval.retrieved import Retrieved


@dataclass(frozen=True)
class FaEConfig(EaEConfig):
    """Configuration of a FaE: that of EaE, with the number of ``relations``, whose vectors are initialized as those of
    the entities, and of facts retrieved at inference."""

    relations: int = 32
    top_k_facts: int = 5

    @classmethod
    def base(cls) -> Self:
        """The size of EaE's base model, with 1,000 relations."""
        return cls(**{**vars(EaEConfig.base()), "relations": 1000})


class Answers(NamedTuple):
    """Predictions for each mention: the logits of all entities, the retrieved facts, of which the first is the null
    fact, and the probability that the facts alone assign to each entity."""

    mentions: Mentions
    logits: Tensor      # [mention entity]
    facts: Retrieved
    by_facts: Tensor    # [mention entity]


@model("fae", FaEConfig, ENCODER)
class FaE(EaEPretraining):
    """FaE: EaE with its heads and a fact memory."""

    config: FaEConfig

    def build_heads(self) -> None:
        """Create EaE's heads, the query of the fact memory, and its keys."""
        super().build_heads()
        self.fact_query = nn.Linear(2 * self.config.model, self.config.entity_width)
        self.fact_memory = FactMemory(self.config.relations, self.config.entity_width, self.config.entity_std)

    @property
    def entities(self) -> Float[Tensor, "entity width"]:
        """The entity vectors, which both memories share."""
        return self.encoder.memory.entities.weight

    def answer(self, reading: Reading, mentions: Mentions, found: Retrieved, facts: FactTable) -> Answers:
        """Predict the entity of each mention from the facts ``found`` for it; ``facts`` has one row per document of
        `Retrieved.documents`."""
        queries = self.fact_query(mentions.ends(reading.hidden))
        scored = self.fact_memory.scored(queries, found, facts, self.entities)
        context = self.entity_query(mentions.ends(reading.hidden))  # c, [mention width]
        null, by_facts = read_facts(scored, facts, self.encoder.memory.scores(context))
        mixed = null[:, None] * context + by_facts @ self.entities  # λ·c + (1 − λ)·f
        return Answers(mentions, self.encoder.memory.scores(mixed), scored, by_facts)

    @torch.no_grad()
    def answers(self, batch: Batch, memory: FactCorpus) -> Answers:
        """Predict the entities of all mentions with the ``top_k_facts`` best facts of a memory."""
        reading = self.encoder.reading(batch)
        queries = self.fact_query(reading.mentions.ends(reading.hidden))
        found = memory.search([*queries], self.config.top_k_facts).to(queries.device)[:]
        facts = memory.table(found.documents.tolist()).to(queries.device)
        return self.answer(reading, reading.mentions, found, facts)

    def losses(self, batch: FactBatch) -> dict[str, Float[Tensor, ""]]:  # type: ignore[override]
        """EaE's losses by name and, over the masked linked mentions, the means of −log p(a correct fact) and −log
        p(entity)."""
        reading = self.encoder.reading(batch.inputs)
        mentions = reading.mentions[batch.masked(reading.mentions)]
        answers = self.answer(reading, mentions, batch.everything(mentions), batch.facts)
        correct = answers.facts.logprobs().masked_fill(~batch.positives(mentions), -torch.inf).logsumexp(1)
        return self.losses_of(reading, batch.inputs) | {
            "facts": -correct.sum() / max(1, len(mentions)),
            "answers": classification_loss(answers.logits, mentions.at_first(batch.entities)),
        }

    def loss(self, batch: FactBatch) -> Float[Tensor, ""]:  # type: ignore[override]
        """Sum of the six losses, in nats."""
        return total(self.losses(batch))


@dataclass(frozen=True)
class FactEncoder:
    """The retriever of a `FactCorpus`: a fact is encoded as its key in a FaE's memory; a query is already a vector."""

    model: FaE

    @property
    def width(self) -> int:
        """The dimension of the vectors."""
        return self.model.config.entity_width

    def queries(self, queries: Sequence[Tensor]) -> Float[Tensor, "query width"]:
        """The queries as a matrix."""
        return torch.stack([*queries]) if queries else torch.empty(0, self.width)

    @torch.no_grad()
    def documents(self, facts: Sequence[Fact]) -> Float[Tensor, "fact width"]:
        """The key of each fact. Raises ValueError for a fact without objects."""
        entities = self.model.entities
        return self.model.fact_memory.keys(FactTable.of(facts).to(entities.device), entities)


def fact_memory(model: FaE, facts: Sequence[Fact] = ()) -> FactCorpus:
    """A memory of these facts, which can be edited; after further training of the model, call its ``refresh``."""
    return FactCorpus(FactEncoder(model), facts)
