"""ELMo's bidirectional language model (biLM, 双向语言模型; Peters et al. 2018): a forward LSTM and a backward LSTM that
do not see each other's states.

Both directions share the character-based word embeddings and the softmax. Each token has one representation per layer:
layer 0 is the word embedding, repeated for the two directions, and layer j the concatenation of the two directions'
hidden states. Differences from the authors' code: the loss is a full softmax over the vocabulary instead of a sampled
softmax with 8,192 words per batch; in training each text starts from zero states instead of the last states of the
previous batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from plmlab.example import IGNORE, Batch, BidirectionalBatch
from plmlab.layers.cells import Cell, ClippedLSTMCell, LSTMCell
from plmlab.layers.charcnn import ELMO, CharCNN, Filters
from plmlab.layers.hooks import HookPoint
from plmlab.layers.recurrent import LayerStates, Recurrent
from plmlab.models.architectures import BIDIRECTIONAL_RECURRENT
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import bidirectional_lm
from plmlab.text.characters import BEGIN_SENTENCE, CODES, END_SENTENCE, LONGEST, batch_codes, sign_codes, word_codes
from plmlab.text.tokenizers import Tokenizer

SMALL: Filters = ((1, 16), (2, 32), (3, 48), (4, 48))
ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}


@dataclass(frozen=True)
class BiLMConfig:
    """Configuration of a bidirectional language model.

    ``model`` is the width of a word embedding and of the hidden state of one direction; ``hidden`` is the width of the
    LSTM's cell state, which is projected to ``model``. ``clip`` limits cell state and hidden state to ±clip; None for
    no clipping. ``skip`` adds a residual connection around each layer from the second on.
    """

    model: int = 512
    hidden: int = 4096
    layers: int = 2
    clip: float | None = 3.0
    skip: bool = True
    embedding: int = 16
    filters: Filters = ELMO
    highways: int = 2
    activation: str = "relu"


@dataclass(frozen=True)
class ELMoConfig(BiLMConfig):
    """Configuration of a biLM with a softmax over ``vocab`` words; a word is represented by ``longest`` character
    codes."""

    vocab: int = field(kw_only=True)
    longest: int = LONGEST

    @classmethod
    def tiny(cls, vocab: int, time: int = 0) -> Self:
        """A model that trains in seconds on two CPU cores. It has no clipping, so that PyTorch's LSTM kernels can be
        used. ``time`` is ignored: a recurrent model has no maximum length."""
        return cls(vocab=vocab, longest=20, model=32, hidden=64, clip=None, filters=SMALL, highways=1)

    @classmethod
    def base(cls) -> Self:
        """The released model with 93.6 million parameters, plus a softmax over the 793,471 words of the One Billion
        Word Benchmark."""
        return cls(vocab=793_471)


def lstm(config: BiLMConfig, inputs: int) -> Recurrent:
    """Build one LSTM layer of one direction, with input width ``inputs`` and output width ``config.model``."""
    cell: type[Cell] = LSTMCell if config.clip is None else ClippedLSTMCell
    choices: dict[str, Any] = {} if config.clip is None else {"clip": config.clip}
    if config.model != config.hidden:
        choices["projected"] = config.model
    return Recurrent(cell, inputs, config.hidden, **choices)


def characters(config: BiLMConfig) -> CharCNN:
    """Build the character CNN that maps a word to a ``config.model``-dimensional embedding. Raises ValueError for an
    unknown activation."""
    if config.activation not in ACTIVATIONS:
        raise ValueError(f"unknown activation {config.activation!r}; choose one of {', '.join(ACTIVATIONS)}")
    return CharCNN(CODES, config.embedding, config.filters, config.highways, config.model,
                   ACTIVATIONS[config.activation]())


class LSTMStack(nn.Module):
    """The stacked LSTM layers of one direction.

    Hook points: ``layers.N.layers.0.hidden`` is the output of layer N before the residual connection.
    """

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__()
        self.skip = config.skip
        self.layers = nn.ModuleList(lstm(config, config.model) for _ in range(config.layers))

    def forward(self, x: Float[Tensor, "batch time model"], lengths: Int[Tensor, "batch"] | None,
                carried: Sequence[LayerStates] | None) -> tuple[list[Float[Tensor, "batch time model"]],
                                                                list[LayerStates]]:
        """Outputs of each layer at all time steps, and each layer's final state."""
        outputs, final = [], []
        for i, layer in enumerate(self.layers):
            hidden, state = layer(x, lengths, None if carried is None else carried[i])
            x = hidden + x if self.skip and i else hidden
            outputs.append(x)
            final.append(state)
        return outputs, final


class BiLM(nn.Module):
    """Bidirectional LSTM over character-based word embeddings: character CNN, then forward and backward LSTM layers.

    Hook points: ``embedded`` holds the word embeddings.
    """

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__()
        self.config = config
        self.token = characters(config)
        self.embedded = HookPoint()
        self.forwards, self.backwards = LSTMStack(config), LSTMStack(config)

    def forward(self, codes: Int[Tensor, "batch time character"], carried: "BiLMState | None" = None,
                ) -> list[Float[Tensor, "batch time both"]]:
        """One tensor per layer, starting with the word embeddings; each concatenates the forward and the backward
        direction. At padding, where the codes are 0, the states are zero from layer 1 on. ``carried`` holds the final
        states of the previous batch and is updated in place."""
        return self.read(self.embedded(self.token(codes)), (codes > 0).any(-1), carried)

    def read(self, words: Float[Tensor, "batch time model"], real: Bool[Tensor, "batch time"],
             carried: "BiLMState | None" = None) -> list[Float[Tensor, "batch time both"]]:
        """Like `forward`, but from word embeddings; ``real`` is False at padding."""
        lengths = None if real.all() else real.sum(-1)  # [batch]
        state = carried or BiLMState()
        forward, state.forwards = self.forwards(words, lengths, state.forwards)
        backward, state.backwards = self.backwards(reversed_padded(words, real), lengths, state.backwards)
        return [torch.cat([words, words], -1), *(torch.cat([left, reversed_padded(right, real)], -1)
                                                 for left, right in zip(forward, backward, strict=True))]


@dataclass
class BiLMState:
    """Recurrent state of a bidirectional language model between batches: the states of all layers, per direction; None
    before the first batch."""

    forwards: list[LayerStates] | None = None
    backwards: list[LayerStates] | None = None

    def reset(self) -> None:
        """Reset both directions to the initial state."""
        self.forwards = self.backwards = None


def reversed_padded(x: Float[Tensor, "batch time width"], real: Tensor) -> Float[Tensor, "batch time width"]:
    """Reverse each text in time; padding stays at the end."""
    index = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2])
    mirrored = torch.where(real, real.sum(-1, keepdim=True) - 1 - index, index)  # [batch time]
    return x.gather(1, mirrored[..., None].expand_as(x))


def set_spelling(model: nn.Module, tokenizer: Tokenizer, batches: Callable[[int], Batch]) -> None:
    """Set the character codes of an ELMo's vocabulary with `ELMo.set_spelling`."""
    assert isinstance(model, ELMo)
    model.set_spelling(tokenizer)


@model("elmo", ELMoConfig, BIDIRECTIONAL_RECURRENT,
       Pretraining("elmo", bidirectional_lm, Tokenizer.words, added=2, prepare=set_spelling))
class ELMo(nn.Module):
    """A bidirectional language model with a softmax for pretraining (Peters et al. 2018, §3.1).

    ``codes`` [vocab character] holds the character codes of each word and is set by ``set_spelling``. Downstream tasks
    use ``bilm``, which embeds any word, also words outside the vocabulary.
    """

    bilm_class: type[BiLM] = BiLM

    codes: Int[Tensor, "vocab character"]

    def __init__(self, config: ELMoConfig) -> None:
        super().__init__()
        self.config = config
        self.bilm = self.bilm_class(config)
        self.softmax = self.make_softmax(config)
        self.register_buffer("codes", torch.zeros(config.vocab, config.longest, dtype=torch.int16))

    def make_softmax(self, config: ELMoConfig) -> nn.Module:
        """Build the output layer, from a hidden state to logits."""
        return nn.Linear(config.model, config.vocab)

    def set_spelling(self, tokenizer: Tokenizer) -> None:
        """Set the character codes of each word of the vocabulary. [START] and [END] get the codes of ELMo's
        begin-of-sentence and end-of-sentence symbols. Raises ValueError if the tokenizer has another vocabulary
        size."""
        if len(tokenizer) != self.config.vocab:
            raise ValueError(f"the tokenizer has {len(tokenizer)} words, but the ELMo has a vocabulary of "
                             f"{self.config.vocab}; give the tokenizer that it was built for")
        vocab, longest = tokenizer.vocab, self.config.longest
        bounds = {vocab.need("start"): BEGIN_SENTENCE, vocab.need("end"): END_SENTENCE}
        rows = [sign_codes(bounds[i], longest) if i in bounds else word_codes(word, longest)
                for i, word in enumerate(tokenizer.tokens(list(range(len(tokenizer)))))]
        self.codes.copy_(torch.tensor(rows))

    def forward(self, batch: BidirectionalBatch) -> Float[Tensor, "batch both vocab"]:
        """Logits of all predictions, forward direction first, then backward. Padding is on the right, where it does not
        affect the real tokens."""
        return self.token_logits(self.hidden_states(batch))

    def hidden_states(self, batch: BidirectionalBatch) -> Float[Tensor, "batch both model"]:
        """Outputs of the last layer, forward direction first, then backward."""
        words = self.words(torch.cat([batch.forwards.tokens, batch.backwards.tokens], 1))  # [batch 2·time model]
        sides = zip((self.bilm.forwards, self.bilm.backwards), words.chunk(2, 1), strict=True)
        return torch.cat([direction(x, None, None)[0][-1] for direction, x in sides], 1)

    def words(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time model"]:
        """Embeddings of words of the vocabulary; each distinct word is embedded only once."""
        unique, inverse = tokens.unique(return_inverse=True)
        return self.bilm.embedded(self.bilm.token(self.codes[unique][None].long()))[0][inverse]

    def token_logits(self, hidden: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch vocab"]:
        """Logits of the next word, or of the previous one, from a hidden state; both directions share the softmax."""
        return self.softmax(hidden)

    def loss(self, batch: BidirectionalBatch) -> Float[Tensor, ""]:
        """Mean cross-entropy per target over both directions, in nats."""
        return F.cross_entropy(self(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)

    def layers(self, sentences: Sequence[Sequence[str]]) -> list[Float[Tensor, "batch time both"]]:
        """The representations of all layers (`BiLM.forward`) for tokenized sentences, whose words need not be in the
        vocabulary. A begin-of-sentence and an end-of-sentence token are added to each sentence."""
        return self.bilm(batch_codes(sentences, self.config.longest))
