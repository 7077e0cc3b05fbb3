"""Candidate mentions: spans of a text that may name an entity of a knowledge base, each with its candidate entities."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from plmlab.batches import COLLATED
from plmlab.example import IGNORE, Batch, Example

NULL, MASK = 0, 1
"""Ids of the special entities of every knowledge base: NULL, the mention names no entity; MASK, its candidates are
hidden because it has a token to predict."""
SPECIAL_ENTITIES = 2
"""Number of special entities; the ids of a knowledge base's own entities follow them."""


class CandidateMention(NamedTuple):
    """A candidate mention: the tokens ``start`` to ``end`` (exclusive), the ids of its candidate entities with their
    prior probabilities, and the ``gold`` entity, or IGNORE if it is not known."""

    start: int
    end: int
    entities: tuple[int, ...]
    priors: tuple[float, ...]
    gold: int = IGNORE

    def shifted(self, by: int) -> "CandidateMention":
        """The mention in a text with ``by`` more tokens in front."""
        return self._replace(start=self.start + by, end=self.end + by)

    def masked(self) -> "CandidateMention":
        """The mention with MASK as its only candidate, and without a gold entity."""
        return self._replace(entities=(MASK,), priors=(1.0,), gold=IGNORE)


@dataclass(frozen=True)
class Candidates:
    """The candidate mentions of a batch for one knowledge base, padded to the largest number of mentions and of
    candidates.

    ``spans`` are (start, end) with exclusive end, (0, 0) for padding; ``candidate_mask`` is True for real candidates;
    ``gold`` is the id of the correct entity, or IGNORE.
    """

    spans: Int[Tensor, "batch mention 2"]
    entities: Int[Tensor, "batch mention candidate"]
    priors: Float[Tensor, "batch mention candidate"]
    candidate_mask: Bool[Tensor, "batch mention candidate"]
    gold: Int[Tensor, "batch mention"]

    @classmethod
    def of(cls, texts: Sequence[Sequence[CandidateMention]]) -> Self:
        """Collate the mentions of each text. A text may have none; every text then has one mention of padding."""
        size = max(1, max(map(len, texts)))
        most = max((len(mention.entities) for text in texts for mention in text), default=1)
        shape = len(texts), size, most
        made = cls(torch.zeros(*shape[:2], 2, dtype=torch.long), torch.zeros(shape, dtype=torch.long),
                   torch.zeros(shape), torch.zeros(shape, dtype=torch.bool), torch.full(shape[:2], IGNORE))
        for row, text in enumerate(texts):
            for column, (start, end, entities, priors, gold) in enumerate(text):
                made.spans[row, column] = torch.tensor([start, end])
                made.entities[row, column, :len(entities)] = torch.tensor(entities)
                made.priors[row, column, :len(priors)] = torch.tensor(priors)
                made.candidate_mask[row, column, :len(entities)] = True
                made.gold[row, column] = gold
        return made

    @classmethod
    def none(cls, batch: Batch) -> Self:
        """No mentions, for every text of a batch."""
        return cls.of([()] * batch.size[0]).to(batch.tokens.device)

    @property
    def mask(self) -> Bool[Tensor, "batch mention"]:
        """True for real mentions, False for padding."""
        return self.candidate_mask.any(-1)

    def in_span(self, time: int) -> Bool[Tensor, "batch mention time"]:
        """True where a position belongs to a mention."""
        index = torch.arange(time, device=self.spans.device)
        return (self.spans[..., :1] <= index) & (index < self.spans[..., 1:])

    def to(self, device: torch.device | str) -> Self:
        """Copy to a device."""
        return replace(self, **{name: tensor.to(device, non_blocking=True) for name, tensor in vars(self).items()})


@dataclass(frozen=True)
class LinkedExample(Example):
    """An Example with its candidate mentions, one sequence of them per knowledge base."""

    mentions: tuple[tuple[CandidateMention, ...], ...] = ()


@dataclass(frozen=True)
class LinkedBatch(Batch):
    """A batch with its candidate mentions, one `Candidates` per knowledge base."""

    mentions: tuple[Candidates, ...] = ()

    @classmethod
    def of(cls, examples: Sequence[LinkedExample], *, pad: int) -> Self:  # type: ignore[override]
        """Collate Examples; ``pad`` is the id of the padding token. Raises ValueError if they have candidates from
        different numbers of knowledge bases."""
        made = super().of(examples, pad=pad)
        try:
            by_knowledge = list(zip(*(example.mentions for example in examples), strict=True))
        except ValueError:
            counts = sorted({len(example.mentions) for example in examples})
            raise ValueError(f"the Examples of a batch have candidates from {' and '.join(map(str, counts))} knowledge "
                             "bases; make all of them with the same knowledge bases") from None
        return replace(made, mentions=tuple(map(Candidates.of, by_knowledge)))

    def to(self, device: torch.device | str) -> Self:
        """Copy to a device."""
        return replace(super().to(device), mentions=tuple(mentions.to(device) for mentions in self.mentions))


COLLATED[LinkedExample] = LinkedBatch
