"""SpanBERT (Joshi et al. 2020): BERT pretrained on spans, with the span boundary objective (SBO) instead of
next-sentence prediction.

A text is a single segment, [CLS] A [SEP], in which `plmlab.objectives.spans_masked` masks spans of whole words. Each
masked token is predicted twice: from its own hidden state, as in BERT, and from the hidden states of the two tokens
next to its span.

As in the authors' code but not in the paper: the SBO's linear layers have biases, its output has a bias of its own, and
a span at the beginning or the end of the text has no SBO. Differences from that code: the SBO loss is the mean over its
targets, which the authors divide by one more than their number; as in `MaskedLM`, there is a pooler, which is not
pretrained. The model of the paper has the size of BERT-large (§4.2), 24 layers of width 1024 (`SpanBERTConfig.large`).
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.layers.initialise import initialise
from plmlab.layers.transformer import ACTIVATIONS
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERTConfig, MaskedLM
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import spans_masked
from plmlab.objectives.fine_tuning import label_of
from plmlab.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class SpanBERTConfig(BERTConfig):
    """Configuration of a SpanBERT: that of BERT, with the number of positions within a span that the SBO can predict
    and the width of their embeddings: 20 and 200 by default in the authors' code, whose training command sets 15 and
    200 (200 also in the paper, §4.2)."""

    span: int = 20
    span_width: int = 200


class SpanBoundaryHead(nn.Module):
    """Head of the span boundary objective: y = f(x_{s−1}, x_{e+1}, p_{i−s+1}), with two layers, each linear, GELU and
    LayerNorm (§3.2)."""

    def __init__(self, config: SpanBERTConfig) -> None:
        super().__init__()
        self.position = nn.Embedding(config.span, config.span_width)
        self.activation = ACTIVATIONS[config.activation]
        self.first = nn.Linear(2 * config.model + config.span_width, config.model)
        self.first_norm = nn.LayerNorm(config.model, eps=config.eps)
        self.second = nn.Linear(config.model, config.model)
        self.second_norm = nn.LayerNorm(config.model, eps=config.eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab))
        self.apply(initialise)

    def forward(self, left: Float[Tensor, "token model"], right: Float[Tensor, "token model"],
                place: Int[Tensor, "token"]) -> Float[Tensor, "token model"]:
        """Representation of each target from the two boundaries of its span, and its place in the span, counted from
        0."""
        h = torch.cat([left, right, self.position(place)], -1)  # [token 2·model+span_width]
        for linear, norm in ((self.first, self.first_norm), (self.second, self.second_norm)):
            h = norm(self.activation(linear(h)))  # [token model]
        return h


@model("spanbert-pretraining", SpanBERTConfig, ENCODER,
       Pretraining("spanbert", spans_masked, Tokenizer.wordpiece, added=2, likelihood=False))
class SpanBERTPretraining(MaskedLM):
    """BERT's encoder with SpanBERT's two pretraining heads: masked language modelling and the span boundary objective
    (§3)."""

    def build_heads(self) -> None:
        """Create the masked-LM head and the head of the span boundary objective."""
        super().build_heads()
        self.span_boundary = SpanBoundaryHead(self.config)

    def boundary_logits(self, hidden: Float[Tensor, "batch time model"], batch: Batch,
                        ) -> tuple[Float[Tensor, "token vocab"], Int[Tensor, "token"]]:
        """Logits of the span boundary objective, and its targets, in order of row and position.

        Its targets are the masked tokens with a label ``boundaries``, [batch time 2]: the positions of the tokens next
        to the span. Tokens beyond place ``span`` of their span are left out.
        """
        left, right = label_of(batch, "boundaries", "objectives.spans_masked").unbind(-1)  # [batch time] each
        place = torch.arange(batch.size[1], device=left.device) - left - 1
        has_boundaries = (batch.targets != IGNORE) & (left != IGNORE) & (place < self.config.span)
        row = has_boundaries.nonzero()[:, 0]  # [token]
        h = self.span_boundary(hidden[row, left[has_boundaries]], hidden[row, right[has_boundaries]],
                               place[has_boundaries])
        return (F.linear(h, self.encoder.embeddings.token.weight, self.span_boundary.bias),
                batch.targets[has_boundaries])

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Masked-LM loss plus span boundary loss, in nats: L_MLM + L_SBO (§3.2), each the mean of −log p(token) over
        its targets. A batch whose spans are all at the edges of their texts has no span boundary loss."""
        hidden = self.encoder(batch)
        loss = self.masked_lm_loss(hidden, batch)
        logits, targets = self.boundary_logits(hidden, batch)
        return loss + F.cross_entropy(logits, targets, reduction="sum") / max(1, len(targets))
