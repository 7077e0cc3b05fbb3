"""MPNet (Song et al. 2020): XLNet's order and two streams on BERT's layers, with masks that keep the places.

Where it differs from the paper: single words are predicted, not whole words of several pieces; of the objective see
`plmlab.objectives.masked_and_permuted`. As in the authors' code, and not told in the paper: T5's buckets of distances,
added to the scores beside learned positions, and shared by all layers. There are no segments.
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
    """The size of an MPNet; ``buckets`` is how many groups of distances are told apart. All is one segment."""

    segments: int = 1
    buckets: int = 32


class MPNetEmbeddings(TokenEmbeddings):
    """What a token is, plus where it stands; a mask stands where its word does."""

    def __init__(self, config: MPNetConfig) -> None:
        super().__init__(config)
        self.position = LearnedPositions(config.time, config.model)
        self.norm = nn.LayerNorm(config.model, eps=config.eps)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """The vector that each position starts with."""
        return self.dropout(self.norm(self.token(batch.tokens) + self.position(batch.position_ids[:, 0])))


@model("mpnet", MPNetConfig, ENCODER)
class MPNet(TwoStreamEncoder):
    """The encoder. A query begins as its mask does, with [MASK] at the word's place."""

    embeddings_class = MPNetEmbeddings

    def __init__(self, config: MPNetConfig) -> None:
        super().__init__(config)
        self.distance = RelativePositionBias(config.buckets, config.heads)
        initialise(self.distance)

    def queries(self, x: Float[Tensor, "batch time model"], asked: Int[Tensor, "batch query"],
                ) -> Float[Tensor, "batch query model"]:
        """What the content stream begins with at the masks."""
        return x.gather(1, asked[..., None].expand(-1, -1, x.shape[-1]))

    def added(self, batch: Batch, positions: Int[Tensor, "batch query"]) -> Float[Tensor, "batch head query key"]:
        """What is added to each score, by how far apart the positions are."""
        places = batch.position_ids[:, 0].expand(batch.size)
        return self.distance(places.gather(1, positions), places)


@model("mpnet-pretraining", MPNetConfig, ENCODER,
       Pretraining("mpnet", masked_and_permuted, Tokenizer.wordpiece, added=2, pairs=without_nsp(masked_and_permuted)))
class MPNetPretraining(TwoStreamPretraining):
    """MPNet with BERT's output layers: a layer, its activation and norm, then the embedding's own weights."""

    encoder_class = MPNet

    def __init__(self, config: MPNetConfig) -> None:
        super().__init__(config)
        self.transform = nn.Linear(config.model, config.model)
        self.norm = nn.LayerNorm(config.model, eps=config.eps)
        initialise(self.transform)

    def token_logits(self, hidden: Float[Tensor, "*positions model"]) -> Float[Tensor, "*positions vocab"]:
        """The logits of the token that a vector of either stream stands for."""
        return super().token_logits(self.norm(ACTIVATIONS[self.config.activation](self.transform(hidden))))
