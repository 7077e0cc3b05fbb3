"""Two-stream self-attention (双流自注意力): a content stream and a query stream (Yang et al. 2019, §2.3).

Both streams use the same weights, and both attend to the content stream only. The query stream is therefore
implemented as additional queries, appended to the content stream; no position attends to them.
"""

from jaxtyping import Float
from torch import Tensor

from plmlab.layers.attention import Bias, RelativePositions
from plmlab.layers.memory import Memory
from plmlab.layers.transformer import TransformerLayer
from plmlab.visibility import AttentionMask


class TwoStreamLayer(TransformerLayer):
    """Transformer layer whose keys are the ``memory`` and the first ``content`` positions; the other positions are
    queries only."""

    def forward(  # type: ignore[override]
        self, x: Float[Tensor, "batch query model"], attn_mask: AttentionMask, content: int, bias: Bias | None = None,
        relative: RelativePositions | None = None, memory: Memory | None = None,
    ) -> Float[Tensor, "batch query model"]:
        """Compute the hidden states of both streams; ``bias`` is added to the scores, ``relative`` passed to the
        attention."""
        def keys(h: Float[Tensor, "batch query model"]) -> Float[Tensor, "batch key model"]:
            return h[:, :content] if memory is None else memory.extend(h[:, :content])

        x = self.attention_residual(x, lambda h: self.attention(h, attn_mask, keys(h), bias=bias, relative=relative))
        return self.hidden(self.feed_forward_residual(x, self.feed_forward))
