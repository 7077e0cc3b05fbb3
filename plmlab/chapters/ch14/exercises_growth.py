"""Exercises 14.5 and 14.6: CogQA's graph expansion loop, and the score of its result."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from torch import Generator

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def expand_graph(
    read: "Callable[[str, list[str]], tuple[list, list]]", named: list[str], max_nodes: int,
) -> list[tuple[str, str]]:
    """The edges of the graph that CogQA's expansion loop builds, in the order in which they are found.

    The graph starts with the nodes named in the question, all of them in the frontier, in that order.
    As long as the frontier is not empty, its first node is removed and read.
    ``read(node, clues)`` is System 1. ``clues`` is the list of the clues of all edges that lead to the
    node so far, in the order in which these edges were found. It returns two lists of pairs (target,
    clue): the hops, and the answers. Process all hops, and then all answers:

    - If there is already an edge from the node to the target, nothing happens.
    - If the target is not in the graph, and the graph has ``max_nodes`` nodes, nothing happens.
    - Otherwise, add an edge from the node to the target, with this clue. The target is added to the
      graph if it is new. If it is a hop, it is also appended to the frontier, unless it is already
      there: a node that has been read is read again, because it has a new clue. Answers are not
      added to the frontier.

    Return a pair (node, target) for each edge.
    """
    frontier, nodes, edges = [*named], {*named}, dict[tuple[str, str], str]()
    while frontier:
        node = frontier.pop(0)
        hops, answers = read(node, [clue for (_, target), clue in edges.items() if target == node])
        for target, clue in [*hops, *answers]:
            if (node, target) not in edges and (target in nodes or len(nodes) < max_nodes):
                edges[node, target] = clue
                nodes.add(target)
                if (target, clue) in hops and target not in frontier:
                    frontier.append(target)
    return [*edges]


class Finding(NamedTuple):
    """A span that System 1 extracts from a page: a target, in a sentence that becomes its clue, as an answer or a hop;
    and the clue without which System 1 does not extract it ("": it always does)."""

    target: str
    clue: str
    answer: bool = False
    needs: str = ""


PATIENCE = 300
"""Maximum number of calls that are answered, far more than any question needs."""


@dataclass
class LittleSystem1:
    """The model in 14.5: node → what System 1 extracts from its page. Nothing is extracted from a node without a page.
    Only the first ``fits`` clues fit into the input beside the question. Raises ValueError if the input is not one node
    with a list of clues, or if the caller never stops."""

    pages: dict[str, list[Finding]]
    fits: int = 9
    calls: int = field(default=0, init=False, compare=False)

    def __call__(self, node: object, clues: object) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Hops and answers, each as (target, clue)."""
        if not isinstance(node, str) or not isinstance(clues, list | tuple) or not all(
                isinstance(clue, str) for clue in clues):
            raise ValueError("read(node, clues) takes one node: its name, and a list of its clues, which are words. "
                             f"It was called with {node!r:.40} and {clues!r:.60}")
        self.calls += 1
        if self.calls > PATIENCE:
            self.calls = 0
            raise ValueError(f"System 1 was called {PATIENCE} times, more than any question needs. Does a node go back "
                             "to the frontier only if a *new* edge leads to it?")
        seen = ["", *clues[:self.fits]]
        hops, answers = ([(one.target, one.clue) for one in self.pages.get(node, []) if one.answer is kind
                          and one.needs in seen] for kind in (False, True))
        return hops, answers


def draw_questions(_: Generator) -> Probes:
    """Inputs for 14.5: name → (read, named, max_nodes)."""
    hop = Finding

    def answer(target: str, clue: str, needs: str = "") -> Finding:
        return Finding(target, clue, True, needs)

    return {
        "one hop, and an answer": (LittleSystem1({
            "Roma": [hop("Dusk", "Dusk was made there")], "Dusk": [answer("Adam", "Adam directed it")]}), ["Roma"], 9),
        "a page that shows more when it is read again": (LittleSystem1({
            "A": [hop("B", "a1"), hop("C", "a2")],
            "B": [answer("1931", "b1"), hop("D", "b2", needs="c1"), answer("1888", "b3", needs="b1")],
            "C": [hop("B", "c1")], "D": [answer("1974", "d1")]}), ["A"], 9),
        "a cycle": (LittleSystem1({
            "A": [hop("B", "a1"), answer("1950", "a2", "c1")], "B": [hop("C", "b1")], "C": [hop("A", "c1")]}),
                     ["A"], 9),
        "two named nodes with a common successor": (LittleSystem1({
            "A": [hop("C", "a1"), hop("D", "a2")], "B": [hop("C", "b1")],
            "C": [answer("blue", "c1", "b1"), hop("E", "c2"), answer("red", "c3", "a1")],
            "D": [answer("red", "d1"), answer("green", "d2", "a1")], "E": [hop("D", "e1")]}), ["A", "B"], 9),
        "an answer that has a page": (LittleSystem1({
            "A": [answer("B", "a1"), hop("C", "a2"), answer("1900", "a3")], "B": [hop("D", "b1"), answer("1901", "b2")],
            "C": [answer("1902", "c1")], "D": [answer("1903", "d1")]}), ["A"], 9),
        "an answer that is a hop on another page": (LittleSystem1({
            "A": [hop("B", "a1"), answer("C", "a2")], "B": [hop("C", "b1")],
            "C": [hop("D", "c1"), answer("1904", "c2", "a2")], "D": []}), ["A"], 9),
        "the graph is full": (LittleSystem1({
            "A": [hop("B", "a1"), hop("C", "a2"), hop("D", "a3"), answer("E", "a4")],
            "B": [hop("F", "b1"), hop("C", "b2"), hop("A", "b3")], "C": [hop("B", "c1"), answer("A", "c2")],
            "D": [hop("A", "d1")], "F": [answer("A", "f1")]}), ["A"], 3),
        "an answer becomes the last node": (LittleSystem1({
            "A": [hop("B", "a1"), answer("1908", "a2")], "B": [hop("C", "b1"), answer("1908", "b2")], "C": []}),
                                           ["A"], 3),
        "many edges between few nodes": (LittleSystem1({
            "A": [hop("B", "a1")], "B": [hop("A", "b1"), hop("C", "b2")],
            "C": [hop("A", "c1"), hop("B", "c2"), hop("D", "c3")],
            "D": [answer("E", "d1"), hop("B", "d2")]}), ["A"], 4),
        "the graph is full from the beginning": (LittleSystem1({
            "A": [hop("C", "a1"), hop("D", "a2"), hop("B", "a3")],
            "B": [hop("A", "b1", needs="a3"), answer("1905", "b2")]}),
                                                 ["A", "B"], 2),
        "only the first clue fits": (LittleSystem1({
            "A": [hop("C", "a1"), hop("D", "a2")], "B": [hop("C", "b1")],
            "C": [answer("first", "c1", "a1"), answer("second", "c2", "b1"), answer("third", "c3", "d1")],
            "D": [hop("C", "d1")]}, fits=1), ["B", "A"], 9),
        "two sentences lead to one page": (LittleSystem1({
            "A": [hop("B", "a1"), hop("B", "a2")], "B": [answer("first", "b1", "a1"), answer("second", "b2", "a2")]}),
                                           ["A"], 9),
        "a clue is found while the node is in the frontier": (LittleSystem1({
            "A": [hop("B", "a1")], "B": [hop("C", "b1", needs="a1"), hop("D", "b2")], "C": [answer("1906", "c1")],
            "D": [answer("1907", "d1")]}), ["A", "B"], 9),
        "nothing is found": (LittleSystem1({"A": []}), ["A", "nobody"], 9),
    }


def joint_f1(
    answer: str, gold: str, found: list[tuple[str, int]], supporting: list[tuple[str, int]],
) -> float:
    """The joint F1 of one question, as in HotpotQA: answer and supporting sentences together.

    ``answer`` and ``gold`` are the predicted and the correct answer, words separated by spaces, in
    lower case, without articles and punctuation. Precision is the fraction of the predicted words that
    are correct, recall the fraction of the correct words that are predicted; a repeated word counts
    as often as it occurs in both. But if one of the two is "yes" or "no" and the other differs,
    they share no words.
    ``found`` and ``supporting`` are the predicted and the correct sentences, each as (title, index).
    Precision and recall are computed likewise, but a sentence counts once, however often it is listed.
    The joint precision is the product of the two precisions, the joint recall that of the two recalls.
    Return their F1, 2 · precision · recall / (precision + recall), between 0 and 1; it is 0 if both
    are 0. ``answer`` and ``found`` may be empty: then their precision and recall are 0.
    """
    words, right, facts, needed = answer.split(), gold.split(), {*found}, {*supporting}
    same = sum(min(words.count(word), right.count(word)) for word in {*words})
    if not same or not facts & needed or (answer != gold and {answer, gold} & {"yes", "no"}):
        return 0.0
    both = same * len(facts & needed)
    precision, recall = both / (len(words) * len(facts)), both / (len(right) * len(needed))
    return 2 * precision * recall / (precision + recall)


def draw_answers(_: Generator) -> Probes:
    """Inputs for 14.6: name → (answer, gold, found, supporting)."""
    roma, dusk, adam, eva = ("roma", 1), ("dusk", 0), ("adam", 0), ("eva", 2)
    return {
        "half of the answer, and half of the sentences": ("adam", "adam bell", [roma, eva], [roma]),
        "two words of three, two sentences of three": (
            "adam bell junior", "adam bell", [dusk, roma], [roma, dusk, adam]),
        "all correct, in another order": ("old town hall", "old town hall", [dusk, roma], [roma, dusk]),
        "correct words, in another order": ("hall old town", "old town hall", [roma, dusk], [roma, dusk]),
        "the answer is correct, the sentences are not": ("1931", "1931", [eva, adam], [roma, dusk]),
        "the sentences are correct, the answer is not": ("1931", "1974", [roma, dusk], [roma, dusk]),
        "yes instead of no": ("yes", "no", [roma, dusk], [roma, dusk]),
        "yes, and more": ("yes it is", "yes", [roma, dusk, eva], [roma, dusk]),
        "no is correct": ("no", "no", [roma], [roma, adam, dusk]),
        "a no among others in the correct answer": ("no", "no one", [roma], [roma]),
        "a no among others, predicted and correct": ("no man", "no one", [roma, eva], [roma, dusk, adam]),
        "repeated words": ("new new new york", "new york new town", [roma, adam], [roma, adam, dusk]),
        "a word that occurs once, and is predicted twice": ("york york", "york", [roma, dusk], [roma, dusk]),
        "a sentence that is predicted twice": ("adam", "adam bell", [roma, roma, dusk], [roma, adam]),
        "the correct titles, with other sentences": (
            "bell", "bell", [("roma", 0), ("dusk", 1), adam], [roma, dusk, adam]),
        "the correct indices, with other titles": ("bell", "bell", [("eva", 1), adam], [roma, adam]),
        "a word that is a part of another": ("rom", "roma", [roma], [roma]),
        "no answer": ("", "1931", [roma], [roma]),
        "no sentences": ("1931", "1931", [], [roma, dusk]),
    }


EXERCISES = (
    Exercise(
        "14.5", "the expansion loop", expand_graph, draw_questions,
        mistakes={
            "a node that was read is never read again; a new edge gives it a new clue":
                edit("while frontier:\n        node = frontier.pop(0)", "for node in frontier:"),
            "a node already in the graph gets no further edges, as in a tree; every new edge should be added":
                edit("(node, target) not in edges and (target in nodes or len(nodes) < max_nodes)",
                     "target not in nodes and len(nodes) < max_nodes"),
            "an edge to a node already in the graph is added, but the node is not added to the frontier again":
                edit("edges[node, target] = clue", "edges[node, target], before = clue, {*nodes}",
                     "target not in frontier", "target not in before"),
            "the last node of the frontier is read: use pop(0), not pop()": edit("pop(0)", "pop()"),
            "only the last clue is passed; pass that of each edge that leads to the node":
                edit("if target == node]", "if target == node][-1:]"),
            "the clues of all edges are passed, not only of those that lead to the node":
                edit(" if target == node", ""),
            "answers are added to the frontier too, and are read": edit("(target, clue) in hops and ", ""),
            "a full graph gets no further edges; an edge between two of its nodes should still be added":
                edit("(target in nodes or len(nodes) < max_nodes)", "len(nodes) < max_nodes"),
            "the loop stops at the first answer; it should continue until the frontier is empty":
                edit("return [*edges]", "    if answers:\n            break\n    return [*edges]"),
            "an edge that is found again gets the new clue; it should keep its first one":
                edit("if (node, target) not in edges and",
                     "if (node, target) in edges:\n                edges[node, target] = clue\n            elif"),
        },
        hints=(
            "Work through the second input on paper: what is in the frontier after each reading? B is read twice. "
            "Which clues does it have the first time, and which the second?",
            "Keep three things: the frontier in its order, the set of nodes in the graph, and the clue of each edge "
            "in the order in which they were found. A node is read as often as it leaves the frontier; the loop ends "
            "because an edge is new only once.",
            "frontier.pop(0) removes the first element of a list. A dict from (node, target) to the clue keeps its "
            "insertion order, and [*d] lists its keys. [*hops, *answers] concatenates lists; the first len(hops) "
            "elements are hops.",
        ),
    ),
    Exercise(
        "14.6", "the joint F1", joint_f1, draw_answers,
        mistakes={
            "the two F1 scores are multiplied; multiply the precisions and the recalls first":
                edit("2 * precision * recall / (precision + recall)",
                     "4 * both / ((len(words) + len(right)) * (len(facts) + len(needed)))"),
            "this is the mean of the two F1 scores: a correct answer alone would score 1/2":
                lambda answer, gold, found, supporting: (
                    joint_f1(answer, gold, [("", 0)], [("", 0)]) + joint_f1("same", "same", found, supporting)) / 2,
            "this is the arithmetic mean of precision and recall; F1 is the harmonic mean":
                edit("2 * precision * recall / (precision + recall)", "(precision + recall) / 2"),
            "P + R needs parentheses: / binds more tightly than +": edit("(precision + recall)", "precision + recall"),
            "division by 0 if nothing is correct": edit("return 0.0", "same = 0"),
            "the answer is scored by exact match, not by its words":
                edit("answer.split(), gold.split()", "[answer], [gold]"),
            "each word counts once; it should count as often as it occurs in both":
                edit("answer.split(), gold.split()", "[*{*answer.split()}], [*{*gold.split()}]"),
            "a predicted word counts each time it is predicted; it should count as often as it occurs in both":
                edit("min(words.count(word), right.count(word)) for word in {*words}",
                     "word in right for word in words"),
            "yes and no share words with other answers; they should share none":
                edit(' or (answer != gold and {answer, gold} & {"yes", "no"})', ""),
            "a sentence that is predicted twice lowers the precision; sets count each sentence once":
                edit("len(words) * len(facts)", "len(words) * len(found)"),
        },
        hints=(
            "Suppose one of the answer's two words is predicted, with the one correct sentence and a wrong one. What "
            "are the two precisions and the two recalls? What are the joint precision and the joint recall?",
            "First count the shared words and the shared sentences. If one of the two is 0, so is the score, and no "
            "division by 0 occurs. Multiply precision by precision, and recall by recall; only then compute the F1.",
            "text.split() gives the words, and words.count(word) counts a word. The smaller of its two counts is "
            "shared: sum min(…, …) over the distinct words, {*words}. For two sets, a & b is the intersection.",
        ),
    ),
)
