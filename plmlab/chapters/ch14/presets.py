"""Questions of the world as the Cognitive Graph Lab tries them, each with its gold graph."""

from plmlab.chapters.ch14.exam import questions
from plmlab.chapters.ch14.gold_graphs import KINDS, gold_graph
from plmlab.chapters.ch14.training import pages
from plmlab.labs.cognitive_graph.presets import CognitiveGraphPreset, Gold
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.questions.bank import Question


def preset(question: Question, told: ArticlePages, title: str, note: str = "") -> CognitiveGraphPreset:
    """A question under a title; ``note`` is said once all is read."""
    graph = gold_graph(question, told)
    edges = {(source, name): sentence for name, node in graph.nodes.items() for source, sentence in node.clues}
    return CognitiveGraphPreset(title, question.text, KINDS[question.form], Gold(tuple(graph.nodes), edges),
                                " ".join(question.answer), note)


TRIED = (
    ("3 hops", "company that Thomas Weber", "three hops", ""),
    ("3 hops", "director of A Gentle Bridge", "two ways to a country",
     "Two ways lead from the film to a country: over the birthplace of its director, and over Brookdale, a town whose "
     "name is part of a title, Letters from Brookdale. Both countries are candidates. System 1 is surer of the right "
     "one, System 2 takes the other. Cut the edge from the film to Brookdale."),
    ("2 hops", "William Mercer works for", "founder or employee",
     "His page names two companies: one that he works for, and one that he founded. System 1 points at both, and at "
     "what each makes. Their clues tell them apart, and System 2 chooses the wrong one all the same."),
    ("either-or", "Windmere or Elmsworth", "a comparison",
     "Both numbers were found. Which is smaller, the difference of the two vectors does not tell."),
)
"""What the chapter tries: the group of the exam and words of the question, its title, and why it fails."""


def tried() -> list[CognitiveGraphPreset]:
    """What the chapter's lab tries."""
    return [preset(next(one for one in questions("test")[group] if words in one.text), pages("test"), title, note)
            for group, words, title, note in TRIED]
