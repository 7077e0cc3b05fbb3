"""Tables of the recorded results: excess losses of n-gram models and LSTM, and empty translations."""

from collections import Counter
from typing import Any

from plmlab.chapters.ch03 import amounts
from plmlab.tables import show_table, spreads
from plmlab.world.datasets.excess_loss import CATEGORIES

METHODS = {"clean": "no noise, no label smoothing", "noise": "noise", "smoothing": "label smoothing",
           "no words lost, noise": "noise, no word deleted",
           "no words lost, smoothing": "label smoothing, no word deleted"}


def excess_losses(sizes: dict[str, Any]) -> None:
    """Nats above the floor by word category, and for verbs by distance to the subject, for each training-set size."""
    counts = Counter(min(distance, amounts.FAR) for distance in amounts.distances(amounts.test_sentences()))
    by_category, by_distance = {}, {"number of verbs": [counts[distance] for distance in sorted(counts)]}
    for size, one in sizes.items():
        ngram, lstm = one["Kneser–Ney"], one["LSTM"]
        by_category[f"{int(size):,}: Kneser–Ney"] = [ngram["gaps"][kind] for kind in CATEGORIES]
        by_category[f"{int(size):,}: LSTM"] = [lstm["gaps"][kind]["mean"] for kind in CATEGORIES]
        by_distance[f"{int(size):,}: Kneser–Ney"] = list(ngram["agreement"].values())
        by_distance[f"{int(size):,}: LSTM"] = [point["mean"] for point in lstm["agreement"].values()]
    show_table(("nats above the floor, by word category", *CATEGORIES), by_category)
    names = (f"{distance} or more" if distance == amounts.FAR else str(distance) for distance in sorted(counts))
    show_table(("nats above the floor, by distance from verb to subject (words)", *names), by_distance)


def empty_translations(arms: dict[str, Any]) -> None:
    """Percentage of telegrams whose most probable translation is empty, by number of sentences."""
    rows = {}
    for name, count in [("clean", "4"), *((name, count) for name in ("noise", "smoothing") for count in "1234")]:
        one = arms[name]["updates"]["1500"][count]
        ways = (one[way]["empty"] for way in ("exact", "beam 20", "beam 5", "beam 1"))
        rows[f"{METHODS[name]}: {count}"] = (f"{one['p(empty)']['mean']:.4f}", f"{one['p(best)']['mean']:.4f}",
                                             *spreads([*ways, arms[name]["ideal"][count]["empty"]]))
    show_table(("training method: sentences", "p(empty), mean", "p(most probable other), median",
                "% empty: exact search", "width 20", "width 5", "greedy", "ideal model, exact search"), rows)
