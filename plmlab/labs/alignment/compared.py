"""A translation beside another, word by word: the reference, or what was written before the hand was on it."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

Pair = tuple[int | None, int | None]


def side_by_side(one: Sequence[str], other: Sequence[str]) -> list[Pair]:
    """The places of two texts in pairs, with the fewest words changed, added or lost (Levenshtein); None where a word
    has no counterpart. Of ways that are as short, the one that pairs the earlier words."""
    rows, columns = len(one), len(other)
    costs = [[max(rows - i, columns - j) for j in range(columns + 1)] for i in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            costs[i][j] = min(costs[i + 1][j + 1] + (one[i] != other[j]), costs[i][j + 1] + 1, costs[i + 1][j] + 1)
    i = j = 0
    found: list[Pair] = []
    while i < rows or j < columns:
        if i < rows and j < columns and costs[i][j] == costs[i + 1][j + 1] + (one[i] != other[j]):
            found.append((i, j))
            i, j = i + 1, j + 1
        elif i < rows and costs[i][j] == costs[i + 1][j] + 1:
            found.append((i, None))
            i += 1
        else:
            found.append((None, j))
            j += 1
    return found


def beside_reference(written: Sequence[str], reference: Sequence[str], gold: Sequence[tuple[int, int]],
                     ) -> tuple[list[int | None], list[tuple[int, int]]]:
    """For each word written the position of the reference whose word it is, None where it is wrong; and the gold
    partners (position of the reference, position of the source) as (step, position of the source): at each step that
    wrote the word, or another in its place."""
    positions: list[int | None] = [None] * len(written)
    steps = {}
    for i, j in side_by_side(written, reference):
        if i is not None and j is not None:
            steps[j] = i
            positions[i] = j if written[i] == reference[j] else None
    return positions, [(steps[position], source) for position, source in gold if position in steps]


def on_partner(weights: Float[Tensor, "time key"], partners: Sequence[tuple[int, int]]) -> int:
    """How many of the partners (step, position) bear the heaviest weight of their step: divided by their number, that
    is 1 − AER where each step has one link."""
    return sum(int(weights[step].argmax()) == position for step, position in partners)
