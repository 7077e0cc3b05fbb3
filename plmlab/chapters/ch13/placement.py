"""Where the authors' placement of T5's spans and ours put them."""

from random import Random
from statistics import fmean

from plmlab.objectives.span_corruption import Placement, anywhere, drawn_spans, end_dropped

SAMPLES = 2000
PLACEMENTS: dict[str, Placement] = {"authors' code": end_dropped, "anywhere (ours)": anywhere}


def placements() -> dict[str, tuple[float, ...]]:
    """Length and placement → mean number of spans; percentage of samples whose last, and whose first token is dropped;
    and mean number of target tokens, sentinels included."""
    rng, found = Random(0), dict[str, tuple[float, ...]]()
    for length in (20, 512):
        for name, place in PLACEMENTS.items():
            samples = [drawn_spans(length, 0.15, 3.0, place, rng) for _ in range(SAMPLES)]
            found[f"{length}, {name}"] = (
                fmean(map(len, samples)), 100 * fmean(spans[-1][1] == length for spans in samples),
                100 * fmean(spans[0][0] == 0 for spans in samples),
                fmean(len(spans) + (spans[-1][1] < length) + sum(end - begin for begin, end in spans)
                      for spans in samples))
    return found
