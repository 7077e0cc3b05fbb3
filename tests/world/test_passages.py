"""Passages: several sentences in a row, how long they are, what they may hold, and whose words are partners."""

import csv
from itertools import islice
from random import Random

import pytest

from plmlab.world.datasets.passages import Passage, joined, passages
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.probability.posterior import NotInGrammar
from plmlab.world.tables import TABLES

ENDS = (".", "?", "!")


def some(world, split: str, seed: int, count: int, **choices) -> list[Passage]:
    return list(islice(passages(world, split, Random(seed), **choices), count))


def taken_apart(world, words: tuple[str, ...], split: str) -> list[Sentence]:
    """The sentences of the split's grammar that the words are, one after another; an AssertionError where they are
    not. A sentence may hold a question and its answer, and so more than one end."""
    found, start = [], 0
    while start < len(words):
        for end in (i + 1 for i in range(start, len(words)) if words[i] in ENDS):
            try:
                found.append(world.parse(list(words[start:end]), split))
            except NotInGrammar:
                continue
            if end == len(words) or any(_begins(world, words[end:], split)):
                break
            found.pop()
        else:
            raise AssertionError(f"no sentence begins at {start} in {' '.join(words)}")
        start += len(found[-1].words)
    return found


def _begins(world, words: tuple[str, ...], split: str):
    return (world.automaton(split).paths(list(words[:i + 1])) for i, word in enumerate(words) if word in ENDS)


@pytest.mark.parametrize("lengths", [range(1, 61), range(20, 21), range(12, 40, 9)])
def test_no_passage_is_longer_than_its_aim_but_a_sentence_alone(small, lengths: range) -> None:
    for passage in some(small, "train", 2, 300, lengths=lengths):
        assert len(passage.english) <= max(lengths) or len(taken_apart(small, passage.english, "train")) == 1


def test_it_goes_on_until_the_next_sentence_would_reach_beyond(small) -> None:
    longest = max(len(sentence.words) for sentence in islice(small.sentences("train", 1), 3000))
    found = [len(passage.english) for passage in some(small, "train", 3, 300, lengths=range(50, 51))]
    assert max(found) == 50 and min(found) > 50 - longest and found.count(50) > 20


def test_each_length_is_aimed_at(small) -> None:
    """Of two aims, about half of the passages reach for either."""
    found = [len(passage.english) for passage in some(small, "train", 4, 400, lengths=range(20, 61, 40))]
    assert all(length <= 20 or 40 < length <= 60 for length in found)
    assert 160 < sum(length <= 20 for length in found) < 240


def test_short_aims_are_sentences_alone(small) -> None:
    found = some(small, "train", 5, 100, lengths=range(1, 2))
    assert all(len(taken_apart(small, passage.english, "train")) == 1 for passage in found)
    assert len({passage.english for passage in found}) > 20


@pytest.mark.parametrize("size", ["small", "full"])
def test_it_holds_sentences_of_its_split_and_their_chinese(size: str, request: pytest.FixtureRequest) -> None:
    world = request.getfixturevalue(size)
    several = 0
    for passage in some(world, "train", 6, 40):
        told = taken_apart(world, passage.english, "train")
        assert sum((sentence.chinese for sentence in told), ()) == passage.chinese
        several += len(told) > 2
    assert several > 10


def test_what_training_never_says_is_in_no_training_passage(full) -> None:
    held = set()
    for passage in some(full, "combinations", 7, 40):
        for sentence in taken_apart(full, passage.english, "combinations"):
            held.add(sentence.words)
            with pytest.raises(NotInGrammar):
                full.parse(list(sentence.words), "train")
    said = {sentence.words for passage in some(full, "train", 8, 60)
            for sentence in taken_apart(full, passage.english, "train")}
    assert len(held) > 80 and len(said) > 100 and not held & said


def translated(word: str) -> set[str]:
    """What the tables of words give for an English form: each row with the form, or with what it is made of."""
    found = set()
    for file, first in (("nouns", "word"), ("verbs", "base"), ("adjectives", "word"), ("words", "word")):
        with (TABLES / f"{file}.tsv").open(encoding="utf-8", newline="") as lines:
            kept = (line for line in lines if not line.startswith("#"))
            for row in csv.DictReader(kept, delimiter="\t", quoting=csv.QUOTE_NONE):
                stem = row[first]
                regular = {stem + "s", stem + "es", stem[:-1] + "ies", stem + "ed", stem + "d", stem[:-1] + "ied",
                           stem + "ing"}
                if row.get("chinese") and word in {stem, *regular, *row.values()}:
                    found.add(row["chinese"])
    return found


@pytest.mark.parametrize("split", ["train", "combinations"])
def test_partners_translate_each_other(full, split: str) -> None:
    count, seen = 0, {}
    for passage in some(full, split, 9, 30):
        sentences = taken_apart(full, passage.english, split)
        of_english = [i for i, sentence in enumerate(sentences) for _ in sentence.words]
        of_chinese = [i for i, sentence in enumerate(sentences) for _ in sentence.chinese]
        assert len({one for one, _ in passage.partners}) == len(passage.partners)
        assert list(passage.partners) == sorted(passage.partners)
        for one, other in passage.partners:
            assert of_chinese[one] == of_english[other], "in one sentence"
            seen.setdefault(passage.english[other], set()).add(passage.chinese[one])
            count += 1
    assert count > 80
    for english, chinese in seen.items():
        assert chinese <= translated(english), english


def test_positions_are_counted_over_the_whole_passage(full) -> None:
    one = full.parse(["the", "student", "found", "the", "dirty", "coins", "under", "the", "chair", "."])
    other = full.parse(["the", "guests", "played", "a", "beautiful", "guitar", "."])
    made = joined([one, other, one], full.lexicon)
    assert made.english == one.words + other.words + one.words
    assert made.chinese == one.chinese + other.chinese + one.chinese
    first = [("学生", "student"), ("椅子", "chair"), ("找到", "found"), ("脏", "dirty"), ("硬币", "coins")]
    second = [("客人", "guests"), ("演奏", "played"), ("吉他", "guitar")]
    assert [(made.chinese[a], made.english[b]) for a, b in made.partners] == first + second + first
    starts = (0, len(one.words), len(one.words) + len(other.words), len(made.english))
    for place, count in enumerate((5, 3, 5)):
        before = sum((5, 3, 5)[:place])
        assert all(starts[place] <= b < starts[place + 1] for _, b in made.partners[before:before + count])


def test_reversed_it_has_the_same_partners(full) -> None:
    for passage in some(full, "train", 10, 20):
        turned = passage.reversed()
        assert turned.english == tuple(reversed(passage.english)) and turned.chinese == passage.chinese
        said, again = ([(one.chinese[a], one.english[b]) for a, b in one.partners] for one in (passage, turned))
        assert said == again and turned.reversed() == passage
        assert turned.english == tuple(word for words in turned.sentences for word in words)
        assert turned.last_sentence_first() == passage.last_sentence_first().reversed()
        assert [a for a, _ in turned.partners] == [a for a, _ in passage.partners]


def test_the_same_draws_give_the_same_passages(small) -> None:
    assert some(small, "train", 1, 30) == some(small, "train", 1, 30) != some(small, "train", 2, 30)
    rng = Random(1)
    list(islice(passages(small, "train", rng), 5))
    assert rng.random() != Random(1).random(), "the draws are those of the one that was given"


def test_no_length_is_no_passage(small) -> None:
    with pytest.raises(ValueError, match="no target length"):
        next(passages(small, "train", Random(0), range(0)))
