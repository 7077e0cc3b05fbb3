"""Exercises 14.5 and 14.6: CogQA's graph expansion loop, and the score of its result."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from torch import Generator

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def grown_edges(
    read: "Callable[[str, list[str]], tuple[list, list]]", named: list[str], most: int,
) -> list[tuple[str, str]]:
    """The edges of the graph that CogQA's loop lets grow, in the order in which they are found.

    The graph begins with the nodes that a question names, and all of them stand in the frontier, in
    that order. As long as the frontier is not empty, its first node is taken out of it and read.
    ``read(node, clues)`` is System 1. ``clues`` is a list of the clues of all edges that lead to the
    node so far, in the order in which these edges were found. It gives two lists of pairs (target,
    clue): the hops, and the answers. Go through all hops, and then through all answers:

    - If there is already an edge from the node to the target, nothing happens.
    - If the target is not in the graph, and the graph has ``most`` nodes, nothing happens.
    - Otherwise a new edge leads from the node to the target, and has this clue. The target comes into
      the graph if it is not there. If it is a hop, it also goes to the end of the frontier, unless it
      stands there: a node that was read before is read again, because it has a new clue. An answer
      does not go there.

    Give a pair (node, target) for each edge.
    """
    frontier, nodes, edges = [*named], {*named}, dict[tuple[str, str], str]()
    while frontier:
        node = frontier.pop(0)
        hops, answers = read(node, [clue for (_, target), clue in edges.items() if target == node])
        for target, clue in [*hops, *answers]:
            if (node, target) not in edges and (target in nodes or len(nodes) < most):
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
    asked: int = field(default=0, init=False, compare=False)

    def __call__(self, node: object, clues: object) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Hops and answers, each as (target, clue)."""
        if not isinstance(node, str) or not isinstance(clues, list | tuple) or not all(
                isinstance(clue, str) for clue in clues):
            raise ValueError("read(node, clues) takes one node: its name, and a list of its clues, which are words. "
                             f"It was called with {node!r:.40} and {clues!r:.60}")
        self.asked += 1
        if self.asked > PATIENCE:
            self.asked = 0
            raise ValueError(f"System 1 was called {PATIENCE} times, more than any question needs. Does a node go back "
                             "to the frontier only if a *new* edge leads to it?")
        seen = ["", *clues[:self.fits]]
        hops, answers = ([(one.target, one.clue) for one in self.pages.get(node, []) if one.answer is kind
                          and one.needs in seen] for kind in (False, True))
        return hops, answers


def draw_questions(_: Generator) -> Probes:
    """Inputs for 14.5: name → (read, named, most)."""
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
        "a circle": (LittleSystem1({
            "A": [hop("B", "a1"), answer("1950", "a2", "c1")], "B": [hop("C", "b1")], "C": [hop("A", "c1")]}),
                     ["A"], 9),
        "two nodes are named, and meet": (LittleSystem1({
            "A": [hop("C", "a1"), hop("D", "a2")], "B": [hop("C", "b1")],
            "C": [answer("blue", "c1", "b1"), hop("E", "c2"), answer("red", "c3", "a1")],
            "D": [answer("red", "d1"), answer("green", "d2", "a1")], "E": [hop("D", "e1")]}), ["A", "B"], 9),
        "an answer that has a page": (LittleSystem1({
            "A": [answer("B", "a1"), hop("C", "a2"), answer("1900", "a3")], "B": [hop("D", "b1"), answer("1901", "b2")],
            "C": [answer("1902", "c1")], "D": [answer("1903", "d1")]}), ["A"], 9),
        "an answer that another page takes for a hop": (LittleSystem1({
            "A": [hop("B", "a1"), answer("C", "a2")], "B": [hop("C", "b1")],
            "C": [hop("D", "c1"), answer("1904", "c2", "a2")], "D": []}), ["A"], 9),
        "the graph is full": (LittleSystem1({
            "A": [hop("B", "a1"), hop("C", "a2"), hop("D", "a3"), answer("E", "a4")],
            "B": [hop("F", "b1"), hop("C", "b2"), hop("A", "b3")], "C": [hop("B", "c1"), answer("A", "c2")],
            "D": [hop("A", "d1")], "F": [answer("A", "f1")]}), ["A"], 3),
        "an answer takes the last place": (LittleSystem1({
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
        "the clue comes while the node waits": (LittleSystem1({
            "A": [hop("B", "a1")], "B": [hop("C", "b1", needs="a1"), hop("D", "b2")], "C": [answer("1906", "c1")],
            "D": [answer("1907", "d1")]}), ["A", "B"], 9),
        "nothing is found": (LittleSystem1({"A": []}), ["A", "nobody"], 9),
    }


def joint_f1(
    answer: str, gold: str, found: list[tuple[str, int]], supporting: list[tuple[str, int]],
) -> float:
    """The joint F1 of one question, as HotpotQA counts it: the answer and what it rests on, both at once.

    ``answer`` and ``gold`` are the given answer and the right one, words with spaces between them, in
    lower case, without articles and punctuation. Precision is the share of the given words that are
    right, recall the share of the right words that are given; a word that stands there several times
    counts as often as it stands in both. But if one of the two is "yes" or "no" and the other is not
    the same, they share no words.
    ``found`` and ``supporting`` are the given sentences and the right ones, each as (title, number).
    Precision and recall are counted likewise, but a sentence counts once, however often it stands there.
    The joint precision is the product of the two precisions, the joint recall that of the two recalls.
    Give the F1 of these, 2 · precision · recall / (precision + recall), between 0 and 1; it is 0 if both
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
        "all is right, in another order": ("old town hall", "old town hall", [dusk, roma], [roma, dusk]),
        "the words are right, and in another order": ("hall old town", "old town hall", [roma, dusk], [roma, dusk]),
        "the answer is right, and the sentences are not": ("1931", "1931", [eva, adam], [roma, dusk]),
        "the sentences are right, and the answer is not": ("1931", "1974", [roma, dusk], [roma, dusk]),
        "yes for no": ("yes", "no", [roma, dusk], [roma, dusk]),
        "yes, and more": ("yes it is", "yes", [roma, dusk, eva], [roma, dusk]),
        "no is right": ("no", "no", [roma], [roma, adam, dusk]),
        "a no among others in the right answer": ("no", "no one", [roma], [roma]),
        "a no among others, given and right": ("no man", "no one", [roma, eva], [roma, dusk, adam]),
        "words that come several times": ("new new new york", "new york new town", [roma, adam], [roma, adam, dusk]),
        "a word that stands there once, and is given twice": ("york york", "york", [roma, dusk], [roma, dusk]),
        "a sentence that is given twice": ("adam", "adam bell", [roma, roma, dusk], [roma, adam]),
        "the right titles, and other sentences of them": (
            "bell", "bell", [("roma", 0), ("dusk", 1), adam], [roma, dusk, adam]),
        "the right numbers, of other titles": ("bell", "bell", [("eva", 1), adam], [roma, adam]),
        "a word that is a part of another": ("rom", "roma", [roma], [roma]),
        "no answer": ("", "1931", [roma], [roma]),
        "no sentence": ("1931", "1931", [], [roma, dusk]),
    }


EXERCISES = (
    Exercise(
        "14.5", "the loop", grown_edges, draw_questions,
        mistakes={
            "a node that was read is never read again; a new edge brings a new clue":
                edit("while frontier:\n        node = frontier.pop(0)", "for node in frontier:"),
            "a node that is in the graph gets no further edge, as in a tree; each new edge counts":
                edit("(node, target) not in edges and (target in nodes or len(nodes) < most)",
                     "target not in nodes and len(nodes) < most"),
            "an edge to a node that is in the graph is kept, but the node does not go to the frontier again":
                edit("edges[node, target] = clue", "edges[node, target], before = clue, {*nodes}",
                     "target not in frontier", "target not in before"),
            "the last of the frontier is read (pop() for pop(0)): first in, first out": edit("pop(0)", "pop()"),
            "only the last clue is told; all edges that lead to the node have one":
                edit("if target == node]", "if target == node][-1:]"),
            "the clues of all edges are told, not only of those that lead to the node": edit(" if target == node", ""),
            "answers go to the frontier too, and are read": edit("(target, clue) in hops and ", ""),
            "a full graph gets no further edge; one between two of its nodes still comes in":
                edit("(target in nodes or len(nodes) < most)", "len(nodes) < most"),
            "the loop stops at the first answer; it goes on until the frontier is empty":
                edit("return [*edges]", "    if answers:\n            break\n    return [*edges]"),
            "an edge that is found again has the new clue in place of the first; it keeps its first":
                edit("if (node, target) not in edges and",
                     "if (node, target) in edges:\n                edges[node, target] = clue\n            elif"),
        },
        hints=(
            "Play the second input by hand, on paper: what stands in the frontier after each reading? B is read twice. "
            "Which clues has it the first time, and which the second?",
            "Three things are kept: the frontier in its order, which nodes are in the graph, and the clue of each edge "
            "in the order in which they were found. A node is read as often as the frontier says; what keeps the loop "
            "from going on for ever is that an edge is new only once.",
            "frontier.pop(0) takes the first out of a list. A dict from (node, target) to the clue remembers the "
            "order in which it was filled, and [*d] lists its keys. [*hops, *answers] joins lists; the first len(hops) "
            "of it are hops.",
        ),
    ),
    Exercise(
        "14.6", "answer and reasons at once", joint_f1, draw_answers,
        mistakes={
            "the two F1 are multiplied; first the precisions are, and the recalls":
                edit("2 * precision * recall / (precision + recall)",
                     "4 * both / ((len(words) + len(right)) * (len(facts) + len(needed)))"),
            "the mean of the two F1 is given: half of it can be had for the answer alone":
                lambda answer, gold, found, supporting: (
                    joint_f1(answer, gold, [("", 0)], [("", 0)]) + joint_f1("same", "same", found, supporting)) / 2,
            "this is the plain mean of precision and recall; F1 is the harmonic one":
                edit("2 * precision * recall / (precision + recall)", "(precision + recall) / 2"),
            "P + R needs parentheses: / binds before +": edit("(precision + recall)", "precision + recall"),
            "it is divided by 0 where nothing is right": edit("return 0.0", "same = 0"),
            "the answer counts as right or wrong (exact match), not by its words":
                edit("answer.split(), gold.split()", "[answer], [gold]"),
            "each word counts once; it counts as often as it stands in both":
                edit("answer.split(), gold.split()", "[*{*answer.split()}], [*{*gold.split()}]"),
            "a given word counts each time that it is given; it counts as often as it stands in both":
                edit("min(words.count(word), right.count(word)) for word in {*words}",
                     "word in right for word in words"),
            "yes and no share words with other answers":
                edit(' or (answer != gold and {answer, gold} & {"yes", "no"})', ""),
            "a sentence that is given twice spoils the precision: sets count each once":
                edit("len(words) * len(facts)", "len(words) * len(found)"),
        },
        hints=(
            "One word of two is given, and with it the one right sentence and a wrong one. What are the four numbers, "
            "two precisions and two recalls? What is the joint precision, and what the joint recall?",
            "Count what is shared first, of words and of sentences. If one of the two is 0, so is the score, and "
            "nothing has to be divided by 0. Multiply precision by precision, and recall by recall; only then comes "
            "the F1.",
            "text.split() gives the words, and words.count(word) how often one is there. The lesser of two counts is "
            "shared: go through the different words, {*words}, and add up min(…, …). Of two sets, a & b is what is in "
            "both.",
        ),
    ),
)
