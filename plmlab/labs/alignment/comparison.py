"""Word-by-word comparison of a translation with its reference, or of translations before and after an intervention."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

Pair = tuple[int | None, int | None]


def side_by_side(one: Sequence[str], other: Sequence[str]) -> list[Pair]:
    """Align two texts with the minimum edit distance (Levenshtein). Returns pairs of word indices, with None for a word
    without a counterpart. Ties are resolved in favour of pairing earlier words."""
    rows, columns = len(one), len(other)
    costs = [[max(rows - i, columns - j) for j in range(columns + 1)] for i in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            costs[i][j] = min(costs[i + 1][j + 1] + (one[i] != other[j]), costs[i][j + 1] + 1, costs[i + 1][j] + 1)
    i = j = 0
    pairs: list[Pair] = []
    while i < rows or j < columns:
        if i < rows and j < columns and costs[i][j] == costs[i + 1][j + 1] + (one[i] != other[j]):
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif i < rows and costs[i][j] == costs[i + 1][j] + 1:
            pairs.append((i, None))
            i += 1
        else:
            pairs.append((None, j))
            j += 1
    return pairs


def beside_reference(written: Sequence[str], reference: Sequence[str], gold: Sequence[tuple[int, int]],
                     ) -> tuple[list[int | None], list[tuple[int, int]]]:
    """Align a translation with its reference. Returns, for each generated word, the index of the matching reference
    word (None if the word is wrong), and the gold links, converted from (reference index, source index) to (step,
    source index) at the steps that have a matching reference word."""
    positions: list[int | None] = [None] * len(written)
    steps = {}
    for i, j in side_by_side(written, reference):
        if i is not None and j is not None:
            steps[j] = i
            positions[i] = j if written[i] == reference[j] else None
    return positions, [(steps[position], source) for position, source in gold if position in steps]


def on_aligned(weights: Float[Tensor, "time key"], partners: Sequence[tuple[int, int]]) -> int:
    """Count the gold links (step, source position) whose source position has the largest weight of the step. Divided by
    the number of links, this is 1 − AER if each step has one link."""
    return sum(int(weights[step].argmax()) == position for step, position in partners)
