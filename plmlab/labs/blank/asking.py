"""What is to be guessed before one looks: what does a blank know when it begins?"""

from collections.abc import Mapping, Sequence

from plmlab.labs.blank.rows import Layout
from plmlab.labs.shared.beliefs import share

QUESTION = "The blank that is filled last stands at its [START]. What does it see, and what is it told of its length?"

LISTED = 4
"""So many lengths are told, the likeliest."""


def answer(made: Layout, lengths: Mapping[int, float]) -> str:
    """The answer to `QUESTION`; ``lengths`` is what the exact reader believes of the length of the blank that is filled
    last, number of words → probability, {} where there is no such reader."""
    *before, last = made.order
    others = "" if not before else \
        f", the words of {'the blank' if len(before) == 1 else f'all {len(before)} blanks'} filled before it " \
        f"({quoted([' '.join(blank) for blank in made.blanks[:-1]])})"
    place = made.masks[last]
    told = f"It sees all of Part A{others}{' and' if before else ', and'} its own [START]. Of its length it is told " \
           f"nothing: one [MASK] stands for it, and position 1 is {place} for every position of it, however many there are."
    if not lengths:
        return told
    likeliest = sorted(lengths.items(), key=lambda item: -item[1])[:LISTED]
    listed = ", ".join(f"{length} {'word' if length == 1 else 'words'} {share(p)}" for length, p in likeliest)
    rest = "" if len(lengths) <= LISTED else f", and {len(lengths) - LISTED} other lengths"
    return f"{told} Who knows the grammar can still tell something from the words in sight: {listed}{rest}."


def quoted(texts: Sequence[str]) -> str:
    """“a” and “b”."""
    return " and ".join(f"“{text}”" for text in texts)
