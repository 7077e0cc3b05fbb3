"""A test set about real text: hand-written questions about the articles of the Wikipedia sample, most of which follow a
link from one article to another."""

from typing import Any

from plmlab.chapters.ch14.answering import grade
from plmlab.chapters.ch14.gold_graphs import KINDS, GoldGraph, GoldNode
from plmlab.chapters.ch14.wikipedia_questions import pages
from plmlab.hf.minilm_vectors import pieces
from plmlab.models.cogqa import CogQA
from plmlab.models.cogqa_search import CogQASearch
from plmlab.retrieval.wikipedia_questions import RealQuestion, Step, questions
from plmlab.text.pages import TitledPages

MEASURES = ("answer", "supporting", "joint", "nodes", "edges")


def sentence_index(step: Step, articles: TitledPages) -> int:
    """Index of the first sentence of the page that states the step. Raises ValueError if there is no such sentence."""
    for number, sentence in enumerate(articles.texts.get(step.page, ())):
        if step.sentence in sentence and step.found in sentence:
            return number
    raise ValueError(f"no sentence of the page {step.page!r} has {step.sentence!r} and {step.found!r} in it; copy both "
                     "from plmlab.text.wikipedia_pages.sentences()")


def gold(question: RealQuestion, articles: TitledPages) -> GoldGraph:
    """The gold graph of a question; nodes are named as a model names them, by a title or by the spelling of their
    ids."""
    graph = GoldGraph()
    for step in question.steps:
        graph.add(GoldNode(step.page))
        ids = articles.ids(step.found.split())
        graph.add(GoldNode(articles.find(ids) or articles.spelled(ids), ((step.page, sentence_index(step, articles)),)))
    return graph


def start_search(model: CogQA, question: RealQuestion, **choices: Any) -> CogQASearch:
    """The graph expansion of a question over the `pages`; ``choices`` are options of `CogQASearch`."""
    return CogQASearch(model, pages(), pieces().vocab, pages().ids(question.text.split()), KINDS[question.form],
                       **choices)


def answered_wikipedia(model: CogQA, **choices: Any) -> list[dict[str, Any]]:
    """Answer each question with a CogQA on MiniLM. Returns JSON-serializable results: the question with its ``form``
    and number of ``hops``, the correct answer (``right``) and the predicted one (``given``), the edges of the
    ``graph``, the number of pages ``read``, and ``exact`` and ``f1`` for each measure. ``choices`` are options of
    `CogQASearch`."""
    found = []
    for question in questions():
        search = start_search(model, question, **choices)
        state = search.finished()
        outcome = grade(gold(question, pages()), question.answer, search, state)
        found.append({
            "form": question.form, "hops": len(question.steps), "question": question.text, "right": question.answer,
            "given": search.answer(state), "graph": [list(edge) for edge in state.graph.edges], "read": outcome.read,
            **{measure: {"exact": (match := getattr(outcome, measure)).exact, "f1": match.f1} for measure in MEASURES}})
    return found
