"""Recorded results of chapter 08 as table rows, and the outcomes of the rules that the chapter states before running
them.

A table is a dict, row name → cells. Scores are in percent: the mean and, in brackets, the range of three seeds.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from plmlab import recipes
from plmlab.chapters.ch08.word_overlap import overlap_score
from plmlab.recipes import separated
from plmlab.tables import spreads
from plmlab.transfer import majority

ABLATION_TASKS = ("acceptability", "paraphrase", "extractive QA")
"""The tasks on which all pretraining variants are fine-tuned."""
TRAINING = {"from scratch": "from scratch", "frozen, last layer": "frozen: linear, last layer",
            "frozen, all layers": "frozen: linear, all layers",
            "frozen, all layers + BiLSTM": "frozen: BiLSTM, all layers", "fine-tuned": "fine-tuned"}
VARIANTS = {"BERT": "BERT", "no next sentence": "BERT, no NSP", "left to right": "left-to-right, no NSP",
            "+ BiLSTM": "left-to-right + BiLSTM", "mask lifted": "left-to-right, causal mask removed",
            "from scratch": "from scratch"}
MASKING = {"80/10/10": ("BERT, frozen", "BERT"), "always [MASK]": ("always [MASK], frozen", "always [MASK]")}
"""Masking → its runs on NER: with frozen features, and fine-tuned."""

Rows = dict[str, list[str]]


@cache
def recorded() -> dict[str, Any]:
    """The precomputed results of ``plmlab recipe 08``."""
    return recipes.recorded("08")["numbers"]


def outcome(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """The outcome of the claim that one score is above the other.

    "supported" if the lowest seed of ``one`` is above the highest of ``other``, "not supported" if the mean of
    ``other`` is at least as high, otherwise "inconclusive".
    """
    if separated(one, other):
        return "supported"
    return "not supported" if other["mean"] >= one["mean"] else "inconclusive"


def masking_rates() -> Rows:
    """Excess of the loss over the floor (in percent of it), by masking rate and number of updates."""
    return {f"{run['share']:.0%}, {run['updates']:,} updates": spreads([run["above"]])
            for run in recorded()["positions asked"]}


def transfer() -> dict[str, Rows]:
    """For each task, the test scores by number of labels, and the learning rate; with baselines where the task has
    two classes."""
    counts = _label_counts()
    tables = {task: {TRAINING[name]: [
        *(spreads([run["labels"][count]["score"]])[0] if count in run["labels"] else "" for count in counts),
        f"{run['lr']:g}"] for name, run in runs.items()} for task, runs in recorded()["transfer"]["tasks"].items()}
    blank = [""] * (len(counts) - 1)
    for task in ("acceptability", "paraphrase"):
        tables[task]["baseline: majority class"] = [*blank, f"{100 * majority(task):.0f}", ""]
    tables["paraphrase"]["baseline: word overlap"] = [*blank, f"{100 * overlap_score():.0f}", ""]
    return tables


def transfer_outcomes() -> Rows:
    """For each task and number of labels: is fine-tuning above training from scratch?"""
    return {task: [outcome(*(runs[name]["labels"][count]["score"] for name in ("fine-tuned", "from scratch")))
                          for count in _label_counts()]
            for task, runs in recorded()["transfer"]["tasks"].items()}


def transfer_gains() -> dict[str, list[float]]:
    """For each task, the fine-tuned mean minus the mean from scratch, in percentage points, by number of labels."""
    def mean(run: Mapping[str, Any], count: str) -> float:
        return 100 * run["labels"][count]["score"]["mean"]
    return {task: [mean(runs["fine-tuned"], count) - mean(runs["from scratch"], count)
                          for count in _label_counts()]
            for task, runs in recorded()["transfer"]["tasks"].items()}


def ablation() -> Rows:
    """The test scores of all pretraining variants, and the word-overlap baseline for paraphrase."""
    return {name: spreads([recorded()["both sides"]["arms"][variant][task]["score"] for task in ABLATION_TASKS])
            for variant, name in VARIANTS.items()} | {
                "baseline: word overlap": ["", f"{100 * overlap_score():.0f}", ""]}


def ablation_outcomes() -> Rows:
    """The outcomes of both claims on each task."""
    arms = recorded()["both sides"]["arms"]
    claims = {"both sides matter: BERT, no NSP, outperforms left-to-right": ("no next sentence", "left to right"),
              "NSP matters: BERT outperforms BERT, no NSP": ("BERT", "no next sentence")}
    return {claim: [outcome(*(arms[name][task]["score"] for name in pair)) for task in ABLATION_TASKS]
            for claim, pair in claims.items()}


def pretraining() -> Rows:
    """The amount of training text, in million tokens, and the learning rate of each pretraining variant."""
    return {VARIANTS.get(name, name): [f"{run['million']['mean']:.1f}", f"{run['lr']:g}"]
            for name, run in recorded()["both sides"]["ways"].items()}


def masking() -> Rows:
    """NER with frozen features and fine-tuned, and the accuracy on visible words, for both kinds of masking; then the
    outcomes of the claim that 80/10/10 is better."""
    arms, ways = recorded()["both sides"]["arms"], recorded()["both sides"]["ways"]
    scores = {name: [arms[run]["NER"]["score"] for run in runs] for name, runs in MASKING.items()}
    return {name: spreads([*scores[name], ways[tuned]["words in sight"]]) for name, (_, tuned) in MASKING.items()} | {
        "claim: 80/10/10 outperforms always [MASK]": [*map(outcome, *scores.values()), ""]}


def _label_counts() -> list[str]:
    return [str(count) for count in recorded()["transfer"]["labels"]]
