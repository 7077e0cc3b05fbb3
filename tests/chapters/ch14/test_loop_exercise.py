"""The loop that exercise 14.5 asks for: played by hand, against a fixpoint, and against the graph that a CogQA of
plmlab lets grow; and what its little System 1 says to who asks it badly."""

from collections.abc import Sequence
from random import Random

import pytest
import torch
from torch import Tensor

from plmlab.chapters.ch14.exercises_growth import PATIENCE, Finding, LittleSystem1, expand_graph
from plmlab.draws import randint
from plmlab.example import Batch
from plmlab.exercises import case
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.cogqa import CogQA, CogQAConfig
from plmlab.models.cogqa_search import CogQASearch
from plmlab.models.registry import ModelSpec
from plmlab.text.words import word_tokenizer

NODES, VALUES = "ABCDEFG", "12345"
CLUES = [f"{node}{number}" for node in NODES for number in range(9)]


def test_a_run_by_hand() -> None:
    """A leads to B and C. B says nothing new before C has led to it: then it leads to D."""
    asked: list[tuple[str, list[str]]] = []
    told = {"A": ([("B", "in a"), ("C", "by a")], []), "C": ([("B", "in c")], []), "D": ([], [("1974", "in d")])}

    def read(node: str, clues: list[str]) -> tuple[list, list]:
        asked.append((node, clues))
        return ([("D", "in b")] if "in c" in clues else [], [("1931", "of b")]) if node == "B" else told[node]

    edges = [("A", "B"), ("A", "C"), ("B", "1931"), ("C", "B"), ("B", "D"), ("D", "1974")]
    assert expand_graph(read, ["A"], 9) == edges
    assert asked == [("A", []), ("B", ["in a"]), ("C", ["by a"]), ("B", ["in a", "in c"]), ("D", ["in b"])]


def little_world(seed: int) -> LittleSystem1:
    """Seven pages that lead to each other, some only with a clue, and to values as answers; no edge by two clues."""
    rng, pages = Random(seed), dict[str, list[Finding]]()
    for node in NODES:
        pages[node] = [Finding(VALUES[0], f"{node}0", answer=True)]
        for number in range(1, 5):
            target = (NODES + VALUES[1:])[randint(rng, 11)]
            if target not in {node, *(one.target for one in pages[node])}:
                needs = "" if rng.random() < 0.5 else CLUES[randint(rng, len(CLUES))]
                pages[node].append(Finding(target, f"{node}{number}", target in VALUES, needs))
    # of the clues that are needed, those that can come to the page at all
    for node in NODES:
        arriving = [one.clue for page in pages.values() for one in page if one.target == node]
        pages[node] = [one._replace(needs=arriving[randint(rng, len(arriving))] if one.needs and arriving else "")
                       for one in pages[node]]
    return LittleSystem1(pages, fits=99)


def fixpoint(read: LittleSystem1, named: list[str]) -> set[tuple[str, str]]:
    """All pages that are reached are read with all clues that there are, until nothing changes."""
    edges: dict[tuple[str, str], str] = {}
    while True:
        before = dict(edges)
        for node in {*named, *(target for _, target in before)}:
            hops, answers = read(node, [clue for (_, target), clue in before.items() if target == node])
            edges |= {(node, target): clue for target, clue in [*hops, *answers]}
        if edges == before:
            return {*edges}


@pytest.mark.parametrize("seed", range(20))
def test_the_edges_are_those_of_the_fixpoint(seed: int) -> None:
    world = little_world(seed)
    edges = expand_graph(world, ["A", "B"], 99)
    assert {*edges} == fixpoint(world, ["A", "B"]) and len({*edges}) == len(edges)


def test_in_these_worlds_it_matters_that_pages_are_read_again() -> None:
    def once(read: LittleSystem1, named: list[str]) -> set[tuple[str, str]]:
        done: set[str] = set()

        def unless_done(node: str, clues: list[str]) -> tuple[list, list]:
            hops, answers = ([], []) if node in done else read(node, clues)
            done.add(node)
            return hops, answers
        return {*expand_graph(unless_done, named, 99)}
    assert sum(once(little_world(s), ["A", "B"]) != fixpoint(little_world(s), ["A", "B"]) for s in range(20)) > 5


WORDS = word_tokenizer([*NODES, *VALUES, *CLUES])


class WorldPages:
    """The pages of a little world as ids: the title, and of each finding a sentence of its clue and its target."""

    def __init__(self, world: LittleSystem1) -> None:
        self.pages = world.pages

    def named(self, question: Sequence[int]) -> list[str]:
        return WORDS.tokens(list(question))

    def find(self, words: Sequence[int]) -> str | None:
        return said if (said := self.spelled(words)) in self.pages else None

    def sentences(self, title: str) -> list[list[int]]:
        lines = [title, *(f"{one.clue} {one.target}" for one in self.pages[title])] if title in self.pages else []
        return [WORDS.encode(line, plain=True) for line in lines]

    def spelled(self, words: Sequence[int]) -> str:
        return " ".join(WORDS.tokens(list(words)))


class WorldReader(CogQA):
    """A CogQA whose System 1 is that of a little world."""

    def __init__(self, world: LittleSystem1) -> None:
        size = BERTConfig(len(WORDS), time=400, layers=1, model=4, heads=1, inner=4)
        super().__init__(CogQAConfig(ModelSpec(BERT, size)))
        self.world = world

    def read(self, batch: Batch) -> tuple[Tensor, Tensor]:
        logits = torch.zeros(*batch.size, 4)
        logits[:, 0] = 5
        for row, (tokens, segments) in enumerate(zip(batch.tokens.tolist(), batch.segments.tolist(), strict=True)):
            first = segments.index(1) if 1 in segments else len(tokens)
            title, *_ = WORDS.tokens(tokens[first:first + 1]) or [""]
            if title not in self.world.pages:
                continue
            clues = [word for word in WORDS.tokens(tokens[:first]) if word in CLUES]
            pointed = {target for found in self.world(title, clues) for target, _ in found}
            for number, one in enumerate(self.world.pages[title]):
                if one.target in pointed:
                    position = first + 2 + 2 * number
                    logits[row, position, 2 * one.answer:2 * one.answer + 2] = 9 - 0.1 * number
        return logits, torch.zeros(len(logits), 4)


@pytest.mark.parametrize("seed", range(8))
def test_the_edges_are_those_that_plmlabs_growth_finds(seed: int) -> None:
    """It reads a whole frontier at once, and answers too; which edges there are in the end does not depend on that."""
    world = little_world(seed)
    asked = CogQASearch(WorldReader(world), WorldPages(world), WORDS.vocab, WORDS.encode("A B", plain=True), "special",
                        max_hops=9, max_answers=9, max_nodes=99)
    assert {*asked.finished().graph.edges} == {*expand_graph(world, ["A", "B"], 99)}


# The little System 1

@pytest.mark.parametrize(("node", "clues", "words"), [
    (["A"], [], "called with \\['A'\\] and \\[\\]"), ("A", "a1", "its name, and a list of its clues"),
    ("A", [("B", "A")], "clues, which are words"), ("A", {"a1"}, "a list of its clues"), ("A", None, "and None")])
def test_who_asks_for_something_else_is_told(node, clues, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        LittleSystem1({"A": []})(node, clues)


def test_who_never_ends_is_told_so() -> None:
    read, named, _ = case("14.5", 3)
    frontier = [*named]
    with pytest.raises(ValueError, match=f"called {PATIENCE} times, .* only if a \\*new\\* edge leads to it"):
        while frontier:
            frontier += [target for target, _ in read(frontier.pop(0), [])[0]]
    assert expand_graph(read, named, 9) == expand_graph(*case("14.5", 3))


def test_only_so_many_clues_fit() -> None:
    page = {"A": [Finding("B", "a1", needs="x"), Finding("C", "a2", True, "y"), Finding("D", "a3")]}
    assert LittleSystem1(page, fits=1)("A", ["x", "y"]) == ([("B", "a1"), ("D", "a3")], [])
    assert LittleSystem1(page, fits=2)("A", ["x", "y"]) == ([("B", "a1"), ("D", "a3")], [("C", "a2")])
    assert LittleSystem1(page)("nobody", ["x"]) == ([], [])
