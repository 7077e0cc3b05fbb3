"""Questions of the world as the Cognitive Graph Lab tries them, each with its gold graph."""

from plmlab.chapters.ch14.gold_graphs import KINDS, gold_graph
from plmlab.labs.cognitive_graph.presets import CognitiveGraphPreset, Gold
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.questions.bank import Question


def preset(question: Question, pages: ArticlePages, title: str, note: str = "") -> CognitiveGraphPreset:
    """A question under a title; ``note`` is said once all is read."""
    graph = gold_graph(question, pages)
    edges = {(source, name): sentence for name, node in graph.nodes.items() for source, sentence in node.clues}
    return CognitiveGraphPreset(title, question.text, KINDS[question.form], Gold(tuple(graph.nodes), edges),
                                " ".join(question.answer), note)
