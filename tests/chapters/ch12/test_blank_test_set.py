"""The exam of blanks: what is hidden, what is counted, and exact fillers against every sentence of the world."""

from collections import defaultdict
from math import exp
from random import Random
from typing import Any

import pytest

from plmlab import world
from plmlab.chapters.ch12 import blank_test_set
from plmlab.chapters.ch12.blank_test_set import Row
from plmlab.objectives.blanks import blank_infilling
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from plmlab.world.probability.automaton import END
from plmlab.world.probability.blanks import Blanks, DrawnBlanks
from plmlab.world.probability.likeliest import likeliest
from studies.ch12 import blank_fillers

SLEEP = ("the", "boys", "sleep", ".")
CUP = ("the", "cup", "near", "the", "chairs", "is", "new", ".")
ASKED = (Row(SLEEP, ((1, 2),), (0,)), Row(SLEEP, ((1, 3),), (0,)), Row(CUP, ((1, 2), (4, 5)), (1, 0)))


@pytest.fixture(autouse=True)
def small_scale(forgotten: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TEST_SIZE", 8), ("SEVERAL", 6), ("DEVELOPMENT", 4), ("UNREAD", 12)):
        monkeypatch.setattr(blank_test_set, name, value)
    monkeypatch.setattr(blank_fillers, "COUNTED", 20)


def test_spans_are_those_that_glm_draws() -> None:
    vocab = small_world_tokenizer().vocab
    for seed in range(60):
        count = 4 + seed % 10
        spans = blank_test_set.drawn(count, Random(seed))
        tokens = range(50, 50 + count)
        drawn = blank_infilling(tokens, vocab=vocab, rng=Random(seed), rate=0.3)
        given = blank_infilling(tokens, vocab=vocab, rng=Random(1), spans=spans)
        read = int((drawn.position_ids[1] == 0).sum())
        assert drawn.tokens[:read].tolist() == given.tokens[:int((given.position_ids[1] == 0).sum())].tolist()
        assert sum(stop - begin for begin, stop in spans) >= min(0.3 * count, count - 1)


def test_the_exam_is_of_other_text_and_unread_rows_stand_in_no_training_text() -> None:
    test_set, unread = blank_test_set.rows("test_set"), blank_test_set.rows("unread")
    assert (len(test_set), len(blank_test_set.rows("development")), len(unread)) == (8, 4, 12)
    for row in (*test_set, *unread):
        assert blank_test_set.whole(row, row.fillings) == list(row.words)
        assert sorted(row.order) == list(range(len(row.spans)))
    several = blank_test_set.rows("several")
    assert len(several) == 6 and [min(len(row.spans) for row in some) for some in (several, test_set)] == [2, 1]
    assert not {row.words for row in unread} & set(blank_fillers.table(6000))
    assert blank_fillers.baselines("unread", 3000)["read"] == 0 < blank_fillers.baselines("test_set", 3000)["read"]
    assert len({row.words for row in unread}) < 12 == len(set(unread)), "few sentences, many drawings"


def test_what_is_judged_by_hand() -> None:
    """Right; right in length, and no sentence; the first length right, the second not."""
    said = [[("boys",)], [("cup", "near")], [("cup",), ("chairs", "chairs")]]
    told = blank_test_set.scores_of(ASKED, said)
    assert told.pop("chance") == 0, "the one that is right is a blank that is never drawn"
    assert told == pytest.approx({"right": 1 / 3, "length": 2 / 3, "first": 1.0, "sentence": 1 / 3})
    nothing = blank_test_set.scores_of(ASKED, [[()], [()], [(), ("chairs",)]])
    assert set(nothing.values()) == {0.0}
    told = blank_test_set.scores_of(ASKED, [row.fillings for row in ASKED])
    assert 0 < told.pop("chance") < 1 and set(told.values()) == {1.0}


def test_every_way_in_which_a_sentence_fits() -> None:
    assert list(blank_test_set.ways("bacad", ["[MASK]", "a", "[MASK]"])) == [(("b",), ("c", "a", "d")),
                                                                             (("b", "a", "c"), ("d",))]
    assert not list(blank_test_set.ways("ba", ["[MASK]", "a", "[MASK]"]))
    assert list(blank_test_set.ways("ab", ["a", "b"])) == [()]


def test_the_table_takes_its_most_frequent_sentence_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {("the", "cats", "sleep", "."): 3, SLEEP: 2}
    monkeypatch.setattr(blank_fillers, "table", lambda sentences: table)
    assert blank_fillers.looked_up(ASKED, 5) == [(("cats",),), (("cats", "sleep"),), ((), ())]

def test_between_the_same_neighbours_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Row(("the", "girls", "sleep", "."), ((1, 2),), (0,))
    monkeypatch.setattr(blank_fillers, "counted", lambda: (ASKED[0], other, ASKED[0], ASKED[1]))
    assert blank_fillers.neighbours(ASKED[2]) == [("the", "near"), ("the", "is")]
    last = Row(SLEEP, ((2, 4),), (0,))
    assert blank_fillers.neighbours(last) == [("boys", "")]
    assert blank_fillers.between_neighbours([ASKED[1], other, last]) == [
        (("boys", "sleep"),), (("boys",),), (("boys",),)]
    assert blank_fillers.lengths_in_sight() == {4: [1, 1, 1], 3: [2]}
    assert blank_fillers.first_length_in_sight([ASKED[0], ASKED[1], last, ASKED[2]]) == 3 / 4


def test_places_that_are_told() -> None:
    assert blank_test_set.shown_places(6, [(1, 3), (4, 6)]) == ((0, 3), (1, 4))
    assert blank_test_set.shown_places(9, [(1, 3), (4, 9)]) == ((0, 3), (1, 4)), "a blank at the end is not told"
    assert blank_test_set.shown_places(6, [(1, 3), (4, 6)]) != blank_test_set.shown_places(6, [(1, 2), (4, 6)])
    last, middle = Row(SLEEP, ((2, 4),), (0,)), Row(SLEEP, ((1, 3),), (0,))
    assert blank_test_set.how_drawn(last, True)(5, [(2, 5)]) == blank_test_set.how_drawn(last)(5, [(2, 5)]) > 0
    assert blank_test_set.how_drawn(middle, True)(5, [(1, 4)]) == 0 < blank_test_set.how_drawn(middle)(5, [(1, 4)])


def test_exact_fillers_are_the_best_of_all_sentences_by_brute_force() -> None:
    automaton = world.small().automaton("test")
    every = [(words, exp(nats)) for words, nats in likeliest(automaton, (), 10_000)]
    rows = [*blank_test_set.rows("test_set"), ASKED[1], Row(CUP, ((1, 2), (4, 6)), (1, 0))]
    assert any(len(row.spans) > 1 for row in rows)
    for row in rows:
        for told in (False, True):
            drawing = blank_test_set.how_drawn(row, told)
            worth: dict[Any, float] = defaultdict(float)
            plain: dict[Any, float] = defaultdict(float)
            for words, chance in every:
                for way in blank_test_set.ways(words, row.text):
                    spans, place = [], 0
                    left = iter(way)
                    for token in row.text:
                        length = len(next(left)) if token == "[MASK]" else 1
                        if token == "[MASK]":
                            spans.append((place, place + length))
                        place += length
                    worth[way] += chance * drawing(len(words), spans)
                    plain[way] += chance
            reader = DrawnBlanks(automaton, row.text, drawing=drawing)
            found, chance = blank_test_set.likeliest_fillings(reader, range(reader.count))
            assert chance == pytest.approx(max(worth.values()) / sum(worth.values()))
            told_of = blank_test_set.filling_probs(row, told)
            assert told_of[found] == pytest.approx(chance) and sum(told_of.values()) == pytest.approx(1)
            assert told_of[row.fillings] == pytest.approx(reader.posterior(dict(enumerate(row.fillings))))
            assert worth[found] == pytest.approx(max(worth.values()))
            simple = Blanks(automaton, row.text)
            found, chance = blank_test_set.likeliest_fillings(simple, range(simple.count))
            assert chance == pytest.approx(plain[found] / sum(plain.values()))
            assert plain[found] == pytest.approx(max(plain.values()))
        fits = {way: mass for way, mass in plain.items() if [*map(len, way)] == [*map(len, row.fillings)]}
        found, chance = blank_fillers.told_fillings(row)
        assert chance == pytest.approx(fits[found] / sum(fits.values())) == max(fits.values()) / sum(fits.values())


def test_exact_fillers_are_told_by_what_they_know() -> None:
    told = blank_fillers.exact("test_set")
    assert set(told) == {"likeliest", "lengths given", "takes nothing from the drawing", "greedy", "likeliest length"}
    assert told["lengths given"]["length"] == 1 == told["likeliest"]["sentence"]
    assert told["lengths given"]["expects"] > told["likeliest"]["chance"] == max(of["chance"] for of in told.values()
                                                                                   if "chance" in of) > 0
    reader = DrawnBlanks(world.small().automaton("test"), ASKED[1].text, drawing=blank_test_set.how_drawn(ASKED[1]))
    [said] = blank_fillers.greedy_fillings(reader)
    for place in range(len(said) + 1):
        beliefs = reader.next_words(0, said[:place])
        assert beliefs[(*said, END)[place]] == max(beliefs.values())
