"""The Softmax Lab: how scores become probabilities, and the effect of the temperature."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import torch
import traitlets

from plmlab.decode import distribution
from plmlab.labs.base import Lab
from plmlab.text.printable import printable

SCORES = {"mat": 2.0, "rug": 1.5, "sofa": 0.5, "moon": -1.0}
HIGHEST = 10.0
COOLEST, HOTTEST = 0.1, 5.0
MOST = 12


class SoftmaxLab(Lab):
    """A softmax with adjustable scores and temperature: the exponentials exp(score / T), the normalised probabilities,
    and their perplexity. Everything is computed in JavaScript.

    Args:
        scores: maps two to twelve tokens to scores (logits) from −10 to 10, with one decimal.
        temperature: the temperature T, from 0.1 to 5, with one decimal.
    """

    title = "Softmax Lab"
    module = "softmax/lab.js"
    styles = ("softmax/lab.css",)

    scores = traitlets.List(traitlets.Tuple(traitlets.Unicode(), traitlets.Float())).tag(sync=True)
    temperature = traitlets.Float(1.0).tag(sync=True)
    limits = traitlets.Dict().tag(sync=True)

    def __init__(self, scores: Mapping[str, float] | None = None, temperature: float = 1.0) -> None:
        super().__init__(scores=list((SCORES if scores is None else scores).items()), temperature=temperature,
                         limits={"highest": HIGHEST, "coolest": COOLEST, "hottest": HOTTEST})

    @traitlets.validate("scores")
    def _check_scores(self, proposal: Any) -> Any:
        """Round the scores to one decimal, as the sliders do. Raises TraitError for scores outside the range of the
        sliders."""
        value = proposal["value"]
        if not 2 <= len(value) <= MOST:
            raise traitlets.TraitError(f"give 2 to {MOST} scores; {len(value)} were given")
        for token, score in value:
            if not (isfinite(score) and abs(score) <= HIGHEST):
                raise traitlets.TraitError(f"scores must be from −{HIGHEST:.0f} to {HIGHEST:.0f}; {token!r} has "
                                           f"{score}")
        return [(printable(token), round(score, 1)) for token, score in value]

    @traitlets.validate("temperature")
    def _check_temperature(self, proposal: Any) -> Any:
        """Round the temperature to one decimal. Raises TraitError for a temperature outside the range of the slider."""
        if not COOLEST <= proposal["value"] <= HOTTEST:
            raise traitlets.TraitError(f"the temperature must be from {COOLEST} to {HOTTEST}; {proposal['value']} was "
                                       "given")
        return round(proposal["value"], 1)

    def shares(self) -> dict[str, float]:
        """Map each token to its probability, as shown by the bars; the probabilities add up to 1."""
        logits = torch.tensor([score for _, score in self.scores], dtype=torch.float64)
        probabilities = distribution(logits, self.temperature).tolist()
        return dict(zip((token for token, _ in self.scores), probabilities, strict=True))

    def summary(self) -> str:
        """The temperature, and each token with its probability."""
        return f"T = {self.temperature:g}: " + ", ".join(f"{token} {p:.2f}" for token, p in self.shares().items())
