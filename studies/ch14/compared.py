"""CogQA against its rivals and without its parts, by how many hops a question takes.

Ding et al. (2019) report a joint F1 of 34.9 for 23.6 of the best reader before them on HotpotQA, and (fig. 4)
that the gain grows with the hops. All arms here begin at one BERT and learn from the same questions in the same order;
the readers' rate is chosen on development questions, by the reader of gold pages, from a grid that grows; CogQA's was
tried beforehand (half of it learns comparisons more slowly, twice no better).
This loop is its own and no `Study`: the rates of all CogQAs, and of the reader of top pages, are inherited, and the
readers' is chosen with the first seed, which is measured too.

Written before the runs. All shares are over the exam's three splits together.

- *Graphs help as hops grow*: holds if CogQA's joint F1 is above that of the reader of top pages in each seed at 3 hops,
  and what it is ahead by grows by more than `MARGIN`, in the mean, from one hop to 2 and from 2 to 3. Fails if the
  reader is ahead in each seed at 3 hops; else it does not show, or in part.
- *System 2 adds to System 1*: holds for a group if both systems are right more often than System 1's surest answer, by
  more than `MARGIN` in each seed (the graphs are the same). Fails if less often in each.
- *Clues*, and the authors' *adjacency*, are worth something where each seed with them is right more often than each
  without, by more than `MARGIN`.
- The reader of gold pages is no rival: it is given what CogQA has to find.

New compositions and *deaf* were added at a reader's wish, after the results.

*Surer* is younger than the first runs, which followed too many edges (`surer`): hops below some chance are left out, by
the smallest chance of `LEAST` that is best for the joint F1 of development bridges, in the mean of all seeds.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import Any

from plmlab.chapters.ch14.answering import GrownOutcome, answered
from plmlab.chapters.ch14.compared import BOTH, GOLD, HOPPING, compared_questions, measured_by
from plmlab.chapters.ch14.exam import new_compositions
from plmlab.chapters.ch14.gold_graphs import gold_graph
from plmlab.chapters.ch14.training import development as shown_to_choose
from plmlab.chapters.ch14.training import pages
from plmlab.models.cogqa import CogQA
from plmlab.recipes import Parts, rates_tried, seed_statistics, tune_learning_rate
from plmlab.world.questions.bank import Question
from studies.ch14.arms import COGQA, READERS, SEEDS, answer, kept, learned
from studies.ch14.deaf import Deaf
from studies.ch14.learning import RATE
from studies.ch14.oracles import Led
from studies.ch14.outcomes import by_group, told
from studies.ch14.ranking import ranked_outcome
from studies.ch14.surer import Surer

RATES = (1e-3, 3e-3, 1e-2)
"""The learning rates that a reader's is first chosen from."""
ALL = 9
"""More hops than any question takes."""
LED = (1, ALL)
"""So many first hops are given."""
LEAST = (0.0, 0.01, 0.03, 0.1, 0.3, 0.6)

Numbers = dict[str, dict[str, float]]


def arm(folder: str, name: str, lr: float, seed: int) -> Numbers:
    """Group → how an arm answers it (`told`)."""
    return by_group(answer(name, kept(folder, name, lr, seed)))


def led(folder: str, lr: float, seed: int, hops: int) -> Numbers:
    """Group → how both systems answer special questions whose first hops are given."""
    model = kept(folder, BOTH, lr, seed)
    assert isinstance(model, CogQA)
    return by_group(lambda question, split: led_outcome(model, question, split, hops), HOPPING)


def deaf(folder: str, lr: float, seed: int) -> Numbers:
    """Group → how both systems answer special questions if System 2 passes no messages."""
    return by_group(answer(BOTH, kept(folder, BOTH, lr, seed), Deaf), HOPPING)


def on_new_compositions(folder: str, name: str, lr: float, seed: int) -> Numbers:
    """2 and 3 hops → how an arm answers questions whose relations training never put together."""
    asked = answer(name, kept(folder, name, lr, seed))
    return {group: told([asked(one, "combinations") for one in some]) for group, some in new_compositions().items()}


def led_outcome(model: CogQA, question: Question, split: str, hops: int) -> GrownOutcome:
    """A question answered with its first hops given."""
    told = pages(split)
    return answered(model, told, question, Led, gold=gold_graph(question, told), led=hops)


def surer(folder: str, lr: float, seed: int, least: float) -> Numbers:
    """Group → how both systems answer special questions if they follow sure hops alone."""
    return by_group(answer(BOTH, kept(folder, BOTH, lr, seed), Surer, least=least), HOPPING)


def surer_on_development(folder: str, lr: float, seed: int, least: float) -> float:
    """Their joint F1 on the development bridges."""
    asked = answer(BOTH, kept(folder, BOTH, lr, seed), Surer, least=least)
    return fmean(asked(question, "train").joint.f1 for question in shown_to_choose("bridge"))


def comparisons(folder: str, lr: float, seed: int) -> dict[str, float]:
    """What is compared (`measured_by`) → the share of the exam's comparisons that both systems answer."""
    asked, found = answer(BOTH, kept(folder, BOTH, lr, seed)), defaultdict[str, list[float]](list)
    for split, question in compared_questions():
        found[measured_by(question)].append(asked(question, split).answer.exact)
    return {what: fmean(some) for what, some in sorted(found.items())}


def ranked() -> Numbers:
    """Group → how retrieval alone answers it."""
    return by_group(ranked_outcome)


def measure(parts: Parts) -> dict[str, Any]:
    """``arms``: arm → its ``lr``, the ``device`` that it was trained on, and group → the spread of what `told`
    tells; ``rates``: what the reader of gold pages reached with each on development questions. ``led``: hops given →
    group → the same of both systems. ``surer``: the ``least`` chance of a hop, what each reached on ``development``
    questions, and group → the same. ``deaf``: group → the same where System 2 passes no messages. ``new
    compositions``: arm → hops → the same. ``comparisons``: what is compared → the share that is right. ``ranked``:
    group → what `told` tells of retrieval alone, without spread."""
    folder = str(parts.folder)
    rate, tried = tune_learning_rate(partial(_tried, parts), RATES)
    arms = {}
    for name, lr in {**dict.fromkeys(COGQA, RATE), **dict.fromkeys(READERS, rate)}.items():
        trained = parts(learned, [(folder, name, lr, seed) for seed in SEEDS])
        runs = parts(arm, [(folder, name, lr, seed) for seed in SEEDS])
        arms[name] = {"lr": lr, "device": sorted({told["device"] for told in trained.values()}),
                      "groups": seed_statistics({seed: runs[folder, name, lr, seed] for seed in SEEDS})}
    given = parts(led, [(folder, RATE, seed, hops) for hops in LED for seed in SEEDS])
    chosen = parts(surer_on_development, [(folder, RATE, seed, least) for least in LEAST for seed in SEEDS])
    scores = {least: fmean(chosen[folder, RATE, seed, least] for seed in SEEDS) for least in LEAST}
    least = max(LEAST, key=scores.__getitem__)
    sure = parts(surer, [(folder, RATE, seed, least) for seed in SEEDS])
    silent = parts(deaf, [(folder, RATE, seed) for seed in SEEDS])
    new = {name: parts(on_new_compositions, [(folder, name, lr, seed) for seed in SEEDS])
           for name, lr in ((BOTH, RATE), (GOLD, rate))}
    by_number = parts(comparisons, [(folder, RATE, seed) for seed in SEEDS])
    return {"arms": arms, "rates": rates_tried(tried), "ranked": parts(ranked, [()])[()],
            "surer": {"least": least, "development": list(scores.items()),
                      "groups": seed_statistics({seed: sure[folder, RATE, seed, least] for seed in SEEDS})},
            "deaf": seed_statistics({seed: silent[folder, RATE, seed] for seed in SEEDS}),
            "new compositions": {name: seed_statistics({task[-1]: told for task, told in runs.items()})
                                 for name, runs in new.items()},
            "comparisons": seed_statistics({seed: by_number[folder, RATE, seed] for seed in SEEDS}),
            "led": {hops: seed_statistics({seed: given[folder, RATE, seed, hops] for seed in SEEDS}) for hops in LED}}


def _tried(parts: Parts, rates: Sequence[float]) -> dict[float, float]:
    """Rate → the share of the development questions that the reader of gold pages answers, with the first seed."""
    found = parts(learned, [(str(parts.folder), GOLD, lr, SEEDS[0]) for lr in rates])
    return {lr: found[str(parts.folder), GOLD, lr, SEEDS[0]]["development"] for lr in rates}
