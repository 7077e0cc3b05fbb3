"""ELECTRA (Clark et al. 2020): a small masked language model, the generator, replaces some tokens of a text, and a
discriminator classifies each token as original or replaced. Only the discriminator is fine-tuned.

As in the authors' code but not in the paper: 15 % of the selected tokens are not masked in the generator's input
(`electra_85_15`), and the two networks share all embeddings with their LayerNorm, not only the token and position
embeddings (§3.2). Differences from that code: a position is selected at most once; as in ``transformers``, the pooled
output has a layer of its own, GELU(W h_[CLS]), where the authors classify h_[CLS] directly.
"""

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Self

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.layers.initialise import initialise
from plmlab.layers.transformer import ACTIVATIONS
from plmlab.models.albert import FactorizedEmbeddings
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERT, BERTConfig, MaskedLM
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import electra_85_15, masked
from plmlab.objectives.next_sentence import without_nsp
from plmlab.text.tokenizers import Tokenizer

rtd_input = partial(masked, corrupt=electra_85_15)
"""The generator's input, and its targets: the tokens that the generator may replace."""


@dataclass(frozen=True)
class ELECTRAConfig(BERTConfig):
    """Configuration of one of the two networks; ``embedding`` is the width of the embeddings (default: that of the
    model)."""

    embedding: int | None = None

    @classmethod
    def small(cls) -> Self:
        """ELECTRA-small: 13.5 million parameters (14 million in the paper, table 1)."""
        return cls(vocab=30_522, time=512, layers=12, model=256, heads=4, inner=1024, embedding=128)


@dataclass(frozen=True)
class ELECTRAPretrainingConfig(ELECTRAConfig):
    """Configuration of the discriminator, ``fraction``, the width of the generator relative to it, and ``weight``, λ:
    the weight of the discriminator's loss (§2). The authors use the fraction ¼ for small and large models, and ⅓ for
    base (table 6)."""

    fraction: float = 1 / 4
    weight: float = 50.0

    @classmethod
    def base(cls) -> Self:
        """ELECTRA-base with its generator."""
        return replace(super().base(), fraction=1 / 3)

    @property
    def discriminator(self) -> ELECTRAConfig:
        """Configuration of the discriminator."""
        return ELECTRAConfig(**{field.name: getattr(self, field.name) for field in fields(ELECTRAConfig)})

    @property
    def generator(self) -> ELECTRAConfig:
        """Configuration of the generator, which has as many layers, and, as in the authors' code, heads of width 64 and
        a feed-forward network four times as wide as the model."""
        width = round(self.fraction * self.model)
        return replace(self.discriminator, embedding=self.embedding or self.model, model=width,
                       heads=max(1, width // 64), inner=4 * width)


@model("electra", ELECTRAConfig, ENCODER)
class ELECTRA(BERT):
    """ELECTRA encoder: that of the discriminator or of the generator, a BERT whose embeddings can have a width of their
    own."""

    embeddings_class = FactorizedEmbeddings

    def pool(self, hidden: Float[Tensor, "batch time model"]) -> Float[Tensor, "batch model"]:
        """Pooled output of the text: GELU(W h_[CLS]). It is not pretrained."""
        return F.gelu(self.pooler(hidden[:, 0]))


@model("electra-generator", ELECTRAConfig, ENCODER)
class ELECTRAGenerator(MaskedLM):
    """ELECTRA's generator: an encoder with the masked-LM head."""

    encoder_class = ELECTRA


@model("electra-discriminator", ELECTRAConfig, ENCODER)
class ELECTRADiscriminator(nn.Module):
    """ELECTRA's discriminator: an encoder with a classifier of its tokens, original or replaced."""

    def __init__(self, config: ELECTRAConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = ELECTRA(config)
        self.transform, self.output = nn.Linear(config.model, config.model), nn.Linear(config.model, 1)
        initialise(self.transform)
        initialise(self.output)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time"]:
        """Logit of "replaced" at every position."""
        return self.output(ACTIVATIONS[self.config.activation](self.transform(self.encoder(batch))))[..., 0]

    def replaced_token_loss(self, batch: Batch, replaced: Bool[Tensor, "batch time"]) -> Float[Tensor, ""]:
        """Mean of −log p(original or replaced) over all real tokens, [CLS] and [SEP] included, in nats."""
        real = batch.padding_mask
        return F.binary_cross_entropy_with_logits(self(batch)[real], replaced[real].to(self.output.weight.dtype))


@model("electra-pretraining", ELECTRAPretrainingConfig, ENCODER, Pretraining(
    "electra", rtd_input, Tokenizer.wordpiece, added=2, pairs=without_nsp(rtd_input), likelihood=False))
class ELECTRAPretraining(nn.Module):
    """ELECTRA's generator and discriminator: trained together by replaced-token detection (§2, fig. 2)."""

    discriminator_class: type[nn.Module] = ELECTRADiscriminator

    def __init__(self, config: ELECTRAPretrainingConfig) -> None:
        super().__init__()
        self.config = config
        self.discriminator: Any = self.discriminator_class(config.discriminator)
        self.generator = ELECTRAGenerator(config.generator)
        for part in ("token", "position", "segment", "norm"):
            setattr(self.generator.encoder.embeddings, part, getattr(self.encoder.embeddings, part))

    @property
    def encoder(self) -> ELECTRA:
        """The discriminator's encoder, which is fine-tuned."""
        return self.discriminator.encoder

    def forward(self, batch: Batch) -> Float[Tensor, "batch time"]:
        """The discriminator's logit of "replaced" at every position."""
        return self.discriminator(batch)

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Generator's masked-LM loss plus λ times the discriminator's loss, in nats: L_MLM + λ L_Disc (§2)."""
        is_target = batch.targets != IGNORE
        logits = self.generator.token_logits(self.generator.encoder(batch)[is_target])  # [token vocab]
        corrupted, replaced = replace_tokens(batch, sample(logits))
        return (F.cross_entropy(logits, batch.targets[is_target])
                + self.config.weight * self.discriminator_loss(corrupted, replaced))

    def discriminator_loss(self, corrupted: Batch, replaced: Bool[Tensor, "batch time"]) -> Float[Tensor, ""]:
        """The discriminator's loss on the ``corrupted`` text, which keeps the generator's targets, in nats."""
        return self.discriminator.replaced_token_loss(corrupted, replaced)


@torch.no_grad()
def sample(logits: Float[Tensor, "token vocab"]) -> Int[Tensor, "token"]:
    """Sample a token from the generator's distribution at each target position, with torch's global random state. No
    gradient flows through a sample, so that the generator is not trained to deceive the discriminator, unlike in a
    GAN."""
    return torch.multinomial(logits.softmax(-1, dtype=torch.float32), 1)[:, 0]


def replace_tokens(batch: Batch, samples: Int[Tensor, "token"]) -> tuple[Batch, Bool[Tensor, "batch time"]]:
    """The discriminator's input, with the ``samples`` at the target positions, and a mask of the replaced tokens. A
    sample that equals the original token counts as original (§2)."""
    is_target = batch.targets != IGNORE
    replaced = torch.zeros_like(is_target).masked_scatter(is_target, samples != batch.targets[is_target])
    return replace(batch, tokens=batch.tokens.masked_scatter(is_target, samples)), replaced
