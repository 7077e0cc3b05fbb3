"""Interventions on the cross-attention: moving the attention of decoding steps, and masking source words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from plmlab.interpret.alignments import Translation, translate
from plmlab.text.vocabulary import Vocabulary

LONGEST = 90
"""The maximum number of tokens generated."""


@dataclass(frozen=True, order=True)
class MovedAttention:
    """An intervention at one decoding step: a ``share`` (from 0 to 1) of the attention weight moves to one source
    position; the rest keeps the model's own distribution."""

    step: int
    position: int
    share: float = 1.0

    @classmethod
    def parse(cls, given: Any, positions: int) -> "MovedAttention":
        """Parse an intervention from a mapping. Raises ValueError if the mapping is malformed."""
        if not isinstance(given, Mapping) or not {"step", "position"} <= set(given) <= {"step", "position", "share"}:
            raise ValueError(f"an intervention must be a dict with `step`, `position` and optionally `share`; "
                             f"{given!r:.60} was given")
        hold = cls(int(given["step"]), int(given["position"]), float(given.get("share", 1.0)))
        if hold.step not in range(LONGEST) or hold.position not in range(positions) or not 0 <= hold.share <= 1:
            raise ValueError(f"give a step from 0 to {LONGEST - 1}, a source word from 0 to {positions - 1} ([END] "
                             f"included) and a share from 0 to 1; {dict(given)!s:.80} was given")
        return hold


def checked(moved: Sequence[Any], masked: Sequence[Any], positions: int,
            ) -> tuple[tuple[MovedAttention, ...], tuple[int, ...]]:
    """Validate the moved attention (``moved``) and the masked positions (``masked``) for a source of ``positions``
    positions, including [END]. Raises ValueError if an entry is invalid or two of them contradict each other."""
    holds = {hold.step: hold for hold in (MovedAttention.parse(one, positions) for one in moved)}
    off = sorted(set(masked))
    for position in off:
        if position not in range(positions):
            raise ValueError(f"cannot mask source word {position}: this text has words 0 … {positions - 1}, [END] "
                             f"included")
    if len(off) == positions:
        raise ValueError("every source word is masked, so there is nothing to attend to. Unmask one; the drawing is "
                         "unchanged")
    for hold in holds.values():
        if hold.position in off and hold.share > 0:
            raise ValueError(f"source word {hold.position} is masked, but step {hold.step} is set to attend to it: "
                             "unmask it, or release the step")
    return tuple(sorted(holds.values())), tuple(off)


def translated(model: nn.Module, ids: Sequence[int], vocab: Vocabulary, holds: Sequence[MovedAttention] = (),
               masked: Sequence[int] = ()) -> Translation:
    """Translate under interventions. If only part of a step's attention moves, the model's own attention at that step
    is computed first."""
    rows: dict[int, Sequence[float]] = {}

    def so_far() -> Translation:
        return translate(model, ids, vocab, length=LONGEST, fixed_weights=rows, masked=masked)

    for hold in sorted(holds):
        row = [0.0] * (len(ids) + 1)
        if hold.share < 1:
            own = so_far().weights
            if own is None or hold.step >= len(own):
                continue
            row = [weight * (1 - hold.share) for weight in own[hold.step].tolist()]
        row[hold.position] += hold.share
        rows[hold.step] = row
    return so_far()
