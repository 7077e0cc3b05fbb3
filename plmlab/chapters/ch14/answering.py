"""Answer a question of the world and score the answer, the supporting sentences and, if a graph was expanded, its nodes
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
    """Scores of a predicted answer and of the predicted supporting sentences, and the number of pages ``read``."""

    answer: Match
    supporting: Match
    read: int

    @property
    def joint(self) -> Match:
        """Joint score of the answer and the supporting sentences."""
        return self.answer.together(self.supporting)


@dataclass(frozen=True)
class GraphOutcome(Outcome):
    """An `Outcome` with scores of a cognitive graph: of its ``nodes`` and ``edges``, and of the answer that System 1
    would give ``alone``; and whether the correct answer is ``among`` the nodes that were extracted as candidate
    answers."""

    nodes: Match
    edges: Match
    alone: Match
    among: bool


def outcome(question: Question, pages: ArticlePages, answer: str | None, support: Collection[Clue], read: int,
            ) -> Outcome:
    """Score an answer together with the sentences that are predicted to support it."""
    return Outcome(answer_match(answer, " ".join(question.answer)), set_match(support, supporting(question, pages)),
                   read)


def supporting(question: Question, pages: ArticlePages) -> set[Clue]:
    """The gold supporting sentences of a question."""
    return {Clue(pages.title(clue.article), clue.sentence) for clue in question.evidence}


def start_search(model: CogQA, pages: ArticlePages, question: Question, kind: type[CogQASearch] = CogQASearch,
                 **choices: Any,
           ) -> CogQASearch:
    """Start the graph expansion for a question of the world over these pages; ``choices`` are options of the
    `CogQASearch` class.
    """
    return kind(model, pages, pages.tokenizer.vocab, pages.ids(question.words), KINDS[question.form], **choices)


def grade(gold: GoldGraph, answer: str, search: CogQASearch, state: SearchState) -> GraphOutcome:
    """Score a completed graph against the gold graph and the correct answer. The predicted supporting sentences are
    those in which the nodes were found."""
    clues = {Clue(*clue) for *_, clue in state.graph.edges(data="clue")}
    gold_clues = {Clue(*clue) for node in gold.nodes.values() for clue in node.clues}
    return GraphOutcome(
        answer_match(search.answer(state), answer), set_match(clues, gold_clues),
        sum(bool(visit.read.sentences) for visit in state.visits.values()), set_match(state.graph.nodes, gold.nodes),
        set_match(state.graph.edges, gold.edges), answer_match(search.likeliest(state), answer),
        any(answer_match(node, answer).exact for node in state.answers))


def answer_question(model: CogQA, pages: ArticlePages, question: Question, kind: type[CogQASearch] = CogQASearch,
                    **choices: Any,
             ) -> GraphOutcome:
    """Answer a question with both systems and score the result."""
    search = start_search(model, pages, question, kind, **choices)
    return grade(gold_graph(question, pages), " ".join(question.answer), search, search.finished())
