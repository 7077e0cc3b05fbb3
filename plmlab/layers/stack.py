"""Embeddings and a stack of Transformer layers: the body of BERT, GPT, and the Transformer's encoder and decoder."""

from collections.abc import Iterator, Sequence
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.layers.attention import MultiHeadAttention
from plmlab.layers.hooks import HookPoint
from plmlab.layers.transformer import PostNorm, Residual, TransformerLayer


class TokenEmbeddings(nn.Module):
    """Token embeddings with dropout; subclasses add position or segment embeddings. ``token`` is an existing embedding
    matrix to share."""

    def __init__(self, config: Any, token: nn.Embedding | None = None) -> None:
        super().__init__()
        self.token = nn.Embedding(config.vocab, config.model) if token is None else token
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Compute the input embedding of each position."""
        return self.dropout(self.token(batch.tokens))


class Stack(nn.Module):
    """Embeddings, a list of layers, and (in pre-norm stacks) a final normalization.

    Subclasses replace the classes of the embeddings, layers, residual connections (with their norm) or attention,
    override `stack`, or add a `bias` to all attention scores. The config can be of any class that has ``vocab``,
    ``model``, ``layers``, ``dropout`` and the ``shape`` of a layer. ``token`` is an embedding matrix shared with
    another stack.
    """

    embeddings_class: type[TokenEmbeddings] = TokenEmbeddings
    layer_class: type[TransformerLayer] = TransformerLayer
    residual_class: type[Residual] = PostNorm
    attention_class: type[MultiHeadAttention] = MultiHeadAttention

    def __init__(self, config: Any, token: nn.Embedding | None = None) -> None:
        super().__init__()
        self.config = config
        self.embeddings: Any = self.embeddings_class(config) if token is None else self.embeddings_class(config, token)
        self.embedded = HookPoint()
        self.layers = self.stack()
        self.final_norm = self.residual_class.final_norm(config.shape)

    def stack(self) -> nn.ModuleList:
        """Build the layers, from bottom to top."""
        return nn.ModuleList(self.build_layer() for _ in range(self.config.layers))

    def build_layer(self) -> TransformerLayer:
        """Build one layer from its parts."""
        return self.layer_class(self.config.shape, self.residual_class, self.attention_class)

    def bias(self, batch: Batch, caches: Sequence[Any]) -> Float[Tensor, "#batch head query key"] | None:
        """Bias added to the self-attention scores of every layer, or None; with ``caches``, the batch continues the
        cached positions."""
        return None

    def all_hidden_states(self, batch: Batch, caches: Sequence[Any] | None = None, *across: Any,
                ) -> Iterator[Float[Tensor, "batch time model"]]:
        """Yield the embeddings, then the hidden states of each layer.

        ``caches`` holds one key–value cache per layer; ``across`` holds further arguments passed to every layer.
        """
        caches = [None] * len(self.layers) if caches is None else caches
        x, bias = self.embedded(self.embeddings(batch)), self.bias(batch, caches)
        yield x
        for layer, cache in zip(self.layers, caches, strict=True):
            x = layer(x, batch.visible, *across, cache=cache, bias=bias)
            yield x

    def hidden_states(self, batch: Batch, caches: Sequence[Any] | None = None, *across: Any,
                  ) -> Float[Tensor, "batch time model"]:
        """Final hidden states, normalized if the stack has a final norm."""
        for x in self.all_hidden_states(batch, caches, *across):  # noqa: B007
            pass
        return self.final_norm(x)
