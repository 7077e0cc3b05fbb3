"""Recorded results of chapter 10 as rows of tables and lines of plots: accuracy on answers by distance, and losses."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from plmlab.chapters.ch10.recall_task import BIN, MAX_DISTANCE, near_accuracy
from plmlab.plots import lines
from plmlab.tables import spreads

BINS = tuple(map(str, range(BIN, MAX_DISTANCE + 1, BIN)))
"""The keys of accuracies by distance: the largest distance of each bin."""
DISTANCES = tuple(f"{int(largest) - BIN + 1}–{largest}" for largest in BINS)
"""The same bins as column names."""
OTHER_POSITIONS = {"absolute": "absolute, restarting", "continued": "absolute, continuing",
                   "no positions": "no positions"}
"""The variants with a memory but without relative positions, with their names in tables."""


def accuracy_cells(right: Mapping[str, Any]) -> list[str]:
    """Accuracy by distance, in percent, as table cells: with the range over seeds if it was recorded for several."""
    return [spreads([value])[0] if isinstance(value, Mapping) else f"{100 * value:.0f}"
            for value in (right[largest] for largest in BINS)]


def accuracy_plot(title: str, variants: Mapping[str, Mapping[str, Any]]) -> go.Figure:
    """Line plot of recorded accuracy by distance, with the range over seeds; ``variants``: name → accuracy by
    distance."""
    def percent(right: Mapping[str, Any], statistic: str) -> list[float]:
        return [100 * right[largest][statistic] for largest in BINS]
    return lines(title, [int(largest) for largest in BINS],
                 {name: percent(right, "mean") for name, right in variants.items()},
                 spread={name: (percent(right, "low"), percent(right, "high")) for name, right in variants.items()},
                 x_title="distance to the fact (positions, bins of 16)", y_title="accuracy on answers (%)")


def context_variants(numbers: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Name → recorded accuracy by distance of the variants with and without a memory, after the longer runs."""
    runs = numbers["longer"]["arms"]
    return {"with a memory of 64": runs["memory"]["in order"]["right"],
            "without a memory": runs["none"]["in order"]["right"],
            "window of 80, chunks": runs["window"]["in order"]["right"],
            "window of 80, sliding": runs["window"]["windows"]["right"]}


def rule_rows(numbers: Mapping[str, Any]) -> dict[str, list[str]]:
    """Rows of the rule without a network, in the context of each of the `context_variants`."""
    rules = numbers["distances"]["rule"]
    return {f"rule-based baseline: {name}": accuracy_cells(rules[key])
            for name, key in zip(context_variants(numbers), ("memory", "none", "window", "sliding"), strict=True)}


def position_rows(numbers: Mapping[str, Any]) -> dict[str, list[str]]:
    """Rows of the positional encodings: accuracy on facts 17 to 64 positions back, loss on answers, loss per word."""
    runs, positions = numbers["longer"]["arms"], numbers["positions"]["arms"]
    again = numbers["positions"]["second rate"]
    results = {
        "with a memory: relative": runs["memory"]["in order"],
        **{f"with a memory: {name} (rate {positions[arm]['lr']})": positions[arm]
           for arm, name in OTHER_POSITIONS.items()},
        f"with a memory: absolute, continuing (rate {again['lr']})": again,
        "segments of 16: relative": runs["none"]["in order"],
        "segments of 16: absolute": runs["absolute, none"]["in order"],
        "sliding window of 80: relative": runs["window"]["windows"],
        "sliding window of 80: absolute": runs["absolute window"]["windows"]}
    return {name: [*spreads([near_accuracy(one["right"])]), *spreads([one["answers"], one["all"]], 2)]
            for name, one in results.items()}


def rate_rows(numbers: Mapping[str, Any], rates: Sequence[float]) -> dict[str, list[str]]:
    """Rows of the pilot runs of absolute positions and of none, by learning rate: accuracy on development answers 17
    to 64 positions back, in percent; "–" if a rate was not tried."""
    scores = {arm: dict(numbers["positions"]["arms"][arm]["rates"]) for arm in OTHER_POSITIONS}
    return {name: [f"{100 * scores[arm][rate]:.0f}" if rate in scores[arm] else "–" for rate in rates]
            for arm, name in OTHER_POSITIONS.items()}


def long_text_rows(numbers: Mapping[str, Any]) -> dict[str, list[str]]:
    """Rows of texts of twice the length: accuracy, and loss per word, in the first and in the second half."""
    results = {"relative (1,200 updates)": numbers["distances"]["other modes"]["memory"]["halves"],
               "absolute, continuing (3,600)": numbers["positions"]["arms"]["continued"]["halves"]}
    return {name: [*spreads([half["first"]["right"], half["second"]["right"]]),
                   *spreads([half["first"]["all"], half["second"]["all"]], 2)] for name, half in results.items()}


def context_length_rows(numbers: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Rows of the relative effective context lengths: direct context; trained for r = 0.1, 0.5 and 1; untrained for
    0.1 and 1."""
    effective = numbers["effective length"]
    names = {"memory": "memory of 64", "longer memory": "memory of 144 at test time", "none": "without a memory",
             "window": "window of 80", "absolute window": "window of 80, absolute positions"}
    return {names[key]: [direct, *spreads((effective["trained"][share][key] for share in ("0.1", "0.5", "1.0")), 0),
                         *spreads((effective["untrained"][share][key] for share in ("0.1", "1.0")), 0)]
            for key, direct in effective["direct"].items()}


def wikipedia_rows(numbers: Mapping[str, Any]) -> dict[str, list[str]]:
    """Rows of the loss per token on real text."""
    wiki = numbers["wikipedia"]
    losses = {"memory of 96": wiki["arms"]["memory"]["in order"],
              "memory of 96, emptied before each segment at test time": wiki["arms"]["memory"]["emptied"],
              "memory of 192 at test time": wiki["arms"]["memory"]["longer"],
              "without a memory, segments of 32": wiki["arms"]["none"]["in order"],
              "sliding window of 128": wiki["arms"]["window"]["windows"]}
    n_grams = {"1": "unigram model", "2": "bigram model", "3": "trigram model"}
    return ({name: spreads([loss], 3) for name, loss in losses.items()}
            | {name: [f"{wiki['n-grams'][n]:.3f}"] for n, name in n_grams.items()})


def story_rows(numbers: Mapping[str, Any]) -> dict[str, list[str]]:
    """Rows of the accuracy on texts with threads and on stories."""
    stories = numbers["stories"]
    names = {"threads": "texts with threads, fact within 64 positions", "stories": "stories, memory of 64",
             "long memory": "stories, memory of 1,024 at test time", "no story": "stories, question without the story"}
    return ({name: spreads([stories["right"][key]]) for key, name in names.items()}
            | {"chance": ["33"], "word-overlap baseline": [f"{100 * stories['word overlap']:.0f}"]})
