"""CogQA compared with its baselines and ablations, by number of hops.

Ding et al. (2019) report a joint F1 of 34.9 on HotpotQA, compared with 23.6 for the best previous model, and (fig. 4)
that the gain grows with the number of hops. All variants here are initialized with the same BERT and trained on the
same questions in the same order. The learning rate of the baselines is chosen on development questions, for the
baseline on gold pages, from a growing grid; CogQA's rate was tried beforehand (with half of it comparisons are learned
more slowly, with twice of it no better). This is not a `Study`, because the learning rates of all CogQAs and of the
baseline on retrieved pages are inherited, and that of the baselines is chosen with the first seed, which is also
evaluated.

The rules were fixed before the runs. All scores are computed over the three splits of the test set together.

- *Graphs help as hops grow*: holds if CogQA's joint F1 at 3 hops is above that of the baseline on retrieved pages for
  every seed, and its mean lead grows by more than `MARGIN` from 1 hop to 2 and from 2 to 3. Fails if the baseline is
  ahead for every seed at 3 hops; otherwise it does not show, or holds in part.
- *System 2 adds to System 1*: the first rule was that it holds for a group if the accuracy of both systems together is
  above that of System 1's most confident answer by more than `MARGIN` for every seed (the graphs are the same). It was
  replaced after the runs (`studies.ch14.candidates`), because it counted questions without any choice.
- *Clues*, and the authors' *adjacency*, are worth something if every seed with the component has a higher accuracy than
  every seed without it, by more than `MARGIN`.
- The model on gold pages is not a baseline to beat, because it is given the pages that CogQA has to find.

The unseen compositions and *no message passing* were added at a reader's request, after the results were known.

A confidence threshold, below which hops are dropped, was added after the first runs, which followed too many edges
(`confidence_threshold`). It is the value of `LEAST` with the best joint F1 on development bridge questions, averaged
over all seeds.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import Any

from plmlab.chapters.ch14.answering import GraphOutcome, answer_question
from plmlab.chapters.ch14.compared import BOTH, GOLD, HOPPING, compared_attribute, comparison_questions
from plmlab.chapters.ch14.gold_graphs import gold_graph
from plmlab.chapters.ch14.test_set import unseen_compositions
from plmlab.chapters.ch14.training import development as development_questions
from plmlab.chapters.ch14.training import pages
from plmlab.models.cogqa import CogQA
from plmlab.recipes import Parts, rates_tried, seed_statistics, tune_learning_rate
from plmlab.world.questions.bank import Question
from studies.ch14.arms import COGQA, READERS, SEEDS, answer, stored_model, train_arm
from studies.ch14.confidence_threshold import ConfidenceThreshold
from studies.ch14.learning import RATE
from studies.ch14.no_message_passing import NoMessagePassing
from studies.ch14.oracles import GoldPathSearch
from studies.ch14.outcomes import by_group, mean_scores
from studies.ch14.ranking import ranked_outcome

RATES = (1e-3, 3e-3, 1e-2)
"""Initial grid of the baselines' learning rate."""
ALL = 9
"""More hops than any question takes."""
GOLD_HOPS = (1, ALL)
"""Numbers of first hops that are those of the gold graph."""
LEAST = (0.0, 0.01, 0.03, 0.1, 0.3, 0.6)

Numbers = dict[str, dict[str, float]]


def arm(folder: str, name: str, lr: float, seed: int) -> Numbers:
    """Map each group to a variant's results (`mean_scores`)."""
    return by_group(answer(name, stored_model(folder, name, lr, seed)))


def with_gold_hops(folder: str, lr: float, seed: int, hops: int) -> Numbers:
    """Map each group to the results of both systems on special questions whose first hops are given."""
    model = stored_model(folder, BOTH, lr, seed)
    assert isinstance(model, CogQA)
    return by_group(lambda question, split: gold_hops_outcome(model, question, split, hops), HOPPING)


def no_message_passing(folder: str, lr: float, seed: int) -> Numbers:
    """Map each group to the results of both systems on special questions without message passing in System 2."""
    return by_group(answer(BOTH, stored_model(folder, BOTH, lr, seed), NoMessagePassing), HOPPING)


def on_unseen_compositions(folder: str, name: str, lr: float, seed: int) -> Numbers:
    """Map 2 and 3 hops to a variant's results on questions with a combination of relations that does not occur in
    training."""
    answered = answer(name, stored_model(folder, name, lr, seed))
    return {group: mean_scores([answered(one, "combinations") for one in some])
            for group, some in unseen_compositions().items()}


def gold_hops_outcome(model: CogQA, question: Question, split: str, hops: int) -> GraphOutcome:
    """The outcome of a question with its first hops given."""
    articles = pages(split)
    return answer_question(model, articles, question, GoldPathSearch, gold=gold_graph(question, articles),
                           gold_hops=hops)


def confidence_threshold(folder: str, lr: float, seed: int, least: float) -> Numbers:
    """Map each group to the results of both systems on special questions if only hops above the threshold are
    followed."""
    return by_group(answer(BOTH, stored_model(folder, BOTH, lr, seed), ConfidenceThreshold, least=least), HOPPING)


def threshold_on_development(folder: str, lr: float, seed: int, least: float) -> float:
    """Joint F1 of both systems on the development bridge questions if only hops above the threshold are followed."""
    answered = answer(BOTH, stored_model(folder, BOTH, lr, seed), ConfidenceThreshold, least=least)
    return fmean(answered(question, "train").joint.f1 for question in development_questions("bridge"))


def comparisons(folder: str, lr: float, seed: int) -> dict[str, float]:
    """Map each compared attribute (`compared_attribute`) to the accuracy of both systems on the comparison questions of
    the test set."""
    answered, found = answer(BOTH, stored_model(folder, BOTH, lr, seed)), defaultdict[str, list[float]](list)
    for split, question in comparison_questions():
        found[compared_attribute(question)].append(answered(question, split).answer.exact)
    return {what: fmean(some) for what, some in sorted(found.items())}


def retrieval_only() -> Numbers:
    """Map each group to the results of the retrieval-only baseline."""
    return by_group(ranked_outcome)


def measure(parts: Parts) -> dict[str, Any]:
    """``arms``: variant → its ``lr``, the ``device`` of the training, and group → the spread of the results of
    `mean_scores`; ``rates``: the development score of the model on gold pages with each rate. ``gold hops``: hops given
    → group → the same for both systems. ``confidence threshold``: the threshold ``least``, the ``development`` score of
    each threshold, and group → the same. ``no message passing``: group → the same without message passing. ``new
    compositions``: variant → hops → the same. ``comparisons``: what is compared → accuracy. ``retrieval only``: group
    → its results, without spread."""
    folder = str(parts.folder)
    rate, tried = tune_learning_rate(partial(_tried, parts), RATES)
    arms = {}
    for name, lr in {**dict.fromkeys(COGQA, RATE), **dict.fromkeys(READERS, rate)}.items():
        trained = parts(train_arm, [(folder, name, lr, seed) for seed in SEEDS])
        runs = parts(arm, [(folder, name, lr, seed) for seed in SEEDS])
        arms[name] = {"lr": lr, "device": sorted({run["device"] for run in trained.values()}),
                      "groups": seed_statistics({seed: runs[folder, name, lr, seed] for seed in SEEDS})}
    given = parts(with_gold_hops, [(folder, RATE, seed, hops) for hops in GOLD_HOPS for seed in SEEDS])
    chosen = parts(threshold_on_development, [(folder, RATE, seed, least) for least in LEAST for seed in SEEDS])
    scores = {least: fmean(chosen[folder, RATE, seed, least] for seed in SEEDS) for least in LEAST}
    least = max(LEAST, key=scores.__getitem__)
    sure = parts(confidence_threshold, [(folder, RATE, seed, least) for seed in SEEDS])
    silent = parts(no_message_passing, [(folder, RATE, seed) for seed in SEEDS])
    new = {name: parts(on_unseen_compositions, [(folder, name, lr, seed) for seed in SEEDS])
           for name, lr in ((BOTH, RATE), (GOLD, rate))}
    by_number = parts(comparisons, [(folder, RATE, seed) for seed in SEEDS])
    return {"arms": arms, "rates": rates_tried(tried), "retrieval only": parts(retrieval_only, [()])[()],
            "confidence threshold": {"least": least, "development": list(scores.items()),
                      "groups": seed_statistics({seed: sure[folder, RATE, seed, least] for seed in SEEDS})},
            "no message passing": seed_statistics({seed: silent[folder, RATE, seed] for seed in SEEDS}),
            "unseen compositions": {name: seed_statistics({task[-1]: run for task, run in runs.items()})
                                 for name, runs in new.items()},
            "comparisons": seed_statistics({seed: by_number[folder, RATE, seed] for seed in SEEDS}),
            "gold hops": {hops: seed_statistics({seed: given[folder, RATE, seed, hops] for seed in SEEDS})
                          for hops in GOLD_HOPS}}


def _tried(parts: Parts, rates: Sequence[float]) -> dict[float, float]:
    """Map each learning rate to the accuracy of the model on gold pages on the development questions, with the first
    seed."""
    found = parts(train_arm, [(str(parts.folder), GOLD, lr, SEEDS[0]) for lr in rates])
    return {lr: found[str(parts.folder), GOLD, lr, SEEDS[0]]["development"] for lr in rates}
