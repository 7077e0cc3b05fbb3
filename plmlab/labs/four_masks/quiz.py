"""The question of the Four-mask Lab: under which mask is the masked word most likely?"""

from collections.abc import Mapping

from plmlab.labs.shared.beliefs import share
from plmlab.world.datasets.bayes_optimal import Distribution

QUESTION = "Under which mask does the network assign the masked word the highest probability?"


def answer(beliefs: Mapping[str, Distribution], best: Mapping[str, Distribution | None], true: int | None,
           word: str | None) -> str:
    """Rank the masks by the network's probability of the masked word, then by the Bayes-optimal predictor's. If the
    word is unknown (``true`` is None), the masks are ranked by the probability of the most probable word under each."""
    network = _ranked({name: _probability(belief, true) for name, belief in beliefs.items()})
    first = f"“{network[0][0]}”"
    what = f"“{word}” gets {share(network[0][1])}" if true is not None else \
        f"the most likely word gets {share(network[0][1])}"
    ranking = f"Under {first}: {what}. Then follow {_listed(network[1:])}."
    exact = _ranked({name: _probability(belief, true) for name, belief in best.items() if belief is not None})
    if not exact:
        return ranking
    return f"{ranking} The Bayes-optimal predictor assigns {_listed(exact)}."


def _probability(belief: Distribution, true: int | None) -> float:
    return float(belief.max() if true is None else belief[true])


def _ranked(probabilities: Mapping[str, float]) -> list[tuple[str, float]]:
    """Sort by decreasing probability; ties keep their order."""
    return sorted(probabilities.items(), key=lambda item: -item[1])


def _listed(ranked: list[tuple[str, float]]) -> str:
    parts = [f"{share(p)} under “{name}”" for name, p in ranked]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
