"""The best n-gram model of a text, with smoothing and order chosen on the development sentences; and interpolation with
a network."""

from collections.abc import Callable, Mapping
from typing import Any

from plmlab.chapters.ch03.baselines import Losses, Text, counted_losses, network_losses
from plmlab.models.ngram import AddK, KneserNey, ModifiedKneserNey, NGram
from plmlab.models.recurrent import LSTMLanguageModel

ORDERS = (1, 2, 3, 4, 5, 6, 8)
ADDED = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
COUNTED: dict[str, type[NGram]] = {"Kneser–Ney": KneserNey, "modified Kneser–Ney": ModifiedKneserNey}


def best_order(text: Text, make: Callable[[int], NGram]) -> tuple[int, dict[int, float]]:
    """The order whose n-gram model ``make(order)`` has the lowest development loss, and the development loss of each
    order in nats per token."""
    tried = {order: counted_losses(make(order), text.development).mean().item() for order in ORDERS}
    return min(tried, key=lambda order: tried[order]), tried


def smoothed(text: Text, name: str) -> Callable[[int], NGram]:
    """A constructor that maps an order to a model: one of `COUNTED`, or "add k" with the best k of `ADDED` for that
    order."""
    def add_k(order: int) -> NGram:
        model = AddK(text.read, order, text.vocab, 1.0)

        def development_loss(k: float) -> float:
            model.k = k
            return counted_losses(model, text.development).mean().item()

        model.k = min(ADDED, key=development_loss)
        return model

    return add_k if name == "add k" else lambda order: COUNTED[name](text.read, order, text.vocab)


def best_way(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The smoothing method with the lowest development loss at its best order. ``found`` maps each method to ``tried``:
    order → development loss."""
    return min(found, key=lambda way: min(found[way]["tried"].values()))


def mixed(one: Losses, other: Losses, share: float) -> Losses:
    """Losses of the mixture share · p₁ + (1 − share) · p₂ (linear interpolation, 线性插值)."""
    return -(share * (-one).exp() + (1 - share) * (-other).exp()).log()


def best_share(one: Losses, other: Losses) -> float:
    """The interpolation weight of the first model, a multiple of 0.05, that minimises the loss."""
    return min((twentieths / 20 for twentieths in range(21)), key=lambda share: float(mixed(one, other, share).mean()))


def interpolated(model: LSTMLanguageModel, counted: NGram, text: Text) -> dict[str, float]:
    """Interpolate a network with an n-gram model: the weight of the network (``share``), chosen on the development
    sentences, and the test loss of the mixture (``mixed``)."""
    share = best_share(network_losses(model, text, text.development), counted_losses(counted, text.development))
    both = mixed(network_losses(model, text, text.test_set), counted_losses(counted, text.test_set), share)
    return {"share": share, "mixed": both.mean().item()}
