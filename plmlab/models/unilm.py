"""UniLM (Dong et al. 2019): BERT's network, pretrained with four attention masks, so that it both encodes text like
BERT and generates text like an encoder–decoder.

The only change to the network is that there are six segment embeddings instead of two, which indicate the mask. The
objective is `plmlab.objectives.prefix`, which also lists the details that were not published and had to be inferred.
Difference from the paper: training starts from random weights instead of BERT's, so that models can be compared at an
equal number of tokens. As in the authors' code, the input at a position to be generated is [MASK], whose keys and
values are discarded once the token has been predicted.
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
from plmlab.objectives.prefix import MASKS, TARGET, mask_mixture_pair, source_only, unmasked_input
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import AttentionMask

UNILM_ENCODER = Architecture("encoder", cls_first, mlm_input,
                             {name: partial(unmasked_input, mask) for name, mask in MASKS.items()})
"""[CLS] A [SEP], or [CLS] A [SEP] B [SEP], with full attention as in BERT, or with another of the four masks."""


@dataclass(frozen=True)
class UniLMConfig(BERTConfig):
    """Configuration of a UniLM: that of BERT, with a segment embedding for each part of the text under each mask."""

    segments: int = 6

    @classmethod
    def base(cls) -> Self:
        """The paper's model (§2.6), which has the size of BERT-large, cased: 334 million parameters. The authors also
        released a smaller one."""
        return cls(vocab=28_996, time=512, layers=24, model=1024, heads=16, inner=4096)


@model("unilm", UniLMConfig, UNILM_ENCODER)
class UniLM(BERT):
    """UniLM without its heads: one network, used both as an encoder and as a decoder."""


@model("unilm-pretraining", UniLMConfig, UNILM_ENCODER,
       Pretraining("unilm", mask_mixture, Tokenizer.wordpiece, added=3, pairs=mask_mixture_pair))
class UniLMPretraining(BERTPretraining):
    """UniLM with BERT's two pretraining heads: `UniLMDecoder` generates text with it."""

    encoder_class = UniLM


@dataclass
class UniLMState:
    """Decoding state of partially generated targets, one per row.

    Attributes:
        caches: keys and values of the source and of the tokens generated so far, one cache per layer.
        real: which cached keys are not padding.
        place: the position id of the next token.
        begun: whether [START] has been given.
    """

    caches: list[Cache]
    real: Bool[Tensor, "batch key"]
    place: Int[Tensor, "batch"]
    started: bool = False

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep only the given rows of the batch, in the given order."""
        self.real, self.place = self.real[rows], self.place[rows]
        for cache in self.caches:
            cache.select(rows)


@dataclass(frozen=True)
class UniLMDecoder:
    """Sequence-to-sequence generation with a UniLM, as an `AutoregressiveModel` for `plmlab.decode`. Each row of the
    prompt belongs to one row of ``source``, [CLS] A [SEP] (`source_only`).

    The network has no [START] and no [END]: generation begins after the source's [SEP] and ends with another [SEP]. For
    decoding, a prompt begins with [START], which is not part of the network's input, and the logits of [SEP] and [END]
    are swapped. Raises ValueError for a tokenizer that lacks one of these tokens.
    """

    model: UniLMPretraining
    source: Batch
    vocab: Vocabulary

    @property
    def training(self) -> bool:
        """Whether the model is in training mode (dropout is on)."""
        return self.model.training

    def start(self) -> UniLMState:
        """Encode the sources and return the initial decoding state, without target tokens."""
        real = self.source.padding_mask
        caches = [Cache() for _ in self.model.encoder.layers]
        self.model.encoder.hidden_states(self.source, caches)
        return UniLMState(caches, real, real.sum(1))

    def step(self, tokens: Int[Tensor, "batch time"], state: UniLMState) -> Float[Tensor, "batch vocab"]:
        """Append ``tokens`` to ``state`` and return the logits of the next token. It is predicted at an appended
        [MASK], which is then removed from the caches."""
        new = tokens if state.started else tokens[:, 1:]  # without [START]
        inputs = torch.cat([new, torch.full_like(tokens[:, :1], self.vocab.need("mask"))], 1)  # [batch new+1]
        offsets = torch.arange(inputs.shape[1], device=inputs.device)
        keys = torch.cat([state.real, torch.ones_like(inputs, dtype=torch.bool)], 1)  # [batch key]
        batch = Batch(inputs, (state.place[:, None] + offsets)[:, None], torch.full_like(inputs, TARGET),
                      AttentionMask(causal=True, keys=keys), torch.full_like(inputs, IGNORE))
        logits = self.model.token_logits(self.model.encoder.hidden_states(batch, state.caches)[:, -1])  # [batch vocab]
        state.real, state.place, state.started = keys[:, :-1], state.place + new.shape[1], True
        for cache in state.caches:
            cache.forget(1)  # the [MASK]
        ends = [self.vocab.need("sep"), self.vocab.need("end")]
        logits[:, ends] = logits[:, ends[::-1]]
        return logits


def source_batch(sources: Sequence[Sequence[int]], vocab: Vocabulary) -> Batch:
    """Build the batch of sources for a `UniLMDecoder` from their token ids."""
    return Batch.of([source_only(source, vocab) for source in sources], pad=vocab.need("pad"))
