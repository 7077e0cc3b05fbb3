"""Ablation of GLM's objective, and the cost of further objectives: the variants of `blank_arms`.

Du et al. (2022) ablate the random order of the blanks, and replace the single [MASK] by sentinels; they say that two
axes of positions keep the length of a blank unknown (with one axis, their code keeps a flag for Part B). They evaluate
on SuperGLUE; here the measure is the loss on blanks, compared with the entropy lower bound given what a variant can
see.

All variants get the same spans of the same sentences, those of the test set and those of rows with several blanks. The
loss is the sum of −log p over all predicted tokens, ends included, per word or end. *Lengths* is −log p of the lengths
of a row's blanks, summed over all fillings that make a sentence of the world. *Ends* is the loss per blank of
predicting, at each word, whether the blank ends. (In this world the surrounding and preceding words determine this
almost completely, up to 0.0001 nats: the uncertainty about a length is part of the loss on words. So variants are
judged by `lengths`.) The *floors* are exact:

- the loss of the Bayes-optimal predictor does not depend on the order: by the chain rule the sum is the same for all
  orders (shown, not tested). So the variants without positions in the whole text share one floor for the total loss and
  for lengths; the floor for the ends depends on the order, and is given for both orders;
- *whole-text positions* reveal more, and have separate floors: the lengths are known, except for a blank at the end
  of the text.

*Above* is the excess of a variant's loss over its own floor. In addition, the variants fill the blanks of the test set
greedily from left to right, sample sentences from an empty context, and continue the first halves of the test sentences
greedily.

The rules were fixed before the runs, for the larger budget. A variant has a *worse* loss than another if each of its
seeds is at least `MARGIN` further above its floor than every seed of the other, *better* in the opposite case;
otherwise there is *no effect*. All are compared with the paper's variant, except *consecutive positions* (with
*left-to-right order*) and *sentinels, no position* (with *one sentinel per span*).

- "A random order helps" *holds* if *left-to-right order* is worse, *fails* if it is better, in rows with several
  blanks, because other rows have only one order. (Under a random order, on which it was never trained, its loss is
  certainly higher; ``other order`` shows by how much.)
- "One [MASK] is better than sentinels" *holds* if *one sentinel per span* is worse in rows with several blanks, *fails*
  if it is better. The paper says that sentinels are learned in vain if a task has one blank; no task follows here.
- "It helps that Part B encodes the position of its blank" *holds* if *sentinels, no position* is worse in rows
  with several blanks, *fails* if it is better. (Originally only the variant without positions was run; its loss was
  higher than that of the paper's variant, from which it differs in two respects. The variant with sentinels and
  positions was then added, and the two claims were separated.)
- "A second axis helps" *holds* if *no intra-span positions* is worse on the test set, *fails* if it is better.
- "With the places of the whole text the length can be read off" *holds* if the loss on lengths of every seed is below
  the floor without these positions by at least half of the difference between both floors, and lower than that of every
  seed of the paper's variant. A higher accuracy is then not a merit, because that of the exact posterior is higher too.
- A second objective *costs* something on the paper's blanks if its variant is worse on the test set after the same
  number of tokens. The cost is *for want of reading* (too little training on these blanks) if the variant after the
  larger budget is not worse than the paper's after the smaller budget, when both have been trained on the same number
  of blanks. A second objective *gives* something if a larger fraction of the outputs from half a sentence are
  sentences, for every seed, by more than `SHARE`. (Generation from an empty context is reported but not judged, because
  only these variants were trained on such blanks. A lookup of training sentences would generate only sentences;
  ``read`` gives the fraction that occurs in the training text.)
"""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab import world
from plmlab.chapters.ch12 import blank_arms, blank_test_set
from plmlab.chapters.ch12.blank_arms import ARMS, IN_ORDER, LENGTH_KNOWN, PAPER, Arm, filled, fillings
from plmlab.chapters.ch12.blank_test_set import (
    Row,
    encoded,
    filling_probs,
    how_drawn,
    likeliest_fillings,
    places_of,
    scores_of,
)
from plmlab.chapters.ch12.blanks_ablated import floor, losses_of, order_of, right_lengths
from plmlab.example import IGNORE, Batch
from plmlab.objectives.blanks import infilled
from plmlab.recipes import Parts, seed_statistics, separated
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from plmlab.world.probability.blanks import BLANK, DrawnBlanks
from studies.ch12 import blank_fillers
from studies.ch12.blank_infilling import BATCH, BUDGETS, SEEDS, budgets, prepared, steps, trained

NAMES = tuple(name for name, arm in ARMS.items() if arm.network is blank_arms.glm)
WRITTEN = 200
"""Number of sentences generated from nothing."""
MARGIN, SHARE = 0.02, 0.05
"""Nats per word or end by which a variant must be worse; and the fraction of sentences by which it must generate more.
"""
ROWS = ("test_set", "several")


def floors() -> dict[str, dict[str, dict[str, float]]]:
    """How blanks are filled → rows → the entropy lower bound of the loss on them; and, given positions in the whole
    text, the scores of the exact posterior."""
    found: dict[str, dict[str, dict[str, float]]] = {
        name: {rows: floor(blank_test_set.rows(rows), ordered, known) for rows in ROWS} for name, ordered, known in (
            ("a random order", False, False), (IN_ORDER, True, False), (LENGTH_KNOWN, False, True))}
    asked, automaton = blank_test_set.rows("test_set"), world.small().automaton("test")
    known = [DrawnBlanks(automaton, row.text, drawing=how_drawn(row, length_known=True)) for row in asked]
    found[LENGTH_KNOWN]["test_set"] |= scores_of(asked,
                                         [likeliest_fillings(reader, range(reader.count))[0] for reader in known])
    return found


@torch.no_grad()
def lengths_paid(model: nn.Module, arm: Arm, asked: Sequence[Row]) -> float:
    """−log p of the lengths of a row's blanks, in nats: among the fillings that make a sentence, the probability of
    those with the same lengths."""
    vocab, found = small_world_tokenizer().vocab, []
    for row in asked:
        ways, sums = list(filling_probs(row)), list[float]()
        for begin in range(0, len(ways), 250):
            some = [infilled(encoded(row.text), [encoded(words) for words in way], order_of(row, arm.ordered), vocab)
                    for way in ways[begin:begin + 250]]
            batch = Batch.of([arm.shown(one, places_of(row)) for one in some], pad=vocab.need("pad"))
            sums += (-F.cross_entropy(model(batch).transpose(1, 2), batch.targets, ignore_index=IGNORE,
                                      reduction="none").double().sum(1)).tolist()
        found.append(right_lengths(row, dict(zip(ways, torch.tensor(sums).softmax(0).tolist(), strict=True))))
    return fmean(found)


def drawing(generator: torch.Generator) -> Callable[[Tensor], Tensor]:
    """Return a function that samples a token from each row of logits."""
    return lambda logits: torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]


def continued(model: nn.Module, arm: Arm, begun: Sequence[Sequence[str]], choose: Callable[[Tensor], Tensor],
              ) -> list[tuple[str, ...]]:
    """Continuations of the beginnings of sentences, generated in a blank that follows each beginning; they may be
    empty."""
    texts = [encoded([*words, BLANK]) for words in begun]
    said = filled(model, arm.long, texts, [range(1, len(text) + 1) for text in texts], choose)
    return [(*words, *small_world_tokenizer().tokens(blank)) for words, [blank] in zip(begun, said, strict=True)]


def sentences(written: Sequence[Sequence[str]], read: dict[tuple[str, ...], int]) -> dict[str, float]:
    """For generated texts: the fraction that are ``sentences`` of the world, the fraction that occur in the training
    text (``read``), and the number of distinct texts divided by the number of texts (``different``)."""
    return {"sentences": fmean(world.small().logprob(words, "test") > float("-inf") for words in written),
            "read": fmean(tuple(words) in read for words in written),
            "different": len(set(map(tuple, written))) / len(written)}


def beginnings() -> list[tuple[str, ...]]:
    """The distinct first halves of the test sentences."""
    return list(dict.fromkeys(row.words[:len(row.words) // 2] for row in blank_test_set.rows("test_set")))


def told(folder: str, name: str, budget: int, seed: int) -> dict[str, Any]:
    """A variant's loss on each of `ROWS` (`losses_of`), on the ``lengths`` of the test set, and in the ``other order``;
    the scores of its fillings (`scores_of`); and of its generations from ``nothing``, and from ``half`` a sentence
    (`sentences`)."""
    model, arm, asked = trained(folder, name, budget, seed), ARMS[name], blank_test_set.rows("test_set")
    read = blank_fillers.table(BATCH * steps(PAPER, BUDGETS[-1]))
    nothing = continued(model, arm, [()] * WRITTEN, drawing(torch.Generator().manual_seed(seed)))
    half = continued(model, arm, beginnings(), blank_arms.likeliest)
    return {**{rows: losses_of(model, arm, blank_test_set.rows(rows), arm.ordered) for rows in ROWS},
            **scores_of(asked, fillings(model, arm.shown, asked)), "lengths": lengths_paid(model, arm, asked),
            "other order": losses_of(model, arm, blank_test_set.rows("several"), not arm.ordered)["nats"],
            "nothing": sentences(nothing, read), "half": sentences(half, read)}


def own_floor(arm: Arm) -> str:
    """The key of a variant's floor in `floors`."""
    return LENGTH_KNOWN if arm.length_known else IN_ORDER if arm.ordered else "a random order"


def above(spread: dict[str, Any], least: float) -> dict[str, Any]:
    """The excess of the loss over the floor, with its spread."""
    return {**spread, **{key: spread[key] - least for key in ("mean", "low", "high")},
            "values": [value - least for value in spread["values"]]}


def compared(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Return "worse" or "better" for one variant compared with the other, by the excess of the loss over the floor;
    otherwise "no effect"."""
    return "worse" if separated(one, other, MARGIN) else "better" if separated(other, one, MARGIN) else "no effect"


def read_off(lengths: dict[str, Any], papers: dict[str, Any], untold: float, told: float) -> dict[str, Any]:
    """For each seed, the reduction of the loss on lengths as a fraction of the reduction that positions in the whole
    text allow, and whether the length "can be read off". ``papers`` is the loss of the paper's variant on lengths;
    ``untold`` and ``told`` are the floors without and with these positions."""
    shares = [(untold - value) / (untold - told) for value in lengths["values"]]
    return {"shares": shares, "holds": min(shares) >= 0.5 and separated(papers, lengths)}


def measure(parts: Parts) -> dict[str, Any]:
    """``arms`` as they were `prepared`; ``told``: variant → budget → `told` with spread, and the loss ``above`` its
    floor in each of `ROWS`; ``floors``; ``compared``: variant → its baseline (``against``), and the outcome in each of
    `ROWS`; for the variants with a second objective also ``as many blanks``; ``read off``; and ``writes``: the variants
    that generate more sentences from half of one than their baseline."""
    folder = str(parts.folder)
    arms = prepared(parts, NAMES)
    runs = parts(told, [(folder, name, budget, seed) for name in NAMES for budget in budgets(name)
                        for seed in SEEDS])
    least = parts(floors, [()])[()]
    found: dict[str, dict[str, Any]] = {name: {} for name in NAMES}
    for name in NAMES:
        for budget in budgets(name):
            run = seed_statistics({seed: runs[folder, name, budget, seed] for seed in SEEDS})
            of = least[own_floor(ARMS[name])]
            found[name][str(budget)] = {**run, "above": {
                rows: above(run[rows]["nats"], of[rows]["nats"]) for rows in ROWS}}
    few, many = map(str, BUDGETS)
    last = {name: of[many] for name, of in found.items()}
    against = {name: ARMS[name].against for name in NAMES if name != PAPER}
    return {
        "arms": arms, "told": found, "floors": least,
        "compared": {name: {"against": other, **{rows: compared(last[name]["above"][rows], last[other]["above"][rows])
                                                 for rows in ROWS}} for name, other in against.items()},
        "as many blanks": {name: compared(last[name]["above"]["test_set"], found[PAPER][few]["above"]["test_set"])
                           for name in NAMES if ARMS[name].second},
        "read off": read_off(last[LENGTH_KNOWN]["lengths"], last[PAPER]["lengths"],
                             least["a random order"]["test_set"]["lengths"],
                             least[LENGTH_KNOWN]["test_set"]["lengths"]),
        "writes": [name for name, other in against.items()
                   if separated(last[name]["half"]["sentences"], last[other]["half"]["sentences"], SHARE)]}
