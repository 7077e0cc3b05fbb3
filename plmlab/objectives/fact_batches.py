"""Training batches of FaE: texts with linked mentions, and the facts of the memory."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from plmlab.example import IGNORE, Batch, Example
from plmlab.mentions import Mentions
from plmlab.objectives.fine_tuning import label_of
from plmlab.retrieval.facts import Fact, FactTable
from plmlab.retrieval.retrieved import Retrieved


@dataclass(frozen=True)
class FactBatch:
    """A batch of texts and the facts of the memory, to which all mentions attend."""

    inputs: Batch
    facts: FactTable

    @classmethod
    def of(cls, examples: Sequence[Example], facts: Sequence[Fact], *, pad: int) -> Self:
        """Collate Examples of `plmlab.objectives.entity_mentions`; ``pad`` is the id of the padding token."""
        return cls(Batch.of(examples, pad=pad), FactTable.of(facts))

    @property
    def targets(self) -> Int[Tensor, "batch time"]:
        """The masked tokens."""
        return self.inputs.targets

    @property
    def entities(self) -> Int[Tensor, "batch time"]:
        """The linked entity at the first token of each mention, IGNORE elsewhere. Raises ValueError if the batch has no
        such label."""
        return label_of(self.inputs, "entities", "objectives.entity_mentions")

    def everything(self, mentions: Mentions) -> Retrieved:
        """All facts as the search result of each mention, with score 0."""
        numbers = torch.arange(len(self.facts), device=self.targets.device).expand(len(mentions), -1)
        return Retrieved(numbers, torch.zeros_like(numbers, dtype=torch.get_default_dtype()))

    def masked(self, mentions: Mentions) -> Bool[Tensor, "mention"]:
        """Mask of the mentions that are masked and linked, whose entities have to be predicted."""
        return (mentions.at_first(self.targets) != IGNORE) & (mentions.at_first(self.entities) != IGNORE)

    def positives(self, mentions: Mentions) -> Bool[Tensor, "mention column"]:
        """The correct facts of masked mentions, by distant supervision; the first column is the null fact.

        A fact is correct for a mention if its subject is a linked entity of the same text that is not masked, and the
        entity of the mention is one of its objects. The null fact is correct for a mention without any correct fact.
        """
        visible = self.entities.masked_fill(self.targets != IGNORE, IGNORE)  # [batch time]
        in_text = (visible[mentions.rows][:, :, None] == self.facts.subjects).any(1)  # [mention fact]
        is_object = (mentions.at_first(self.entities)[:, None, None] == self.facts.objects).any(2)
        correct = in_text & is_object
        return torch.cat([~correct.any(1, keepdim=True), correct], 1)

    def to(self, device: torch.device | str) -> Self:
        """Copy to a device."""
        return replace(self, inputs=self.inputs.to(device), facts=self.facts.to(device))
