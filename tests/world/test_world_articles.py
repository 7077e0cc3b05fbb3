"""Articles: everything true and told, nothing held out, names and pronouns linked, readable by an independent check."""

import hashlib
import re
import time
from collections import Counter, defaultdict
from functools import cache
from math import isclose, log

import pytest

from plmlab.world import World
from plmlab.world.documents.articles import Article, Library
from plmlab.world.documents.templates import wide_lexicon
from plmlab.world.facts.facts import FactError
from plmlab.world.facts.relations import NAMED
from plmlab.world.grammar.splits import SplitError
from plmlab.world.tables import TableError, read_table

PRONOUNS = {"woman": {"she", "her"}, "man": {"he", "his", "him"}, None: {"it", "its"}}
NOUNS = {"film": "film", "book": "book", "cafe": "café", "company": "company", "town": "town", "country": "country",
         "river": "river"}


@cache
def articles_of(made: World, split: str | None = None) -> list[Article]:
    return list(made.articles(split))


def fingerprint(made) -> str:
    told = [said for article in articles_of(made) for said in article.sentences]
    text = "\n".join(f"{said.text}|{' '.join(said.chinese)}" for said in told)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def stands_in(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    return any(whole[start:start + len(part)] == part for start in range(len(whole) - len(part) + 1))


def surfaces(made, entity) -> list[tuple[str, ...]]:
    """How an entity can be written: its name, or any form of a value's word."""
    if "word" in entity.traits:
        return [(form,) for form in made.lexicon[entity.traits["word"]].forms.values()]
    return [entity.words]


@pytest.mark.parametrize("size", ["small", "full"])
def test_every_named_entity_has_an_article_of_4_to_12_sentences_that_opens_with_its_name(request, size):
    made = request.getfixturevalue(size)
    articles = articles_of(made)
    assert [article.entity for article in articles] == [entity.key for entity in made.facts.kind(*NAMED)]
    for article in articles:
        assert 4 <= len(article.sentences) <= 12
        assert article.title == made.facts[article.entity].words
        assert stands_in(article.title, article.sentences[0].words)
        assert article.gist[0] == 0 and 1 <= len(article.gist) <= 2 and max(article.gist) < len(article.sentences)
        assert article.words == tuple(word for said in article.sentences for word in said.words)


@pytest.mark.parametrize("size", ["small", "full"])
def test_every_fact_is_told_in_the_articles_of_both_its_ends_and_nothing_is_told_that_is_not_true(request, size):
    made = request.getfixturevalue(size)
    for article in articles_of(made):
        about = {triple for triple in made.facts.triples if article.entity in (triple.subject, triple.object)}
        stated = [triple for said in article.sentences for triple in said.facts]
        assert set(stated) == about
        for triple in about:
            said = article.sentences[article.telling(triple)]
            assert triple in said.facts
    assert made.article(made.facts.kind("town")[0].key).telling(made.facts.triples[-1]) is None


def test_a_sentence_that_states_a_fact_names_its_other_end_in_both_languages(full):
    for article in articles_of(full):
        for said in article.sentences:
            for triple in said.facts:
                other = full.facts[triple.object if triple.subject == article.entity else triple.subject]
                assert any(stands_in(words, said.words) for words in surfaces(full, other)), (said.text, triple)
                assert stands_in(other.chinese, said.chinese), (said.chinese, triple)


def test_what_a_sentence_names_is_in_the_facts_that_it_states(full):
    """So the labels leave nothing out: a name or a number that no fact carries would be an unlabelled claim."""
    for article in articles_of(full):
        for said in article.sentences:
            ends = {end for triple in said.facts for end in (triple.subject, triple.object)} | {article.entity}
            assert {mention.entity for mention in said.mentions} <= ends, said.text
            numbers = {word for word, tag in zip(said.words, said.tags, strict=True)
                       if tag == "NUM" and word[0].isdigit()}
            assert numbers <= {full.facts[end].words[0] for end in ends}, said.text


def test_mentions_link_names_pronouns_and_nouns_to_their_entities(full):
    seen = Counter()
    for article in articles_of(full):
        for said in article.sentences:
            for start, end, key in said.mentions:
                entity, words = full.facts[key], said.words[start:end]
                if words == entity.words:
                    seen["name"] += 1
                elif len(words) == 1:
                    assert words[0] in PRONOUNS[entity.traits.get("gender")], said.text
                    seen["pronoun"] += 1
                else:
                    assert words == ("the", NOUNS[entity.kind]), said.text
                    seen["noun"] += 1
            linked = {place for start, end, _ in said.mentions for place in range(start, end)}
            loose = [word for place, word in enumerate(said.words)
                     if place not in linked and word in {"she", "he", "his", "him", "her", "its"}]
            assert not loose, said.text
    assert min(seen.values()) > 200, seen


def test_no_pronoun_follows_a_person_of_the_same_gender(full):
    for article in articles_of(full):
        gender = full.facts[article.entity].traits.get("gender")
        if gender is None:
            continue
        for before, after in zip(article.sentences, article.sentences[1:], strict=False):
            others = {full.facts[mention.entity].traits.get("gender") for mention in before.mentions
                      if mention.entity != article.entity}
            if gender in others:
                assert after.words[0] not in {"he", "she", "his", "her"}, (before.text, after.text)


def test_tags_and_senses_are_readings_of_their_words(full):
    lexicon = wide_lexicon()
    for article in articles_of(full):
        for said in article.sentences:
            for word, tag, sense in zip(said.words, said.tags, said.senses, strict=True):
                if tag not in ("PROPN", "NUM"):
                    assert any(reading.tag == tag and sense in (None, reading.sense)
                               for reading, _ in lexicon.readings[word]), (word, tag, said.text)
                assert (sense is not None) == (word in lexicon.ambiguous and tag not in ("PROPN", "NUM")), said.text
            assert all(re.fullmatch(r"[^a-zA-Z{}]+", part) for part in said.chinese), said.chinese
            assert said.words[-1] == "." and said.chinese[-1] == "。"


def test_the_log_probability_is_the_share_of_the_row_among_those_that_fit(full):
    """Three rows tell a population, of weights 3, 2 and 2, and nothing else decides between them."""
    weights = {row["id"]: int(row["weight"]) for row in read_table("article_sentences.tsv")
               if row["id"].startswith("town.people.")}
    assert sorted(weights.values()) == [2, 2, 3]
    told = [said for article in articles_of(full) for said in article.sentences if said.pattern in weights]
    assert len({said.pattern for said in told}) == 3
    for said in told:
        assert isclose(said.logprob, log(weights[said.pattern] / 7))
    assert all(said.logprob <= 0 for article in articles_of(full) for said in article.sentences)


def test_rows_and_order_vary_and_birth_comes_before_work(full):
    ways, orders = defaultdict(set), set()
    for article in articles_of(full):
        topics = [said.pattern.split(".")[1] for said in article.sentences]
        orders.add(tuple(topics))
        for said in article.sentences:
            ways[said.pattern.rsplit(".", 1)[0]].add(said.pattern)
        if article.entity.startswith("person:"):
            for early, late in (("birth", "employer"), ("birth", "home"), ("training", "films"), ("sibling", "spouse")):
                if early in topics and late in topics:
                    assert topics.index(early) < topics.index(late)
    assert all(len(rows) >= 2 for rows in ways.values()), ways
    assert len(orders) > 60


@pytest.mark.parametrize("size", ["small", "full"])
def test_training_articles_tell_nothing_that_is_held_out(request, size):
    made = request.getfixturevalue(size)
    articles = articles_of(made, "train")
    names = [made.facts[key].words for key in made.held.entities]
    assert {article.entity for article in articles} \
        == {entity.key for entity in made.facts.kind(*NAMED)} - made.held.entities
    lexicon = wide_lexicon()
    told = set()
    for article in articles:
        assert 4 <= len(article.sentences) <= 12
        for said in article.sentences:
            told.update(said.facts)
            assert not any(stands_in(name, said.words) for name in names), said.text
            assert {mention.entity for mention in said.mentions}.isdisjoint(made.held.entities)
            readings = {reading.key for word, tag in zip(said.words, said.tags, strict=True)
                        for reading, _ in lexicon.readings.get(word, ()) if reading.tag == tag and not reading.sense}
            assert not any(word in readings and noun in readings for word, noun in made.held.combinations), said.text
    assert told == {triple for triple in made.facts.triples if made.held.split_of(triple) == "train"}


def test_the_knowledge_corpus_tells_what_training_text_leaves_out(full):
    held = next(iter(sorted(full.held.facts)))
    assert full.article(held.subject).telling(held) is not None
    if held.subject not in full.held.entities:
        assert full.article(held.subject, "train").telling(held) is None


def test_an_article_is_the_same_alone_and_among_others_and_differs_between_seeds(small):
    fresh = World("small", 1)
    key = small.facts.kind("person")[-1].key
    assert fresh.article(key) == {article.entity: article for article in articles_of(small)}[key]
    assert fresh.library is fresh.library, "the tables are read once"
    other = Library(small.facts, small.held, seed=2)
    assert [article.text for article in other.articles()] != [article.text for article in articles_of(small)]


def test_the_same_seed_gives_the_same_articles_everywhere(small, full):
    assert fingerprint(small) == "32916b45c6e5f072"
    assert fingerprint(full) == "0504cdd28a278aa5"


@pytest.mark.timing
def test_all_articles_of_the_full_world_take_less_than_a_second(full):
    times = []
    for _ in range(3):
        start = time.process_time()
        assert sum(1 for _ in full.articles()) == 478
        times.append(time.process_time() - start)
    assert min(times) < 1.0


def test_bad_requests_say_what_is_wrong(full):
    with pytest.raises(FactError, match="unknown entity 'person:Nobody'"):
        full.article("person:Nobody")
    with pytest.raises(FactError, match="'year:1952' is a value and has no article"):
        full.article("year:1952")
    with pytest.raises(FactError, match="is held out"):
        full.article(min(full.held.entities), "train")
    with pytest.raises(SplitError, match=r"split=None .* or split='train', not 'facts'"):
        full.article("town:Milton", "facts")


BROKEN = [
    # file, the new row (or what replaces what), what the error says
    ("article_sentences.tsv", "town.people.9\t3\t\t1\t\t{q} 。\tpopulation(e,q)", None,
     r"'english' is empty \(article_sentences.tsv, row \d+\)"),
    ("article_sentences.tsv", "town.people.1\t3\t\t1\t{e} has {q} people .\t{q} 。\tpopulation(e,q)", None,
     r"'town.people.1' occurs twice \(article_sentences.tsv, row \d+; article_sentences.tsv, row \d+\)"),
    ("article_sentences.tsv", "town.people.9\t3\t\t1\t{he@e} has {q} inhabitants .\t{q} 。\tpopulation(e,q)", None,
     r"occurs twice in 'people' \(article_sentences.tsv, row \d+; article_sentences.tsv, row \d+\)"),
    ("article_sentences.tsv", "town.people.9\t5\t\t1\t{e} has {q} people .\t{q} 。\tpopulation(e,q)", None,
     r"'people' has two stages"),
    ("article_sentences.tsv", "planet.define.1\t1\t\t1\t{e} is a town .\t{e} 。", None, r"kind.topic.number"),
    ("article_sentences.tsv", "town.people.9\t3\t\t1\t{e} has {q} zebras .\t{q} 。\tpopulation(e,q)", None,
     r"no word 'zebras' \(article_sentences.tsv, row \d+\)"),
    ("article_sentences.tsv", "town.people.9\t3\t\t1\t{e} has {q} people .\t{z} 。\tpopulation(e,q)", None,
     r"'{z}' in the Chinese"),
    ("article_sentences.tsv", "town.people.9\t3\t\t1\t{e} has {q} people .\t{q} 。", None, r"the variables q occur in"),
    ("article_sentences.tsv", "town.people.9\t3\t\t1\t{e} has {q} people .\t{q} 。\tborn_in(e,q)", None,
     r"born_in leads from person to town, but e is a town"),
    ("article_sentences.tsv", "town.people.9\t3\t\t1\t{e} has {q} people .\t{q} 。\tlarger_than(e,q)", None,
     r"'larger_than' is not a base relation"),
    ("article_sentences.tsv", "town.people.9\t3\tnever\t1\t{e} has {q} people .\t{q} 。\tpopulation(e,q)", None,
     r"'never' in the column 'when'"),
    ("article_sentences.tsv", "town.people.9\t3\t\t0\t{e} has {q} people .\t{q} 。\tpopulation(e,q)", None,
     r"the weight '0'"),
    ("article_sentences.tsv", "town.people.9\t3\t\t1\t{e} has {q} people\t{q} 。\tpopulation(e,q)", None,
     r"does not end with"),
    ("article_sentences.tsv", "town.nothing.6", "town.define.6", r"needs a row town.define without facts"),
    ("relations.tsv", "rules\tperson\ttown\tone\tno\ttown ruled\t统治", None,
     r"no row that states rules of a person alone \(relations.tsv, row \d+\)"),
    ("article_words.tsv", "also\tADV", None, r"'also ADV' occurs twice"),
]


@pytest.mark.parametrize("file, new, old, message", BROKEN, ids=lambda value: None)
def test_a_broken_table_of_articles_names_its_rows(edited, file: str, new: str, old: str | None, message: str):
    made = World("small", folder=edited(file, new, old))
    with pytest.raises(TableError) as caught:
        made.article(made.facts.kind("town")[0].key)
    assert re.search(message, str(caught.value)), str(caught.value)
