"""ELMo's bidirectional language model (双向语言模型; Peters et al. 2018): one LSTM reads a text from the left, another
from the right, and neither sees what the other does.

Both read the same vectors of words, made of characters, and say words by the same softmax. What stands at a word's
position is one vector a layer: layer 0 is the word's own, twice, layer j the two directions' states side by side. What
differs from the authors' code: the loss is a full softmax over the vocabulary, theirs samples 8,192 words for each
batch; each text begins with states of zeros in training, theirs goes on with the last batch's.
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
    """The size of a bidirectional language model.

    ``model`` is the width of a word's vector and of a direction's state; ``hidden`` that of an LSTM's memory, which is
    projected to ``model``. ``clip``: memory and state stay within ±clip; None where nothing is cut. ``skip``: from the
    second layer on what a layer reads is added to what it shows.
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
    """The same, and the words that it says: ``vocab`` of them, each read as ``longest`` codes."""

    vocab: int = field(kw_only=True)
    longest: int = LONGEST

    @classmethod
    def tiny(cls, vocab: int, time: int = 0) -> Self:
        """Trains in seconds on two cores. Nothing is clipped, so that PyTorch's kernels run. A state may be carried as
        far as one likes: ``time`` is not needed."""
        return cls(vocab=vocab, longest=20, model=32, hidden=64, clip=None, filters=SMALL, highways=1)

    @classmethod
    def base(cls) -> Self:
        """The released model of 93.6 million parameters, and a softmax over the 793,471 words of the One Billion Word
        Benchmark."""
        return cls(vocab=793_471)


def lstm(config: BiLMConfig, inputs: int) -> Recurrent:
    """One layer of one direction, which reads ``inputs`` numbers a position and shows ``config.model``."""
    cell: type[Cell] = LSTMCell if config.clip is None else ClippedLSTMCell
    choices: dict[str, Any] = {} if config.clip is None else {"clip": config.clip}
    if config.model != config.hidden:
        choices["projected"] = config.model
    return Recurrent(cell, inputs, config.hidden, **choices)


def characters(config: BiLMConfig) -> CharCNN:
    """What makes a word's vector, ``config.model`` numbers, of its characters. ValueError for an activation that there
    is not."""
    if config.activation not in ACTIVATIONS:
        raise ValueError(f"an activation is one of {', '.join(ACTIVATIONS)}; {config.activation!r} was given")
    return CharCNN(CODES, config.embedding, config.filters, config.highways, config.model,
                   ACTIVATIONS[config.activation]())


class LSTMStack(nn.Module):
    """The LSTMs that read from one side, each what the one below shows.

    Points: ``layers.N.layers.0.hidden`` is what layer N shows, before what it has read is added.
    """

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__()
        self.skip = config.skip
        self.layers = nn.ModuleList(lstm(config, config.model) for _ in range(config.layers))

    def forward(self, x: Float[Tensor, "batch time model"], lengths: Int[Tensor, "batch"] | None,
                carried: Sequence[LayerStates] | None) -> tuple[list[Float[Tensor, "batch time model"]],
                                                                list[LayerStates]]:
        """What each layer shows at each position, and its states after the last."""
        shown, last = [], []
        for place, layer in enumerate(self.layers):
            said, state = layer(x, lengths, None if carried is None else carried[place])
            x = said + x if self.skip and place else said
            shown.append(x)
            last.append(state)
        return shown, last


class BiLM(nn.Module):
    """Characters → a word's vector → from the left and from the right, layer by layer.

    Points: ``embedded`` is the word's vector.
    """

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__()
        self.config = config
        self.token = characters(config)
        self.embedded = HookPoint()
        self.forwards, self.backwards = LSTMStack(config), LSTMStack(config)

    def forward(self, codes: Int[Tensor, "batch time character"], carried: "BiLMState | None" = None,
                ) -> list[Float[Tensor, "batch time both"]]:
        """One tensor a layer, from the word's own vector up, both directions side by side: from the left first. A
        position of padding, whose codes are 0, shows zeros from layer 1 on. ``carried`` are the states that the last
        batch has left; they go on."""
        return self.read(self.embedded(self.token(codes)), (codes > 0).any(-1), carried)

    def read(self, words: Float[Tensor, "batch time model"], real: Bool[Tensor, "batch time"],
             carried: "BiLMState | None" = None) -> list[Float[Tensor, "batch time both"]]:
        """The same from the words' vectors; ``real`` says which positions are no padding."""
        lengths = None if real.all() else real.sum(-1)
        before = carried or BiLMState()
        left, before.forwards = self.forwards(words, lengths, before.forwards)
        right, before.backwards = self.backwards(reversed_padded(words, real), lengths, before.backwards)
        return [torch.cat([words, words], -1), *(torch.cat([one, reversed_padded(other, real)], -1)
                                                 for one, other in zip(left, right, strict=True))]


@dataclass
class BiLMState:
    """What a bidirectional language model carries from batch to batch: the states of all layers, a direction each; None
    before the first."""

    forwards: list[LayerStates] | None = None
    backwards: list[LayerStates] | None = None

    def reset(self) -> None:
        """Forget all."""
        self.forwards = self.backwards = None


def reversed_padded(x: Float[Tensor, "batch time width"], real: Tensor) -> Float[Tensor, "batch time width"]:
    """Each text with its real positions from the last to the first; padding stays where it is."""
    places = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2])
    moved = torch.where(real, real.sum(-1, keepdim=True) - 1 - places, places)
    return x.gather(1, moved[..., None].expand_as(x))


def set_spelling(model: nn.Module, tokenizer: Tokenizer, batches: Callable[[int], Batch]) -> None:
    """Tell an ELMo how the words of its vocabulary are spelled."""
    assert isinstance(model, ELMo)
    model.set_spelling(tokenizer)


@model("elmo", ELMoConfig, BIDIRECTIONAL_RECURRENT,
       Pretraining("elmo", bidirectional_lm, Tokenizer.words, added=2, prepare=set_spelling))
class ELMo(nn.Module):
    """A bidirectional language model with the softmax that trains it (Peters et al. 2018, §3.1).

    ``codes`` [vocab, character] holds how each word is spelled; ``set_spelling`` fills it. What a task takes over is
    ``bilm``, which reads any word there is.
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
        """What makes logits of a hidden state."""
        return nn.Linear(config.model, config.vocab)

    def set_spelling(self, tokenizer: Tokenizer) -> None:
        """Write down how each word of the vocabulary is spelled. [START] and [END] are the signs of a sentence's two
        ends. ValueError for a vocabulary of another size."""
        if len(tokenizer) != self.config.vocab:
            raise ValueError(f"a vocabulary of {len(tokenizer)} words was given to an ELMo of {self.config.vocab}")
        vocab, longest = tokenizer.vocab, self.config.longest
        signs = {vocab.need("start"): BEGIN_SENTENCE, vocab.need("end"): END_SENTENCE}
        rows = [sign_codes(signs[i], longest) if i in signs else word_codes(word, longest)
                for i, word in enumerate(tokenizer.tokens(list(range(len(tokenizer)))))]
        self.codes.copy_(torch.tensor(rows))

    def forward(self, batch: BidirectionalBatch) -> Float[Tensor, "batch both vocab"]:
        """The logits of each position's prediction: of those that read from the left, then of those from the right.
        Padding stands behind a text, where it changes none of its positions."""
        return self.token_logits(self.hidden_states(batch))

    def hidden_states(self, batch: BidirectionalBatch) -> Float[Tensor, "batch both model"]:
        """What the last layer shows at each position, in the same order."""
        words = self.words(torch.cat([batch.forwards.tokens, batch.backwards.tokens], 1))
        sides = zip((self.bilm.forwards, self.bilm.backwards), words.chunk(2, 1), strict=True)
        return torch.cat([direction(x, None, None)[0][-1] for direction, x in sides], 1)

    def words(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time model"]:
        """The vectors of words of the vocabulary; each word that stands there is made once."""
        used, places = tokens.unique(return_inverse=True)
        return self.bilm.embedded(self.bilm.token(self.codes[used][None].long()))[0][places]

    def token_logits(self, hidden: Float[Tensor, "*positions model"]) -> Float[Tensor, "*positions vocab"]:
        """The logits of the next word, or of the one before, of a position with this hidden state: one softmax for
        both."""
        return self.softmax(hidden)

    def loss(self, batch: BidirectionalBatch) -> Float[Tensor, ""]:
        """Mean cross-entropy in nats a target, those of both directions."""
        return F.cross_entropy(self(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)

    def layers(self, sentences: Sequence[Sequence[str]]) -> list[Float[Tensor, "batch time both"]]:
        """One tensor a layer, as `BiLM` gives them, of any words, known or not; each sentence has a position for its
        begin before it and one for its end behind it."""
        return self.bilm(batch_codes(sentences, self.config.longest))
