"""PALM (Bi et al. 2020): an encoder–decoder pretrained to continue a text, which can copy tokens of its source. It is
not Google's PaLM (Chowdhery et al. 2022), a decoder.

Pretraining has two stages (§2.1). First, the encoder alone is a masked language model: this is RoBERTa
(`plmlab.models.roberta`), from which the paper starts too; `PALM.load_encoder` copies its weights. Then encoder and
decoder are trained to predict the last 20 % of a text from the first 80 % (`plmlab.objectives.continuation`).

The layers are those of RoBERTa. The pointer-generator is that of the paper, with an additive attention of its own
(§2.3); the published codes copy by the cross-attention of the last layer instead. The paper does not say whether
special tokens can be copied: here, every source token but the padding can, as in its sum over the source. Differences:
the source of the second stage is not masked (fig. 1d draws masks, §2.2 does not mention them); decoder, pointer and
output transform are initialized as in `Transformer` and PyTorch, as the paper states nothing.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.layers.pointer import PointerGenerator
from plmlab.models.architectures import encoder_decoder
from plmlab.models.bert import BERT
from plmlab.models.learned_positions import LearnedPositionConfig, LearnedPositionDecoder, LearnedPositionEncoder
from plmlab.models.registry import Pretraining, model
from plmlab.models.transformer import Decoder, Encoder, Transformer, TransformerState
from plmlab.objectives.continuation import continuation, continued_pair
from plmlab.text.tokenizers import Tokenizer
from plmlab.visibility import AttentionMask
from plmlab.weights import differences, load_tensors, weights


@dataclass(frozen=True)
class PALMConfig(LearnedPositionConfig):
    """Configuration of a PALM; ``decoder_layers`` is the number of decoder layers (default: as many as the encoder
    has)."""

    eps: float = 1e-5
    decoder_layers: int | None = None

    @classmethod
    def base(cls) -> Self:
        """The paper's base model, with 12 layers on each side (§3.1), and RoBERTa's vocabulary and positions. The paper
        gives no number of parameters."""
        return cls(vocab=50_265, time=512, layers=12, model=768, heads=12, inner=3072)

    @classmethod
    def large(cls) -> Self:
        """The paper's large model, with 24 encoder and 6 decoder layers (§3.1)."""
        return cls(vocab=50_265, time=512, layers=24, decoder_layers=6, model=1024, heads=16, inner=4096)


class PALMDecoder(LearnedPositionDecoder):
    """The decoder, with its own number of layers."""

    def stack(self) -> nn.ModuleList:
        """Build the layers, from bottom to top."""
        return nn.ModuleList(self.build_layer() for _ in range(self.config.decoder_layers or self.config.layers))


@dataclass(kw_only=True)
class PointerState(TransformerState):
    """A state with what the pointer needs: the ``keys`` of the source positions, the source ``tokens``, and ``real``,
    False at padding."""

    keys: Float[Tensor, "batch key model"]
    tokens: Int[Tensor, "batch key"]
    real: Bool[Tensor, "batch key"]

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep only the given rows of the batch, in the given order."""
        super().select(rows)
        self.keys, self.tokens, self.real = self.keys[rows], self.tokens[rows], self.real[rows]


PALM_ENCODER_DECODER = encoder_decoder(continued_pair)
"""[CLS] A [SEP] for the encoder, [START] B for the decoder."""


@model("palm", PALMConfig, PALM_ENCODER_DECODER,
       Pretraining("palm", continuation, Tokenizer.bpe, added=1, documents=True, likelihood=False))
class PALM(Transformer):
    """PALM: an encoder–decoder with RoBERTa's layers, an output transform and a pointer-generator."""

    encoder_class: type[Encoder] = LearnedPositionEncoder
    decoder_class: type[Decoder] = PALMDecoder

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.transform = nn.Linear(config.model, config.model)  # W_v and b_v
        self.pointer = PointerGenerator(config.model)

    def token_logits(self, hidden: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch vocab"]:
        """Logits of generating each token: (W_v h + b_v)W_eᵀ."""
        return super().token_logits(self.transform(hidden))

    def encode(self, source: Batch, cross: AttentionMask) -> PointerState:
        """Encode the source, and compute the keys of the pointer."""
        state = super().encode(source, cross)
        return PointerState(**vars(state), keys=self.pointer.prepared(state.memory), tokens=source.tokens,
                            real=source.padding_mask)

    def predict(self, hidden: Float[Tensor, "batch time model"], state: TransformerState,
                ) -> Float[Tensor, "batch time vocab"]:
        """Log-probabilities of the next token, generated or copied."""
        assert isinstance(state, PointerState)
        return self.pointer(self.token_logits(hidden), hidden, state.keys, state.memory, state.tokens, state.real)

    def load_encoder(self, encoder: BERT) -> None:
        """Copy the weights of a RoBERTa or BERT into the encoder, and so its token embeddings into the decoder too.

        The encoder then gives the same outputs for single texts: the embedding of segment 0 is added to every position
        embedding. The pooler is not copied. Raises ValueError, with the model unchanged, if the encoder has another
        size or other layers.
        """
        tensors = {name: tensor for name, tensor in weights(encoder).items() if not name.startswith("pooler.")}
        positions, segments = (f"embeddings.{kind}.weight" for kind in ("position", "segment"))
        if {positions, segments} <= tensors.keys():
            tensors[positions] = tensors[positions] + tensors.pop(segments)[0]
        shape = encoder.config.shape
        own = replace(self.config.shape, dropout=shape.dropout, attention_dropout=shape.attention_dropout)
        if own != shape or differences(self.encoder, tensors):
            raise ValueError(f"the layers of this PALM are not those of a {type(encoder).__name__} with "
                             f"{encoder.config}; give a RoBERTa or BERT of the same size, or build a PALM of its size")
        load_tensors(self.encoder, tensors)
