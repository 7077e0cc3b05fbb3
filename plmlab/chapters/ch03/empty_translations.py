"""Label smoothing undone: a Transformer whose output distribution is corrected for it."""

from jaxtyping import Float, Int
from torch import Tensor

from plmlab.example import PairBatch
from plmlab.models.transformer import Transformer, TransformerState


def taken_back(logits: Float[Tensor, "*position vocab"], share: float) -> Float[Tensor, "*position vocab"]:
    """Undo label smoothing: log p from logits of q = (1 − ε) · p + ε / V, where ε is ``share``; −∞ if q < ε / V."""
    return (logits.softmax(-1) - share / logits.shape[-1]).clamp(min=0).log().log_softmax(-1)


class Unsmoothed(Transformer):
    """A Transformer whose output distribution is corrected for label smoothing."""

    @classmethod
    def of(cls, model: Transformer) -> "Unsmoothed":
        """Copy the weights of a trained model, for evaluation only."""
        copied = cls(model.config)
        copied.load_state_dict(model.state_dict())
        return copied.eval()

    def forward(self, batch: PairBatch) -> Float[Tensor, "batch time vocab"]:
        """Log-probabilities at each target position."""
        return taken_back(super().forward(batch), self.config.smoothing)

    def step(self, tokens: Int[Tensor, "batch time"], state: TransformerState) -> Float[Tensor, "batch vocab"]:
        """Append target tokens to the cached prefix in ``state``; return the log-probabilities of the next token."""
        return taken_back(super().step(tokens, state), self.config.smoothing)
