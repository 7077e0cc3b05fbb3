"""An ELMo with target leakage: the two directions are concatenated between layers, so every position sees its target.

A plain stack of bidirectional LSTMs passes the states of both directions to the next layer. From the second layer on,
the input of the forward LSTM at each word also depends on the right context, including the word that it has to predict.
"""

from collections.abc import Sequence
from random import Random

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from plmlab.example import BidirectionalBatch
from plmlab.models.elmo import BiLM, BiLMConfig, BiLMState, ELMo, lstm, reversed_padded
from plmlab.objectives import bidirectional_lm
from plmlab.world.datasets.tokenizer import small_world_tokenizer


class LeakyBiLM(BiLM):
    """A `BiLM` in which, from layer 2 on, each direction takes the concatenated outputs of both directions as its
    input.

    The residual connection (``config.skip``) adds the output of the layer below in the same direction.
    """

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__(config)
        for direction in (self.forwards, self.backwards):
            upper = (lstm(config, 2 * config.model) for _ in range(1, config.layers))
            direction.layers = nn.ModuleList([direction.layers[0], *upper])

    def read(self, words: Float[Tensor, "batch time model"], real: Bool[Tensor, "batch time"],
             carried: BiLMState | None = None) -> list[Float[Tensor, "batch time both"]]:
        """Outputs of all layers, as in `BiLM.read`. Raises ValueError if ``carried`` states are given, because neither
        direction can continue without the next batch of the other."""
        if carried is not None:
            raise ValueError("a bidirectional stack cannot carry states from batch to batch; omit carried=")
        lengths = None if real.all() else real.sum(-1)
        left, right, inputs = words, words, words
        outputs = [torch.cat([words, words], -1)]
        for index, (forward, backward) in enumerate(zip(self.forwards.layers, self.backwards.layers, strict=True)):
            new_left = forward(inputs, lengths)[0]
            new_right = reversed_padded(backward(reversed_padded(inputs, real), lengths)[0], real)
            skip = self.config.skip and index
            left, right = (new_left + left, new_right + right) if skip else (new_left, new_right)
            inputs = torch.cat([left, right], -1)
            outputs.append(inputs)
        return outputs


class LeakyELMo(ELMo):
    """An `ELMo` with a `LeakyBiLM`, trained with the same loss."""

    bilm_class = LeakyBiLM

    def hidden_states(self, batch: BidirectionalBatch) -> Float[Tensor, "batch both model"]:
        """Final hidden states at the target positions; for each direction, in the order in which it processes the
        text."""
        tokens, real = whole(batch)
        left, right = self.bilm.read(self.words(tokens), real)[-1].chunk(2, -1)
        return torch.cat([left[:, :-1], reversed_padded(right, real)[:, :-1]], 1)


def whole(batch: BidirectionalBatch) -> tuple[Int[Tensor, "batch time"], Bool[Tensor, "batch time"]]:
    """The complete texts from [START] to [END], one token longer than either direction's input, and the mask of real
    tokens.

    The backward input starts with [END], whose position id is the number of tokens preceding it.
    """
    last = batch.backwards.position_ids[:, 0, :1].expand(len(batch.forwards.tokens), 1)
    padded = torch.cat([batch.forwards.tokens, batch.forwards.tokens[:, -1:]], 1)
    indices = torch.arange(padded.shape[1], device=padded.device)
    return padded.scatter(1, last, batch.backwards.tokens[:, :1]), indices <= last


@torch.no_grad()
def accuracy_at(model: ELMo, texts: Sequence[Sequence[str]], positions: Sequence[int]) -> float:
    """Accuracy on one word per text, averaged over both directions; ``positions`` are the indices of these words."""
    encode, vocab = small_world_tokenizer().encode, small_world_tokenizer().vocab
    batch = BidirectionalBatch.of([bidirectional_lm(encode(" ".join(words), plain=True), vocab=vocab, rng=Random(0))
                                   for words in texts], pad=vocab.need("pad"))
    length = batch.forwards.tokens.shape[1]
    both = torch.tensor([[position, length + len(words) - 1 - position]
                         for position, words in zip(positions, texts, strict=True)])
    return float((model.eval()(batch).argmax(-1) == batch.targets).gather(1, both).float().mean())
