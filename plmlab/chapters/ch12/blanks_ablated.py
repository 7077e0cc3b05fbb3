"""What GLM's objective owes to each of its parts, and what further objectives cost: the arms of `blank_arms`.

Du et al. (2022) take away the random order of the blanks, and put a sentinel in each for the one [MASK]; they
say that two axes of positions keep a blank's length from being known (with one, their code keeps a flag of Part B).
Their measure is SuperGLUE; here it is what is paid, against the least that can be paid for what an arm sees.

Every arm is shown the same spans of the same sentences. What is paid is a sum of −log p over all that is said, the ends
among it, for each word or end. *Lengths* is −log p of the lengths of a row's blanks, summed over all fillings that make
a sentence of the world. *Ends* is what is paid a blank for saying, at each word, whether it is over. (In this world the
words around and before tell nearly all of that, 0.0001 nats are left: what is not known of a length is paid with the
words. So it is by `lengths` that arms are judged.) The *floors* are exact:

- filling in another order costs the perfect reader nothing: the chain rule has one sum for all orders (shown, not
  tested). So the paper's arm, *left to right*, *a sentinel a span* and *counting on* have one floor for all that is
  paid and for lengths; that of the ends depends on the order, and is given for both;
- *places of the whole text* tell more, and have floors of their own: the lengths are known, but for a blank at the end
  of the text.

*Above* is what is paid above an arm's own floor. Then the arms fill the blanks of the exam, greedily, from left to
right; write sentences from nothing, each word drawn; and go on from the first half of the exam's sentences, greedily.

Written before the runs, for the larger budget. An arm is *worse* than the paper's in what is paid if each of its seeds
is at least `MARGIN` further above its floor than each of the paper's; *better* if it is the other way round; else *the
same*. *Counting on* is compared with *left to right*. Of shares, who has more has more in each seed (`apart`).

- "A random order is worth something" *holds* if *left to right* is worse in what is paid; it *fails* if that is the
  same or better. (Under a random order, which it never read, it pays more for sure: ``other order`` tells how much.)
- "One [MASK] is better than sentinels" *holds* if *a sentinel a span* is worse. The paper says that sentinels are
  learned in vain where a task has one blank. Here no task follows, so that "the same" would be no surprise.
- "With one axis the length can be read off" *holds* if in each seed *places of the whole text* save at least half of
  what its floor saves in lengths. Then more right fills there are no merit: the exact filler has more right too.
- "A second axis is worth something" *holds* if *counting on* is worse than *left to right*.
- A second objective *costs* something on the paper's blanks if its arm is worse than the paper's after as many tokens.
  That is *for want of reading* if it is not worse, after the larger budget, than the paper's after the smaller, where
  both have read as many blanks. It *gives* something if it writes more sentences from nothing, or from a half.
- From nothing, a table of training sentences writes nothing but sentences: ``read`` tells which share of those written
  stand in the training text. More than a table nobody shows here.
"""

from collections.abc import Callable, Mapping, Sequence
from math import fsum, log
from random import Random
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab import world
from plmlab.chapters.ch12 import blank_arms, blank_exam
from plmlab.chapters.ch12.blank_arms import ARMS, BATCH, BUDGETS, PAPER, SEEDS, Arm, filled, fillings, prepared, trained
from plmlab.chapters.ch12.blank_exam import (
    Fillings,
    Row,
    chances,
    encoded,
    how_drawn,
    judged,
    likeliest_fillings,
    places_of,
)
from plmlab.example import IGNORE, Batch
from plmlab.objectives.blanks import blank_infilling, filled_in
from plmlab.recipes import Parts, apart, spreads
from plmlab.world.datasets.tokenizer import small_spelling
from plmlab.world.probability.automaton import END
from plmlab.world.probability.blanks import BLANK, DrawnBlanks
from plmlab.world.probability.infilling import infilling

NAMES = tuple(name for name, arm in ARMS.items() if arm.network is blank_arms.glm)
WRITTEN = 200
"""So many sentences are written from nothing."""
MARGIN = 0.02
"""Nats a word, or end, by which an arm must be worse."""
AGAINST = {name: "left to right" if name == "counting on" else PAPER for name in NAMES if name != PAPER}
"""Arm → what it is compared with."""


def order_of(row: Row, ordered: bool) -> Sequence[int]:
    """In which order a row's blanks are filled."""
    return range(len(row.spans)) if ordered else row.order


def shared(ends: Sequence[bool], over: Sequence[float], said: Sequence[float], blanks: int) -> dict[str, float]:
    """``nats`` a word or end, and ``ends`` a blank: of each thing said whether it is an end, the chance that was given
    to an end there, and the chance that was given to what was said."""
    right = [chance if end else max(1 - chance, word) for end, chance, word in zip(ends, over, said, strict=True)]
    return {"nats": -fmean(map(log, said)), "ends": -sum(map(log, right)) / blanks}


@torch.no_grad()
def paid(model: nn.Module, arm: Arm, asked: Sequence[Row], ordered: bool) -> dict[str, float]:
    """What an arm pays for the blanks of rows, in nats: what `shared` tells."""
    vocab, ends, over, said = small_spelling().vocab, list[bool](), list[float](), list[float]()
    for begin in range(0, len(asked), 100):
        batch = Batch.of([arm.shown(blank_infilling(
            encoded(row.words), vocab=vocab, rng=Random(0), spans=row.spans,
            order=order_of(row, ordered)), None) for row in asked[begin:begin + 100]], pad=vocab.need("pad"))
        hidden = batch.targets != IGNORE
        beliefs, targets = model(batch)[hidden].double().softmax(-1), batch.targets[hidden]
        ends += (targets == vocab.need("end")).tolist()
        over += beliefs[:, vocab.need("end")].tolist()
        said += beliefs.gather(1, targets[:, None])[:, 0].tolist()
    return shared(ends, over, said, sum(len(row.spans) for row in asked))


def floor(asked: Sequence[Row], ordered: bool, told: bool) -> dict[str, float]:
    """The least that can be paid, for ``lengths`` too; ``told``: by who sees the places of the whole text."""
    automaton, ends, over, said = world.small().automaton("test"), list[bool](), list[float](), list[float]()
    for row in asked:
        order = order_of(row, ordered)
        words = [word for blank in order for word in (*row.fillings[blank], END)]
        beliefs = infilling(automaton, row.words, row.spans, order, how_drawn(row, told))
        ends += [word == END for word in words]
        over += [belief.get(END, 0.0) for belief in beliefs]
        said += [belief[word] for belief, word in zip(beliefs, words, strict=True)]
    return {**shared(ends, [min(chance, 1.0) for chance in over], said, sum(len(row.spans) for row in asked)),
            "lengths": fmean(right_lengths(row, chances(row, told)) for row in asked)}


def floors() -> dict[str, dict[str, float]]:
    """How blanks are filled → the least that can be paid for those of the exam, and what the exact filler has right."""
    asked, automaton = blank_exam.rows("exam"), world.small().automaton("test")
    known = [DrawnBlanks(automaton, row.text, drawing=how_drawn(row, told=True)) for row in asked]
    return {"a random order": floor(asked, ordered=False, told=False),
            "left to right": floor(asked, ordered=True, told=False),
            "places of the whole text": {
                **floor(asked, ordered=False, told=True),
                **judged(asked, [likeliest_fillings(reader, range(reader.count))[0] for reader in known])}}


@torch.no_grad()
def lengths_paid(model: nn.Module, arm: Arm, asked: Sequence[Row]) -> float:
    """−log p of the lengths of a row's blanks, in nats: of the fillings that make a sentence, the share of those with
    as many words."""
    vocab, found = small_spelling().vocab, []
    for row in asked:
        ways, sums = list(chances(row)), list[float]()
        for begin in range(0, len(ways), 250):
            some = [filled_in(encoded(row.text), [encoded(words) for words in way], order_of(row, arm.ordered), vocab)
                    for way in ways[begin:begin + 250]]
            batch = Batch.of([arm.shown(one, places_of(row)) for one in some], pad=vocab.need("pad"))
            sums += (-F.cross_entropy(model(batch).transpose(1, 2), batch.targets, ignore_index=IGNORE,
                                      reduction="none").double().sum(1)).tolist()
        found.append(right_lengths(row, dict(zip(ways, torch.tensor(sums).softmax(0).tolist(), strict=True))))
    return fmean(found)


def right_lengths(row: Row, shares: Mapping[Fillings, float]) -> float:
    """−log of the share of all ways to fill a row that belongs to those of its lengths."""
    hidden = [*map(len, row.fillings)]
    return -log(fsum(share for way, share in shares.items() if [*map(len, way)] == hidden))


def drawing(generator: torch.Generator) -> Callable[[Tensor], Tensor]:
    """Draws a token of each row of logits."""
    return lambda logits: torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]


def continued(model: nn.Module, arm: Arm, begun: Sequence[Sequence[str]], choose: Callable[[Tensor], Tensor],
              ) -> list[tuple[str, ...]]:
    """What becomes of the beginnings of sentences, perhaps empty, with a blank behind each."""
    texts = [encoded([*words, BLANK]) for words in begun]
    said = filled(model, arm.long, texts, [range(1, len(text) + 1) for text in texts], choose)
    return [(*words, *small_spelling().tokens(blank)) for words, [blank] in zip(begun, said, strict=True)]


def sentences(written: Sequence[Sequence[str]], read: dict[tuple[str, ...], int]) -> dict[str, float]:
    """Of texts the share that are ``sentences`` of the world, and the share that stand in what was ``read``."""
    return {"sentences": fmean(world.small().logprob(words, "test") > float("-inf") for words in written),
            "read": fmean(tuple(words) in read for words in written)}


def told(folder: str, name: str, budget: int, seed: int) -> dict[str, Any]:
    """What an arm pays for the exam's blanks (`paid`), for their ``lengths``, and in the ``other order``; what it fills
    (`judged`); and what it writes from ``nothing``, and goes on with from ``half`` a sentence (`sentences`)."""
    model, arm, asked = trained(folder, name, budget, seed), ARMS[name], blank_exam.rows("exam")
    read = blank_exam.table(BATCH * blank_arms.updates(PAPER, BUDGETS[-1]))
    nothing = continued(model, arm, [()] * WRITTEN, drawing(torch.Generator().manual_seed(seed)))
    half = continued(model, arm, [row.words[:len(row.words) // 2] for row in asked], blank_arms.likeliest)
    return {**paid(model, arm, asked, arm.ordered), **judged(asked, fillings(model, arm.shown, asked)),
            "lengths": lengths_paid(model, arm, asked),
            "other order": paid(model, arm, asked, not arm.ordered)["nats"],
            "nothing": sentences(nothing, read), "half": sentences(half, read)}


def own_floor(name: str) -> str:
    """The name of an arm's own floor in `floors`."""
    return name if name == "places of the whole text" else "left to right" if ARMS[name].ordered else "a random order"


def above(spread: dict[str, Any], least: float) -> dict[str, Any]:
    """What is paid above the floor, with its spread."""
    return {**spread, **{key: spread[key] - least for key in ("mean", "low", "high")},
            "values": [value - least for value in spread["values"]]}


def compared(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Whether the one, by what it pays above its floor, is "worse" than the other, "better", or "the same"."""
    return "worse" if one["low"] - other["high"] >= MARGIN else \
        "better" if other["low"] - one["high"] >= MARGIN else "the same"


def read_off(lengths: dict[str, Any], least: dict[str, dict[str, float]]) -> dict[str, Any]:
    """How much of what the places of the whole text can save in lengths is saved by each seed, beside the least that
    who is not told can pay; and whether the length "can be read off"."""
    untold = least["a random order"]["lengths"]
    saved = untold - least["places of the whole text"]["lengths"]
    shares = [(untold - value) / saved if saved else 0.0 for value in lengths["values"]]
    return {"shares": shares, "holds": min(shares) >= 0.5}


def measure(parts: Parts) -> dict[str, Any]:
    """``arms`` as they were `prepared`; ``told``: arm → budget → `told` with spread, and what is ``above`` its floor;
    ``floors``; ``compared``: arm → the paper's, or what it is to be compared with, and the outcome; of the arms with a
    second objective also ``as many blanks``; ``read off``; and ``writes``: arm → where it writes more sentences than
    the paper's."""
    folder = str(parts.folder)
    arms = prepared(parts, NAMES)
    runs = parts(told, [(folder, name, budget, seed) for name in NAMES for budget in BUDGETS for seed in SEEDS])
    least = parts(floors, [()])[()]
    found: dict[str, dict[str, Any]] = {name: {} for name in NAMES}
    for name in NAMES:
        for budget in BUDGETS:
            run = spreads({seed: runs[folder, name, budget, seed] for seed in SEEDS})
            found[name][str(budget)] = {**run, "above": above(run["nats"], least[own_floor(name)]["nats"])}
    few, many = map(str, BUDGETS)

    def compare(name: str, budget: str, other: str, of: str) -> str:
        return compared(found[name][budget]["above"], found[other][of]["above"])

    last = {name: of[many] for name, of in found.items()}
    return {
        "arms": arms, "told": found, "floors": least,
        "compared": {name: [other, compare(name, many, other, many)] for name, other in AGAINST.items()},
        "as many blanks": {name: compare(name, many, PAPER, few) for name in NAMES if name.startswith("with ")},
        "read off": read_off(last["places of the whole text"]["lengths"], least),
        "writes": {name: [what for what in ("nothing", "half")
                          if apart(last[name][what]["sentences"], last[PAPER][what]["sentences"])] for name in AGAINST}}
