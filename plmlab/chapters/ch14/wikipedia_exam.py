"""An exam about real text: questions about the articles of the Wikipedia sample, written by hand, most of them over a
link from one article to another."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from plmlab.chapters.ch14.answering import graded
from plmlab.chapters.ch14.gold_graphs import KINDS, GoldGraph, GoldNode
from plmlab.chapters.ch14.real_text import pieces
from plmlab.models.cognitive_growth import Growth
from plmlab.models.cogqa import CogQA
from plmlab.paths import DATA
from plmlab.text.pages import TitledPages
from plmlab.text.wikipedia_pages import WikipediaPages
from plmlab.world.tables import Row, clash, read_table

TABLE = "wikipedia_questions.tsv"
MEASURES = ("answer", "supporting", "joint", "nodes", "edges")
COLUMNS = ("form", "question", "answer", "steps", "sentences")


@dataclass(frozen=True)
class Step:
    """What is ``found`` on a page: another page by its title, or words; and a piece of the ``sentence`` that says so.
    """

    page: str
    found: str
    sentence: str


@dataclass(frozen=True)
class RealQuestion:
    """A question of one of the `KINDS`, its answer (of a comparison a title, yes or no), and the way to it."""

    form: str
    text: str
    answer: str
    steps: tuple[Step, ...]


@cache
def exam() -> tuple[RealQuestion, ...]:
    """The questions, in the order of their table. TableError where a row is not whole."""
    return tuple(RealQuestion(row["form"], row["question"], row["answer"], _steps(row))
                 for row in read_table(TABLE, required=COLUMNS, folder=DATA))


def _steps(row: Row) -> tuple[Step, ...]:
    ways = [tuple(way.split(" => ")) for way in row["steps"].split(" | ")]
    sentences = row["sentences"].split(" | ")
    if len(ways) != len(sentences) or any(len(way) != 2 for way in ways):
        raise clash("each step is written as page => what is found there, and has a piece of a sentence", row)
    return tuple(Step(page, found, sentence) for (page, found), sentence in zip(ways, sentences, strict=True))


@cache
def pages() -> WikipediaPages:
    """What the questions are answered from, in MiniLM's pieces of words."""
    return WikipediaPages(pieces())


def place(step: Step, told: TitledPages) -> int:
    """The number of the first sentence of the page that says it; ValueError where none does."""
    for number, sentence in enumerate(told.texts.get(step.page, ())):
        if step.sentence in sentence and step.found in sentence:
            return number
    raise ValueError(f"no sentence of the page {step.page!r} has {step.sentence!r} and {step.found!r} in it; copy both "
                     "from plmlab.text.wikipedia_pages.sentences()")


def gold(question: RealQuestion, told: TitledPages) -> GoldGraph:
    """The gold graph; what is found is named as a model names it, by a title or as its ids are spelled."""
    graph = GoldGraph()
    for step in question.steps:
        graph.add(GoldNode(step.page))
        ids = told.ids(step.found.split())
        graph.add(GoldNode(told.find(ids) or told.spelled(ids), ((step.page, place(step, told)),)))
    return graph


def growth(model: CogQA, question: RealQuestion, **choices: Any) -> Growth:
    """A question, to be answered from the `pages`; ``choices`` are those of `Growth`."""
    return Growth(model, pages(), pieces().vocab, pages().ids(question.text.split()), KINDS[question.form], **choices)


def answered_wikipedia(model: CogQA, **choices: Any) -> list[dict[str, Any]]:
    """Each question answered by a CogQA on MiniLM, as what JSON can hold: the question with its ``form`` and number of
    ``hops``, what is ``right`` and what was ``given``, the edges of the ``graph``, how many pages were ``read``, and
    for each measure ``exact`` and ``f1``. ``choices`` are those of `Growth`."""
    found = []
    for question in exam():
        asked = growth(model, question, **choices)
        state = asked.finished()
        outcome = graded(gold(question, pages()), question.answer, asked, state)
        found.append({
            "form": question.form, "hops": len(question.steps), "question": question.text, "right": question.answer,
            "given": asked.answer(state), "graph": [list(edge) for edge in state.graph.edges], "read": outcome.read,
            **{measure: {"exact": (match := getattr(outcome, measure)).exact, "f1": match.f1} for measure in MEASURES}})
    return found
