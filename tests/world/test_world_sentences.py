"""Sentences and their gold labels."""

import re
from collections import Counter
from itertools import islice
from random import Random

import pytest

from plmlab import world
from plmlab.world.grammar.patterns import Literal
from plmlab.world.grammar.sentence import Agreement, Sentence
from plmlab.world.probability.automaton import Path
from plmlab.world.probability.posterior import NotInGrammar

TAGS = {"NOUN", "VERB", "ADJ", "ADV", "DET", "PRON", "PROPN", "ADP", "AUX", "CCONJ", "SCONJ", "PART", "NUM", "INTJ",
        "PUNCT"}


def words(text: str) -> list[str]:
    return text.split()


@pytest.fixture(scope="module")
def every(full: world.World) -> list[Sentence]:
    """Three sentences of every pattern."""
    automaton, rng = full.automaton(), Random(0)
    return [full.parse([arc.word for arc in automaton.walk(start, rng)])
            for start in automaton.starts for _ in range(3)]


def one(made: world.World, pattern: str, seed: int = 0) -> Sentence:
    start = next(start for start in made.automaton().starts if start.label == pattern)
    return made._annotator.sentence(Path(pattern, tuple(made.automaton().walk(start, Random(seed)))), 0.0)


def test_there_are_many_patterns_and_each_can_be_filled(small, full):
    assert len(full.patterns) >= 150
    for made in (small, full):
        assert {start.label for start in made.automaton().starts} == {pattern.id for pattern in made.patterns}


def test_every_label_has_its_word(every):
    for sentence in every:
        n = len(sentence.words)
        assert len(sentence.tags) == len(sentence.senses) == len(sentence.bio) == n
        assert set(sentence.tags) <= TAGS
        assert sentence.tags[-1] == "PUNCT" and sentence.words[-1] in ".?!"


def test_mentions_are_the_entities_names(full, every):
    several = 0
    for sentence in every:
        for start, end, key in sentence.mentions:
            entity = full.facts[key]
            assert sentence.words[start:end] == entity.words
            assert sentence.bio[start] == f"B-{entity.kind}"
            assert set(sentence.bio[start + 1:end]) <= {f"I-{entity.kind}"}
            several += end - start > 1
        covered = {place for start, end, _ in sentence.mentions for place in range(start, end)}
        assert all((tag == "O") == (place not in covered) for place, tag in enumerate(sentence.bio))
    assert several > 100
    assert {kind for sentence in every for kind in sentence.bio if kind[0] == "B"} == {
        f"B-{kind}" for kind in ("person", "town", "country", "river", "film", "book", "cafe", "company")}


def test_what_a_sentence_states_is_true_and_said(full, every):
    relations = Counter()
    for sentence in every:
        mentioned = {mention.entity for mention in sentence.mentions}
        for fact in sentence.facts:
            subject, target = full.facts[fact.subject], full.facts[fact.object]
            assert full.facts.holds(subject, fact.relation, target)
            assert subject.key in mentioned
            assert target.key in mentioned if target.named else set(target.words) & set(sentence.words) or target.traits
            relations[fact.relation] += 1
    assert set(relations) == set(full.facts.relations), "every relation has its sentences"


def test_agreement_by_hand(full):
    sentence = full.parse(words("the keys under the table near the windows are dirty ."))
    assert sentence.agreement == (Agreement(subject=1, verb=8, number="pl", attractors=1),)
    assert sentence.agreement[0].distance == 6
    sentence = full.parse(words("is the hat still dirty ?"))
    assert sentence.agreement == (Agreement(2, 0, "sg", 0),) and sentence.agreement[0].distance == 1
    sentence = full.parse(words("the doctor whom the boys trust is happy ."))
    assert sentence.agreement == (Agreement(4, 5, "pl", 0), Agreement(1, 6, "sg", 1))
    assert sentence.tags == ("DET", "NOUN", "PRON", "DET", "NOUN", "VERB", "AUX", "ADJ", "PUNCT")


def test_agreement_spans_0_to_12_words_with_attractors(full, every):
    found = [agreement for sentence in every for agreement in sentence.agreement]
    assert {*range(13)} <= {agreement.distance for agreement in found}
    assert {0, 1, 2, 3} <= {agreement.attractors for agreement in found}
    singular = {"is", "was", "has", "does"}
    for sentence in every:
        for subject, verb, number, _ in sentence.agreement:
            word, noun = sentence.words[verb], full.lexicon.readings[sentence.words[subject]]
            assert any(form == number for _, form in noun)
            if sentence.tags[verb] == "AUX":
                assert (word in singular) == (number == "sg")
            else:
                assert any(form == ("third" if number == "sg" else "base") for _, form in full.lexicon.readings[word])


def test_each_ambiguous_word_meets_each_sense_and_cues_stand_on_both_sides(full, every):
    seen = {(word, sense) for sentence in every for word, sense in zip(sentence.words, sentence.senses, strict=True)
            if sense}
    for word, sense in seen:
        assert sense in full.lexicon.ambiguous[word]
    senses = {sense.split(".")[0]: set() for _, sense in seen}
    for _, sense in seen:
        senses[sense.split(".")[0]].add(sense)
    assert sum(len(group) > 1 for group in senses.values()) >= 12
    sides = Counter(re.sub(r"\d", "", pattern.id.split(".")[-1]) for pattern in full.patterns
                    if pattern.row.file == "pattern_senses.tsv")
    assert sides["left"] >= 40 and sides["right"] >= 40


@pytest.mark.parametrize("prefix, senses", [
    ("the old bank", {"bank.money", "bank.river"}),          # the cue stands behind: "was washed away", "lent …"
    ("the boy saw a bat", {"bat.animal", "bat.club"}),
    ("the last note", {"note.music", "note.paper"}),
])
def test_a_right_cue_is_needed(full, prefix: str, senses: set[str]):
    """After the same words to the left, both senses are open."""
    said = words(prefix)
    states = full.automaton().read(said[:-1])
    labels = {arc.label.sense for state in states for arc in full.automaton().arcs[state] if arc.word == said[-1]}
    assert labels == senses


def test_articles_suit_the_next_word(every):
    for sentence in every:
        for word, following in zip(sentence.words, sentence.words[1:], strict=False):
            if word in ("a", "an"):
                assert (word == "an") == (following[0] in "aeiou"), sentence.text


def test_chinese_is_chinese(every):
    for sentence in every:
        text = "".join(sentence.chinese)
        assert re.fullmatch(r"[\u4e00-\u9fff0-9·《》。，？！]+", text), text
        assert sentence.chinese[-1] in "。？！"
        assert not re.search(r"(.)\1\1", re.sub(r"\d", "", text)) or "叔叔" in text or "奶奶" in text, text


def test_chinese_by_hand(full):
    assert "".join(full.parse(words("the keys under the table near the windows are dirty .")).chinese) \
        == "那些窗户旁边那张桌子下面的那些钥匙很脏。"
    assert "".join(full.parse(words("is the hat still dirty ?")).chinese) == "那顶帽子还很脏吗？"
    assert "".join(full.parse(words("the student bought an old sofa .")).chinese) == "那名学生买了一张旧沙发。"


def test_different_meanings_have_different_chinese(every):
    """One Chinese sentence for two English ones happens only where English says one thing in two ways."""
    by_chinese: dict[str, set[str]] = {}
    for sentence in every:
        by_chinese.setdefault("".join(sentence.chinese), set()).add(sentence.text)
    double = [texts for texts in by_chinese.values() if len(texts) > 1]
    assert len(double) <= len(by_chinese) // 50


def test_parsing_gives_back_what_was_sampled(small, full):
    for made in (small, full):
        for split in ("train", "facts", "entities", "combinations"):
            for sentence in islice(made.sentences(split, seed=1), 25):
                assert made.parse(sentence.words, split) == sentence
                assert sentence.logprob == pytest.approx(made.logprob(sentence.words, split))


def test_what_is_no_sentence_is_refused_with_the_place(small):
    with pytest.raises(NotInGrammar, match="Word 2: the Small World does not know the word 'spaceship'"):
        small.parse(["the", "spaceship", "sleeps", "."])
    assert small.explain(words("the girls sleeps .")).message.startswith("Word 3: 'sleeps' cannot occur here")
    assert small.explain(words("the girls sleep .")).valid


def test_literals_carry_the_reading_that_the_pattern_says(full):
    pattern = next(pattern for pattern in full.patterns if pattern.id == "bank.river.right1")
    keys = {element.surface: element.word.key for element in pattern.english if isinstance(element, Literal)}
    assert keys["bank"] == "bank.river"
    assert one(full, "bank.river.right1").senses[1:3] == ("old.worn", "bank.river")
