"""The facts make sense, the lexicon is whole, and both say no clearly."""

import re

import pytest

from plmlab import world
from plmlab.world.facts.facts import FactError, Facts
from plmlab.world.facts.relations import NAMED, Triple
from plmlab.world.lexicon import article, with_ed, with_ing, with_s


@pytest.fixture(params=["small", "full"])
def made(request: pytest.FixtureRequest) -> world.World:
    return request.getfixturevalue(request.param)


def year(made: world.World, key: str, relation: str) -> int:
    found = made.facts.object(made.facts[key], relation)
    assert found is not None
    return found.number


def test_the_sizes(small, full):
    assert len(small.vocabulary) <= 150
    assert 18 <= sum(len(small.facts.kind(kind)) for kind in NAMED) <= 24
    assert 1000 <= len(full.vocabulary) <= 2000
    assert sum(len(full.facts.kind(kind)) for kind in NAMED) >= 400
    assert sum(not relation.derived for relation in full.facts.relations.values()) >= 15
    assert {triple.relation for triple in full.facts.triples} \
        == {name for name, relation in full.facts.relations.items() if not relation.derived}


def test_every_triple_fits_its_relation(made):
    seen = set()
    for triple in made.facts.triples:
        relation = made.facts.relations[triple.relation]
        assert made.facts[triple.subject].kind in relation.subjects
        assert made.facts[triple.object].kind in relation.objects
        if relation.functional:
            assert (triple.subject, triple.relation) not in seen
        seen.add((triple.subject, triple.relation))
        if relation.mirrored:
            assert Triple(triple.object, triple.relation, triple.subject) in made.facts.triples


def test_facts_make_sense_together(made):
    facts = made.facts
    for person in facts.kind("person"):
        for relation in ("born_in", "birth_year", "lives_in", "occupation"):
            assert facts.object(person, relation) is not None
        spouse, teacher = facts.object(person, "married_to"), facts.object(person, "taught_by")
        if spouse:
            assert facts.object(spouse, "lives_in") == facts.object(person, "lives_in")
            assert spouse.traits["gender"] != person.traits["gender"]
        if teacher:
            assert year(made, teacher.key, "birth_year") + 15 <= year(made, person.key, "birth_year")
            assert facts.object(teacher, "occupation") == facts.object(person, "occupation")
        for relative in facts.objects(person, "sibling_of"):
            assert relative.words[-1] == person.words[-1] and relative != spouse
            assert facts.object(relative, "born_in") == facts.object(person, "born_in")
    for film in facts.kind("film"):
        director, book = facts.object(film, "directed_by"), facts.object(film, "based_on")
        assert year(made, film.key, "film_year") >= year(made, director.key, "birth_year") + 18
        assert facts.object(director, "occupation").name == "director"
        if book:
            assert year(made, book.key, "published_in") < year(made, film.key, "film_year")
    cafes = [facts.object(film, "shot_at") for film in facts.kind("film")]
    assert len(set(cafes)) == len(cafes), "the film that was shot at a café is one film"
    for country in facts.kind("country"):
        capital = facts.object(country, "capital")
        assert facts.object(capital, "in_country") == country


def test_lookups_agree_with_the_triples(made):
    facts = made.facts
    for triple in facts.triples[::7]:
        subject, target = facts[triple.subject], facts[triple.object]
        assert facts.holds(subject, triple.relation, target)
        assert target in facts.objects(subject, triple.relation)
        assert subject in facts.subjects(triple.relation, target)
        assert triple in facts.about(subject)


def test_derived_relations_compare(made):
    facts = made.facts
    one, other = facts.kind("person")[:2]
    older = year(made, one.key, "birth_year") < year(made, other.key, "birth_year")
    assert facts.holds(one, "older_than", other) == older
    assert not facts.holds(one, "older_than", one)
    assert set(facts.objects(one, "older_than")) == {
        person for person in facts.kind("person")
        if year(made, person.key, "birth_year") > year(made, one.key, "birth_year")}
    town = facts.kind("town")[0]
    for neighbour in facts.objects(town, "same_country"):
        assert facts.object(neighbour, "in_country") == facts.object(town, "in_country")


def test_names_of_several_words_and_shared_ones(full):
    assert full.facts.named("Port Selwyn")[0].words == ("Port", "Selwyn")
    surnames = {person.words[-1] for person in full.facts.kind("person")}
    assert surnames & {town.name for town in full.facts.kind("town")}, "only the context tells a town from a family"


def test_what_the_facts_refuse(small):
    facts = small.facts
    with pytest.raises(FactError, match="unknown entity 'person:Nobody'"):
        facts["person:Nobody"]
    with pytest.raises(FactError, match="unknown relation 'hates'; the relations are born_in"):
        facts.objects(facts.kind("person")[0], "hates")
    person, town = facts.kind("person")[0].key, facts.kind("town")
    entities = list(facts.entities.values())
    with pytest.raises(FactError, match="leads from person to town"):
        Facts(facts.relations, entities, [Triple(town[0].key, "born_in", person)])
    with pytest.raises(FactError, match="has one object, and"):
        Facts(facts.relations, entities, [Triple(person, "born_in", place.key) for place in town[:2]])


def test_the_lexicon_is_whole(full):
    ambiguous = set(full.lexicon.ambiguous.values())
    assert len(ambiguous) >= 12
    for surface in ("bank", "bat", "bear", "spring", "crane"):
        assert len(full.lexicon.ambiguous[surface]) >= 2
    for word in full.lexicon:
        if word.tag in ("NOUN", "VERB", "ADJ") and word.row.file != "words.tsv":
            assert word.chinese and re.fullmatch(r"[\u4e00-\u9fff ]+", " ".join(word.chinese))
        if word.tag == "ADJ" and word.row.file == "adjectives.tsv":
            assert word.predicate and word.suits
        if word.tag == "NOUN" and word.row.file == "nouns.tsv":
            assert len(word.measure) == 1


@pytest.mark.parametrize("made_form, expected", [
    (with_s("key"), "keys"), (with_s("cherry"), "cherries"), (with_s("bus"), "buses"), (with_s("bench"), "benches"),
    (with_s("box"), "boxes"), (with_ed("wait"), "waited"), (with_ed("smile"), "smiled"), (with_ed("cry"), "cried"),
    (with_ed("play"), "played"), (with_ing("carry"), "carrying"), (article("apple"), "an"), (article("pear"), "a"),
])
def test_regular_forms(made_form: str, expected: str):
    assert made_form == expected
