"""Whether System 2 of the bundled CogQA chooses better among the candidates of its graphs than simpler choices.

System 2 has a *choice* in a question if its graph has at least two candidate answers, of which one is correct and one
is not. The simpler choices take the same graph and its candidates: *System 1* its most confident answer, *random
candidate* the expected accuracy of a uniform choice, *deepest candidate* that of a uniform choice among the candidates
with the most hops from the question.

The rule replaces that of `studies.ch14.compared`, which compared both systems with System 1 in all questions. It was
changed after a reader had shown that at one and two hops there is hardly anything to choose, and written before this
run: for a number of hops it *cannot be tested* if there is a choice in fewer than 5 % of the questions; otherwise it is
supported if the accuracy of System 2's choice is above that of every simpler choice by more than 0.02, and not
supported if it is below the best of them by at least 0.02 (`plmlab.chapters.ch14.verdicts.system2_adds`).
"""

from statistics import fmean
from typing import Any

from plmlab.chapters.ch14.answering import start_search
from plmlab.chapters.ch14.compared import HOPPING
from plmlab.chapters.ch14.scores import answer_match
from plmlab.chapters.ch14.test_set import SPLITS, questions
from plmlab.chapters.ch14.training import pages
from plmlab.checkpoints import load
from plmlab.models.cogqa import CogQA
from plmlab.models.cogqa_search import CogQASearch, SearchState
from plmlab.recipes import Parts
from plmlab.world.questions.bank import Question
from studies.ch14.bundled import NAME


def depth(search: CogQASearch, state: SearchState, node: str) -> int:
    """The number of hops from the nearest node that the question names."""
    import networkx

    return min(networkx.shortest_path_length(state.graph, start, node) for start in search.named
               if start in state.graph and networkx.has_path(state.graph, start, node))


def choices(model: CogQA, question: Question, split: str) -> dict[str, float]:
    """Whether there is a ``choice``, whether there are ``several`` candidates, and the accuracy of each way to
    choose."""
    search = start_search(model, pages(split), question)
    state = search.finished()
    candidates = [node for node in state.answers if node in state.visits]
    correct = {node: answer_match(node, " ".join(question.answer)).exact for node in candidates}
    depths = {node: depth(search, state, node) for node in candidates}
    deepest = [correct[node] for node in candidates if depths[node] == max(depths.values())]
    return {"several": float(len(candidates) > 1), "choice": float({*correct.values()} == {0.0, 1.0}),
            "System 2": correct.get(search.answer(state) or "", 0.0),
            "System 1": correct.get(search.likeliest(state) or "", 0.0),
            "random candidate": fmean(correct.values()) if correct else 0.0,
            "deepest candidate": fmean(deepest) if deepest else 0.0}


def group_means(group: str) -> dict[str, float]:
    """Means of `choices` over the questions of a group, with the splits pooled."""
    model, _ = load(NAME)
    found = [choices(model, question, split) for split in SPLITS for question in questions(split)[group]]
    return {key: fmean(one[key] for one in found) for key in found[0]}


def measure(parts: Parts) -> dict[str, Any]:
    """Group → `group_means`."""
    return {group: run for (group,), run in parts(group_means, [(group,) for group in HOPPING]).items()}
