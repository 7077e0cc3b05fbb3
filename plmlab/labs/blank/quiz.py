"""The question of the Blank Lab: what information is available at the start of a blank?"""

from collections.abc import Mapping, Sequence

from plmlab.labs.blank.rows import Layout
from plmlab.labs.shared.beliefs import share

QUESTION = "Consider the [START] of the blank that is filled last. What can it attend to, and does it know its length?"

LISTED = 4
"""The maximum number of lengths that the answer lists."""


def answer(made: Layout, lengths: Mapping[int, float]) -> str:
    """The answer to `QUESTION`. ``lengths`` is the exact posterior of the length of the blank that is filled last, as
    number of words → probability; {} if it is unknown."""
    *before, last = made.order
    others = "" if not before else \
        f", the words of {'the blank' if len(before) == 1 else f'all {len(before)} blanks'} filled before it " \
        f"({quoted([' '.join(blank) for blank in made.blanks[:-1]])})"
    place = made.masks[last]
    known = f"It attends to all of Part A{others}{' and' if before else ', and'} its own [START]. It does not know " \
            f"its length: one [MASK] stands for it, and position 1 is {place} for all of them, however many there are."
    if not lengths:
        return known
    likeliest = sorted(lengths.items(), key=lambda item: -item[1])[:LISTED]
    listed = ", ".join(f"{length} {'word' if length == 1 else 'words'} {share(p)}" for length, p in likeliest)
    rest = "" if len(lengths) <= LISTED else f", and {len(lengths) - LISTED} other lengths"
    return f"{known} The grammar still makes some lengths more likely, given the visible words: {listed}{rest}."


def quoted(texts: Sequence[str]) -> str:
    """Join quoted words with "and": “a” and “b”."""
    return " and ".join(f"“{text}”" for text in texts)
