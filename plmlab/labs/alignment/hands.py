"""What a reader's hand does to a translation: steps whose look is moved, and words that no step may look at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from plmlab.interpret.alignments import Translation, translate
from plmlab.text.vocabulary import Vocabulary

LONGEST = 90
"""So many tokens are written at most."""


@dataclass(frozen=True, order=True)
class Hold:
    """At a step, so much of the weight (``share``, 0 … 1) goes to a position of the source; the rest stays where the
    model would have put it."""

    step: int
    position: int
    share: float = 1.0

    @classmethod
    def told(cls, said: Any, positions: int) -> "Hold":
        """A hold as the browser or a reader tells it; a ValueError for what is none."""
        if not isinstance(said, Mapping) or not {"step", "position"} <= set(said) <= {"step", "position", "share"}:
            raise ValueError(f"what is held is told with step, position and share; {said!r:.60} was given")
        hold = cls(int(said["step"]), int(said["position"]), float(said.get("share", 1.0)))
        if hold.step not in range(LONGEST) or hold.position not in range(positions) or not 0 <= hold.share <= 1:
            raise ValueError(f"a step is 0 … {LONGEST - 1}, a position of this text 0 … {positions - 1} with [END], a "
                             f"share "
                             f"0 … 1; {dict(said)!s:.80} was given")
        return hold


def checked(held: Sequence[Any], shut: Sequence[Any], positions: int) -> tuple[tuple[Hold, ...], tuple[int, ...]]:
    """Holds and shut positions of a source of so many positions, [END]'s included; a ValueError for what does not go
    together."""
    holds = {hold.step: hold for hold in (Hold.told(one, positions) for one in held)}
    off = sorted(set(shut))
    for position in off:
        if position not in range(positions):
            raise ValueError(f"position {position} is to be shut off; this text has positions 0 … {positions - 1}, "
                             f"[END] included")
    if len(off) == positions:
        raise ValueError("every word is shut off, and nothing is left to look at. Open one; what is drawn is from "
                         "before")
    for hold in holds.values():
        if hold.position in off and hold.share > 0:
            raise ValueError(f"position {hold.position} is shut off, and step {hold.step} is to look at it: open it, "
                             f"or "
                             "release the step")
    return tuple(sorted(holds.values())), tuple(off)


def written(model: nn.Module, ids: Sequence[int], vocab: Vocabulary, holds: Sequence[Hold] = (),
            shut: Sequence[int] = ()) -> Translation:
    """What a model writes with a hand on it. A step that is held in part is asked first what it would do itself."""
    rows: dict[int, Sequence[float]] = {}

    def so_far() -> Translation:
        return translate(model, ids, vocab, length=LONGEST, held=rows, shut=shut)

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
