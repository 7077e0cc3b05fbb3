"""UniLM (Dong et al. 2019): BERT's network under four masks; it reads as BERT does, and writes as an encoder-decoder.

Of the network nothing is new but six segments for two, which tell under which mask it reads. What it learns is
`plmlab.objectives.prefix`; see there, too, what was never published and is inferred. Where it differs from the paper:
it begins from random weights and not from BERT's, as a comparison at equal tokens asks for. As in the authors' code, a
position that writes shows [MASK], and its keys and values are thrown away once its word is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from plmlab.example import IGNORE, Batch
from plmlab.layers.attention import Cache
from plmlab.models.architectures import Architecture
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import mask_mixture
from plmlab.objectives.layouts import cls_first, mlm_input
from plmlab.objectives.prefix import MASKS, TARGET, mask_mixture_pair, source_alone, unmasked_input
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import AttentionMask

UNILM_ENCODER = Architecture("encoder", cls_first, mlm_input,
                       {name: partial(unmasked_input, mask) for name, mask in MASKS.items()})
"""[CLS] A [SEP], or [CLS] A [SEP] B [SEP], as BERT; or under another of the four masks."""


@dataclass(frozen=True)
class UniLMConfig(BERTConfig):
    """The size of a UniLM: BERT's, with a segment for each side of each mask."""

    segments: int = 6

    @classmethod
    def base(cls) -> Self:
        """The paper's size (§2.6), that of BERT-large, cased: 334 million parameters. The authors released a smaller
        one, too."""
        return cls(vocab=28_996, time=512, layers=24, model=1024, heads=16, inner=4096)


@model("unilm", UniLMConfig, UNILM_ENCODER)
class UniLM(BERT):
    """The encoder, which is the decoder too."""


@model("unilm-pretraining", UniLMConfig, UNILM_ENCODER,
       Pretraining("unilm", mask_mixture, Tokenizer.wordpiece, added=3, pairs=mask_mixture_pair))
class UniLMPretraining(BERTPretraining):
    """UniLM with BERT's two heads; `UniLMDecoder` writes with it."""

    encoder_class = UniLM


@dataclass
class UniLMState:
    """Targets half written, one a row: what was read and written, as keys and values of each layer; which of these are
    real, where the next position stands, and whether [START] was given."""

    caches: list[Cache]
    real: Bool[Tensor, "batch key"]
    place: Int[Tensor, "batch"]
    begun: bool = False

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep these rows of the batch, in this order."""
        self.real, self.place = self.real[rows], self.place[rows]
        for cache in self.caches:
            cache.select(rows)


@dataclass(frozen=True)
class UniLMDecoder:
    """A UniLM that writes after the sources of a batch, [CLS] A [SEP] each (`source_alone`): what `plmlab.decode` asks
    of a model. One row of source a prompt.

    The network has no [START] and no [END]: it begins behind the source's [SEP], and ends with another. As decoding
    knows it, a prompt begins with [START], which is not read, and what the network says as [SEP] is said as [END].
    ValueError for a tokenizer that lacks one of these.
    """

    model: UniLMPretraining
    source: Batch
    vocab: Vocabulary

    @property
    def training(self) -> bool:
        """Whether the model's dropout is on."""
        return self.model.training

    def start(self) -> UniLMState:
        """The sources read, each position seeing all of its own; nothing written."""
        real = self.source.padding_mask
        caches = [Cache() for _ in self.model.encoder.layers]
        self.model.encoder.hidden_states(self.source, caches)
        return UniLMState(caches, real, real.sum(1))

    def step(self, tokens: Int[Tensor, "batch time"], state: UniLMState) -> Float[Tensor, "batch vocab"]:
        """Read ``tokens`` after what ``state`` holds, and give the logits of the next one: those at a [MASK] behind
        them, which is forgotten then."""
        read = tokens if state.begun else tokens[:, 1:]
        asked = torch.cat([read, torch.full_like(tokens[:, :1], self.vocab.need("mask"))], 1)
        new = torch.arange(asked.shape[1], device=asked.device)
        seen = torch.cat([state.real, torch.ones_like(asked, dtype=torch.bool)], 1)
        batch = Batch(asked, (state.place[:, None] + new)[:, None], torch.full_like(asked, TARGET),
                      AttentionMask(causal=True, keys=seen), torch.full_like(asked, IGNORE))
        logits = self.model.token_logits(self.model.encoder.hidden_states(batch, state.caches)[:, -1])
        state.real, state.place, state.begun = seen[:, :-1], state.place + read.shape[1], True
        for cache in state.caches:
            cache.forget(1)
        ends = [self.vocab.need("sep"), self.vocab.need("end")]
        logits[:, ends] = logits[:, ends[::-1]]
        return logits


def source_batch(sources: Sequence[Sequence[int]], vocab: Vocabulary) -> Batch:
    """The sources of a `UniLMDecoder`, from their tokens."""
    return Batch.of([source_alone(source, vocab) for source in sources], pad=vocab.need("pad"))
