"""Probing each layer for parts of speech and word senses, by the rules of `plmlab.chapters.ch05.probes`."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.chapters.ch05.probes import DECIDING
from plmlab.chapters.ch05.tasks import SEEDS
from plmlab.example import BidirectionalExample
from plmlab.layers.scalar_mix import centred
from plmlab.recipes import Parts, seed_summary
from plmlab.senses import error_by_pattern
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch05 import sense_probes, tag_probes
from studies.ch05.pretrained import BATCH, UPDATES, texts
from studies.ch05.readers import READERS, SEEDED, TWO_SIDED, reader

Told = dict[str, dict[str, Any]]


def views(layers: Sequence[Float[Tensor, "word _"]], name: str) -> dict[str, Tensor]:
    """Inputs of the probes: each layer, by its number; and for a biLM and CoVe the mean of all layers, each first
    normalized to mean 0 and variance 1."""
    inputs = {str(number): layer for number, layer in enumerate(layers)}
    if name in TWO_SIDED:
        width = layers[-1].shape[1]
        wide = [layer.repeat(1, width // layer.shape[1]) for layer in layers]
        inputs["mean"] = torch.stack([centred(layer) for layer in wide]).mean(0)
    return inputs


def read_off(folder: str, name: str, seed: int) -> dict[str, Told]:
    """View of a reader → "tags" and "senses" → test set → accuracy (``share``) and its standard ``error``; the view
    "2 − 1" is the difference between the two layers."""
    read = reader(name, folder, seed)
    by_part = [views(read([sentence.words for sentence in part.sentences]), name) for part in tag_probes.tagged()]
    rows = sense_probes.all_rows()
    starts = np.cumsum([0, *(len(row.words) for row in rows)])
    indices = [int(start) + row.place for start, row in zip(starts[:-1], rows, strict=True)]
    occurrences = views(read([row.words for row in rows]), name)
    tags = {view: tag_probes.read_tags([part[view] for part in by_part]) for view in by_part[0]}
    senses = {view: sense_probes.read_senses(vectors[indices]) for view, vectors in occurrences.items()}
    results = {view: {"tags": tags_told(tags[view]), "senses": senses_told(senses[view])} for view in tags}
    if {"1", "2"} <= set(tags):
        results["2 − 1"] = {
            "tags": {test_set: told_of(tags["2"][test_set].right - tags["1"][test_set].right, *tags["2"][test_set][1:])
                     for test_set in tag_probes.EXAMS},
            "senses": {test_set: told_of(senses["2"][test_set] - senses["1"][test_set], sense_probes.asked(test_set))
                       for test_set in sense_probes.EXAMS}}
    return results


def told_of(right: np.ndarray, rows: Sequence[Any], weights: np.ndarray | None = None) -> dict[str, float]:
    """Accuracy, or difference in accuracy (``share``), with its standard ``error``, clustered by sentence pattern."""
    return {"share": float(np.average(right, weights=weights)),
            "error": error_by_pattern(right.tolist(), rows, None if weights is None else weights.tolist())}


def tags_told(exams: Mapping[str, tag_probes.Right]) -> dict[str, dict[str, float]]:
    """Map each test set to ``share`` and ``error`` for parts of speech."""
    return {test_set: told_of(*correct) for test_set, correct in exams.items()}


def senses_told(exams: Mapping[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Map each test set to ``share`` and ``error`` for senses."""
    return {test_set: told_of(right, sense_probes.asked(test_set)) for test_set, right in exams.items()}


def read_before(seed: int) -> float:
    """Fraction of the sense test sentences that occur verbatim in the pretraining text of this chapter's biLM."""
    source, test_sentences = texts("words", seed), {row.words for row in sense_probes.asked(DECIDING["senses"])}
    seen: set[tuple[str, ...]] = set()
    by_ids = {tuple(world_tokenizer().encode(" ".join(words), plain=True)): words for words in test_sentences}
    for step in range(UPDATES):
        for example in source.examples(step):
            assert isinstance(example, BidirectionalExample)
            key = tuple(example.forwards.tokens[1:].tolist())
            if key in by_ids:
                seen.add(by_ids[key])
    return len(seen) / len(test_sentences)


def measure(parts: Parts) -> dict[str, Any]:
    """``readers``: reader → view → "tags" and "senses" → test set → accuracy with spread, and ``error``; ``rules``: the
    same for the baselines without a network, without spread; ``asked``: sizes of the sets; ``read before``: fraction of
    the sense test set seen in pretraining; ``sentences``: number of pretraining sentences per model."""
    folder = str(parts.folder)
    seeds = {name: SEEDS if name in SEEDED else SEEDS[:1] for name in READERS}
    runs = parts(read_off, [(folder, name, seed) for name in READERS for seed in seeds[name]])
    results: dict[str, Any] = {}
    for name in READERS:
        by_seed = {seed: runs[folder, name, seed] for seed in seeds[name]}
        results[name] = {view: {what: {test_set: {
            **seed_summary({seed: run[view][what][test_set]["share"] for seed, run in by_seed.items()}),
            "error": mean(run[view][what][test_set]["error"] for run in by_seed.values())}
            for test_set in exams} for what, exams in by_seed[SEEDS[0]][view].items()} for view in by_seed[SEEDS[0]]}
    known, _, all_words, several = tag_probes.tagged()
    return {"readers": results, "rules": {
        "tags": {"by word or ending": tags_told(tag_probes.guess_tags(tag_probes.by_word_or_ending)),
                 "by word, endings and neighbours": tags_told(tag_probes.examined(tag_probes.by_neighbours))},
        "senses": {rule: senses_told(right) for rule, right in sense_probes.without_a_network().items()}},
            "asked": {"labelled": len(known.words), "all": len(all_words.words),
                      "several": sum(word in tag_probes.several() for word in several.words),
                      "senses": len(sense_probes.asked(DECIDING["senses"])),
                      "other patterns": len(sense_probes.asked("other patterns"))},
            "read before": parts(read_before, [(SEEDS[0],)])[SEEDS[0],], "sentences": UPDATES * BATCH}
