"""IBM model 1 against NLTK's, against all alignments of small texts, and a pull against numbers by hand."""

from itertools import product
from math import exp, prod

import pytest
from nltk.translate import AlignedSent, IBMModel1

from plmlab.world.datasets.passages import Passage
from studies.ch04.ibm import NULL, counted, links, near

TEXTS = [("the house", "das haus"), ("the book", "das buch"), ("a book", "ein buch"), ("a a house", "ein haus haus")]


def passage(english: str, chinese: str) -> Passage:
    words = tuple(english.split())
    return Passage((words,), words, tuple(chinese.split()), ())


PASSAGES = [passage(*text) for text in TEXTS]


@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_it_believes_what_nltks_does(rounds: int) -> None:
    """NLTK's counts a target word once though it stands twice, so that no text here has one twice."""
    texts = [*TEXTS[:3], ("a a house", "ein haus")]
    ours = counted([passage(*text) for text in texts], rounds)
    theirs = IBMModel1([AlignedSent(target.split(), source.split()) for source, target in texts], rounds)
    told = {(source, target): p for source, row in ours.items() for target, p in row.items()}
    assert len(told) == 16
    for (source, target), p in told.items():
        other = theirs.translation_table[target][None if source == NULL else source]
        assert p == pytest.approx(other, abs=1e-6), (source, target)


@pytest.mark.parametrize("pull", [0.0, 3.0])
def test_a_round_is_the_mean_over_all_alignments(pull: float) -> None:
    """Each text's alignments, one by one: a target word stands for a source word or NULL."""
    before = counted(PASSAGES, 1, pull)
    counts: dict[tuple[str, str], float] = {}
    for one in PASSAGES:
        read = (NULL, *one.english)
        weighed = {}
        for ways in product(range(len(read)), repeat=len(one.chinese)):
            weighed[ways] = prod(
                before[read[way]][word] * (exp(-pull * abs((place + 0.5) / len(one.chinese)
                                                           - (way - 0.5) / len(one.english))) if way else 1.0)
                for place, (way, word) in enumerate(zip(ways, one.chinese, strict=True)))
        for ways, weight in weighed.items():
            for way, word in zip(ways, one.chinese, strict=True):
                key = read[way], word
                counts[key] = counts.get(key, 0.0) + weight / sum(weighed.values())
    after = counted(PASSAGES, 2, pull)
    for (source, word), count in counts.items():
        total = sum(other for (same, _), other in counts.items() if same == source)
        assert after[source][word] == pytest.approx(count / total)


def test_links_are_the_likeliest_and_unknown_words_have_none() -> None:
    table = counted(PASSAGES, 20)
    assert links(table, ("a", "book"), ("ein", "buch", "rot")) == [0, 1, None]
    assert links(table, ("book", "the", "house"), ("haus", "das")) == [2, 1]


def test_a_pull_tells_two_like_words_apart() -> None:
    table = {"book": {"buch": 1.0}, "a": {"ein": 1.0}}
    english, target = ("a", "book", "a", "book"), ("ein", "buch", "ein", "buch")
    assert links(table, english, target) == [0, 1, 0, 1]
    assert links(table, english, target, 4.0) == [0, 1, 2, 3]
    assert near(0, 2, 3, 4, 2.0) == pytest.approx(exp(-2 * (0.875 - 0.25)))


def test_nothing_to_count_is_told() -> None:
    with pytest.raises(ValueError, match="0 passages and 3 rounds"):
        counted([], 3)
    with pytest.raises(ValueError, match="0 rounds"):
        counted(PASSAGES, 0)
