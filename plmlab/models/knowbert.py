"""KnowBERT (Peters et al. 2019): BERT with knowledge bases. Between two of its layers, a KAR (`plmlab.layers.kar`)
links the mentions in the text to the entities of a knowledge base, and the words attend to them.

Each knowledge base has a KAR of its own, after a layer of its own, in sequence (§3.4): the paper's KnowBERT-W+W has
Wikipedia after layer 10 of 12 and WordNet after layer 11. The candidate mentions are part of the batch, a
`plmlab.candidates.LinkedBatch`, found by rule in the text (`plmlab.text.knowledge.KnowledgeBase`); a plain batch has
none. The entity vectors are pretrained on the knowledge base and frozen; only BERT and the KARs are trained. Training
starts from a pretrained BERT (`KnowBERT.from_pretrained`): first each linker alone, with everything else frozen, then
`KAR.align`, then all of it.

Differences from the paper: NULL is also a candidate of every mention, with a prior of its own; the entity vectors have
the width of the KAR, whereas those of WordNet (TuckER and sentence vectors of the definitions, 2,248 dimensions) are
projected to 200 dimensions together with a trained vector of their part of speech; the linker's supervision can come
from the same texts as the masked tokens, whereas the authors alternate between corpora. `plmlab.layers.kar` lists
where the component differs from the authors' code, `plmlab.models.bert` the differences of BERT.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.candidates import Candidates, LinkedBatch
from plmlab.example import Batch
from plmlab.layers.kar import KAR, LINKERS
from plmlab.layers.shape import LayerShape
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining, classification_loss
from plmlab.models.registry import model
from plmlab.weights import with_pretrained

WIKIPEDIA, WORDNET = 470_000, 117_659
"""Number of entities of the paper's knowledge bases: pages of Wikipedia (approximately), synsets of WordNet."""


@dataclass(frozen=True)
class KnowBERTConfig(BERTConfig):
    """Configuration of a KnowBERT. ``after``, ``entities``, ``widths`` and ``linkers`` have one element per knowledge
    base: the number of BERT's layers below its KAR, in ascending order; the number of its entity vectors, with NULL and
    MASK; their width; and the loss of its linker, "margin" or "log-likelihood". ``kar_heads`` and ``kar_inner`` are
    the number of heads and the feed-forward width in all KARs.
    """

    after: tuple[int, ...] = (2, 3)
    entities: tuple[int, ...] = (64, 64)
    widths: tuple[int, ...] = (32, 32)
    linkers: tuple[str, ...] = ("margin", "log-likelihood")
    kar_heads: int = 4
    kar_inner: int = 128

    @classmethod
    def base(cls) -> Self:
        """KnowBERT-W+W: BERT-base with Wikipedia and WordNet."""
        return cls(**asdict(BERTConfig.base()), after=(10, 11), entities=(WIKIPEDIA + 2, WORDNET + 2),
                   widths=(300, 200), kar_inner=1024)

    def kar_shape(self, width: int) -> LayerShape:
        """The shape of the Transformer layers of a KAR whose entity vectors have this width."""
        return LayerShape(width, self.kar_heads, self.kar_inner, self.activation, self.dropout, self.attention_dropout,
                          self.eps)


@model("knowbert", KnowBERTConfig, ENCODER)
class KnowBERT(BERT):
    """KnowBERT encoder: BERT with a KAR for each knowledge base.

    Raises ValueError if the configuration does not describe one KAR per knowledge base, after one of the layers.
    """

    config: KnowBERTConfig

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        parts = {"entities": config.entities, "widths": config.widths, "linkers": config.linkers}
        for name, values in parts.items():
            if len(values) != len(config.after):
                raise ValueError(f"after={config.after} places {len(config.after)} KARs, but {name}={values}; give one "
                                 "of each per knowledge base")
        if list(config.after) != sorted(config.after) or not all(1 <= n <= config.layers for n in config.after):
            raise ValueError(f"after={config.after}: give numbers of layers from 1 to {config.layers}, in ascending "
                             "order")
        if unknown := [name for name in config.linkers if name not in LINKERS]:
            raise ValueError(f"unknown linker {unknown[0]!r:.60}; choose one of {', '.join(LINKERS)}")
        self.kars: Any = nn.ModuleList(
            KAR(config.model, entities, config.kar_shape(width), LINKERS[linker])
            for entities, width, linker in zip(*parts.values(), strict=True))

    @classmethod
    def from_pretrained(cls, bert: BERT, vectors: Sequence[Tensor], **choices: Any) -> Self:
        """Build a KnowBERT from a copy of a pretrained BERT and the entity vectors of each knowledge base, [entity
        width], with rows for NULL and MASK in front (`plmlab.layers.kar.with_special_rows`); the KARs are new.
        ``choices`` are further fields of the configuration."""
        config = KnowBERTConfig(**asdict(bert.config) | choices, entities=tuple(map(len, vectors)),
                                widths=tuple(some.shape[1] for some in vectors))
        made = cls(config)
        for part in ("layers", "embeddings", "pooler"):
            with_pretrained(bert.get_submodule(part), made, part)
        for kar, some in zip(made.kars, vectors, strict=True):
            kar.linker.vectors.copy_(some)
        return made

    def all_hidden_states(self, batch: Batch, caches: Sequence[Any] | None = None, *across: Any,
                          ) -> Iterator[Float[Tensor, "batch time model"]]:
        """Yield the embeddings, then the hidden states of each layer, after the KARs that follow it. There is no
        cache."""
        for hidden, _ in self.all_linked_states(batch):
            yield hidden

    def linked_states(self, batch: Batch) -> tuple[Float[Tensor, "batch time model"], list[Tensor]]:
        """Final hidden states, and the linking scores of each knowledge base, [batch mention candidate]."""
        scores = list[Tensor]()
        for hidden, found in self.all_linked_states(batch):  # noqa: B007
            scores += found
        return hidden, scores

    def all_linked_states(self, batch: Batch) -> Iterator[tuple[Float[Tensor, "batch time model"], list[Tensor]]]:
        """Yield the embeddings, then for each layer the hidden states after the KARs that follow it, with their linking
        scores."""
        mentions = self.mentions(batch)
        x = self.embedded(self.embeddings(batch))
        yield x, []
        for number, layer in enumerate(self.layers, 1):
            x, scores = layer(x, batch.visible), []
            for after, kar, some in zip(self.config.after, self.kars, mentions, strict=True):
                if after == number:
                    x, found = kar(x, some)
                    scores.append(found)
            yield x, scores

    def mentions(self, batch: Batch) -> Sequence[Candidates]:
        """The candidate mentions of a batch, for each knowledge base. Raises ValueError if it has them for another
        number of knowledge bases."""
        if not isinstance(batch, LinkedBatch):
            return [Candidates.none(batch)] * len(self.kars)
        if len(batch.mentions) != len(self.kars):
            raise ValueError(f"the batch has candidate mentions for {len(batch.mentions)} knowledge bases, but the "
                             f"model has {len(self.kars)}; give one per knowledge base, in the model's order")
        return batch.mentions

    def linking_loss(self, scores: Sequence[Tensor], batch: Batch) -> Float[Tensor, ""]:
        """Sum of the losses of all linkers; a knowledge base without gold entities in the batch adds 0."""
        return torch.stack([kar.linker.loss(found, some)
                            for kar, found, some in zip(self.kars, scores, self.mentions(batch), strict=True)]).sum()


@model("knowbert-pretraining", KnowBERTConfig, ENCODER)
class KnowBERTPretraining(BERTPretraining):
    """KnowBERT with its pretraining heads: those of BERT, trained jointly with its linkers."""

    encoder_class = KnowBERT
    encoder: KnowBERT

    @classmethod
    def from_pretrained(cls, bert: BERTPretraining, vectors: Sequence[Tensor], **choices: Any,
                        ) -> Self:
        """Build a KnowBERT with heads from a copy of a pretrained BERT with heads; see `KnowBERT.from_pretrained`."""
        encoder = KnowBERT.from_pretrained(bert.encoder, vectors, **choices)
        made = with_pretrained(encoder, cls(encoder.config), "encoder")
        for head in ("transform", "norm", "next_sentence"):
            with_pretrained(bert.get_submodule(head), made, head)
        with torch.no_grad():
            made.bias.copy_(bert.bias)
        return made

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Masked-LM loss, next-sentence loss and the losses of the linkers, each where the batch has targets for it."""
        hidden, scores = self.encoder.linked_states(batch)
        loss = self.encoder.linking_loss(scores, batch)
        if bool((batch.targets >= 0).any()):
            loss = loss + self.masked_lm_loss(hidden, batch)
        if "next_sentence" in batch.labels:
            loss = loss + classification_loss(self.next_sentence_logits(hidden), batch.labels["next_sentence"])
        return loss
