"""Compare positional encodings on one sentence: the attention scores before and after the sentence is shifted."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from plmlab.labs.position.encodings import ROWS, WAYS, Encoding, RandomHead, Scores
from plmlab.labs.position.state import Compared, ComparedWay
from plmlab.labs.shared.notes import unknown

LIMIT = 4
"""Upper end of the colour scale of all maps."""
CHANGED = 1e-5
"""Changes of a score up to this size are rounding errors."""


def places(count: int) -> str:
    """A number of positions in words."""
    return f"{count} position" if count == 1 else f"{count} positions"


@dataclass(frozen=True)
class Told:
    """The scores of an encoding before and after the shift. If the encoding fails, the scores are None and ``error``
    gives the reason."""

    before: Scores | None
    after: Scores | None
    error: str

    @property
    def largest(self) -> float | None:
        """The largest absolute change of any score; None if ``before`` or ``after`` is missing."""
        return None if self.before is None or self.after is None else (self.after - self.before).abs().max().item()

    @classmethod
    def of(cls, way: Encoding, head: RandomHead, ids: Sequence[int], moved: int) -> "Told":
        """Compute the scores of the sentence by itself, and preceded by ``moved`` other tokens."""
        before, _ = _scores(way, head, ids, 0)
        after, error = _scores(way, head, ids, moved)
        return cls(before, after, error)


def _scores(way: Encoding, head: RandomHead, ids: Sequence[int], others: int) -> tuple[Scores | None, str]:
    """The scores of a sentence preceded by ``others`` other tokens; or None, with the error message."""
    try:
        return way.score(head, head.vectors([*range(others), *ids]))[others:, others:], ""
    except ValueError as error:
        return None, str(error)


@dataclass(frozen=True)
class Comparison:
    """The data drawn: the JSON-serializable ``state``, and ``scores``, float32 matrices [query key] as bytes: the
    scores of each encoding before and after the shift, and Transformer-XL's four terms."""

    state: Compared
    scores: bytes

    @classmethod
    def of(cls, head: RandomHead, ids: Sequence[int], tokens: Sequence[str], moved: int, unk: int | None,
           ) -> "Comparison":
        """Compare all encodings on the tokens of a sentence that is shifted by ``moved`` positions."""
        results = [Told.of(way, head, ids, moved) for way in WAYS]
        missing = torch.zeros(len(ids), len(ids))
        before, after = ([missing if scores is None else scores for scores in side]
                         for side in zip(*((result.before, result.after) for result in results), strict=True))
        terms = head.terms(head.vectors([*range(moved), *ids]))[:, moved:, moved:]
        ways: list[ComparedWay] = [
            {"name": way.name, "source": way.source, "how": way.how, "why": way.why, "learned": way.learned,
             "numbers": way.numbers, "beyond": way.beyond, "largest": result.largest, "error": result.error,
             "drawn": [result.before is not None, result.after is not None]}
            for way, result in zip(WAYS, results, strict=True)]
        state: Compared = {"tokens": list(tokens), "moved": moved, "ways": ways,
                           "limit": LIMIT, "rounded": CHANGED, "finding": finding(results, moved),
                 "question": "Which positional encodings give different scores when the sentence is shifted by "
                           f"{places(moved)}?",
                           "answer": answer(results, moved), "note": unknown(sum(id == unk for id in ids))}
        return cls(state, torch.stack([*before, *after, *terms]).numpy().tobytes())


def sorted_out(told: Sequence[Told]) -> tuple[list[str], list[str], list[str]]:
    """The names of the encodings whose scores change, of those whose scores stay the same, and of those that fail."""
    changed: list[str] = []
    kept: list[str] = []
    failed: list[str] = []
    for way, result in zip(WAYS, told, strict=True):
        into = failed if result.largest is None else changed if result.largest > CHANGED else kept
        into.append(way.name)
    return changed, kept, failed


def finding(told: Sequence[Told], moved: int) -> str:
    """The title above the maps after the sentence has been shifted."""
    changed, kept, failed = sorted_out(told)
    parts = [f"change with {' and '.join(changed)} positions"] if changed else []
    parts += [f"cannot be computed with {' and '.join(failed)} positions"] if failed else []
    others = f"all {len(kept)}" if len(kept) == len(WAYS) else f"the other {len(kept)}"
    parts += [f"stay the same with {others} methods"]
    return f"Shifted by {places(moved)}: the scores {', '.join(parts)}"


def answer(told: Sequence[Told], moved: int) -> str:
    """The answer to the question about the shift, with the reason."""
    changed, kept, failed = sorted_out(told)
    if not moved:
        return "None: a shift by 0 positions changes nothing."
    parts = []
    if changed:
        parts += [f"These change: {', '.join(changed)}. They add an encoding of the absolute position to each vector."]
    if failed:
        parts += [f"This fails: {', '.join(failed)}. Its table has only {ROWS} positions."]
    parts += [f"These do not: {', '.join(kept)}. Their scores depend on positions only through the distance, which a "
              "shift does not change."]
    return " ".join(parts)
