"""GLM (Du et al. 2022): a pre-norm BERT with two position ids per token, trained on autoregressive blank infilling.

The objective is `plmlab.objectives.blanks`. This file implements the differences from BERT listed in the paper (§2.2):
pre-norm, a single linear output layer, GELU, and 2D positional encoding. As in the authors' code but not stated in the
paper: a final LayerNorm, no LayerNorm on the embeddings, the tanh approximation of GELU, residual projections with a
smaller initialization, an output layer tied to the embedding matrix without a bias, and no segments.

Difference from the code: there is no [CLS]. The pooled vector of a text is the hidden state of the [START] token of a
blank appended to the text, an input that occurs in pretraining. The code offers this among three options, but not as
the default.
"""

from dataclasses import dataclass
from typing import Self

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.layers.initialise import initialise, initialise_residuals
from plmlab.layers.positions import LearnedPositions
from plmlab.layers.stack import Stack, TokenEmbeddings
from plmlab.layers.transformer import PreNorm
from plmlab.models.architectures import Architecture
from plmlab.models.bert import BERTConfig, at_last_position
from plmlab.models.infilling import BlankInfiller
from plmlab.models.registry import Pretraining, model
from plmlab.objectives.blanks import append_blank, blank_infilling, blanks_of_pair, independent_blanks
from plmlab.text.tokenizers import Tokenizer

GLM_ENCODER = Architecture("encoder", append_blank, independent_blanks, infiller=BlankInfiller)
"""A [MASK], or A [SEP] B [MASK], visible to all positions, followed by [START] of the blank."""


@dataclass(frozen=True)
class GLMConfig(BERTConfig):
    """Configuration of a GLM, without segment embeddings. ``time`` is the highest position id on either axis, from
    0."""

    segments: int = 1
    activation: str = "gelu_tanh"
    eps: float = 1e-5

    @classmethod
    def base(cls) -> Self:
        """The paper's GLM-base: 109 million parameters. Its vocabulary, BERT's 30,522 subwords plus [START] and [END],
        is padded to a multiple of 128 as in the authors' code."""
        return cls(vocab=30_592, time=512, layers=12, model=768, heads=12, inner=3072)


class GLMEmbeddings(TokenEmbeddings):
    """Sum of token, position and in-blank position embeddings (2D positional encoding, §2.2.1), with dropout and
    without LayerNorm."""

    def __init__(self, config: GLMConfig) -> None:
        super().__init__(config)
        self.time = config.time
        self.position = LearnedPositions(config.time + 1, config.model)
        self.position_in_blank = LearnedPositions(config.time + 1, config.model)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Input embedding of every position. Raises ValueError if the batch does not have two position ids per token,
        or if Part A or a blank is too long."""
        if batch.position_ids.shape[1] != 2:
            raise ValueError(f"a GLM takes two position ids per token, but this batch has "
                             f"{batch.position_ids.shape[1]}; "
                             "make its Examples with plmlab.objectives.blanks")
        in_text, in_blank = batch.position_ids.unbind(1)
        for what, ids in (("Part A", in_text), ("a blank, with its [START],", in_blank)):
            if (length := int(ids.max())) > self.time:
                raise ValueError(f"{what} has {length} tokens, but the model has only {self.time} positions; shorten "
                                 "it, or build a model with a larger `time`")
        return self.dropout(self.token(batch.tokens) + self.position(in_text) + self.position_in_blank(in_blank))


@model("glm", GLMConfig, GLM_ENCODER)
class GLM(Stack):
    """GLM without its output layer: one hidden state per position of Part A and of the blanks."""

    config: GLMConfig

    embeddings_class = GLMEmbeddings
    residual_class = PreNorm

    def __init__(self, config: GLMConfig) -> None:
        super().__init__(config)
        self.apply(initialise)
        initialise_residuals(self, config.layers)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Final hidden states, after the last LayerNorm, one per position."""
        return self.hidden_states(batch)

    def pool(self, hidden: Float[Tensor, "batch time model"], batch: Batch) -> Float[Tensor, "batch model"]:
        """Hidden state of each text's last token, the [START] of the appended blank (`append_blank`)."""
        return at_last_position(hidden, batch)

    def pooled_output(self, batch: Batch) -> Float[Tensor, "batch model"]:
        """Pooled output: one vector per text, for text-level tasks."""
        return self.pool(self(batch), batch)


@model("glm-pretraining", GLMConfig, GLM_ENCODER,
       Pretraining("glm", blank_infilling, Tokenizer.wordpiece, added=1, pairs=blanks_of_pair))
class GLMPretraining(nn.Module):
    """GLM with its output layer: the tied embedding matrix. `plmlab.models.infilling` generates text with it."""

    def __init__(self, config: GLMConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = GLM(config)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """Token logits at every position."""
        return self.token_logits(self.encoder(batch))

    def token_logits(self, hidden: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch vocab"]:
        """Next-token logits in a blank from a hidden state: hW_eᵀ."""
        return F.linear(hidden, self.encoder.embeddings.token.weight)

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean of −log p(token) over all tokens of the blanks, including [END], in nats (§2.1.1, eqs. 1 and 2)."""
        is_target = batch.targets != IGNORE
        return F.cross_entropy(self.token_logits(self.encoder(batch)[is_target]), batch.targets[is_target])
