"""Gold labels position by position: against sentences worked by hand, the verbs that follow, and the grammar itself."""

from itertools import islice

import pytest

from plmlab.world import World
from plmlab.world.datasets.numbers import number_words
from plmlab.world.datasets.tracks import Tracks, tracks, tracks_of

COUNT = 800


def labelled(world: World, text: str) -> Tracks:
    return tracks_of(world, world.parse(text.split()))


def test_nested_subjects_worked_by_hand(full: World) -> None:
    found = labelled(full, "the barber whom the men trust is tired .")
    #                       start the  barber whom  the   men   trust is tired .
    assert found.number == (None, None, "sg", "sg", "sg", "sg", "sg", None, None, None)
    assert found.noun == (None, None, "sg", "sg", "sg", "pl", "pl", "pl", "pl", "pl")
    assert found.left == (9, 8, 7, 6, 5, 4, 3, 2, 1, 0) and not any(found.inside)


def test_one_subject_of_two_verbs(full: World) -> None:
    found = labelled(full, "the children who know the mechanic are proud .")
    assert found.number == (None, None, *["pl"] * 5, None, None, None)
    assert found.noun == (None, None, "pl", "pl", "pl", "pl", "sg", "sg", "sg", "sg")


def test_names_worked_by_hand(full: World) -> None:
    found = labelled(full, "Winter in Whitby Cross was written by Hugo Turner .")
    assert [position for position, inside in enumerate(found.inside) if inside] == [1, 2, 3, 4, 8, 9]
    assert found.noun == (None,) * 11 and found.number == (None,) * 11


def test_a_verb_before_its_subject_waits_for_nothing(full: World) -> None:
    sentence = next(s for s in full.sentences("train", 5) if any(link.verb < link.subject for link in s.agreement))
    assert set(tracks_of(full, sentence).number) == {None}


@pytest.mark.parametrize("name", ["small", "full"])
def test_the_label_before_a_verb_is_the_number_that_the_verb_shows(name: str, request: pytest.FixtureRequest) -> None:
    """What is read off the subject, against the form of the verb; and each position counts and tags the words it
    read."""
    world: World = request.getfixturevalue(name)
    shown = {"is": "sg", "was": "sg", "has": "sg", "are": "pl", "were": "pl", "have": "pl"}
    checked = 0
    for sentence, found in islice(zip(world.sentences("train", 4), tracks(world, "train", 4), strict=True), COUNT):
        assert found.words == sentence.words and len(found.left) == len(found.words) + 1
        for position in range(len(found.words) + 1):
            assert len(sentence.words[position:]) == found.left[position]
            assert found.inside[position] == (position > 0 and sentence.bio[position - 1] != "O")
            nouns = {found.noun[position]} - {None}
            if position and sentence.tags[position - 1] != "NOUN":
                assert nouns <= {found.noun[position - 1]}
        verbs = [link for link in sentence.agreement if link.subject < link.verb]
        for link in verbs[-1:]:
            verb = sentence.words[link.verb]
            forms = {form for reading, form in world.lexicon.readings.get(verb, ()) if reading.tag == "VERB"}
            number = shown.get(verb) or ("sg" if "third" in forms else "pl")
            assert found.number[link.verb] == number and found.number[link.verb + 1] is None
            assert found.number[link.subject] is None and found.number[link.subject + 1] == number
            checked += 1
        if not verbs:
            assert set(found.number) == {None}
    assert checked > 90


@pytest.mark.parametrize("name", ["small", "full"])
def test_the_grammar_never_says_a_verb_of_the_other_number(name: str, request: pytest.FixtureRequest) -> None:
    world: World = request.getfixturevalue(name)
    words = number_words(world)
    assert {"is", "was"} <= set(words.singular) and {"are"} <= set(words.plural)
    assert {"keys", "key", "it", "their"} & set(world.vocabulary) <= set(words.others)
    assert not ({"near", ".", "the", "red", "tired"} & {*words.singular, *words.plural, *words.others})
    everything = [*words.singular, *words.plural, *words.others]
    assert len(set(everything)) == len(everything)
    checked = 0
    for sentence in islice(world.sentences("train", 6), 150 if name == "full" else COUNT):
        links = [link for link in sentence.agreement if link.subject < link.verb]
        if len(links) != 1 or sentence.tags[links[0].verb] not in ("VERB", "AUX"):
            continue
        right, wrong = (words.singular, words.plural)[::1 if links[0].number == "sg" else -1]
        expected = world.next_words(sentence.words[:links[0].verb])
        assert sentence.words[links[0].verb] in right
        assert not set(wrong) & set(expected), sentence.text
        checked += 1
    assert checked > 10
