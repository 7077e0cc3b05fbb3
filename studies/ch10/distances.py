"""The distance over which a model recalls an answer, by memory length, positional encoding and training."""

from statistics import fmean
from typing import Any

from plmlab.chapters.ch10 import recall_task
from plmlab.chapters.ch10.arms import ARMS, MEMORY, SEGMENT, WINDOW, new
from plmlab.chapters.ch10.attention_masks import attention_mask
from plmlab.layers.relative import TransformerXLAttention
from plmlab.models.transformer_xl import TransformerXL
from plmlab.recipes import Parts, rates_tried, seed_statistics
from plmlab.recipes.study import Measured, Study
from studies.ch10.arms import LIKE, LIVE, STUDY, UPDATES, Rates, recorded_runs
from studies.ch10.baselines import last_object_accuracy, sliding_window_logits

MEMORIES = (0, 16, 32, 64, 96, 144)
"""Memory lengths at inference, for models trained with a memory of `MEMORY`."""
TWICE = 2 * recall_task.WORDS
"""Length, in words, of texts that are longer than all training texts."""
Told = dict[str, Any]


def other_modes(folder: str, name: str, seed: int) -> Told:
    """Accuracy by distance in modes that differ from training: with sliding ``windows``, so that each word has all the
    context that a window holds; with other memory lengths (``memory 144``); with distances beyond those of training
    clamped to the largest one (``clamped``); and on texts of `TWICE` the length, by the half that contains the
    question."""
    model, test_set = STUDY.trained(folder, name, updates=UPDATES, seed=seed), recall_task.texts("test_set")
    rows, told = recall_task.ids(test_set), {}
    if not ARMS[name].memory and ARMS[name].segment == WINDOW:
        told["windows"] = recall_task.evaluate(sliding_window_logits(model, WINDOW, rows), test_set)._asdict()
    if issubclass(model.attention_class, TransformerXLAttention) and ARMS[name].memory:
        for memory in MEMORIES:
            told[f"memory {memory}"] = results_with(model, memory=memory)
        told["clamped"] = results_with(model, memory=MEMORIES[-1], clamp=WINDOW)
    if ARMS[name].memory:
        told["halves"] = halves(model)
    return told


def results_with(model: TransformerXL, **changes: int) -> Told:
    """Test results of a model with other memory lengths."""
    test_set = recall_task.texts("test_set")
    return recall_task.evaluate(recall_task.segment_logits(model.remembering(**changes), recall_task.ids(test_set)),
                              test_set)._asdict()


def halves(model: TransformerXL) -> Told:
    """Results on texts of twice the length, in the ``first`` and in the ``second`` half: the accuracy on questions
    whose answer is within the memory, and the loss per word."""
    some = recall_task.texts("test_set", TWICE)[:100]
    prices, hits = recall_task.losses_and_hits(recall_task.segment_logits(model, recall_task.ids(some)), some)
    near = [question for question in recall_task.questions(some) if question.distance <= MEMORY]

    def told(begin: int) -> dict[str, float]:
        half = range(begin, begin + recall_task.WORDS)
        return {"right": fmean(float(hits[q.row, q.position]) for q in near if q.position in half),
                "all": float(prices[:, half.start:half.stop].mean())}
    return {"first": told(0), "second": told(recall_task.WORDS)}


def told(name: str, updates: int, found: Measured) -> Told:
    """A variant's learning rate and the rates tried, its number of ``parameters``, its test results with spread, and
    its ``history`` by seed."""
    return {"lr": found.lr, "rates": rates_tried(found.scores), "like": LIKE.get(name, name), "updates": updates,
            "parameters": sum(weight.numel() for weight in new(name, 0).parameters()),
            **recorded_runs(found.runs, "seconds")}


def measure(parts: Parts, tuned: Rates, study: Study = STUDY) -> Told:
    """``arms``: all variants with their spreads; ``other modes``: the variants evaluated in other modes; ``rule``:
    variant → the accuracy of a rule that uses no network and has the same context. The argument ``tuned`` holds the
    learning rates of the variants."""
    found = study.at(parts, {(name, UPDATES): rate for name, rate in tuned.items()}
                     | {("memory", LIVE): tuned["memory"]})
    folder = str(parts.folder)
    named = [name for name in tuned if ARMS[name].memory or ARMS[name].segment == WINDOW]
    runs = parts(other_modes, [(folder, name, seed) for name in named for seed in study.seeds])
    test_set = recall_task.texts("test_set")
    asked = list(recall_task.questions(test_set))
    return {
        "segment": SEGMENT, "memory": MEMORY, "window": WINDOW, "updates": UPDATES,
        "words": len(recall_task.tokenizer()), "questions": len(asked),
        "chance": fmean(1 / len(q.candidates) for q in asked),
        "arms": {name: told(name, UPDATES, found[name, UPDATES]) for name in tuned}
                | {"live": told("memory", LIVE, found["memory", LIVE])},
        "other modes": {name: seed_statistics({seed: runs[folder, name, seed] for seed in study.seeds})
                      for name in named},
        "rule": {name: last_object_accuracy(attention_mask(name), test_set)
                 for name in ("memory", "none", "window", "sliding")},
    }
