"""The question of the Alignment Lab: how does the translation change if a source word is masked?"""

from collections.abc import Callable, Sequence

from jaxtyping import Float
from torch import Tensor

from plmlab.labs.alignment.comparison import side_by_side
from plmlab.labs.alignment.reading import ENDS
from plmlab.labs.alignment.state import Quiz

LISTED = 3
"""The maximum number of changed words that the answer lists."""


def masking_question(words: Sequence[str], tokens: Sequence[str], weights: Float[Tensor, "time key"],
                     partners: Sequence[Sequence[int]], without: Callable[[int], list[str]]) -> Quiz:
    """Return the question, its answer, and the ``position`` to mask: of the gold links in ``partners``, given as (step,
    position), the position of the link with the largest distance; without gold links, the position with the largest
    weight at any step. ``without(position)`` returns the translation with that position masked."""
    if partners:
        step, position = max(partners, key=lambda pair: abs(pair[0] - pair[1]))
    else:
        candidates = [position for position, word in enumerate(words) if word not in ENDS] or list(range(len(words)))
        position = max(candidates, key=lambda candidate: float(weights[:, candidate].max()))
        step = int(weights[:, position].argmax())
    now = without(position)
    changed = [(i, j) for i, j in side_by_side(tokens, now) if i is None or j is None or tokens[i] != now[j]]
    top_step = int(weights[:, position].argmax())
    attended = (f"{called(tokens, top_step)} had attended to it most, with "
                f"{100 * float(weights[top_step, position]):.0f} % of its attention")
    if top_step != step:
        attended += f"; {called(tokens, step)} itself with {100 * float(weights[step, position]):.0f} %"
    answer = (f"{_many(len(changed))}: {_listed(changed, tokens, now)}. {attended}." if changed else
              f"No word changes, although {attended}. A large weight does not imply a large effect.")
    return {"position": position, "answer": answer, "question":
            f"Mask {called(words, position)}, so that no step can attend to it: what is generated instead of "
            f"“{tokens[step]}”, and do other words change?"}


def called(words: Sequence[str], position: int) -> str:
    """Quote a word; a word that occurs more than once is numbered, starting from 1."""
    return f"“{words[position]}”" + (f" (word {position + 1})" if words.count(words[position]) > 1 else "")


def _many(count: int) -> str:
    return "1 word changes" if count == 1 else f"{count} words change"


def _listed(changed: Sequence[tuple[int | None, int | None]], one: Sequence[str], other: Sequence[str]) -> str:
    parts = [f"“{one[i]}” becomes “{other[j]}”" if i is not None and j is not None else
             f"“{one[i]}” is removed" if i is not None else f"“{other[j or 0]}” is added" for i, j in changed[:LISTED]]
    return ", ".join(parts) + (f", and {len(changed) - LISTED} more" if len(changed) > LISTED else "")
