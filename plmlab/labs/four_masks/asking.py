"""What is to be guessed before one looks: under which mask is the network surest?"""

from collections.abc import Mapping

from plmlab.labs.shared.beliefs import share
from plmlab.world.datasets.bayes_optimal import Distribution

QUESTION = "Under which mask will the network be surest of the hidden word?"


def answer(beliefs: Mapping[str, Distribution], best: Mapping[str, Distribution | None], true: int | None,
           word: str | None) -> str:
    """The masks in the order of the probability that the network gives the hidden word under them, and then in that of
    the best possible reader. Where nobody knows the word (``true`` is None), of the likeliest word under each."""
    network = _ranked({name: _chance(belief, true) for name, belief in beliefs.items()})
    first = f"“{network[0][0]}”"
    what = f"“{word}” gets {share(network[0][1])}" if true is not None else \
        f"its likeliest word gets {share(network[0][1])}"
    told = f"Under {first}: {what}. Then come {_listed(network[1:])}."
    exact = _ranked({name: _chance(belief, true) for name, belief in best.items() if belief is not None})
    if not exact:
        return told
    return f"{told} To the best possible reader it is worth {_listed(exact)}."


def _chance(belief: Distribution, true: int | None) -> float:
    return float(belief.max() if true is None else belief[true])


def _ranked(chances: Mapping[str, float]) -> list[tuple[str, float]]:
    """The likeliest first; what is equally likely keeps its order."""
    return sorted(chances.items(), key=lambda item: -item[1])


def _listed(ranked: list[tuple[str, float]]) -> str:
    told = [f"{share(p)} under “{name}”" for name, p in ranked]
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
