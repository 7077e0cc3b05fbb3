"""A question of the world answered, and how well: answer, supporting sentences, and, where a graph was grown, its nodes
and edges."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from plmlab.chapters.ch14.gold_graphs import KINDS, GoldGraph, gold_graph
from plmlab.chapters.ch14.scores import Match, answer_match, set_match
from plmlab.models.cogqa import CogQA
from plmlab.models.cogqa_search import Clue, CogQASearch, SearchState
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.questions.bank import Question


@dataclass(frozen=True)
class Outcome:
    """What was given for a question, against what is right; how many pages were ``read``."""

    answer: Match
    supporting: Match
    read: int

    @property
    def joint(self) -> Match:
        """Answer and supporting sentences at once."""
        return self.answer.together(self.supporting)


@dataclass(frozen=True)
class GrownOutcome(Outcome):
    """The same where a graph was grown: its ``nodes`` and ``edges``; what System 1 ``alone`` would answer; and whether
    the right answer is a node ``among`` those that were pointed at as answers."""

    nodes: Match
    edges: Match
    alone: Match
    among: bool


def outcome(question: Question, pages: ArticlePages, answer: str | None, told: Collection[Clue], read: int) -> Outcome:
    """An answer with the sentences that are told to support it."""
    return Outcome(answer_match(answer, " ".join(question.answer)), set_match(told, supporting(question, pages)), read)


def supporting(question: Question, pages: ArticlePages) -> set[Clue]:
    """The sentences that a question needs."""
    return {Clue(pages.title(clue.article), clue.sentence) for clue in question.evidence}


def growth(model: CogQA, pages: ArticlePages, question: Question, kind: type[CogQASearch] = CogQASearch, **choices: Any,
           ) -> CogQASearch:
    """A question of the world, to be answered from these pages; ``choices`` are those of the kind of `CogQASearch`."""
    return kind(model, pages, pages.tokenizer.vocab, pages.ids(question.words), KINDS[question.form], **choices)


def graded(gold: GoldGraph, right: str, asked: CogQASearch, state: SearchState) -> GrownOutcome:
    """What a graph that has grown gives, against the gold one and the right answer. The sentences that something was
    found in are the supporting ones."""
    told = {Clue(*clue) for *_, clue in state.graph.edges(data="clue")}
    wanted = {Clue(*clue) for node in gold.nodes.values() for clue in node.clues}
    return GrownOutcome(
        answer_match(asked.answer(state), right), set_match(told, wanted),
        sum(bool(visit.read.sentences) for visit in state.visits.values()), set_match(state.graph.nodes, gold.nodes),
        set_match(state.graph.edges, gold.edges), answer_match(asked.likeliest(state), right),
        any(answer_match(node, right).exact for node in state.answers))


def answered(model: CogQA, pages: ArticlePages, question: Question, kind: type[CogQASearch] = CogQASearch,
             **choices: Any,
             ) -> GrownOutcome:
    """A question answered by both systems."""
    asked = growth(model, pages, question, kind, **choices)
    return graded(gold_graph(question, pages), " ".join(question.answer), asked, asked.finished())
