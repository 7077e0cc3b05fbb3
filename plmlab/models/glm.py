"""GLM (Du et al. 2022): BERT's network with the norm first and two positions a position, which fills blanks word by
word.

What it learns is `plmlab.objectives.blanks`. What the paper names as new against BERT (§2.2) is all that stands here:
the norm before each sublayer, one linear output, GELU, and a second position. As in the authors' code, and not told in
the paper: a norm at the end, none of the embeddings, GELU in its tanh form, residual projections that begin smaller, an
output that is the embedding's own weights without a bias, and no segments.

Where it differs from the code: there is no [CLS], so that a text is summed up by [START] of a blank behind it, a
position that pretraining knows (one of three ways that the code offers, and not its default).
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
from plmlab.objectives.blanks import blank_behind, blank_infilling, blanks_of_pair, one_word_blanks
from plmlab.text.tokenizers import Tokenizer

GLM_ENCODER = Architecture("encoder", blank_behind, one_word_blanks, filler=BlankInfiller)
"""A [MASK], or A [SEP] B [MASK], which everyone sees, and behind it [START] of the blank."""


@dataclass(frozen=True)
class GLMConfig(BERTConfig):
    """The size of a GLM. ``time`` is the last position that it learns on either axis, from 0 on; there are no
    segments."""

    segments: int = 1
    activation: str = "gelu_tanh"
    eps: float = 1e-5

    @classmethod
    def base(cls) -> Self:
        """The paper's GLM-base: 109 million parameters. BERT's 30,522 pieces, [START] and [END] are filled up to a
        multiple of 128 (the authors' code)."""
        return cls(vocab=30_592, time=512, layers=12, model=768, heads=12, inner=3072)


class GLMEmbeddings(TokenEmbeddings):
    """What a token is, plus where it stands in Part A, plus where in its blank (§2.2.1); dropped out, not normed."""

    def __init__(self, config: GLMConfig) -> None:
        super().__init__(config)
        self.time = config.time
        self.position = LearnedPositions(config.time + 1, config.model)
        self.position_in_blank = LearnedPositions(config.time + 1, config.model)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """The vector that each position starts with; a ValueError where the batch does not tell two positions, and
        where Part A or a blank is too long."""
        if batch.position_ids.shape[1] != 2:
            raise ValueError(f"a GLM reads two positions a position, and this batch has {batch.position_ids.shape[1]}; "
                             f"make "
                             "its Examples with plmlab.objectives.blanks")
        place, in_blank = batch.position_ids.unbind(1)
        for what, places in (("Part A", place), ("a blank, with its [START],", in_blank)):
            if (positions := int(places.max())) > self.time:
                raise ValueError(f"{what} has {positions} positions, and the model has learned {self.time} positions; "
                                 f"shorten "
                                 "it, or build a model with more")
        return self.dropout(self.token(batch.tokens) + self.position(place) + self.position_in_blank(in_blank))


@model("glm", GLMConfig, GLM_ENCODER)
class GLM(Stack):
    """The network: a vector for each position, of the text and of the blanks."""

    config: GLMConfig

    embeddings_class = GLMEmbeddings
    residual_class = PreNorm

    def __init__(self, config: GLMConfig) -> None:
        super().__init__(config)
        self.apply(initialise)
        initialise_residuals(self, config.layers)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """What the last layer makes of each position, normed."""
        return self.hidden_states(batch)

    def pool(self, hidden: Float[Tensor, "batch time model"], batch: Batch) -> Float[Tensor, "batch model"]:
        """The vector of each text's last position, which must say what fills the blank behind it (`blank_behind`)."""
        return at_last_position(hidden, batch)

    def pooled_output(self, batch: Batch) -> Float[Tensor, "batch model"]:
        """One vector for each text of a batch, for what is said of the text as a whole."""
        return self.pool(self(batch), batch)


@model("glm-pretraining", GLMConfig, GLM_ENCODER,
       Pretraining("glm", blank_infilling, Tokenizer.wordpiece, added=1, pairs=blanks_of_pair))
class GLMPretraining(nn.Module):
    """GLM with its output, the embedding's own weights and nothing else; `plmlab.models.infilling` fills with it."""

    def __init__(self, config: GLMConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = GLM(config)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """The logits of the word that each position must say."""
        return self.token_logits(self.encoder(batch))

    def token_logits(self, hidden: Float[Tensor, "*positions model"]) -> Float[Tensor, "*positions vocab"]:
        """The logits of the word that a position of a blank must say: hW_eᵀ."""
        return F.linear(hidden, self.encoder.embeddings.token.weight)

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean of −log p(word) over all positions of blanks, [END] among the words, in nats (§2.1.1, eqs. 1 and 2)."""
        asked = batch.targets != IGNORE
        return F.cross_entropy(self.token_logits(self.encoder(batch)[asked]), batch.targets[asked])
