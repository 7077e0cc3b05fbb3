"""Texts that ask again: every question against the text itself, read with a regular expression."""

import re
from collections import Counter
from itertools import islice

import pytest

from plmlab import world
from plmlab.world.datasets.recalls import Recall, RecallText, RecallTexts

DEEDS = {"play": "played", "repair": "repaired", "wash": "washed", "peel": "peeled", "lift": "lifted",
         "borrow": "borrowed", "see": "saw", "lose": "lost"}
TOLD = re.compile(rf"(\w+) ({'|'.join(DEEDS.values())}) the (\w+) \.")
ASKED = re.compile(rf"what did (\w+) ({'|'.join(DEEDS)}) \? the (\w+) \.")


@pytest.fixture(scope="module")
def texts() -> list[RecallText]:
    return drawn()


def drawn(count: int = 40, seed: int = 3, **how: object) -> list[RecallText]:
    return list(islice(RecallTexts(world.small(), **how).texts(seed), count))


def test_questions_are_answered_as_the_text_told(texts: list[RecallText]) -> None:
    asked = 0
    for text in texts:
        whole = " ".join(text.words)
        facts = {(who, deed): thing for who, deed, thing in TOLD.findall(whole)}
        assert len(facts) == 8 and len(set(facts.values())) == 8
        for who, deed, thing in ASKED.findall(whole):
            assert facts[who, DEEDS[deed]] == thing
            asked += 1
    assert asked == pytest.approx(sum(len(text.recalls) for text in texts), abs=40), "one may be cut off a text"


def test_every_position_that_is_told_is_where_it_stands(texts: list[RecallText]) -> None:
    for text in texts:
        for recall in text.recalls:
            answer = slice(recall.start, recall.start + len(recall.answer))
            assert text.words[answer] == recall.answer and text.words[recall.start - 1] == "?"
            before = last_told(text, recall)
            assert recall.fact_position in (before, before + 1), "the thing itself, or the full stop behind it"
            assert recall.distance == recall.start - recall.fact_position > 0


def last_told(text: RecallText, recall: Recall) -> int:
    """The last position before the question that holds the thing."""
    *_, last = (position for position in range(recall.start) if text.words[position] == recall.answer[-1])
    return last


def test_options_are_all_things_of_that_kind_and_no_two_deeds_share_one(texts: list[RecallText]) -> None:
    kinds: dict[str, set[str]] = {}
    for text in texts:
        for recall in text.recalls:
            assert recall.answer in recall.options
            assert kinds.setdefault(recall.plot, {option[-1] for option in recall.options}) == {
                option[-1] for option in recall.options}
    assert len(kinds) == 8 and min(map(len, kinds.values())) >= 6
    assert len(set().union(*kinds.values())) == sum(map(len, kinds.values()))


def test_distances_reach_from_least_to_most_and_not_much_further() -> None:
    distances = [recall.distance for text in drawn(100, distances=(10, 100)) for recall in text.recalls]
    assert min(distances) >= 10
    tenths = Counter(min(distance, 100) // 20 for distance in distances)
    assert all(tenths[tenth] > 25 for tenth in range(1, 5))
    assert sum(distance > 130 for distance in distances) < len(distances) / 50


def test_plots_of_stories_are_told_in_three_threads() -> None:
    for text in drawn(words=320, distances=(8, 250), plots=["keep", "word"], threads=3, scenes=0.2):
        for recall in text.recalls:
            assert len(recall.options) == 3 and recall.plot in ("keep", "word")
            assert all(text.words.index(option[-1]) < text.words.index("?") for option in recall.options)


def test_same_seed_same_texts_and_nothing_that_is_held_out() -> None:
    assert drawn(5) == drawn(5) and drawn(5) != drawn(5, seed=4)
    small = world.small()
    held = {small.facts[key].words for key in small.held.entities}
    for text in drawn(20):
        assert len(text.words) == 160
        for words in held:
            assert not any(text.words[i:i + len(words)] == words for i in range(160))


@pytest.mark.parametrize(("how", "told"), [
    ({"plots": ["fly"]}, r"plots=\['fly'\] was given; the plots are played, repaired, .* keep, carry"),
    ({"plots": []}, r"plots=\[\] was given"),
    ({"threads": 4}, "a plot has 3 threads, so give 1 to 3"),
    ({"distances": (0, 5)}, "give 0 < minimum ≤ maximum < words"),
    ({"distances": (9, 5)}, "give 0 < minimum"),
    ({"words": 50}, r"distances=\(1, 128\) was given with words=50"),
])
def test_what_no_text_can_have_is_refused(how: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        RecallTexts(world.small(), **how)
