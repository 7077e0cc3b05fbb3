"""Word2vec (Mikolov et al. 2013a, 2013b): a vector for each word, learned by saying a word from its neighbours.

What differs from the authors' code: updates are of many sentences at once, by Adam, where theirs is a step of plain
gradient descent for each pair; the pairs of a text share their negatives, so that ``negatives`` weighs them; frequent
words are thinned out, if at all, by whoever draws the text (``plmlab.vectors.windows``).
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
"""The noise is told by the words of so many batches."""


@dataclass(frozen=True)
class Word2VecConfig:
    """The size of a word2vec: how many words, how many numbers a vector, how many negatives a pair."""

    vocab: int
    model: int = 100
    negatives: int = 5

    @classmethod
    def tiny(cls, vocab: int, time: int = 0) -> Self:
        """Trains in seconds on two cores. There is nothing as long as a text in it: ``time`` is not needed."""
        return cls(vocab, model=50)

    @classmethod
    def base(cls) -> Self:
        """The published vectors of Google News: 3 million words and phrases (Mikolov et al. 2013b)."""
        return cls(vocab=3_000_000, model=300)


class Word2Vec(nn.Module):
    """What both have in common: ``token`` has the vectors that are kept, ``output`` those of the words to be said. A
    variant says what predicts; its ``loss_class`` is what a word is told apart from."""

    loss_class: type[WordLoss] = NegativeSampling

    def __init__(self, config: Word2VecConfig) -> None:
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocab, config.model)
        self.output = nn.Embedding(config.vocab, config.model)
        nn.init.uniform_(self.token.weight, -0.5 / config.model, 0.5 / config.model)
        nn.init.zeros_(self.output.weight)
        self.word_loss: WordLoss = self.loss_class(config.vocab, config.negatives)

    def token_logits(self, hidden: Float[Tensor, "*positions model"]) -> Float[Tensor, "*positions vocab"]:
        """The score of every word."""
        return hidden @ self.output.weight.T


def seen(batch: Batch) -> Bool[Tensor, "batch query key"]:
    """Which positions each position sees that has a word to say."""
    looks = batch.visible.dense(batch.size[1], batch.size[1])
    assert looks is not None
    return looks[:, 0] & (batch.targets != IGNORE)[:, :, None]


def has_pairs(batch: Batch) -> bool:
    """Whether any word of a batch sees another, from which it is predicted: not in texts of one word each."""
    return bool(seen(batch).any())


def set_noise_distribution(model: nn.Module, tokenizer: Tokenizer, batches: Callable[[int], Batch]) -> None:
    """Count the words of the first batches, so that a model's negatives are drawn by them."""
    assert isinstance(model, Word2Vec)
    counts = torch.zeros(model.config.vocab)
    for batch in map(batches, range(COUNTED)):
        counts += torch.bincount(batch.targets[batch.targets != IGNORE], minlength=len(counts))
    model.word_loss.set_noise(counts)


def pretraining(name: str) -> Pretraining:
    """How a variant of that name is pretrained."""
    return Pretraining(name, window, Tokenizer.words, likelihood=False, prepare=set_noise_distribution, asks=has_pairs)


@model("skip-gram", Word2VecConfig, WINDOW, pretraining("skip-gram"))
class SkipGram(Word2Vec):
    """Each word by itself says each word that sees it (Mikolov et al. 2013a, §3.2)."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """The scores that each position's word gives to the words near it."""
        return self.token_logits(self.token(batch.tokens))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """The mean over the pairs, in nats."""
        looks, hidden, said = seen(batch), self.token(batch.tokens), batch.targets.clamp(min=0)
        scores = (self.output(said) @ hidden.transpose(1, 2))[looks]
        targets = said[:, :, None].expand_as(looks)[looks]
        return self.word_loss(scores, targets, hidden, looks.sum(1).float(), self.output.weight)


@model("cbow", Word2VecConfig, WINDOW, pretraining("cbow"))
class CBOW(Word2Vec):
    """The mean of the words around says the word between (Mikolov et al. 2013a, §3.1)."""

    def hidden_states(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """The mean of the vectors that each position sees; zeros where it sees none."""
        return self.mean(batch, seen(batch))

    def mean(self, batch: Batch, looks: Bool[Tensor, "batch query key"]) -> Float[Tensor, "batch query model"]:
        """The mean of the vectors of the positions that each position ``looks`` at; zeros where it looks at none."""
        weights = looks.to(self.token.weight.dtype)
        return weights @ self.token(batch.tokens) / weights.sum(-1, keepdim=True).clamp(min=1)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """The scores of each position's prediction."""
        return self.token_logits(self.hidden_states(batch))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """The mean over the positions that see a word, in nats."""
        looks = seen(batch)
        asked, hidden = looks.any(-1), self.mean(batch, looks)
        targets = batch.targets[asked]
        scores = (hidden[asked] * self.output(targets)).sum(-1)
        return self.word_loss(scores, targets, hidden, asked.float(), self.output.weight)


class SoftmaxSkipGram(SkipGram):
    """Skip-gram as first written: each word told apart from all others."""

    loss_class = FullSoftmax


class NCESkipGram(SkipGram):
    """Skip-gram by noise-contrastive estimation: its scores are log-probabilities."""

    loss_class = NCE
