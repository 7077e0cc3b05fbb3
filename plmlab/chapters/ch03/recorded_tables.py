"""Tables of the recorded results: excess losses, losses on real text, empty translations, translations by search."""

from collections import Counter
from typing import Any

from plmlab.chapters.ch03 import amounts
from plmlab.metrics import perplexity
from plmlab.tables import show_table, spreads
from plmlab.world.datasets.excess_loss import CATEGORIES

METHODS = {"clean": "no noise, no label smoothing", "noise": "noise", "smoothing": "label smoothing",
           "no words lost, noise": "noise, no word deleted",
           "no words lost, smoothing": "label smoothing, no word deleted"}


def wikipedia(real: dict[str, Any]) -> None:
    """Results on real text: the LSTM's development losses; test losses, also by the longest n-gram seen in training."""
    lstm, unigram, rates = real["LSTM"], real["Kneser–Ney"]["tried"]["1"], (0.003, 0.01, 0.03)
    show_table(("LSTM: development loss", *(f"learning rate {rate:g}" for rate in rates)), {
        f"dropout {one['dropout']:g}, {one['updates']:,} updates":
            [f"{-dict(map(tuple, one['rates']))[rate]:.2f}" for rate in rates] for one in lstm["tried"]})
    rows: dict[str, tuple[int | str, str, str]] = {
        "unigram model (development set)": (1, f"{unigram:.2f}", f"{perplexity(unigram):.0f}")}
    rows |= {way: (real[way]["order"], f"{real[way]['loss']:.3f}", f"{perplexity(real[way]['loss']):.0f}")
             for way in amounts.SMOOTHING_METHODS}
    rows |= {name: ("", spreads([lstm[key]], 3)[0], f"{perplexity(lstm[key]['mean']):.0f}")
             for name, key in (("LSTM", "loss"), ("interpolation of the LSTM and the best n-gram model", "mixed"))}
    show_table(("Wikipedia sample", "order", "loss (nats per token)", "perplexity"), rows)
    best, kinds = real["best n-gram"], dict(zip(real["seen"], ("trigram", "bigram", "neither"), strict=True))
    show_table(("longest n-gram in the training text", "% of the test tokens", f"{best}: loss", "LSTM: loss"), {
        kinds[kind]: (f"{share:.0%}", f"{real[best]['seen'][kind]:.2f}", spreads([lstm["seen"][kind]], 2)[0])
        for kind, share in real["seen"].items()})


def excess_losses(sizes: dict[str, Any]) -> None:
    """Nats above the floor by word category, and for verbs by distance to the subject, for each training-set size."""
    counts = Counter(min(distance, amounts.FAR) for distance in amounts.distances(amounts.test_sentences()))
    by_category, by_distance = {}, {"number of verbs": [counts[distance] for distance in sorted(counts)]}
    for size, one in sizes.items():
        ngram, lstm, sentences = one["Kneser–Ney"], one["LSTM"], f"{int(size):,} sentences"
        by_category[f"Kneser–Ney, {sentences}"] = [ngram["gaps"][kind] for kind in CATEGORIES]
        by_category[f"LSTM, {sentences}"] = [lstm["gaps"][kind]["mean"] for kind in CATEGORIES]
        by_distance[f"Kneser–Ney, {sentences}"] = list(ngram["agreement"].values())
        by_distance[f"LSTM, {sentences}"] = [point["mean"] for point in lstm["agreement"].values()]
    show_table(("excess over the floor (nats), by word category", *CATEGORIES), by_category)
    names = (f"{distance} or more" if distance == amounts.FAR else str(distance) for distance in sorted(counts))
    show_table(("excess over the floor (nats) at verbs, by distance from the subject (words)", *names), by_distance)


def empty_translations(arms: dict[str, Any]) -> None:
    """Percentage of telegrams whose most probable translation is empty, by number of sentences, and of updates."""
    rows = {}
    for name, count in [("clean", "4"), *((name, count) for name in ("noise", "smoothing") for count in "1234")]:
        one = arms[name]["updates"]["1500"][count]
        ways = (one[way]["empty"] for way in ("exact", "beam 20", "beam 5", "beam 1"))
        rows[f"{METHODS[name]}: {count}"] = (f"{one['p(empty)']['mean']:.4f}", f"{one['p(best)']['mean']:.4f}",
                                             *spreads([*ways, arms[name]["ideal"][count]["empty"]]))
    show_table(("training method: number of sentences", "p(empty), mean", "p(most probable other text), median",
                "% empty: exact search", "% empty: width 20", "% empty: width 5", "% empty: greedy",
                "% empty: ideal model, exact search"), rows)
    updates = {"200": "200 updates", "600": "600 updates", "1500": "1,500 updates", "4500": "4,500 updates"}
    show_table(("% empty (four sentences, exact search)", *updates.values(), "ideal model"), {
        METHODS[name]: [spreads([arm["updates"][steps]["4"]["exact"]["empty"]])[0] if steps in arm["updates"] else "–"
                        for steps in updates] + spreads([arm["ideal"]["4"]["empty"]]) for name, arm in arms.items()})


def translations_by_search(arms: dict[str, Any], causes: dict[str, Any]) -> None:
    """Telegrams of four sentences: correct translations by search method, the rank of [END] where the most probable
    translation is empty, and the results with label smoothing undone. ``causes`` is the record of the causes."""
    ways = {"greedy": "beam 1", "width 5": "beam 5", "width 20": "beam 20", "exact": "exact",
            "exact, without the empty text": "exact, not empty", "width 20, α = 1": "beam 20, alpha 1"}
    show_table(("% correct", *ways), {
        METHODS[name]: spreads([arms[name]["updates"]["1500"]["4"][way]["right"] for way in ways.values()])
        for name in ("clean", "noise", "smoothing")})
    show_table(("% empty (exact search)", "trained model", "ideal model", "both", "rank of [END], median",
                "rank of [END], best"), {
        METHODS[name]: [*spreads([one["model"], one["perfect"], one["both"]]),
                        *spreads([one["rank"], one["best rank"]], 0)] for name, one in causes.items()})
    undone = causes["smoothing"]["undone"]
    show_table(("label smoothing undone", "greedy", "width 20", "exact"), {
        name: spreads([undone[way][key] for way in ("beam 1", "beam 20", "exact")])
        for name, key in (("% empty", "empty"), ("% correct", "right"))})
