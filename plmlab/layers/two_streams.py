"""Two streams of attention (双流自注意力): what a slot holds, and what is guessed to stand in it.

Both go through the same weights, and both look at the content stream alone (Yang et al. 2019, §2.3). So the query
stream is some more queries: its slots stand behind those of the content stream, in one matrix, and nobody looks at
them.
"""

from jaxtyping import Float
from torch import Tensor

from plmlab.layers.attention import Bias, RelativePositions
from plmlab.layers.memory import Memory
from plmlab.layers.transformer import TransformerLayer
from plmlab.visibility import AttentionMask


class TwoStreamLayer(TransformerLayer):
    """A layer whose first ``content`` slots are looked at, behind those of a ``memory``, and whose other slots only
    look."""

    def forward(  # type: ignore[override]
        self, x: Float[Tensor, "batch slots model"], may_look: AttentionMask, content: int, bias: Bias | None = None,
        relative: RelativePositions | None = None, memory: Memory | None = None,
    ) -> Float[Tensor, "batch slots model"]:
        """The next layer's vector of each slot of both streams; ``bias`` is added to the scores, and ``relative`` is
        how queries stand to keys."""
        def keys(h: Float[Tensor, "batch slots model"]) -> Float[Tensor, "batch key model"]:
            return h[:, :content] if memory is None else memory.extend(h[:, :content])

        x = self.attention_residual(x, lambda h: self.attention(h, may_look, keys(h), bias=bias, relative=relative))
        return self.hidden(self.feed_forward_residual(x, self.feed_forward))
