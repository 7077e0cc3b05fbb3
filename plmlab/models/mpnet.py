"""MPNet (Song et al. 2020): BERT's layers with XLNet's permuted order and two streams, and position compensation by
[MASK] tokens.

Difference from the paper: single tokens are predicted, not whole words of several subwords. The objective is
`plmlab.objectives.masked_and_permuted`. As in the authors' code but not stated in the paper: in addition to the learned
positions, a bias per T5 relative position bucket is added to the attention scores; it is shared by all layers. There
are no segments.
"""

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.layers.initialise import initialise
from plmlab.layers.positions import LearnedPositions
from plmlab.layers.relative import RelativePositionBias
from plmlab.layers.stack import TokenEmbeddings
from plmlab.layers.transformer import ACTIVATIONS
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERTConfig
from plmlab.models.registry import Pretraining, model
from plmlab.models.two_streams import TwoStreamEncoder, TwoStreamPretraining
from plmlab.objectives import masked_and_permuted
from plmlab.objectives.next_sentence import without_nsp
from plmlab.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class MPNetConfig(BERTConfig):
    """Configuration of an MPNet; ``buckets`` is the number of relative position buckets. There is only one segment."""

    segments: int = 1
    buckets: int = 32


class MPNetEmbeddings(TokenEmbeddings):
    """Sum of token and position embeddings, with LayerNorm and dropout; a [MASK] has the position id of its target."""

    def __init__(self, config: MPNetConfig) -> None:
        super().__init__(config)
        self.position = LearnedPositions(config.time, config.model)
        self.norm = nn.LayerNorm(config.model, eps=config.eps)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Input embedding of every position."""
        return self.dropout(self.norm(self.token(batch.tokens) + self.position(batch.position_ids[:, 0])))


@model("mpnet", MPNetConfig, ENCODER)
class MPNet(TwoStreamEncoder):
    """MPNet encoder: the initial query vector of a target is the input embedding of its [MASK], at the target's
    position."""

    embeddings_class = MPNetEmbeddings

    def __init__(self, config: MPNetConfig) -> None:
        super().__init__(config)
        self.distance = RelativePositionBias(config.buckets, config.heads)
        initialise(self.distance)

    def queries(self, x: Float[Tensor, "batch time model"], targets_at: Int[Tensor, "batch query"],
                ) -> Float[Tensor, "batch query model"]:
        """Initial query vectors: the input embeddings of the [MASK] tokens."""
        return x.gather(1, targets_at[..., None].expand(-1, -1, x.shape[-1]))  # [batch query model]

    def added(self, batch: Batch, positions: Int[Tensor, "batch query"]) -> Float[Tensor, "batch head query key"]:
        """Relative position bias of every (query, key) pair."""
        ids = batch.position_ids[:, 0].expand(batch.size)  # [batch time]
        return self.distance(ids.gather(1, positions), ids)


@model("mpnet-pretraining", MPNetConfig, ENCODER,
       Pretraining("mpnet", masked_and_permuted, Tokenizer.wordpiece, added=2, pairs=without_nsp(masked_and_permuted)))
class MPNetPretraining(TwoStreamPretraining):
    """MPNet with BERT's masked-LM head: linear layer, activation and LayerNorm, then the tied embedding matrix."""

    encoder_class = MPNet

    def __init__(self, config: MPNetConfig) -> None:
        super().__init__(config)
        self.transform = nn.Linear(config.model, config.model)
        self.norm = nn.LayerNorm(config.model, eps=config.eps)
        initialise(self.transform)

    def token_logits(self, hidden: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch vocab"]:
        """Token logits from the hidden states of either stream."""
        return super().token_logits(self.norm(ACTIVATIONS[self.config.activation](self.transform(hidden))))
