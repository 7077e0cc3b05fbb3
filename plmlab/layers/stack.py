"""A stack of Transformer layers on embeddings: what BERT, GPT, and the Transformer's encoder and decoder are."""

from collections.abc import Iterator, Sequence
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.layers.attention import MultiHeadAttention
from plmlab.layers.hooks import HookPoint
from plmlab.layers.transformer import PostNorm, Residual, TransformerLayer


class TokenEmbeddings(nn.Module):
    """A token's vector, dropped out. A subclass adds what else a position begins with. The vectors are its own, or the
    ``token`` vectors of a whole model."""

    def __init__(self, config: Any, token: nn.Embedding | None = None) -> None:
        super().__init__()
        self.token = nn.Embedding(config.vocab, config.model) if token is None else token
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """The vector that each position starts with."""
        return self.dropout(self.token(batch.tokens))


class Stack(nn.Module):
    """Embeddings, layers, and what norms the last one's output.

    A variant names other classes for its parts: the embeddings, the layers, their residual (which has the norm) or
    their attention; or makes its `stack` of layers otherwise, or adds a `bias` to all scores. Its config may be one of
    its own that tells ``vocab``, ``model``, ``layers``, ``dropout`` and the ``shape`` of a layer. ``token`` are the
    vectors of tokens that it has in common with another stack.
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
        """The layers, from the lowest on."""
        return nn.ModuleList(self.layer_class(self.config.shape, self.residual_class, self.attention_class)
                             for _ in range(self.config.layers))

    def bias(self, batch: Batch, caches: Sequence[Any]) -> Float[Tensor, "#batch head query key"] | None:
        """What is added to the self-attention's scores, in all layers alike; behind what ``caches`` remember."""
        return None

    def all_hidden_states(self, batch: Batch, caches: Sequence[Any] | None = None, *across: Any,
                ) -> Iterator[Float[Tensor, "batch time model"]]:
        """The embedding of each position, and what one layer after the other makes of it.

        ``caches``, one a layer, are what was read before; ``across`` is what else each layer is given.
        """
        caches = [None] * len(self.layers) if caches is None else caches
        x, bias = self.embedded(self.embeddings(batch)), self.bias(batch, caches)
        yield x
        for layer, cache in zip(self.layers, caches, strict=True):
            x = layer(x, batch.visible, *across, cache=cache, bias=bias)
            yield x

    def hidden_states(self, batch: Batch, caches: Sequence[Any] | None = None, *across: Any,
                  ) -> Float[Tensor, "batch time model"]:
        """What the last layer makes of each position, normed where the stack has a final norm."""
        for x in self.all_hidden_states(batch, caches, *across):  # noqa: B007
            pass
        return self.final_norm(x)
