"""Questions: one answer by brute force, evidence that a reader of nothing else can answer from, true distractors."""

import re
from collections import Counter, defaultdict
from itertools import islice
from random import Random

import networkx
import pytest
from question_brute import ASKED, answered, both_ways, joined_all, row_of

from plmlab import world
from plmlab.draws import shuffled
from plmlab.world.documents.articles import Article
from plmlab.world.facts.relations import Triple
from plmlab.world.grammar.splits import SPLITS
from plmlab.world.questions.bank import Question
from plmlab.world.questions.chains import names
from plmlab.world.questions.cognitive_graph import Edge
from plmlab.world.questions.distractors import taken

Articles = dict[tuple[str, str | None], dict[str, Article]]


@pytest.fixture(params=["small", "full"])
def made(request: pytest.FixtureRequest) -> world.World:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def drawn() -> dict[str, list[Question]]:
    """Some hundred questions of every kind and split, of both worlds."""
    return {made.name: [question for kind, split in ASKED for question in islice(made.questions(kind, split, 3), 150)]
            for made in (world.small(), world.full())}


@pytest.fixture(scope="module")
def articles() -> Articles:
    """(world, corpus) → an entity's key → its article."""
    return {(made.name, corpus): {article.entity: article for article in made.articles(corpus)}
            for made in (world.small(), world.full()) for corpus in ("train", None)}


def test_the_full_world_asks_in_many_shapes(full):
    shapes = [shape for shape in full.question_bank.shapes if full.question_bank.cases.of(shape, "train")]
    hops = Counter((shape.kind, len(shape.steps)) for shape in shapes)
    assert hops["one-hop", 1] >= 25 and hops["bridge", 2] >= 20 and hops["bridge", 3] >= 10
    assert Counter(shape.form for shape in shapes)["either-or"] >= 6
    assert Counter(shape.form for shape in shapes)["yes-no"] >= 6
    assert all(len(shape.wordings) >= 2 for shape in shapes)


def test_every_world_has_every_kind_in_every_split(drawn, made):
    assert {(question.kind, question.split) for question in drawn[made.name]} == set(ASKED)
    assert {question.form for question in drawn[made.name]} == {"one-hop", "bridge", "either-or", "yes-no"}
    assert {question.hops for question in drawn[made.name] if question.kind == "bridge"} == {2, 3}


def test_exactly_one_answer_follows_from_all_facts(drawn, made):
    for question in drawn[made.name]:
        answer = question.answer_entity or question.answer[0]
        assert answered(made.facts.triples, made, question) == answer, question.text


def test_every_case_is_unique_at_every_hop(full):
    """Exhaustively: from the start, all bindings of all variables of a one-hop or bridge question are one."""
    by_relation: dict[str, list[Triple]] = defaultdict(list)
    for fact in full.facts.triples:
        by_relation[fact.relation].append(fact)
    for shape in full.question_bank.shapes:
        if shape.sign is None:
            atoms, asked, _ = row_of(shape.name)
            facts = [fact for relation, _, _ in atoms for fact in by_relation[relation]]
            everything = defaultdict(list)
            for binding in joined_all(facts, atoms):
                everything[binding["a"]].append(binding)
            for split in SPLITS:
                for (chain,) in full.question_bank.cases.of(shape, split):
                    assert len(everything[chain.start.key]) == 1
                    assert everything[chain.start.key][0][asked] == chain.end.key


def test_a_reader_of_the_evidence_alone_finds_the_answer(drawn, made, articles):
    for question in drawn[made.name]:
        told = [fact for key, place in question.evidence
                for fact in articles[made.name, question.corpus][key].sentences[place].facts]
        answer = question.answer_entity or question.answer[0]
        assert answered(both_ways(made, told), made, question) == answer, question.text
        assert {key for key, _ in question.evidence} == set(question.needed)


def test_the_answer_stands_word_for_word_in_what_is_read(drawn, made, articles):
    for question in drawn[made.name]:
        key, place = question.evidence[-1]
        last = articles[made.name, question.corpus][key].sentences[place].words
        where = {"either-or": question.words, "yes-no": ("yes", "no")}.get(question.form, last)
        assert f" {' '.join(question.answer)} " in f" {' '.join(where)} ", (question.text, where)


def test_the_question_names_its_start_and_neither_bridge_nor_answer(drawn, made):
    for question in drawn[made.name]:
        for node in question.graph.nodes:
            if node.entity and not (question.kind == "comparison" and node.role == "answer"):
                named = names(question.words, made.facts[node.entity])
                assert named == (node.role == "question"), (question.text, node)
        for node in question.graph.start:
            assert "".join(made.facts[node.key].chinese) in "".join(question.chinese)


def test_nothing_unfilled_is_left_in_either_language(drawn, made):
    for question in drawn[made.name]:
        assert not re.search(r"[{}@~]", question.text + "".join(question.chinese))
        assert question.words[-1] == "?" and question.chinese[-1] == "？"
        assert not re.search(r"[A-Za-z]", "".join(question.chinese + question.answer_chinese))


def test_distractors_say_nothing_that_is_needed(drawn, made, articles):
    for question in drawn[made.name]:
        entities = {node.entity for node in question.graph.nodes}
        assert len(question.distractors) == len(set(question.distractors)) == 8
        assert not entities & set(question.distractors) and not set(question.needed) & set(question.distractors)
        assert sorted(question.context) == sorted(question.needed + question.distractors)
        needed = set(both_ways(made, list(question.facts)))
        for key in question.distractors:
            article = articles[made.name, question.corpus][key]
            assert not needed & {fact for sentence in article.sentences for fact in sentence.facts}


def test_distractors_look_right(drawn):
    """Some are of a needed kind, and some share a word with a needed name."""
    for question in drawn["full"]:
        kinds = {key.split(":")[0] for key in question.needed}
        assert sum(key.split(":")[0] in kinds for key in question.distractors) >= 2
    alike = [any(set(key.split(":")[1].split()) & set(near.split(":")[1].split()) for key in question.distractors
                 for near in question.needed) for question in drawn["full"]]
    assert sum(alike) > 0.9 * len(alike)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 50])
def test_distractors_are_taken_off_a_shuffled_pile_which_costs_the_same_draws_however_few(size: int):
    keys = [str(number) for number in range(size)]
    pile, whole, part = Random(size), Random(size), Random(size)
    order = shuffled(pile, keys)[::-1]
    assert list(taken(whole, keys)) == order
    assert list(islice(taken(part, keys), 2)) == order[:2]
    assert pile.random() == whole.random() == part.random()


def test_the_context_does_not_give_the_needed_articles_away_by_place(drawn):
    first = Counter(question.context.index(question.needed[0]) for question in drawn["full"]
                    if len(question.needed) == 2)
    assert set(first) == set(range(10))
    assert max(first.values()) < 2 * sum(first.values()) / 10


def test_the_gold_graph_is_walked_from_article_to_article(drawn, made, articles):
    for question in drawn[made.name]:
        graph, compares = question.graph, question.kind == "comparison"
        directed = graph.to_networkx()
        assert networkx.is_directed_acyclic_graph(directed)
        assert len(graph.start) == (2 if compares else 1)
        assert len(graph.frontiers) == question.hops + 1 + compares and graph.frontiers[-1] == (graph.answer,)
        for start in graph.start:
            length = networkx.shortest_path_length(directed, start.key, graph.answer.key)
            assert length == question.hops + compares
        assert graph.answer.entity == question.answer_entity
        read = [edge for edge in graph.edges if edge.clue]
        assert {edge.clue for edge in read} == set(question.evidence)
        assert {fact_of(edge) for edge in read} == set(question.facts)
        for edge in read:
            assert edge.clue.article == edge.source
            sentence = articles[made.name, question.corpus][edge.source].sentences[edge.clue.sentence]
            target = made.facts[edge.target]
            assert edge.clue in graph.clues(edge.target)
            assert not target.named or target.key in {mention.entity for mention in sentence.mentions}


def fact_of(edge: Edge) -> Triple:
    back = edge.relation.startswith("~")
    ends = (edge.target, edge.source) if back else (edge.source, edge.target)
    return Triple(ends[0], edge.relation.lstrip("~"), ends[1])


def test_the_graph_of_a_bridge_question(full):
    question = next(q for q in full.questions("bridge", "train", 0) if q.shape == "cafe_film_director_birthplace")
    cafe, film, director, town = question.graph.nodes
    assert [node.role for node in question.graph.nodes] == ["question", "hop", "hop", "answer"]
    assert [edge.relation for edge in question.graph.edges] == ["~shot_at", "directed_by", "born_in"]
    assert full.facts.object(full.facts[film.key], "shot_at").key == cafe.key
    assert full.facts.object(full.facts[film.key], "directed_by").key == director.key
    assert question.needed == (cafe.key, film.key, director.key) and question.answer_entity == town.key
    assert question.graph[film.key] is film and question.graph.start == (cafe,)


def test_chains_that_end_alike_meet_in_one_node(full):
    for question in islice(full.questions("comparison", "train", 2), 200):
        if question.shape == "same_birthplace":
            towns = [node for node in question.graph.nodes if node.key.startswith("town:")]
            assert len(towns) == (1 if question.answer == ("yes",) else 2)
