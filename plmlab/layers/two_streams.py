"""Two streams of attention (双流自注意力): what a position holds, and what is guessed to stand in it.

Both go through the same weights, and both look at the content stream alone (Yang et al. 2019, §2.3). So the query
stream is some more queries: its positions stand behind those of the content stream, in one matrix, and nobody looks at
them.
"""

from jaxtyping import Float
from torch import Tensor

from plmlab.layers.attention import Bias, RelativePositions
from plmlab.layers.memory import Memory
from plmlab.layers.transformer import TransformerLayer
from plmlab.visibility import AttentionMask


class TwoStreamLayer(TransformerLayer):
    """A layer whose first ``content`` positions are looked at, behind those of a ``memory``, and whose other positions
    only look."""

    def forward(  # type: ignore[override]
        self, x: Float[Tensor, "batch positions model"], attn_mask: AttentionMask, content: int, bias: Bias
        | None = None,
        relative: RelativePositions | None = None, memory: Memory | None = None,
    ) -> Float[Tensor, "batch positions model"]:
        """The next layer's vector of each position of both streams; ``bias`` is added to the scores, and ``relative``
        is how queries stand to keys."""
        def keys(h: Float[Tensor, "batch positions model"]) -> Float[Tensor, "batch key model"]:
            return h[:, :content] if memory is None else memory.extend(h[:, :content])

        x = self.attention_residual(x, lambda h: self.attention(h, attn_mask, keys(h), bias=bias, relative=relative))
        return self.hidden(self.feed_forward_residual(x, self.feed_forward))
