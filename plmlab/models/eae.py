"""Entities as Experts, EaE (Févry et al. 2020): BERT with an entity memory between two of its layers.

The lower layers predict where the mentions of entities are. Each mention retrieves entity vectors, whose weighted sum
is added at its first token; the upper layers continue with the result. The entity vectors are learned from text,
together with all other weights. In training, a mention attends to all entities; at inference, to the ``top_k`` best
ones only, so that a memory of a million entities costs one maximum inner product search.

Differences from the paper: the linking loss is the mean of −log α of the linked entity; the paper's formula, a sum of
α, lacks the logarithm and the sign. There are a pooler and a transform before the masked-LM output layer, as in BERT.
As in the authors' later code (``google-research/language``, mentionmemory) but not among the paper's three losses, the
EntityPred head is trained in pretraining too. That code is given its mentions and its memory attends to all entities
also at inference; mention detection and top-k are those of the paper.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.layers.entity_memory import EntityMemory
from plmlab.layers.initialise import initialise
from plmlab.mentions import Mentions, most_likely_tags
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERT, BERTConfig, MaskedLM, classification_loss
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import entity_mentions
from plmlab.objectives.fine_tuning import label_of
from plmlab.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class EaEConfig(BERTConfig):
    """Configuration of an EaE: that of BERT, with the number of ``entities``, the size of their vectors, the number of
    layers before the memory, the number of entities retrieved at inference, and the standard deviation of the initial
    entity vectors.

    With the default of 0.02, short vectors have inner products close to 0, and it takes long until the entities, and in
    FaE the facts about one entity, are distinguished. Vectors of length 1, ``entity_std = entity_width ** -0.5``, learn
    faster.
    """

    entities: int = 64
    entity_width: int = 32
    memory_after: int = 1
    top_k: int = 100
    entity_std: float = 0.02

    @classmethod
    def base(cls) -> Self:
        """The paper's model: a million entities, with a memory after layer 4 of 12; 367 million parameters."""
        return cls(vocab=30_522, time=128, layers=12, model=768, heads=12, inner=3072, entities=1_000_000,
                   entity_width=256, memory_after=4)


class Reading(NamedTuple):
    """One forward pass: the hidden states of all layers, the logits of mention detection, and the mentions with their
    queries to the entity memory."""

    states: list[Tensor]    # [batch time model] each
    tag_logits: Tensor      # [batch time 3]
    mentions: Mentions
    queries: Tensor         # [mention width]

    @property
    def hidden(self) -> Float[Tensor, "batch time model"]:
        """The final hidden states."""
        return self.states[-1]


@model("eae", EaEConfig, ENCODER)
class EaE(BERT):
    """EaE encoder: BERT in which the mentions of entities retrieve vectors from a memory."""

    config: EaEConfig
    loops_over_text = True

    def __init__(self, config: Any) -> None:
        if not 1 <= config.memory_after <= config.layers:
            raise ValueError(f"memory_after={config.memory_after}: the memory follows one of the {config.layers} "
                             f"layers, so give 1 to {config.layers}")
        super().__init__(config)
        self.mention_tags = nn.Linear(config.model, 3)
        initialise(self.mention_tags)
        self.memory = EntityMemory(config.entities, config.entity_width, config.model, config.eps, config.entity_std)

    def reading(self, batch: Batch) -> Reading:
        """Run the encoder. The mentions are those of the label ``mentions``; if the batch has no such label, they are
        detected."""
        states = [self.embedded(self.embeddings(batch))]
        for depth, layer in enumerate(self.layers, 1):
            states.append(layer(states[-1], batch.visible))
            if depth == self.config.memory_after:
                tag_logits = self.mention_tags(states[-1])  # [batch time 3]
                mentions = self.mentions(batch, tag_logits)
                access = self.memory(states[-1], mentions, None if self.training else self.config.top_k)
                states[-1] = access.hidden
        return Reading(states, tag_logits, mentions, access.queries)

    def mentions(self, batch: Batch, tag_logits: Float[Tensor, "batch time 3"]) -> Mentions:
        """The labelled mentions of a batch; without a label, those of the most likely BIO tags."""
        tags = batch.labels.get("mentions")
        return Mentions.of(most_likely_tags(tag_logits, batch.padding_mask) if tags is None else tags)

    def all_hidden_states(self, batch: Batch, caches: Sequence[Any] | None = None, *across: Any,
                          ) -> Iterator[Float[Tensor, "batch time model"]]:
        """Yield the embeddings, then the hidden states of each layer; the memory is part of the layer before it."""
        yield from self.reading(batch).states


@model("eae-pretraining", EaEConfig, ENCODER,
       Pretraining("eae", entity_mentions, Tokenizer.wordpiece, added=2, likelihood=False))
class EaEPretraining(MaskedLM):
    """EaE with its two heads: TokenPred, which is BERT's masked-LM head, and EntityPred (§2.3)."""

    encoder: EaE
    encoder_class: type[BERT] = EaE

    def build_heads(self) -> None:
        """Create the masked-LM head and the query of EntityPred."""
        super().build_heads()
        self.entity_query = nn.Linear(2 * self.config.model, self.config.entity_width)

    def entity_logits(self, hidden: Float[Tensor, "batch time model"], mentions: Mentions,
                      ) -> Float[Tensor, "mention entity"]:
        """EntityPred: the logits of all entities for each mention, from the final hidden states of its first and last
        token. The entity vectors are those of the memory."""
        return self.encoder.memory.scores(self.entity_query(mentions.ends(hidden)))

    def losses(self, batch: Batch) -> dict[str, Float[Tensor, ""]]:
        """The four losses by name, in nats: the means of −log p over the masked tokens, over the BIO tags of all
        positions, and over the linked mentions, for the query of the memory and for EntityPred."""
        return self.losses_of(self.encoder.reading(batch), batch)

    def losses_of(self, reading: Reading, batch: Batch) -> dict[str, Float[Tensor, ""]]:
        """The four losses of a forward pass."""
        tags = label_of(batch, "mentions", "objectives.entity_mentions")
        linked = reading.mentions.at_first(label_of(batch, "entities", "objectives.entity_mentions"))
        return {
            "masked_lm": self.masked_lm_loss(reading.hidden, batch),
            "mentions": F.cross_entropy(reading.tag_logits.flatten(0, 1), tags.flatten(), ignore_index=IGNORE),
            "linking": classification_loss(self.encoder.memory.scores(reading.queries), linked),
            "entity_prediction": classification_loss(self.entity_logits(reading.hidden, reading.mentions), linked),
        }

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Sum of the four losses, in nats."""
        return total(self.losses(batch))


def total(losses: Mapping[str, Float[Tensor, ""]]) -> Float[Tensor, ""]:
    """The sum of several losses."""
    return torch.stack([*losses.values()]).sum()
