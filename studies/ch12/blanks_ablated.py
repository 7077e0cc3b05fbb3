"""What GLM's objective owes to each of its parts, and what further objectives cost: the arms of `blank_arms`.

Du et al. (2022) take away the random order of the blanks, and put a sentinel in each for the one [MASK]; they
say that two axes of positions keep a blank's length from being known (with one, their code keeps a flag of Part B).
Their measure is SuperGLUE; here it is what is paid, against the least that can be paid for what an arm sees.

Every arm is shown the same spans of the same sentences, those of the exam and those of rows with several blanks. What
is paid is a sum of −log p over all that is said, the ends among it, for each word or end. *Lengths* is −log p of the
lengths of a row's blanks, summed over all fillings that make a sentence of the world. *Ends* is what is paid a blank
for saying, at each word, whether it is over. (In this world the words around and before tell nearly all of that, 0.0001
nats are left: what is not known of a length is paid with the words. So it is by `lengths` that arms are judged.) The
*floors* are exact:

- filling in another order costs the perfect reader nothing: the chain rule has one sum for all orders (shown, not
  tested). So the arms that are not told places have one floor for all that is
  paid and for lengths; that of the ends depends on the order, and is given for both;
- *places of the whole text* tell more, and have floors of their own: the lengths are known, but for a blank at the end
  of the text.

*Above* is what is paid above an arm's own floor. Then the arms fill the blanks of the exam, greedily, from left to
right; write sentences from nothing, each word drawn; and go on from the first half of the exam's sentences, greedily.

Written before the runs, for the larger budget. An arm is *worse* than another in what is paid if each of its seeds is
at least `MARGIN` further above its floor than each of the other's, *better* if it is the other way round; else no
difference *shows*. All are compared with the paper's, but *counting on* with *left to right*, and *sentinels without
places* with *a sentinel a span*.

- "A random order is worth something" *holds* if *left to right* is worse, *fails* if it is better, in rows with several
  blanks: elsewhere there is but one order. (Under a random order, which it never read, it pays more for sure: ``other
  order`` tells how much.)
- "One [MASK] is better than sentinels" *holds* if *a sentinel a span* is worse in rows with several blanks, *fails* if
  it is better. The paper says that sentinels are learned in vain where a task has one blank; no task follows here.
- "It is worth something that Part B says where a blank stands" *holds* if *sentinels without places* is worse in rows
  with several blanks, *fails* if it is better. (The arm without places was run first, and alone; compared with the
  paper's, from which it differs by two things, it paid more. The arm with both was added then, and these two claims
  parted.)
- "A second axis is worth something" *holds* if *one axis* is worse in the exam, *fails* if it is better.
- "With the places of the whole text the length can be read off" *holds* if each seed saves at least half of what its
  floor saves in lengths, and pays less for them than each of the paper's. Then more right fills are no merit: the
  exact filler has more right too.
- A second objective *costs* something on the paper's blanks if its arm is worse in the exam after as many tokens. That
  is *for want of reading* if it is not worse, after the larger budget, than the paper's after the smaller, where both
  have read as many blanks. It *gives* something if, from half a sentence, it writes more that are sentences, in each
  seed, by more than `SHARE`. (To write from nothing is told, not judged: only these arms have read such blanks. A table
  of training sentences would write nothing but sentences; ``read`` tells which share stand in the training text.)
"""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab import world
from plmlab.chapters.ch12 import blank_arms, blank_test_set
from plmlab.chapters.ch12.blank_arms import ARMS, IN_ORDER, PAPER, TOLD, Arm, filled, fillings
from plmlab.chapters.ch12.blank_test_set import Row, chances, encoded, how_drawn, judged, likeliest_fillings, places_of
from plmlab.chapters.ch12.blanks_ablated import floor, order_of, paid, right_lengths
from plmlab.example import IGNORE, Batch
from plmlab.objectives.blanks import infilled
from plmlab.recipes import Parts, seed_statistics, separated
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from plmlab.world.probability.blanks import BLANK, DrawnBlanks
from studies.ch12 import blank_fillers
from studies.ch12.blank_infilling import BATCH, BUDGETS, SEEDS, budgets, prepared, steps, trained

NAMES = tuple(name for name, arm in ARMS.items() if arm.network is blank_arms.glm)
WRITTEN = 200
"""So many sentences are written from nothing."""
MARGIN, SHARE = 0.02, 0.05
"""Nats a word, or end, by which an arm must be worse; and the share of sentences by which it must write more."""
ROWS = ("test_set", "several")


def floors() -> dict[str, dict[str, dict[str, float]]]:
    """How blanks are filled → rows → the least that can be paid for them; and for who is told the places of the whole
    text, what the exact filler has right."""
    found: dict[str, dict[str, dict[str, float]]] = {
        name: {rows: floor(blank_test_set.rows(rows), ordered, told) for rows in ROWS}
        for name, ordered, told in (("a random order", False, False), (IN_ORDER, True, False), (TOLD, False, True))}
    asked, automaton = blank_test_set.rows("test_set"), world.small().automaton("test")
    known = [DrawnBlanks(automaton, row.text, drawing=how_drawn(row, told=True)) for row in asked]
    found[TOLD]["test_set"] |= judged(asked, [likeliest_fillings(reader, range(reader.count))[0] for reader in known])
    return found


@torch.no_grad()
def lengths_paid(model: nn.Module, arm: Arm, asked: Sequence[Row]) -> float:
    """−log p of the lengths of a row's blanks, in nats: of the fillings that make a sentence, the share of those with
    as many words."""
    vocab, found = small_world_tokenizer().vocab, []
    for row in asked:
        ways, sums = list(chances(row)), list[float]()
        for begin in range(0, len(ways), 250):
            some = [infilled(encoded(row.text), [encoded(words) for words in way], order_of(row, arm.ordered), vocab)
                    for way in ways[begin:begin + 250]]
            batch = Batch.of([arm.shown(one, places_of(row)) for one in some], pad=vocab.need("pad"))
            sums += (-F.cross_entropy(model(batch).transpose(1, 2), batch.targets, ignore_index=IGNORE,
                                      reduction="none").double().sum(1)).tolist()
        found.append(right_lengths(row, dict(zip(ways, torch.tensor(sums).softmax(0).tolist(), strict=True))))
    return fmean(found)


def drawing(generator: torch.Generator) -> Callable[[Tensor], Tensor]:
    """Draws a token of each row of logits."""
    return lambda logits: torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]


def continued(model: nn.Module, arm: Arm, begun: Sequence[Sequence[str]], choose: Callable[[Tensor], Tensor],
              ) -> list[tuple[str, ...]]:
    """What becomes of the beginnings of sentences, perhaps empty, with a blank behind each."""
    texts = [encoded([*words, BLANK]) for words in begun]
    said = filled(model, arm.long, texts, [range(1, len(text) + 1) for text in texts], choose)
    return [(*words, *small_world_tokenizer().tokens(blank)) for words, [blank] in zip(begun, said, strict=True)]


def sentences(written: Sequence[Sequence[str]], read: dict[tuple[str, ...], int]) -> dict[str, float]:
    """Of texts the share that are ``sentences`` of the world, the share that stand in what was ``read``, and how many
    ``different`` ones there are to a text."""
    return {"sentences": fmean(world.small().logprob(words, "test") > float("-inf") for words in written),
            "read": fmean(tuple(words) in read for words in written),
            "different": len(set(map(tuple, written))) / len(written)}


def beginnings() -> list[tuple[str, ...]]:
    """The different first halves of the exam's sentences."""
    return list(dict.fromkeys(row.words[:len(row.words) // 2] for row in blank_test_set.rows("test_set")))


def told(folder: str, name: str, budget: int, seed: int) -> dict[str, Any]:
    """What an arm pays for each of `ROWS` (`paid`), for the ``lengths`` of the exam's, and in the ``other order``; what
    it fills (`judged`); and what it writes from ``nothing``, and goes on with from ``half`` a sentence (`sentences`).
    """
    model, arm, asked = trained(folder, name, budget, seed), ARMS[name], blank_test_set.rows("test_set")
    read = blank_fillers.table(BATCH * steps(PAPER, BUDGETS[-1]))
    nothing = continued(model, arm, [()] * WRITTEN, drawing(torch.Generator().manual_seed(seed)))
    half = continued(model, arm, beginnings(), blank_arms.likeliest)
    return {**{rows: paid(model, arm, blank_test_set.rows(rows), arm.ordered) for rows in ROWS},
            **judged(asked, fillings(model, arm.shown, asked)), "lengths": lengths_paid(model, arm, asked),
            "other order": paid(model, arm, blank_test_set.rows("several"), not arm.ordered)["nats"],
            "nothing": sentences(nothing, read), "half": sentences(half, read)}


def own_floor(arm: Arm) -> str:
    """The name of an arm's own floor in `floors`."""
    return TOLD if arm.told else IN_ORDER if arm.ordered else "a random order"


def above(spread: dict[str, Any], least: float) -> dict[str, Any]:
    """What is paid above the floor, with its spread."""
    return {**spread, **{key: spread[key] - least for key in ("mean", "low", "high")},
            "values": [value - least for value in spread["values"]]}


def compared(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Whether the one, by what it pays above its floor, is "worse" than the other, or "better"; "does not show" else.
    """
    return "worse" if separated(one, other, MARGIN) else "better" if separated(other, one, MARGIN) else "does not show"


def read_off(lengths: dict[str, Any], papers: dict[str, Any], untold: float, told: float) -> dict[str, Any]:
    """How much of what the places of the whole text can save in lengths is saved by each seed, and whether the length
    "can be read off"; ``papers``: what the paper's arm pays for them; ``untold``, ``told``: the least that can be paid
    by who is not told the places, and by who is."""
    shares = [(untold - value) / (untold - told) for value in lengths["values"]]
    return {"shares": shares, "holds": min(shares) >= 0.5 and separated(papers, lengths)}


def measure(parts: Parts) -> dict[str, Any]:
    """``arms`` as they were `prepared`; ``told``: arm → budget → `told` with spread, and what is ``above`` its floor in
    each of `ROWS`; ``floors``; ``compared``: arm → whom it is compared with (``against``), and the outcome in each of
    `ROWS`; of the arms with a second objective also ``as many blanks``; ``read off``; and ``writes``: the arms that
    write more sentences from half of one than whom they are compared with."""
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
        "read off": read_off(last[TOLD]["lengths"], last[PAPER]["lengths"],
                             least["a random order"]["test_set"]["lengths"],
                             least[TOLD]["test_set"]["lengths"]),
        "writes": [name for name, other in against.items()
                   if separated(last[name]["half"]["sentences"], last[other]["half"]["sentences"], SHARE)]}
