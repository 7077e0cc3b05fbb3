"""Questions of the world as presets of the Cognitive Graph Lab, each with its gold graph."""

from plmlab.chapters.ch14.gold_graphs import KINDS, gold_graph
from plmlab.chapters.ch14.test_set import questions
from plmlab.chapters.ch14.training import pages
from plmlab.labs.cognitive_graph.presets import CognitiveGraphPreset, Gold
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.questions.bank import Question


def preset(question: Question, articles: ArticlePages, title: str, note: str = "") -> CognitiveGraphPreset:
    """A question as a preset with this title; ``note`` is shown when the graph is complete."""
    graph = gold_graph(question, articles)
    edges = {(source, name): sentence for name, node in graph.nodes.items() for source, sentence in node.clues}
    return CognitiveGraphPreset(title, question.text, KINDS[question.form], Gold(tuple(graph.nodes), edges),
                                " ".join(question.answer), note)


PRESETS = (
    ("3 hops", "company that Thomas Weber", "three hops", ""),
    ("3 hops", "director of A Gentle Bridge", "two ways to a country",
     "Two paths lead from the film to a country: through its director's birthplace, and through Brookdale, a town "
     "whose name is part of a title, Letters from Brookdale. Both countries are candidates. System 1 is more confident "
     "in the correct one, but System 2 chooses the other. Remove the edge from the film to Brookdale."),
    ("2 hops", "William Mercer works for", "founder or employee",
     "His page names two companies: one that he works for, and one that he founded. System 1 extracts both, and what "
     "each of them makes. Their clues distinguish them, but System 2 still chooses the wrong one."),
    ("either-or", "Windmere or Elmsworth", "a comparison",
     "Both numbers were found. The difference of the two vectors does not show which of them is smaller."),
)
"""The chapter's presets: the group of test questions and words that identify the question, its title, and a note on why
it fails."""


def presets() -> list[CognitiveGraphPreset]:
    """The presets of the chapter's lab."""
    return [preset(next(one for one in questions("test")[group] if words in one.text), pages("test"), title, note)
            for group, words, title, note in PRESETS]
