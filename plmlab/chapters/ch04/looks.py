"""Are alignments found without being told? The slot that a decoder looks at most, against the gold partners.

Only words of which the partner is sure are asked (`gold`: content words and words of names). Each has one link, and
one is proposed for each, so that the alignment error rate (Och and Ney 2003) is 1 − the share of right ones. The right
words are given as they were (forced decoding), and the weights are those with which the word itself is said.

After a pilot (seed 0, not recorded), in which "general" looked at the word *behind* the partner: an encoder of one
direction knows a word, and that it is over, at the next slot too. So the encoder of both directions, which Bahdanau et
al. have, is an arm of its own with the same score ("two-way"), and beside the share on the partner stand the shares on
its neighbours.

Written down before the runs, for passages of 30 words; "more" is at least 2 of 100 more in each of three seeds, on the
same passages:

- **Holds**, of an attention: more right links than the strongest counting rival has.
- **Holds in part**: more than IBM model 1 without a pull, but not than with one.
- **Fails**: IBM model 1 without a pull has more. **Open**: otherwise.

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

from plmlab.chapters.ch04.arms import ARMS, LONGER, SEEDS, UPDATES, trained
from plmlab.chapters.ch04.bottleneck import by_length, table
from plmlab.chapters.ch04.gold import Links, gold, names
from plmlab.chapters.ch04.ibm import links, near
from plmlab.chapters.ch04.translation import development, exam, new, pairs
from plmlab.interpret.alignments import ACROSS, looks_across
from plmlab.interpret.readable import inference
from plmlab.interpret.watching import watch
from plmlab.recipes import Parts, spread
from plmlab.world.datasets.passages import Passage

LOOKING = (("dot", UPDATES), ("general", UPDATES), ("general", LONGER), ("two-way", UPDATES), ("additive", UPDATES))
AIMS, COUNT = (10, 30, 60), 60
SHIFTS = (-1, 0, 1)
"""How many words later the weights are read off than the word is said; and how far behind the partner they may be."""
PULLS = (0.0, 2.0, 4.0, 8.0)
MARGIN = 0.02


def right(weights: Sequence[Float[Tensor, "time key"]], some: Sequence[Passage], shift: int = 0, behind: int = 0,
          links: Callable[[Passage], Links] = gold) -> float:
    """The share of linked words whose partner has the heaviest weight, [END] of the source being a slot too.
    ``weights`` are those of each passage; ``shift`` says how many words later than the word they are read off,
    ``behind`` how many slots behind the partner the heaviest weight is to lie."""
    asked = [(rows, one + shift, other) for rows, passage in zip(weights, some, strict=True)
             for one, other in links(passage) if one + shift >= 0]
    return fmean(int(rows[slot].argmax()) == other + behind for rows, slot, other in asked)


def on_partners(weights: Sequence[Float[Tensor, "time key"]], some: Sequence[Passage]) -> float:
    """The mean weight on the partner."""
    return fmean(float(rows[one, other]) for rows, passage in zip(weights, some, strict=True)
                 for one, other in gold(passage))


def looked(model: torch.nn.Module, some: Sequence[Passage]) -> list[Float[Tensor, "time key"]]:
    """The weights of each passage, its right words being given; padding has none."""
    return list(looks_across(model, pairs(some)))


def heads(model: torch.nn.Module, some: Sequence[Passage]) -> dict[str, list[Float[Tensor, "time key"]]]:
    """Head, by name → its weights, a passage each."""
    with inference(model), watch(model, ACROSS) as seen:
        model(pairs(some))
    return {f"{name} {head}": list(seen[name][:, head]) for name in seen for head in range(seen[name].shape[1])}


def attended(folder: str, name: str, updates: int, seed: int) -> dict[str, dict[str, float]]:
    """Length → the share of right links by ``shift``, the share ``behind`` the partner, the ``weight`` on the partner,
    the share of ``names`` that is right, and the share that is right ``untrained``."""
    model, fresh = trained(folder, name, updates, seed), new(ARMS[name], seed)
    told = {}
    for aim in AIMS:
        some = exam(aim, seed, COUNT)
        weights = looked(model, some)
        told[str(aim)] = {f"shift {shift}": right(weights, some, shift) for shift in SHIFTS} | {
            f"behind {shift}": right(weights, some, behind=shift) for shift in SHIFTS} | {
            "weight": on_partners(weights, some), "names": right(weights, some, links=names),
            "untrained": right(looked(fresh, some), some)}
    return told


def transformer(folder: str, seed: int) -> dict[str, dict[str, float]]:
    """Length → the share of right links by the ``mean`` of a Transformer's heads, and by its ``best`` head."""
    model, told = trained(folder, "transformer", UPDATES, seed), {}
    chosen = {name: right(weights, development()) for name, weights in heads(model, development()).items()}
    best = max(chosen, key=chosen.__getitem__)
    for aim in AIMS:
        some = exam(aim, seed, COUNT)
        told[str(aim)] = {"mean": right(looked(model, some), some), "best": right(heads(model, some)[best], some)}
    return told


def by_counting(some: Sequence[Passage], pull: float) -> float:
    """The share of right links by IBM model 1."""
    proposed = [links(table(pull), passage.english, passage.chinese, pull) for passage in some]
    return fmean(found[one] == other for found, passage in zip(proposed, some, strict=True)
                 for one, other in gold(passage))


def diagonal(some: Sequence[Passage]) -> float:
    """The share of gold words whose partner stands where the diagonal passes."""
    def nearest(passage: Passage, slot: int) -> int:
        sizes = len(passage.chinese), len(passage.english)
        return max(range(sizes[1]), key=lambda other: near(slot, sizes[0], other, sizes[1], 1.0))

    return fmean(nearest(passage, one) == other for passage in some for one, other in gold(passage))


def counted(pull: float, seed: int) -> dict[str, float]:
    """Length → the share of right links by IBM model 1 with a pull; ``choose``: that on the passages to choose by."""
    return {str(aim): by_counting(exam(aim, seed, COUNT), pull) for aim in AIMS} | {
        "choose": by_counting(development(), pull)}


def without_counting(seed: int) -> dict[str, dict[str, float]]:
    """Length → the share on the ``diagonal``, and how many gold ``words``, ``names`` among them, and Chinese words in
    ``all`` there are."""
    asked = {aim: exam(aim, seed, COUNT) for aim in AIMS}
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
        "attention": {f"{name}, {updates:,}": by_length({seed: runs[folder, name, updates, seed] for seed in SEEDS})
                      for name, updates in LOOKING},
        "transformer": by_length({seed: others[folder, seed] for seed in SEEDS}),
        "places": by_length({seed: places[seed,] for seed in SEEDS}),
        "ibm": {f"{pull:g}": {aim: spread({seed: counts[pull, seed][aim] for seed in SEEDS})
                              for aim in counts[pull, SEEDS[0]]} for pull in PULLS},
        "pull": max(PULLS, key=lambda pull: counts[pull, SEEDS[0]]["choose"])}


def verdict(told: dict[str, Any], name: str) -> str:
    """What the rule above says of an attention, by kind and updates; ``told`` as `measure` tells it."""
    found = told["attention"][name]["30"]["shift 0"]["values"]
    plain, pulled = (told["ibm"][f"{pull:g}"]["30"]["values"] for pull in (0.0, told["pull"]))

    def more(these: list[float], those: list[float]) -> bool:
        return all(one >= other + MARGIN for one, other in zip(these, those, strict=True))

    if more(plain, found):
        return "fails"
    if more(found, plain):
        return "holds" if more(found, pulled) else "holds in part"
    return "open"
