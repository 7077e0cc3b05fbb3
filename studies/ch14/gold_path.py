"""Why the bundled CogQA fails on unseen compositions: the same model without the gold path and given the gold path.

Given the gold path, it follows the hops of the gold graph, with their clues, and predicts only the answer span
itself. The question was raised by a reader, who had measured it before; the rule was written before this run:

- *The path* fails at a number of hops if the gold path corrects more than half of the wrong answers.
- *The answer span* fails if it corrects fewer than a tenth of them.
- Otherwise both fail.
"""

from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean
from typing import Any

from plmlab.chapters.ch14.answering import grade, start_search
from plmlab.chapters.ch14.gold_graphs import gold_graph
from plmlab.chapters.ch14.test_set import unseen_compositions
from plmlab.chapters.ch14.training import pages
from plmlab.checkpoints import load
from plmlab.models.cogqa import CogQA
from plmlab.recipes import Parts
from plmlab.world.questions.bank import Question
from studies.ch14.bundled import NAME
from studies.ch14.compared import ALL
from studies.ch14.oracles import GoldPathSearch

SPLIT = "combinations"
ROWS: Mapping[str, int] = {"without the gold path": 0, "given the gold path": ALL}
"""Row → how many hops are those of the gold graph."""


def scores(model: CogQA, question: Question, gold_hops: int) -> dict[str, float]:
    """Whether the answer is correct (``exact``), whether it is ``among`` the candidates, whether the page that states
    it is ``read``, and whether System 1 finds any span above the threshold there (``span``)."""
    articles = pages(SPLIT)
    gold = gold_graph(question, articles)
    search = start_search(model, articles, question, GoldPathSearch, gold=gold, gold_hops=gold_hops)
    state = search.finished()
    result = grade(gold, " ".join(question.answer), search, state)
    page = articles.title(question.needed[-1])
    return {"exact": result.answer.exact, "among": float(result.among), "read": float(page in state.visits),
            "span": float(page in state.visits and bool(state.visits[page].answers))}


def row(name: str) -> dict[str, dict[str, float]]:
    """Map 2 and 3 hops, and each shape of question in them, to the mean scores of a row."""
    model, _ = load(NAME)
    found = defaultdict[str, list[dict[str, float]]](list)
    for group, some in unseen_compositions().items():
        for question in some:
            result = scores(model, question, ROWS[name])
            found[group].append(result)
            found[question.shape].append(result)
    return {key: {score: fmean(one[score] for one in some) for score in some[0]} | {"questions": len(some)}
            for key, some in found.items()}


def what_fails(without: float, given: float) -> str:
    """The rule, applied to the accuracy without the gold path and given it."""
    repaired = (given - without) / (1 - without) if without < 1 else 0.0
    return "the path" if repaired > 1 / 2 else "the answer span" if repaired < 1 / 10 else "both"


def measure(parts: Parts) -> dict[str, Any]:
    """``rows``: row → 2 and 3 hops, and each shape → mean `scores`; ``fails``: the same keys → what fails by the
    rule."""
    rows = {name: run for (name,), run in parts(row, [(name,) for name in ROWS]).items()}
    without, given = rows.values()
    return {"rows": rows,
            "fails": {group: what_fails(without[group]["exact"], given[group]["exact"]) for group in without}}
