"""The best n-gram model of a text, its smoothing and its order chosen on the development sentences; and what it comes
to mixed with a network."""

from collections.abc import Callable, Mapping
from typing import Any

from plmlab.chapters.ch03.baselines import Losses, Text, counted_losses, network_losses
from plmlab.models.ngram import AddK, KneserNey, ModifiedKneserNey, NGram
from plmlab.models.recurrent import LSTMLanguageModel

ORDERS = (1, 2, 3, 4, 5, 6, 8)
ADDED = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
COUNTED: dict[str, type[NGram]] = {"Kneser–Ney": KneserNey, "modified Kneser–Ney": ModifiedKneserNey}


def best_order(text: Text, make: Callable[[int], NGram]) -> tuple[int, dict[int, float]]:
    """Of the n-gram models ``make(order)``, the order that pays least on the development sentences; and what each
    pays there, in nats a token."""
    tried = {order: counted_losses(make(order), text.development).mean().item() for order in ORDERS}
    return min(tried, key=lambda order: tried[order]), tried


def smoothed(text: Text, name: str) -> Callable[[int], NGram]:
    """Order → one of the `COUNTED`, or "add k" with the best k of `ADDED` for that order."""
    def add_k(order: int) -> NGram:
        model = AddK(text.read, order, text.vocab, 1.0)

        def pays(k: float) -> float:
            model.k = k
            return counted_losses(model, text.development).mean().item()

        model.k = min(ADDED, key=pays)
        return model

    return add_k if name == "add k" else lambda order: COUNTED[name](text.read, order, text.vocab)


def best_way(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Of some ways to smooth, the one that pays least on the development sentences with its best order; ``found``: way
    → ``tried``, what each order pays there."""
    return min(found, key=lambda way: min(found[way]["tried"].values()))


def mixed(one: Losses, other: Losses, share: float) -> Losses:
    """What the mixture share · p₁ + (1 − share) · p₂ pays (linear interpolation, 线性插值)."""
    return -(share * (-one).exp() + (1 - share) * (-other).exp()).log()


def best_share(one: Losses, other: Losses) -> float:
    """The share of the first model, in twentieths, with which the mixture pays least."""
    return min((twentieths / 20 for twentieths in range(21)), key=lambda share: float(mixed(one, other, share).mean()))


def beside(model: LSTMLanguageModel, counted: NGram, text: Text) -> dict[str, float]:
    """What the mixture of a network with an n-gram model pays on the exam (``mixed``), and the network's ``share`` in
    it, the best on the development sentences."""
    share = best_share(network_losses(model, text, text.development), counted_losses(counted, text.development))
    both = mixed(network_losses(model, text, text.test_set), counted_losses(counted, text.test_set), share)
    return {"share": share, "mixed": both.mean().item()}
