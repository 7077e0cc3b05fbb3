"""Does reversing the source help a fixed-vector model, and why?

Sutskever et al. (2014, §3.3) report that reversal improves BLEU from 25.9 to 30.6 and perplexity from 5.8 to 4.7, and
that it also helps on long sentences. Their explanation: the average distance between source words and their
translations does not change, but the first words are closer to theirs, so that the "minimal time lag" is short and
learning can start.

The rule, fixed before the runs, for configurations trained for 2,000 updates:

- **Helps**: on passages of 30 words the loss of every seed with a reversed source is below that of every seed without
  reversal. **Hurts**: the opposite holds. **Undecided**: the seeds overlap.
- **The explanation** by the shortest lag is tested by the onset of learning: the number of updates until the loss on
  passages of 30 words is below 0.5 nats per word (a model that generates Chinese without using the source has a loss of
  about 0.6). The explanation makes two predictions. (1) With the last sentence first, and each sentence forwards, the
  shortest lag is equally short, and the mean lag is unchanged: every seed starts to learn before every seed with the
  plain source. (2) 10 padding tokens make the shortest lag of the reversed source equal to that of the plain source
  without padding: the former starts to learn, on average, no earlier than the latter. A run that does not start to
  learn within its updates counts as starting after them; if padding prevents both configurations from learning at all,
  prediction 2 is undecided.
"""

from collections.abc import Sequence
from math import inf, isinf
from statistics import fmean
from typing import Any

SOURCE_ORDERS = ("fixed", "backwards", "last sentence first", "delay", "delay, backwards")
ONSET_LOSS = 0.5
"""A loss in nats per word that no decoder reaches without using the source."""


def verdict(losses: dict[str, Any]) -> str:
    """Apply the rule above: "helps", "hurts" or "undecided". ``losses`` is the stored ``loss``."""
    plain, reversed_source = (losses[name]["30"]["whole"] for name in ("fixed", "backwards"))
    if reversed_source["high"] < plain["low"]:
        return "helps"
    return "hurts" if plain["high"] < reversed_source["low"] else "undecided"


def onset_update(history: Sequence[Sequence[int | float]]) -> float:
    """Onset of learning: the number of updates after which the loss is first below `ONSET_LOSS`; infinite if it never
    is. ``history`` holds pairs (number of updates, loss)."""
    return next((float(updates) for updates, loss in history if loss < ONSET_LOSS), inf)


def predictions_confirmed(arms: dict[str, Any]) -> tuple[bool, bool | None]:
    """Return, for each of the two predictions of the shortest-lag explanation, whether it is confirmed; None for the
    second if padding prevents both configurations from learning. ``arms`` is the stored record."""
    onset = {name: [onset_update(history) for history in arms[name]["history"].values()] for name in SOURCE_ORDERS}
    first = max(onset["last sentence first"]) < min(onset["fixed"])
    if isinf(min(*onset["delay"], *onset["delay, backwards"])):
        return first, None
    return first, fmean(onset["delay, backwards"]) >= fmean(onset["fixed"])
