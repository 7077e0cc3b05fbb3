"""What stands fixed beneath the tree: the model's likeliest text of all, the world's, and what each width finds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from plmlab.decode import Hypothesis, SearchTooWide, exact_search
from plmlab.labs.beam.tree import Search, told
from plmlab.labs.beam.writers import prompt_of

WIDEST = 10
LIMIT = 2_000
"""The exact search gives up where so many prefixes would be open at once: a second's work."""
NEAR = 1e-4
"""Log-probabilities of one text, read in batches of different sizes, are so near each other."""
SAME = 1e-9
"""The world's are exact but for rounding."""


@dataclass(frozen=True)
class Likeliest:
    """The model's likeliest text, or None where that would take too long; ``read`` prefixes in all. ``empty`` is the
    log-probability of the empty text, None where it has none."""

    text: Hypothesis | None
    read: int
    empty: float | None


def likeliest(search: Search) -> Likeliest:
    """The likeliest of all texts of the search's length, whatever its width and its penalty."""
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
    """A log-probability that JSON can hold: None for −∞."""
    return nats if isfinite(nats) else None


def widths(search: Search) -> list[dict[str, Any]]:
    """What a beam of each width from 1 to 10 finds, with the same penalty."""
    found = []
    for width in range(1, WIDEST + 1):
        finished = replace(search, width=width).steps()[-1].finished
        found.append({"width": width, **(told(search, finished[0]) if finished else {"text": None})})
    return found


def pinned(search: Search, beam: Hypothesis | None, exact: Likeliest, each: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The model's likeliest text and the world's, what each width finds, and what was missed.

    ``search_error``: the likeliest text has a higher score than the ``beam``'s. ``preferred``: it has not, since the
    length penalty makes another one's higher. ``model_error``: the world knows a likelier text than the model's
    likeliest. Each is None where it cannot be told.
    """
    best = exact.text
    world = search.begun.best() if search.begun else None
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
