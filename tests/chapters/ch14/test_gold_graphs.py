"""The examples that CogQA learns from: that following the spans leads to the answer, and what the negatives are."""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from random import Random

import pytest

from plmlab import world
from plmlab.chapters.ch14 import gold_graphs
from plmlab.chapters.ch14.gold_graphs import NEGATIVES, example, gold_graph, system2_target, value_node
from plmlab.chapters.ch14.training import pages
from plmlab.hf import minilm
from plmlab.objectives.cognitive_graphs import CognitiveExample
from plmlab.objectives.cogqa_spans import Span
from plmlab.text import Tokenizer
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from plmlab.world.questions.bank import Question
from plmlab.world.questions.cognitive_graph import ANSWER

TIME = 192
SPLITS = ("train", "test", "facts", "entities", "combinations")


def questions(split: str, count: int = 12) -> Iterator[Question]:
    for kind in ("bridge",) if split == "combinations" else ("one-hop", "bridge", "comparison"):
        yield from islice(world.full().questions(kind, split, 2), count)


def made(question: Question, seed: int = 0) -> CognitiveExample:
    return example(question, pages(question.split), world_tokenizer().vocab, TIME, Random(seed))


@cache
def tokenizer(name: str) -> Tokenizer:
    return minilm()[1] if name == "pieces" else world_tokenizer()


@pytest.mark.parametrize("tokens", ["words", "pieces"])
@pytest.mark.parametrize("split", SPLITS)
def test_following_the_spans_leads_to_the_answer(split: str, tokens: str) -> None:
    """Token by token, from what the question names; nothing but the pages and the spans is used."""
    told = pages(split, tokenizer(tokens))
    for question in questions(split):
        graph = gold_graph(question, told)
        reached, frontier = set[str](), told.named(told.ids(question.words))
        answers = set[str]()
        while frontier:
            name = frontier.pop()
            reached.add(name)

            def said(number: int, span: Span, name: str = name) -> str:
                ids = told.sentences(name)[number][slice(*span)]
                return told.find(ids) or told.spelled(ids)

            for number, span in graph.nodes[name].hops:
                frontier.append(said(number, span))
                assert (name, frontier[-1]) in graph.edges and (name, number) in graph.nodes[frontier[-1]].clues
            for number, span in graph.nodes[name].answers:
                answers.add(said(number, span))
                assert (name, number) in graph.nodes[said(number, span)].clues
        facts = world.full().facts
        assert reached | answers == set(graph.nodes)
        if question.kind == "comparison":
            assert answers == {facts[edge.source].name for edge in question.graph.edges if edge.target == ANSWER}
        else:
            assert answers == {" ".join(question.answer)}
        clues = {(facts[clue.article].name, clue.sentence) for clue in question.evidence}
        assert {clue for node in graph.nodes.values() for clue in node.clues} == clues
        assert len(graph.edges) == len({(edge.source, edge.target) for edge in question.graph.edges if edge.clue})


@pytest.mark.parametrize("split", SPLITS)
def test_what_is_asked_of_system_two(split: str) -> None:
    told, outcomes = pages(split), []
    for question in questions(split):
        graph = gold_graph(question, told)
        names, wanted = [*graph.nodes], system2_target(question, told, graph)
        if question.kind != "comparison":
            assert [names[node] for node in wanted] == [" ".join(question.answer)]
            continue
        one, other, outcome = wanted
        compared = [names[one], names[other]]
        assert compared == [value_node(graph, name) for name in told.named(ids(question.words))]
        assert all(graph.nodes[name].answers for name in compared)
        outcomes.append(outcome)
        if question.form == "yes-no":
            assert question.answer == (("yes",) if outcome else ("no",))
        else:
            assert " ".join(question.answer) == told.named(ids(question.words))[outcome]
    assert len(set(outcomes)) == 2 or split == "combinations"


@pytest.mark.parametrize("split", SPLITS)
def test_negatives_stand_beside_the_gold_graph(split: str) -> None:
    for question in questions(split, 10):
        graph, found = gold_graph(question, pages(split)), made(question)
        special = question.kind != "comparison"
        gold, extra = len(graph.nodes), len(found.nodes) - len(graph.nodes)
        assert 0 < extra <= NEGATIVES * (1 + special)
        for number, node in enumerate(found.nodes[gold:], gold):
            pointers = node.labels["pointers"]
            assert (bool((pointers[0] == 1).all()) and int(pointers.sum()) == 4) or not pointers.any()
            assert [source for source, target in found.edges if target == number], "it was found somewhere"
        assert [edge for edge in found.edges if edge[1] < gold] == [
            ([*graph.nodes].index(a), [*graph.nodes].index(b)) for a, b in graph.edges]
        assert max(len(node.tokens) for node in found.nodes) <= TIME


def test_spans_stand_at_their_words_also_behind_clues() -> None:
    vocab = world_tokenizer().vocab
    for question in questions("train"):
        graph, found = gold_graph(question, pages("train")), made(question)
        for node, read in zip(graph.nodes.values(), found.nodes, strict=False):
            pointed = set()
            for column in (0, 2):
                starts, ends = ((read.labels["pointers"][:, column + i] == 1).nonzero().flatten().tolist()
                                for i in (0, 1))
                pointed |= {" ".join(world_tokenizer().tokens(read.tokens[a:b + 1].tolist()))
                            for a, b in zip(starts, ends, strict=True) if a}
            leads_to = {name for source, name in graph.edges if source == node.name}
            assert pointed == leads_to
            assert read.tokens.tolist()[:len(question.words) + 2] == [
                vocab.need("cls"), *ids(question.words), vocab.need("sep")]


def test_the_same_draws_the_same_and_others_draw_others() -> None:
    question = next(world.full().questions("bridge", "train", 5))
    tokens = [[node.tokens.tolist() for node in made(question, seed).nodes] for seed in (0, 0, 1)]
    assert tokens[0] == tokens[1] != tokens[2]


def test_a_page_that_does_not_name_it() -> None:
    question = next(world.full().questions("bridge", "train", 5))
    edge = question.graph.edges[0]
    assert edge.clue
    with pytest.raises(ValueError, match="'Nobody' does not occur in the sentence"):
        gold_graphs.span_in(pages("train"), edge.clue, "Nobody")
