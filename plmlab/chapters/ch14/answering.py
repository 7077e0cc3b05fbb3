"""Questions of the world answered by a CogQA, and how well: answer, supporting sentences, and the graph."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from plmlab.chapters.ch14.gold_graphs import KINDS, gold_graph
from plmlab.chapters.ch14.scores import Match, answer_match, set_match
from plmlab.models.cognitive_growth import Clue, Growth, GrowthState
from plmlab.models.cogqa import CogQA
from plmlab.text.vocabulary import Vocabulary
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.questions.bank import Question

MEASURES = ("answer", "supporting", "joint", "nodes", "edges")


@dataclass(frozen=True)
class Outcome:
    """What was given for a question, against what is right, by each of the `MEASURES`; how many pages were read."""

    answer: Match
    supporting: Match
    nodes: Match
    edges: Match
    read: int

    @property
    def joint(self) -> Match:
        """Answer and supporting sentences at once."""
        return self.answer.together(self.supporting)


def growth(model: CogQA, pages: ArticlePages, vocab: Vocabulary, question: Question, **choices: Any) -> Growth:
    """A question of the world, to be answered from these pages; ``choices`` are those of `Growth`."""
    return Growth(model, pages, vocab, pages.ids(question.words), KINDS[question.form], **choices)


def outcome(question: Question, pages: ArticlePages, answer: str | None, state: GrowthState) -> Outcome:
    """An answer and its graph against the gold ones. The sentences that something was found in are the supporting
    ones."""
    gold = gold_graph(question, pages)
    told = {Clue(*edge["clue"]) for _, _, edge in state.graph.edges(data=True)}
    wanted = {Clue(*clue) for node in gold.nodes.values() for clue in node.clues}
    return Outcome(answer_match(answer, " ".join(question.answer)), set_match(told, wanted),
                   set_match(state.graph.nodes, gold.nodes), set_match(state.graph.edges, gold.edges),
                   sum(bool(visit.read.sentences) for visit in state.visits.values()))


def answered(model: CogQA, pages: ArticlePages, vocab: Vocabulary, questions: Iterable[Question], **choices: Any,
             ) -> list[Outcome]:
    """Each question answered by both systems."""
    found = []
    for question in questions:
        asked = growth(model, pages, vocab, question, **choices)
        state = asked.finished()
        found.append(outcome(question, pages, asked.answer(state), state))
    return found


def told(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Measure → the means over questions of ``exact``, ``f1``, ``precision`` and ``recall``."""
    return {measure: {part: fmean(getattr(getattr(one, measure), part) for one in outcomes)
                      for part in ("exact", "f1", "precision", "recall")} for measure in MEASURES}
