"""Empty translations of one model by search method, also with label smoothing undone: a Transformer whose output
distribution is corrected for it."""

from collections.abc import Sequence
from statistics import fmean

from jaxtyping import Float
from torch import Tensor

from plmlab.chapters.ch03.noisy_translation import beamed, evaluate_translations, likeliest, written
from plmlab.chapters.ch03.telegrams import Telegram
from plmlab.decode import Hypothesis
from plmlab.models.transformer import Transformer, TransformerState
from plmlab.tables import show_table


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

    def predict(self, hidden: Float[Tensor, "batch time model"], state: TransformerState,
                ) -> Float[Tensor, "batch time vocab"]:
        """Log-probabilities of the next token from decoder outputs."""
        return taken_back(super().predict(hidden, state), self.config.smoothing)


def translate(model: Transformer, telegrams: Sequence[Telegram]) -> dict[str, list[Hypothesis]]:
    """Translate the telegrams with increasingly exhaustive search, and with label smoothing undone. Raises ValueError
    if an exact search is given up."""
    def exact(model: Transformer) -> list[Hypothesis]:
        texts = [likeliest(model, telegram) for telegram in telegrams]
        if None in texts:
            raise ValueError("exact search was given up: too many prefixes would have to be expanded")
        return [text for text in texts if text is not None]

    plain = Unsmoothed.of(model)
    return {"greedy": beamed(model, telegrams, 1),
            **{f"beam search, width {width}": beamed(model, telegrams, width) for width in (5, 20)},
            "exact search": exact(model), "label smoothing undone: greedy": beamed(plain, telegrams, 1),
            "label smoothing undone: exact search": exact(plain)}


def show_translations(telegrams: Sequence[Telegram], by_search: dict[str, list[Hypothesis]], lost: float) -> None:
    """Show the mean −log p and length of the translations of each search method; how many are empty, and correct."""
    rows = {}
    for name, texts in by_search.items():
        lengths = [length for text in texts if (length := len(written(text)))]
        fractions = evaluate_translations(lost, telegrams, texts).values()
        rows[name] = (-fmean(text.logprob for text in texts), f"{fmean(lengths):.1f}",
                      *(f"{fraction * len(telegrams):.0f}" for fraction in fractions))
    show_table((f"{len(telegrams)} telegrams", "−log p (nats)", "words, if not empty", "empty", "correct"), rows)
