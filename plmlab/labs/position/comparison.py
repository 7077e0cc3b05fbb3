"""All ways of telling places for one sentence, and what a move of it does to their scores."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from plmlab.labs.position.state import Compared, ComparedWay
from plmlab.labs.position.ways import ROWS, WAYS, RandomHead, Scores, Way
from plmlab.labs.shared.notes import unknown

LIMIT = 4
"""Where the colours of all maps end, whatever is typed."""
CHANGED = 1e-5
"""A score that moves by less has not changed: it was rounded another way."""


def places(count: int) -> str:
    """A number of places, in words."""
    return f"{count} place" if count == 1 else f"{count} places"


@dataclass(frozen=True)
class Told:
    """The scores of a way before the sentence is moved and after; None where the way fails, and ``error`` says why."""

    before: Scores | None
    after: Scores | None
    error: str

    @property
    def largest(self) -> float | None:
        """The largest change of any score; None where one of the two is missing."""
        return None if self.before is None or self.after is None else (self.after - self.before).abs().max().item()

    @classmethod
    def of(cls, way: Way, head: RandomHead, ids: Sequence[int], moved: int) -> "Told":
        """The scores of the sentence alone, and behind ``moved`` other tokens."""
        before, _ = _scores(way, head, ids, 0)
        after, error = _scores(way, head, ids, moved)
        return cls(before, after, error)


def _scores(way: Way, head: RandomHead, ids: Sequence[int], others: int) -> tuple[Scores | None, str]:
    """The scores of a sentence behind so many other tokens; or None, and why the way has none."""
    try:
        return way.score(head, head.vectors([*range(others), *ids]))[others:, others:], ""
    except ValueError as error:
        return None, str(error)


@dataclass(frozen=True)
class Comparison:
    """What the lab draws: ``state`` for JSON, and ``scores``, float32, [query key] each: of every way before the move,
    of every way after it, and Transformer-XL's four terms."""

    state: Compared
    scores: bytes

    @classmethod
    def of(cls, head: RandomHead, ids: Sequence[int], tokens: Sequence[str], moved: int, unk: int | None,
           ) -> "Comparison":
        """All ways for the tokens of a sentence, moved by so many places."""
        told = [Told.of(way, head, ids, moved) for way in WAYS]
        missing = torch.zeros(len(ids), len(ids))
        before, after = ([missing if scores is None else scores for scores in side]
                         for side in zip(*((one.before, one.after) for one in told), strict=True))
        terms = head.terms(head.vectors([*range(moved), *ids]))[:, moved:, moved:]
        ways: list[ComparedWay] = [
            {"name": way.name, "source": way.source, "how": way.how, "why": way.why, "learned": way.learned,
             "numbers": way.numbers, "beyond": way.beyond, "largest": one.largest, "error": one.error,
             "drawn": [one.before is not None, one.after is not None]} for way, one in zip(WAYS, told, strict=True)]
        state: Compared = {"tokens": list(tokens), "moved": moved, "ways": ways,
                 "limit": LIMIT, "rounded": CHANGED, "finding": finding(told, moved),
                 "question": f"Which ways change their scores when the sentence is moved by {places(moved)}?",
                 "answer": answer(told, moved), "note": unknown(sum(id == unk for id in ids))}
        return cls(state, torch.stack([*before, *after, *terms]).numpy().tobytes())


def sorted_out(told: Sequence[Told]) -> tuple[list[str], list[str], list[str]]:
    """The names of the ways whose scores change, of those that keep them, and of those that fail."""
    changed: list[str] = []
    kept: list[str] = []
    failed: list[str] = []
    for way, one in zip(WAYS, told, strict=True):
        into = failed if one.largest is None else changed if one.largest > CHANGED else kept
        into.append(way.name)
    return changed, kept, failed


def finding(told: Sequence[Told], moved: int) -> str:
    """The title over the maps once the sentence was moved."""
    changed, kept, failed = sorted_out(told)
    parts = [f"other scores with {' and '.join(changed)} positions"] if changed else []
    parts += [f"none with {' and '.join(failed)} ones"] if failed else []
    parts += [f"the same in {'all ' if len(kept) == len(WAYS) else 'the '}{len(kept)}{' other' if parts else ''} ways"]
    return f"Moved by {places(moved)}: {', '.join(parts)}"


def answer(told: Sequence[Told], moved: int) -> str:
    """The answer to the question, with what it hangs on."""
    changed, kept, failed = sorted_out(told)
    if not moved:
        return "None: a sentence that is moved by 0 places stands where it stood."
    parts = []
    if changed:
        parts += [f"These change: {', '.join(changed)}. What they add to a vector is of the place itself."]
    if failed:
        parts += [f"This fails: {', '.join(failed)}. Its table has {ROWS} places."]
    parts += [f"These do not: {', '.join(kept)}. Their scores hang on the distance alone, which stays."]
    return " ".join(parts)
