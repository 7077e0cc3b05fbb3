"""Why the empty translation wins: the place of [END] at the beginning, and smoothing undone."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.chapters.ch03.noisy_translation import pairs, tokenizer
from plmlab.chapters.ch03.telegrams import Telegram
from plmlab.example import PairBatch
from plmlab.models.transformer import Transformer, TransformerState


def taken_back(logits: Float[Tensor, "*position vocab"], share: float) -> Float[Tensor, "*position vocab"]:
    """log p where the ``logits`` say q = (1 − ε) · p + ε / V, ε being the ``share``; −∞ where q is below ε / V."""
    return (logits.softmax(-1) - share / logits.shape[-1]).clamp(min=0).log().log_softmax(-1)


class Unsmoothed(Transformer):
    """A Transformer that takes the smoothing of its labels back before it speaks."""

    @classmethod
    def of(cls, model: Transformer) -> "Unsmoothed":
        """With a trained model's weights, to be read and not to be trained."""
        made = cls(model.config)
        made.load_state_dict(model.state_dict())
        return made.eval()

    def forward(self, batch: PairBatch) -> Float[Tensor, "batch time vocab"]:
        """The log-probabilities of each target position."""
        return taken_back(super().forward(batch), self.config.smoothing)

    def step(self, tokens: Int[Tensor, "batch time"], state: TransformerState) -> Float[Tensor, "batch vocab"]:
        """Read target tokens after what ``state`` holds; the log-probabilities of the next one."""
        return taken_back(super().step(tokens, state), self.config.smoothing)


@torch.no_grad()
def ranks(model: Transformer, telegrams: list[Telegram]) -> list[int]:
    """The place that [END] has among the first tokens, by their chances, a telegram each; 1 is the likeliest."""
    first = model(pairs(telegrams, empty=True))[:, 0]
    return (1 + (first > first[:, [tokenizer().vocab.need("end")]]).sum(1)).tolist()
