"""Alignments from attention and from baselines without a network, evaluated by the rule of the chapter's module.

The study was designed after a pilot (seed 0, not recorded), in which "general" attended to the word *after* the aligned
word: a unidirectional encoder still represents a word at the next position, where it knows that the word is complete.
Therefore the bidirectional encoder, which Bahdanau et al. use, is a separate configuration with the same score function
("two-way"), and the accuracy is also given for the neighbours of the aligned word.

Baselines: the diagonal alone; IBM model 1 (`ibm`), without a diagonal prior and with the prior that is best on the
development passages; the attention of the untrained model. For comparison, a Transformer: the mean of its heads, and
the head that is best on the development passages.
"""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.chapters.ch04.arms import ARMS, LONGER, SEEDS, UPDATES
from plmlab.chapters.ch04.attention_alignment import attention_matrices
from plmlab.chapters.ch04.gold import Links, gold, names
from plmlab.chapters.ch04.translation import new, pairs, test_set
from plmlab.interpret.alignments import ACROSS
from plmlab.interpret.readable import inference
from plmlab.interpret.watching import watch
from plmlab.recipes import Parts, seed_statistics
from plmlab.world.datasets.passages import Passage
from studies.ch04.ibm import links, near
from studies.ch04.single_vector_bottleneck import table
from studies.ch04.trainings import STUDY, to_choose

MECHANISMS = (("dot", UPDATES), ("general", UPDATES), ("general", LONGER), ("two-way", UPDATES), ("additive", UPDATES))
AIMS, COUNT = (10, 30, 60), 60
SHIFTS = (-1, 0, 1)
"""Offsets of the step whose weights are used, and of the expected argmax (see `alignment_accuracy`)."""
PULLS = (0.0, 2.0, 4.0, 8.0)


def alignment_accuracy(weights: Sequence[Float[Tensor, "time key"]], some: Sequence[Passage], shift: int = 0,
                       behind: int = 0, links: Callable[[Passage], Links] = gold) -> float:
    """Alignment accuracy: the fraction of linked words whose aligned word has the highest weight among all source
    positions, including [END].

    ``weights`` holds one matrix per passage. With ``shift``, the weights are those this many steps after the word; with
    ``behind``, the highest weight is expected this many positions after the aligned word.
    """
    linked = [(rows, target + shift, source) for rows, passage in zip(weights, some, strict=True)
              for target, source in links(passage) if target + shift >= 0]
    return fmean(int(rows[target].argmax()) == source + behind for rows, target, source in linked)


def weight_on_aligned(weights: Sequence[Float[Tensor, "time key"]], some: Sequence[Passage]) -> float:
    """Mean attention weight on the aligned word."""
    return fmean(float(rows[target, source]) for rows, passage in zip(weights, some, strict=True)
                 for target, source in gold(passage))


def heads(model: torch.nn.Module, some: Sequence[Passage]) -> dict[str, list[Float[Tensor, "time key"]]]:
    """Map the name of each head to its attention weights, one matrix per passage."""
    with inference(model), watch(model, ACROSS) as seen:
        model(pairs(some))
    return {f"{name} {head}": list(seen[name][:, head]) for name in seen for head in range(seen[name].shape[1])}


def attended(folder: str, name: str, updates: int, seed: int) -> dict[str, dict[str, float]]:
    """Length → alignment accuracy by ``shift`` and by ``behind``, the mean ``weight`` on the aligned word, the accuracy
    on ``names``, and the accuracy of the ``untrained`` model."""
    model, fresh = STUDY.trained(folder, name, updates=updates, seed=seed), new(ARMS[name], seed)
    figures = {}
    for aim in AIMS:
        some = test_set(aim, seed, COUNT)
        weights = attention_matrices(model, some)
        figures[str(aim)] = {f"shift {shift}": alignment_accuracy(weights, some, shift) for shift in SHIFTS} | {
            f"behind {shift}": alignment_accuracy(weights, some, behind=shift) for shift in SHIFTS} | {
            "weight": weight_on_aligned(weights, some), "names": alignment_accuracy(weights, some, links=names),
            "untrained": alignment_accuracy(attention_matrices(fresh, some), some)}
    return figures


def transformer(folder: str, seed: int) -> dict[str, dict[str, float]]:
    """Length → alignment accuracy of the ``mean`` of a Transformer's heads, and of its ``best`` head."""
    model, figures = STUDY.trained(folder, "transformer", updates=UPDATES, seed=seed), {}
    accuracies = {name: alignment_accuracy(weights, to_choose()) for name, weights in heads(model, to_choose()).items()}
    best = max(accuracies, key=accuracies.__getitem__)
    for aim in AIMS:
        some = test_set(aim, seed, COUNT)
        figures[str(aim)] = {"mean": alignment_accuracy(attention_matrices(model, some), some),
                             "best": alignment_accuracy(heads(model, some)[best], some)}
    return figures


def by_counting(some: Sequence[Passage], pull: float) -> float:
    """Alignment accuracy of IBM model 1."""
    proposed = [links(table(pull), passage.english, passage.chinese, pull) for passage in some]
    return fmean(aligned[target] == source for aligned, passage in zip(proposed, some, strict=True)
                 for target, source in gold(passage))


def diagonal(some: Sequence[Passage]) -> float:
    """Alignment accuracy of the diagonal alone."""
    def nearest(passage: Passage, target: int) -> int:
        sizes = len(passage.chinese), len(passage.english)
        return max(range(sizes[1]), key=lambda source: near(target, sizes[0], source, sizes[1], 1.0))

    return fmean(nearest(passage, target) == source for passage in some for target, source in gold(passage))


def counted(pull: float, seed: int) -> dict[str, float]:
    """Length → alignment accuracy of IBM model 1 with prior ``pull``; ``choose``: the accuracy on the development
    passages."""
    return {str(aim): by_counting(test_set(aim, seed, COUNT), pull) for aim in AIMS} | {
        "choose": by_counting(to_choose(), pull)}


def without_counting(seed: int) -> dict[str, dict[str, float]]:
    """Length → accuracy of the ``diagonal``, and the numbers of words with a gold link (``words``), of ``names`` among
    them, and of ``all`` Chinese words."""
    tests = {aim: test_set(aim, seed, COUNT) for aim in AIMS}
    return {str(aim): {"diagonal": diagonal(some), "words": sum(len(gold(item)) for item in some),
                       "names": sum(len(names(item)) for item in some),
                       "all": sum(len(item.chinese) for item in some)} for aim, some in tests.items()}


def measure(parts: Parts) -> dict[str, Any]:
    """``attention``: kind and updates → length → results with spread; ``transformer`` and ``places``: the same;
    ``ibm``: diagonal prior → length → alignment accuracy with spread; ``pull``: the best prior on the development
    passages."""
    folder = str(parts.folder)
    runs = parts(attended, [(folder, *arm, seed) for arm in MECHANISMS for seed in SEEDS])
    others = parts(transformer, [(folder, seed) for seed in SEEDS])
    counts = parts(counted, [(pull, seed) for pull in PULLS for seed in SEEDS])
    places = parts(without_counting, [(seed,) for seed in SEEDS])
    return {
        "attention": {f"{name}, {updates:,}": seed_statistics({seed: runs[folder, name, updates, seed]
                                                               for seed in SEEDS})
                      for name, updates in MECHANISMS},
        "transformer": seed_statistics({seed: others[folder, seed] for seed in SEEDS}),
        "places": seed_statistics({seed: places[seed,] for seed in SEEDS}),
        "ibm": {f"{pull:g}": seed_statistics({seed: counts[pull, seed] for seed in SEEDS}) for pull in PULLS},
        "pull": max(PULLS, key=lambda pull: counts[pull, SEEDS[0]]["choose"])}
