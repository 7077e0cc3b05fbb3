"""The exact results shown below the tree: the most likely text under the model and under the world, and the best text
for each beam width."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from plmlab.decode import Hypothesis, SearchTooWide, exact_search
from plmlab.labs.beam.adapters import prompt_of
from plmlab.labs.beam.tree import Search, told

WIDEST = 10
LIMIT = 2_000
"""The exact search stops when more prefixes than this are open at once (about one second)."""
NEAR = 1e-4
"""Tolerance for log-probabilities of the same text computed in batches of different sizes."""
SAME = 1e-9
"""Tolerance for the world's log-probabilities, which are exact up to rounding."""


@dataclass(frozen=True)
class Likeliest:
    """The model's most likely text, or None if the search was too wide; ``read`` is the number of prefixes expanded,
    and ``empty`` the log-probability of the empty text (None if its probability is 0)."""

    text: Hypothesis | None
    read: int
    empty: float | None


def likeliest(search: Search) -> Likeliest:
    """The model's most likely text up to the maximum length, independent of the beam width and the length penalty."""
    writer, prompt = search.writer, prompt_of(search.ids)
    with writer.at_rest():
        logprobs = writer.model.step(prompt, writer.model.start()).double().log_softmax(-1)[0]
        empty = None if writer.vocab.end is None else finite(logprobs[writer.vocab.end].item())
        try:
            found = exact_search(writer.model, prompt, writer.vocab, length=search.length, limit=LIMIT)
        except SearchTooWide:
            return Likeliest(None, 0, empty)
    return Likeliest(found.best[0], sum(found.visited), empty)


def finite(nats: float) -> float | None:
    """Convert a log-probability for JSON, which has no −∞: None instead."""
    return nats if isfinite(nats) else None


def widths(search: Search) -> list[dict[str, Any]]:
    """The best text found with each beam width from 1 to 10, with the same length penalty."""
    rows = []
    for width in range(1, WIDEST + 1):
        finished = replace(search, width=width).steps()[-1].finished
        rows.append({"width": width, **(told(search, finished[0]) if finished else {"text": None})})
    return rows


def pinned(search: Search, beam: Hypothesis | None, exact: Likeliest, each: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The most likely texts under the model and the world, the best text for each width, and the errors.

    ``search_error``: the model's most likely text has a higher score than the text of the ``beam``. ``preferred``: it
    has no higher score, because the length penalty favours another text. ``model_error``: another text is more likely
    in the world than the model's most likely text. A value is None if it is unknown.
    """
    best = exact.text
    world = search.started.best() if search.started else None
    same = best is not None and beam is not None and best.tokens == beam.tokens
    better = best is not None and beam is not None and search.score(best) > search.score(beam) + NEAR
    model = None if best is None else told(search, best)
    return {
        "model": model,
        "read": exact.read, "limit": LIMIT, "empty": exact.empty, "widths": list(each),
        "world": None if world is None else {
            "text": world[0], "count": world[1], "total": world[2], "long": world[1] > search.length,
        },
        "search_error": None if best is None or beam is None else better,
        "preferred": not same and not better and best is not None,
        "model_error": None if model is None or model["cut"] or world is None else
            model["world"] is None or model["world"] < world[2] - SAME,
    }
