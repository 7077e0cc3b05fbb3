"""The knowledge attention and recontextualization component, KAR, with its entity linker (KnowBERT: Peters et al. 2019,
§3.3): words attend to the entities that are mentioned in their text.

In seven steps: (1) project the hidden states to the width of the entity vectors; (2) pool the span of each candidate
mention; (3) self-attention among the mentions; (4) score the candidate entities of each mention; (5) add the weighted
mean of their vectors; (6) attention of the words to these entity-spans; (7) project back, with a residual connection.

Layer normalizations and their places follow the authors' code (allenai/kb); the paper does not mention them.
"""

from math import sqrt

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.candidates import NULL, SPECIAL_ENTITIES, Candidates
from plmlab.example import IGNORE
from plmlab.layers.attention import MultiHeadAttention, masked_softmax
from plmlab.layers.hooks import HookPoint
from plmlab.layers.initialise import initialise
from plmlab.layers.shape import LayerShape
from plmlab.layers.transformer import FeedForward, PostNorm
from plmlab.visibility import AttentionMask

EPS = 1e-5
"""Epsilon of the KAR's own layer normalizations; those in its Transformer layers have the epsilon of BERT."""
SCORER = 100
"""Hidden width of the network that scores a candidate."""

Scores = Float[Tensor, "batch mention candidate"]
"""Linking scores ψ of the candidates of each mention."""


class SpanAttentionLayer(nn.Module):
    """Transformer layer, post-norm, in which queries attend to spans: other spans (step 3), or words (step 6).

    Its attention has the name ``to_spans``, so that records of self-attention do not include it.
    """

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.to_spans = MultiHeadAttention.of(shape)
        self.feed_forward = FeedForward(shape)
        self.attention_residual = PostNorm(shape)
        self.feed_forward_residual = PostNorm(shape)

    def forward(self, x: Float[Tensor, "batch query entity"], spans: Float[Tensor, "batch mention entity"],
                mask: Bool[Tensor, "batch mention"]) -> Float[Tensor, "batch query entity"]:
        """Compute the layer's output at each query; ``mask`` is False for spans that are padding."""
        x = self.attention_residual(x, lambda h: self.to_spans(h, AttentionMask(keys=mask), memory=spans))
        return self.feed_forward_residual(x, self.feed_forward)


class EntityLinker(nn.Module):
    """Scores the candidate entities of each mention, and computes the weighted mean of their vectors (steps 1 to 5).

    The entity ``vectors`` are a buffer: pretrained on the knowledge base, part of a checkpoint, and never trained. Rows
    0 and 1 are NULL and MASK. This linker is trained with the log-likelihood of the gold entity; all candidates have a
    weight. ``hidden`` is the width of the hidden states, ``shape`` that of the Transformer layer among the mentions,
    whose model width is that of the entity vectors.
    """

    threshold: float | None = None
    """δ: candidates with a lower score get no weight, and a mention without any other gets the vector of NULL."""

    def __init__(self, hidden: int, entities: int, shape: LayerShape) -> None:
        super().__init__()
        self.vectors: Tensor
        self.register_buffer("vectors", torch.zeros(entities, shape.model))
        self.project = nn.Linear(hidden, shape.model)
        self.pooling = nn.Linear(shape.model, 1)
        self.span_norm = nn.LayerNorm(shape.model, eps=EPS)
        self.span_layer = SpanAttentionLayer(shape)
        self.entity_norm = nn.LayerNorm(shape.model, eps=EPS)
        self.scorer = nn.Sequential(nn.Linear(2, SCORER), nn.ReLU(), nn.Linear(SCORER, 1))
        self.dropout = nn.Dropout(shape.dropout)
        self.entity_span_norm = nn.LayerNorm(shape.model, eps=EPS)
        self.scores, self.weights = HookPoint(), HookPoint()

    def forward(self, projected: Float[Tensor, "batch time entity"], mentions: Candidates,
                ) -> tuple[Float[Tensor, "batch mention entity"], Scores]:
        """The entity-span of each mention, S′ᵉ, and the scores of its candidates, from the projected hidden states."""
        pooled = self.pool(projected, mentions)
        spans = self.span_layer(pooled, pooled, mentions.mask)
        candidates = self.entity_norm(self.vectors[mentions.entities])
        scores = self.scores(self.score(spans, candidates, mentions.priors))
        weights = self.weights(masked_softmax(scores, self.kept(scores, mentions)))
        entity = self.or_null(torch.einsum("bmc,bmce->bme", weights, candidates), weights)
        return self.entity_span_norm(spans + self.dropout(entity)), scores

    def pool(self, projected: Float[Tensor, "batch time entity"], mentions: Candidates,
             ) -> Float[Tensor, "batch mention entity"]:
        """Step 2: self-attentive span pooling (Lee et al. 2017, §4), a weighted mean over the tokens of each span, with
        a softmax of one learned score per token; then LayerNorm."""
        scores = self.pooling(projected).mT.expand(-1, mentions.spans.shape[1], -1)  # [batch mention time]
        weights = masked_softmax(scores, mentions.in_span(projected.shape[1]))
        return self.span_norm(weights @ projected)

    def score(self, spans: Float[Tensor, "batch mention entity"],
              candidates: Float[Tensor, "batch mention candidate entity"],
              priors: Float[Tensor, "batch mention candidate"]) -> Scores:
        """Step 4: ψ = MLP(prior, sᵉ·e / √d). The paper does not divide by √d, the authors' code does."""
        dots = torch.einsum("bme,bmce->bmc", spans, candidates) / sqrt(spans.shape[-1])
        return self.scorer(torch.stack([dots, priors.to(dots)], -1))[..., 0]

    def kept(self, scores: Scores, mentions: Candidates) -> Bool[Tensor, "batch mention candidate"]:
        """Mask of the candidates that have a weight: the real ones whose score is not below the threshold."""
        mask = mentions.candidate_mask
        return mask if self.threshold is None else mask & (scores >= self.threshold)

    def or_null(self, entity: Float[Tensor, "batch mention entity"], weights: Scores,
                ) -> Float[Tensor, "batch mention entity"]:
        """The weighted mean, or the vector of NULL for a mention without any weight."""
        return torch.where(weights.any(-1, keepdim=True), entity, self.vectors[NULL])

    def predicted(self, scores: Scores, mentions: Candidates) -> Int[Tensor, "batch mention"]:
        """The id of the best candidate of each mention; NULL for padding, and if no candidate has a weight."""
        kept = self.kept(scores, mentions)
        best = scores.masked_fill(~kept, float("-inf")).argmax(-1, keepdim=True)
        return mentions.entities.gather(-1, best)[..., 0].where(kept.any(-1), NULL)

    def loss(self, scores: Scores, mentions: Candidates) -> Float[Tensor, ""]:
        """Mean of −log p(gold entity | mention) over the mentions whose gold entity is a candidate, in nats; 0 if there
        is none. p is the softmax of the scores."""
        is_gold = (mentions.entities == mentions.gold[..., None]) & mentions.candidate_mask
        labelled = is_gold.any(-1)
        logp = scores.masked_fill(~mentions.candidate_mask, float("-inf")).log_softmax(-1)
        nll = -logp.masked_fill(~is_gold, 0).sum(-1)
        return nll.masked_fill(~labelled, 0).sum() / labelled.sum().clamp(min=1)


class MarginEntityLinker(EntityLinker):
    """An entity linker that is trained with a margin loss, and ignores candidates with a score below 0."""

    threshold = 0.0
    margin = 0.2
    """γ"""

    def loss(self, scores: Scores, mentions: Candidates) -> Float[Tensor, ""]:
        """Mean over the candidates of all labelled mentions of one hinge each: max(0, γ − ψ) for the gold entity, and
        max(0, γ + ψ) for every other candidate; 0 if there is none. The paper sums over the candidates; the mean is
        from the authors' code. If the gold entity is not a candidate, all candidates are negative."""
        labelled = mentions.candidate_mask & (mentions.gold != IGNORE)[..., None]
        sign = torch.where(mentions.entities == mentions.gold[..., None], -1.0, 1.0).to(scores)
        hinges = F.relu(self.margin + sign * scores).masked_fill(~labelled, 0)
        return hinges.sum() / labelled.sum().clamp(min=1)


LINKERS: dict[str, type[EntityLinker]] = {"margin": MarginEntityLinker, "log-likelihood": EntityLinker}


class KAR(nn.Module):
    """Knowledge attention and recontextualization for one knowledge base, between two layers of BERT.

    ``hidden`` is the width of BERT's hidden states, ``entities`` the number of entity vectors, with NULL and MASK, and
    ``shape`` that of its two Transformer layers. In a text without mentions, the attention of the words to entity-spans
    gives zeros.
    """

    def __init__(self, hidden: int, entities: int, shape: LayerShape,
                 linker: type[EntityLinker] = EntityLinker) -> None:
        super().__init__()
        self.linker = linker(hidden, entities, shape)
        self.word_layer = SpanAttentionLayer(shape)
        self.back = nn.Linear(shape.model, hidden)
        self.dropout = nn.Dropout(shape.dropout)
        self.norm = nn.LayerNorm(hidden, eps=EPS)
        self.apply(initialise)
        self.align()

    @torch.no_grad()
    def align(self) -> None:
        """Set the projection back to the inverse of the first one, W₁h + b₁, so that entity vectors reach BERT's space:
        W₂ = W₁⁺ and b₂ = −W₁⁺b₁. It is repeated after the linker has been pretrained.

        W₁ is not square, so its inverse is the pseudo-inverse, and W₂W₁ is the orthogonal projection onto the row space
        of W₁. Difference from the authors' code: it computes (W₁ᵀW₁)⁻¹W₁ᵀ, but W₁ᵀW₁ is singular, because W₁ has fewer
        rows than columns; its bias has the opposite sign.
        """
        project = self.linker.project
        inverse = torch.linalg.pinv(project.weight)
        self.back.weight.copy_(inverse)
        self.back.bias.copy_(-inverse @ project.bias)

    def forward(self, hidden: Float[Tensor, "batch time model"], mentions: Candidates,
                ) -> tuple[Float[Tensor, "batch time model"], Scores]:
        """The new hidden states, and the linker's scores."""
        projected = self.linker.project(hidden)
        spans, scores = self.linker(projected, mentions)
        words = self.word_layer(projected, spans, mentions.mask)
        return self.norm(hidden + self.dropout(self.back(words))), scores


def with_special_rows(vectors: Float[Tensor, "row entity"], generator: torch.Generator,
                      ) -> Float[Tensor, "more entity"]:
    """Entity vectors with rows for NULL and MASK in front, which are random, with the standard deviation of all
    entries. The authors' vectors for WordNet have random rows as well, with a standard deviation of 0.004."""
    special = torch.randn(SPECIAL_ENTITIES, vectors.shape[1], generator=generator) * vectors.std()
    return torch.cat([special.to(vectors), vectors])
