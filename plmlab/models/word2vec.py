"""Word2vec (Mikolov et al. 2013a, 2013b): word embeddings, trained by predicting a word from its context, or its
context from the word.

Differences from the authors' code: training uses Adam on batches of many sentences instead of plain SGD on single
pairs; the pairs of a text share their negative samples, so ``negatives`` is a weight; subsampling of frequent words is
left to the data (``plmlab.vectors.windows``).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from plmlab.example import IGNORE, Batch
from plmlab.layers.sampled_softmax import NCE, FullSoftmax, NegativeSampling, WordLoss
from plmlab.models.architectures import WINDOW
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import window
from plmlab.text.tokenizers import Tokenizer

COUNTED = 200
"""Number of batches whose words are counted to estimate the noise distribution."""


@dataclass(frozen=True)
class Word2VecConfig:
    """Configuration of word2vec: vocabulary size, embedding dimension, negative samples per pair."""

    vocab: int
    model: int = 100
    negatives: int = 5

    @classmethod
    def tiny(cls, vocab: int, time: int = 0) -> Self:
        """A model that trains in seconds on two CPU cores. ``time`` is ignored: no parameter depends on the text
        length."""
        return cls(vocab, model=50)

    @classmethod
    def base(cls) -> Self:
        """The size of the published Google News vectors: 3 million words and phrases (Mikolov et al. 2013b)."""
        return cls(vocab=3_000_000, model=300)


class Word2Vec(nn.Module):
    """Base class of skip-gram and CBOW: ``token`` holds the input vectors, which are the resulting embeddings, and
    ``output`` the output vectors of the predicted words. ``loss_class`` is the training loss, such as negative
    sampling."""

    loss_class: type[WordLoss] = NegativeSampling

    def __init__(self, config: Word2VecConfig) -> None:
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocab, config.model)
        self.output = nn.Embedding(config.vocab, config.model)
        nn.init.uniform_(self.token.weight, -0.5 / config.model, 0.5 / config.model)
        nn.init.zeros_(self.output.weight)
        self.word_loss: WordLoss = self.loss_class(config.vocab, config.negatives)

    def token_logits(self, hidden: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch vocab"]:
        """Scores of all words: inner products with the output vectors."""
        return hidden @ self.output.weight.T


def pair_mask(batch: Batch) -> Bool[Tensor, "batch query key"]:
    """Mask of the (target, context) pairs, marking the context words of each target position."""
    allowed = batch.visible.dense(batch.size[1], batch.size[1])  # [batch 1 query key]
    assert allowed is not None
    return allowed[:, 0] & (batch.targets != IGNORE)[:, :, None]


def has_pairs(batch: Batch) -> bool:
    """Whether a batch has any (target, context) pair; texts of a single word have none."""
    return bool(pair_mask(batch).any())


def set_noise_distribution(model: nn.Module, tokenizer: Tokenizer, batches: Callable[[int], Batch]) -> None:
    """Set the noise distribution for negative sampling from the word counts of the first batches."""
    assert isinstance(model, Word2Vec)
    counts = torch.zeros(model.config.vocab)
    for batch in map(batches, range(COUNTED)):
        counts += torch.bincount(batch.targets[batch.targets != IGNORE], minlength=len(counts))
    model.word_loss.set_noise(counts)


def pretraining(name: str) -> Pretraining:
    """The `Pretraining` of a variant."""
    return Pretraining(name, window, Tokenizer.words, likelihood=False, prepare=set_noise_distribution,
                       has_targets=has_pairs)


@model("skip-gram", Word2VecConfig, WINDOW, pretraining("skip-gram"))
class SkipGram(Word2Vec):
    """Skip-gram: each word independently predicts every word in whose context it occurs (Mikolov et al. 2013a,
    §3.2)."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """Logits of all words as context words of the word at each position."""
        return self.token_logits(self.token(batch.tokens))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean loss per (target, context) pair, in nats."""
        pairs, hidden, words = pair_mask(batch), self.token(batch.tokens), batch.targets.clamp(min=0)
        scores = (self.output(words) @ hidden.transpose(1, 2))[pairs]  # [batch target context] → [pair]
        targets = words[:, :, None].expand_as(pairs)[pairs]
        return self.word_loss(scores, targets, hidden, pairs.sum(1).float(), self.output.weight)


@model("cbow", Word2VecConfig, WINDOW, pretraining("cbow"))
class CBOW(Word2Vec):
    """CBOW, continuous bag of words: the mean of the context vectors predicts the centre word (Mikolov et al. 2013a,
    §3.1)."""

    def hidden_states(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Mean of the context vectors at each target position; zeros if there is no context."""
        return self.mean(batch, pair_mask(batch))

    def mean(self, batch: Batch, context: Bool[Tensor, "batch query key"]) -> Float[Tensor, "batch query model"]:
        """Mean of the word vectors selected by the mask ``context``, for each position; zeros if none is selected."""
        weights = context.to(self.token.weight.dtype)
        return weights @ self.token(batch.tokens) / weights.sum(-1, keepdim=True).clamp(min=1)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """Scores of all words at every position."""
        return self.token_logits(self.hidden_states(batch))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean loss over the target positions that have context, in nats."""
        context = pair_mask(batch)
        is_target, hidden = context.any(-1), self.mean(batch, context)
        targets = batch.targets[is_target]
        scores = (hidden[is_target] * self.output(targets)).sum(-1)  # [target]
        return self.word_loss(scores, targets, hidden, is_target.float(), self.output.weight)


class SoftmaxSkipGram(SkipGram):
    """Skip-gram with the full softmax of its original formulation."""

    loss_class = FullSoftmax


class NCESkipGram(SkipGram):
    """Skip-gram with noise-contrastive estimation, whose scores are log-probabilities."""

    loss_class = NCE
