"""The extraction of facts, compared with the facts that the writer of articles attaches to its sentences; entities."""

from collections.abc import Iterator
from random import Random

import pytest

from plmlab.draws import choice, shuffled
from plmlab.world import World
from plmlab.world.documents.articles import Library
from plmlab.world.documents.stated import FactCounts, FactExtractor
from plmlab.world.facts.relations import Triple
from plmlab.world.grammar.sentence import Sentence

NONE = FactCounts(0, 0, 0)
EVERY = {"small": 1, "full": 5}
"""Of the sentences of the full world, every fifth is compared in the tests with changed words."""


@pytest.fixture(scope="module", params=["small", "full"])
def made(request: pytest.FixtureRequest) -> World:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def extractor(made: World) -> FactExtractor:
    return FactExtractor(made.library)


def written(made: World, wording: int, split: str | None = None) -> list[tuple[str, Sentence]]:
    """The sentences of all articles, each with the key of its article's entity."""
    library = Library(made.facts, made.held, made.seed + wording)
    return [(article.entity, sentence) for article in library.articles(split) for sentence in article.sentences]


@pytest.mark.parametrize(("wording", "split"), [(0, None), (1, "train"), (2, None)])
def test_the_facts_of_every_sentence_of_every_article(made, extractor, wording, split) -> None:
    sentences = written(made, wording, split)
    for entity, sentence in sentences:
        assert extractor.stated(sentence.words, entity) == sentence.facts, sentence.text
    assert {len(sentence.facts) for _, sentence in sentences} >= {0, 1, 2, 3}


def test_several_readings_agree_except_on_capitals(made, extractor) -> None:
    """Only a row for capitals states more than another row with the same words, and therefore it must be preferred."""
    for entity, sentence in written(made, 3)[::EVERY[made.name]]:
        for facts in extractor.readings(sentence.words, entity):
            assert facts == sentence.facts or (sentence.pattern == "town.define.5" and set(facts) < set(sentence.facts))


def renamed(made: World, sentences: list[tuple[str, Sentence]]) -> Iterator[tuple[list[str], str, set[Triple]]]:
    """Sentences in which the name of one entity is replaced by that of another, with the facts that they then state."""
    rng = Random(0)
    for entity, sentence in sentences:
        for start, end, key in sentence.mentions:
            old = made.facts[key]
            if sentence.words[start:end] != old.words:
                continue
            new = choice(rng, [other for other in made.facts.kind(old.kind) if other != old])
            facts = {Triple(*(new.key if part == key else part for part in (fact.subject, fact.relation, fact.object)))
                     for fact in sentence.facts}
            yield [*sentence.words[:start], *new.words, *sentence.words[end:]], entity, facts


def test_with_another_name_the_facts_are_those_of_the_other_entity_and_most_are_false(made, extractor) -> None:
    true, wrong, total = set(made.facts.triples), 0, 0
    for words, entity, facts in renamed(made, written(made, 1)[::EVERY[made.name]]):
        assert set(extractor.stated(words, entity)) == facts, words
        false = sum(fact not in true for fact in facts)
        assert extractor.count(words, entity) == (len(facts) - false, false, 0)
        wrong, total = wrong + (false > 0), total + bool(facts)
    assert total > 60 and wrong / total > {"small": 0.7, "full": 0.95}[made.name], (wrong, total)


def test_no_row_matches_shuffled_words(made, extractor) -> None:
    rng = Random(0)
    for entity, sentence in written(made, 2)[::EVERY[made.name]]:
        words = tuple(shuffled(rng, list(sentence.words)))
        assert words == sentence.words or extractor.stated(words, entity) is None, words
    assert extractor.stated((), entity) is None and extractor.count((), entity) == NONE


def test_gists_are_true_and_mention_only_entities_of_their_articles(made, extractor) -> None:
    for article in made.articles("train"):
        words = [word for place in article.gist for word in article.sentences[place].words]
        assert extractor.count(words, article.entity)[1:] == (0, 0)
        stated = {fact for sentence in article.sentences for fact in sentence.facts}
        assert extractor.count(words, article.entity, stated) == extractor.count(words, article.entity)
        assert extractor.entity_precision(words, article.words) == 1


HENRY, LUCY, CAFE = "person:Henry Quinn", "person:Lucy Kessler", "cafe:Blue Tulip Café"
MARRIED = [(HENRY, "married_to", LUCY), (LUCY, "married_to", HENRY)]


@pytest.mark.parametrize(("text", "entity", "facts"), [
    ("he was born in Fairview .", HENRY, [(HENRY, "born_in", "town:Fairview")]),
    ("she was born in Fairview .", HENRY, [(HENRY, "born_in", "town:Fairview")]),
    ("Lucy Kessler was born in Fairview .", HENRY, [(LUCY, "born_in", "town:Fairview")]),
    ("Lucy Brandt is a baker .", HENRY, [("person:Lucy Brandt", "occupation", "craft:baker")]),
    ("his wife is Lucy Kessler .", HENRY, MARRIED),
    ("he owns the Blue Tulip Café and the Old Tulip Café .", HENRY,
     [(CAFE, "owned_by", HENRY), ("cafe:Old Tulip Café", "owned_by", HENRY)]),
    ("Henry Quinn , Victor Brandt and Lucy Kessler were born there .", "town:Westbury",
     [(person, "born_in", "town:Westbury") for person in (HENRY, "person:Victor Brandt", LUCY)]),
    ("about 6,000 people live in the town .", "town:Fairview", [("town:Fairview", "population", "number:6,000")]),
    ("it is famous for its pears .", CAFE, [(CAFE, "serves", "food:pear")]),
    ("A Gentle Garden is a film by Lucy Kessler .", HENRY, [("film:A Gentle Garden", "directed_by", LUCY)]),
    ("he has many friends .", HENRY, []),
    ("he was born in Fairview and Kingsley .", HENRY, None),
    ("the Fairview is a river .", HENRY, None),
    ("it was born in Fairview .", HENRY, None),
    ("he was born in Lucy Kessler .", HENRY, None),
    ("he was born in Fairview", HENRY, None),
    ("he was born in Fairview . .", HENRY, None),
    ("about 6,000 people live in the town .", HENRY, None),
    ("Lucy Kessler were born there .", HENRY, None),
])
def test_by_hand(small, text, entity, facts) -> None:
    stated = FactExtractor(small.library).stated(text.split(), entity)
    assert stated == (None if facts is None else tuple(Triple(*fact) for fact in facts))


@pytest.mark.parametrize(("text", "subject"), [
    ("he lives in Fairview and she likes pears .", HENRY),
    ("Lucy Kessler lives in Fairview and Lucy Kessler likes pears .", LUCY),
    ("Lucy Kessler lives in Fairview and she likes pears .", LUCY),
    ("Lucy Kessler lives in Fairview and Henry Quinn likes pears .", None),
])
def test_a_row_with_two_references_to_its_entity(edited, text, subject) -> None:
    row = ("person.home.9", "7", "", "1", "{he@e} lives in {t} and {he@e} likes {o.pl} .",
           "{e.he} 住 在 {t} ， {e.he} 喜欢 {o} 。", "lives_in(e,t) likes(e,o)")
    extractor = FactExtractor(World("small", folder=edited("article_sentences.tsv", "\t".join(row))).library)
    facts = (Triple(subject, "lives_in", "town:Fairview"), Triple(subject, "likes", "food:pear")) if subject else None
    assert extractor.stated(text.split(), HENRY) == facts


@pytest.mark.parametrize(("text", "counts"), [
    ("Henry Quinn is a teacher . he was born in Westbury in 1958 .", (3, 0, 0)),
    ("Henry Quinn is a baker . he was born in Westbury in 1962 .", (1, 2, 0)),
    ("Henry Quinn is a teacher . Henry Quinn is a teacher . he has many friends .", (1, 0, 0)),
    ("Henry Quinn teacher . he is a teacher . he was", (1, 0, 2)),
    ("his wife is Lucy Kessler .", (2, 0, 0)),
])
def test_counts_by_hand(small, text, counts) -> None:
    extractor = FactExtractor(small.library)
    assert extractor.count(text.split(), HENRY) == counts
    assert extractor.count(text.split(), HENRY, ()) == (0, counts[0] + counts[1], counts[2])


def test_entity_precision_by_hand(full) -> None:
    extractor = FactExtractor(full.library)
    town = next(entity for entity in full.facts.kind("town") if f"company:{entity.name} Clocks" in full.facts.entities)
    source = f"Helen Kessler founded {town.name} Clocks . she lives there .".split()
    for text, precision in ((f"Helen Kessler founded {town.name} Clocks .", 1), ("she lives there .", None), ("", None),
                            (f"she lives in {town.name} and founded {town.name} Clocks .", 1),
                            ("Helen Quinn and Helen Kessler live in Arvania and Arvania .", 1 / 4)):
        assert extractor.entity_precision(text.split(), source) == precision, text
