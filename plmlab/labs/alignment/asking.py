"""The question that the Alignment Lab asks before one looks: what is written when a word is shut off?"""

from collections.abc import Callable, Sequence

from jaxtyping import Float
from torch import Tensor

from plmlab.labs.alignment.compared import side_by_side
from plmlab.labs.alignment.reading import ENDS
from plmlab.labs.alignment.state import Asked

TOLD = 3
"""So many changed words are told."""


def shutting(words: Sequence[str], tokens: Sequence[str], weights: Float[Tensor, "time key"],
             partners: Sequence[Sequence[int]], without: Callable[[int], list[str]]) -> Asked:
    """The question, its answer, and the ``position`` that it shuts off: of the ``partners``, (step, position), the one
    that stands farthest off, or without any the word that has most weight at some step. ``without(position)`` gives
    what is written then."""
    if partners:
        step, position = max(partners, key=lambda pair: abs(pair[0] - pair[1]))
    else:
        some = [position for position, word in enumerate(words) if word not in ENDS] or list(range(len(words)))
        position = max(some, key=lambda one: float(weights[:, one].max()))
        step = int(weights[:, position].argmax())
    now = without(position)
    changed = [(i, j) for i, j in side_by_side(tokens, now) if i is None or j is None or tokens[i] != now[j]]
    most = int(weights[:, position].argmax())
    looked = f"{called(tokens, most)} had looked there most, with {100 * float(weights[most, position]):.0f} % of its look"
    if most != step:
        looked += f"; {called(tokens, step)} itself with {100 * float(weights[step, position]):.0f} %"
    answer = (f"{_many(len(changed))}: {_told(changed, tokens, now)}. {looked}." if changed else
              f"Nothing else is written, though {looked}. Weight is not effect.")
    return {"position": position, "answer": answer, "question":
            f"Shut {called(words, position)} off, so that no step may look at it: what will be written in the place of "
            f"“{tokens[step]}”, and will other words change?"}


def called(words: Sequence[str], position: int) -> str:
    """A word in quotes; one that stands in several places is told by its place, counted from 1."""
    return f"“{words[position]}”" + (f" (word {position + 1})" if words.count(words[position]) > 1 else "")


def _many(count: int) -> str:
    return "1 word changes" if count == 1 else f"{count} words change"


def _told(changed: Sequence[tuple[int | None, int | None]], one: Sequence[str], other: Sequence[str]) -> str:
    said = [f"“{one[i]}” becomes “{other[j]}”" if i is not None and j is not None else
            f"“{one[i]}” is gone" if i is not None else f"“{other[j or 0]}” comes in" for i, j in changed[:TOLD]]
    return ", ".join(said) + (f", and {len(changed) - TOLD} more" if len(changed) > TOLD else "")
