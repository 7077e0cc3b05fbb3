"""The links that attention finds, and those that rivals without a network count, by the rule of the chapter's `looks`.

After a pilot (seed 0, not recorded), in which "general" looked at the word *behind* the partner: an encoder of one
direction knows a word, and that it is over, at the next position too. So the encoder of both directions, which Bahdanau
et al. have, is an arm of its own with the same score ("two-way"), and beside the share on the partner stand the shares
on its neighbours.

Rivals: the diagonal alone; IBM model 1 (`ibm`), without a pull and with the one that is best on the passages to choose
by; the attention before any training. A Transformer stands beside them: the mean of its heads, and the head that is
best on the passages to choose by.
"""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.chapters.ch04.arms import ARMS, LONGER, SEEDS, UPDATES
from plmlab.chapters.ch04.gold import Links, gold, names
from plmlab.chapters.ch04.looks import looked
from plmlab.chapters.ch04.translation import new, pairs, test_set
from plmlab.interpret.alignments import ACROSS
from plmlab.interpret.readable import inference
from plmlab.interpret.watching import watch
from plmlab.recipes import Parts, seed_statistics
from plmlab.world.datasets.passages import Passage
from studies.ch04.bottleneck import table
from studies.ch04.ibm import links, near
from studies.ch04.trainings import STUDY, to_choose

LOOKING = (("dot", UPDATES), ("general", UPDATES), ("general", LONGER), ("two-way", UPDATES), ("additive", UPDATES))
AIMS, COUNT = (10, 30, 60), 60
SHIFTS = (-1, 0, 1)
"""How many words later the weights are read off than the word is said; and how far behind the partner they may be."""
PULLS = (0.0, 2.0, 4.0, 8.0)


def right(weights: Sequence[Float[Tensor, "time key"]], some: Sequence[Passage], shift: int = 0, behind: int = 0,
          links: Callable[[Passage], Links] = gold) -> float:
    """The share of linked words whose partner has the heaviest weight, [END] of the source being a position too.
    ``weights`` are those of each passage; ``shift`` says how many words later than the word they are read off,
    ``behind`` how many positions behind the partner the heaviest weight is to lie."""
    asked = [(rows, one + shift, other) for rows, passage in zip(weights, some, strict=True)
             for one, other in links(passage) if one + shift >= 0]
    return fmean(int(rows[position].argmax()) == other + behind for rows, position, other in asked)


def on_partners(weights: Sequence[Float[Tensor, "time key"]], some: Sequence[Passage]) -> float:
    """The mean weight on the partner."""
    return fmean(float(rows[one, other]) for rows, passage in zip(weights, some, strict=True)
                 for one, other in gold(passage))


def heads(model: torch.nn.Module, some: Sequence[Passage]) -> dict[str, list[Float[Tensor, "time key"]]]:
    """Head, by name → its weights, a passage each."""
    with inference(model), watch(model, ACROSS) as seen:
        model(pairs(some))
    return {f"{name} {head}": list(seen[name][:, head]) for name in seen for head in range(seen[name].shape[1])}


def attended(folder: str, name: str, updates: int, seed: int) -> dict[str, dict[str, float]]:
    """Length → the share of right links by ``shift``, the share ``behind`` the partner, the ``weight`` on the partner,
    the share of ``names`` that is right, and the share that is right ``untrained``."""
    model, fresh = STUDY.trained(folder, name, updates=updates, seed=seed), new(ARMS[name], seed)
    told = {}
    for aim in AIMS:
        some = test_set(aim, seed, COUNT)
        weights = looked(model, some)
        told[str(aim)] = {f"shift {shift}": right(weights, some, shift) for shift in SHIFTS} | {
            f"behind {shift}": right(weights, some, behind=shift) for shift in SHIFTS} | {
            "weight": on_partners(weights, some), "names": right(weights, some, links=names),
            "untrained": right(looked(fresh, some), some)}
    return told


def transformer(folder: str, seed: int) -> dict[str, dict[str, float]]:
    """Length → the share of right links by the ``mean`` of a Transformer's heads, and by its ``best`` head."""
    model, told = STUDY.trained(folder, "transformer", updates=UPDATES, seed=seed), {}
    chosen = {name: right(weights, to_choose()) for name, weights in heads(model, to_choose()).items()}
    best = max(chosen, key=chosen.__getitem__)
    for aim in AIMS:
        some = test_set(aim, seed, COUNT)
        told[str(aim)] = {"mean": right(looked(model, some), some), "best": right(heads(model, some)[best], some)}
    return told


def by_counting(some: Sequence[Passage], pull: float) -> float:
    """The share of right links by IBM model 1."""
    proposed = [links(table(pull), passage.english, passage.chinese, pull) for passage in some]
    return fmean(found[one] == other for found, passage in zip(proposed, some, strict=True)
                 for one, other in gold(passage))


def diagonal(some: Sequence[Passage]) -> float:
    """The share of gold words whose partner stands where the diagonal passes."""
    def nearest(passage: Passage, position: int) -> int:
        sizes = len(passage.chinese), len(passage.english)
        return max(range(sizes[1]), key=lambda other: near(position, sizes[0], other, sizes[1], 1.0))

    return fmean(nearest(passage, one) == other for passage in some for one, other in gold(passage))


def counted(pull: float, seed: int) -> dict[str, float]:
    """Length → the share of right links by IBM model 1 with a pull; ``choose``: that on the passages to choose by."""
    return {str(aim): by_counting(test_set(aim, seed, COUNT), pull) for aim in AIMS} | {
        "choose": by_counting(to_choose(), pull)}


def without_counting(seed: int) -> dict[str, dict[str, float]]:
    """Length → the share on the ``diagonal``, and how many gold ``words``, ``names`` among them, and Chinese words in
    ``all`` there are."""
    asked = {aim: test_set(aim, seed, COUNT) for aim in AIMS}
    return {str(aim): {"diagonal": diagonal(some), "words": sum(len(gold(one)) for one in some),
                       "names": sum(len(names(one)) for one in some),
                       "all": sum(len(one.chinese) for one in some)} for aim, some in asked.items()}


def measure(parts: Parts) -> dict[str, Any]:
    """``attention``: kind and updates → length → figures with spread; ``transformer`` and ``places`` alike; ``ibm``:
    pull → length → the share of right links with spread; ``pull``: the best on the passages to choose by."""
    folder = str(parts.folder)
    runs = parts(attended, [(folder, *arm, seed) for arm in LOOKING for seed in SEEDS])
    others = parts(transformer, [(folder, seed) for seed in SEEDS])
    counts = parts(counted, [(pull, seed) for pull in PULLS for seed in SEEDS])
    places = parts(without_counting, [(seed,) for seed in SEEDS])
    return {
        "attention": {f"{name}, {updates:,}": seed_statistics({seed: runs[folder, name, updates, seed]
                                                               for seed in SEEDS})
                      for name, updates in LOOKING},
        "transformer": seed_statistics({seed: others[folder, seed] for seed in SEEDS}),
        "places": seed_statistics({seed: places[seed,] for seed in SEEDS}),
        "ibm": {f"{pull:g}": seed_statistics({seed: counts[pull, seed] for seed in SEEDS}) for pull in PULLS},
        "pull": max(PULLS, key=lambda pull: counts[pull, SEEDS[0]]["choose"])}
