"""What stands before a sentence's end, against every sentence written out, and against the chain rule."""

import gc
import math
import weakref
from collections import defaultdict
from itertools import islice

import pytest
from world_brute import derivations, language, random_automaton

from plmlab.world.probability.automaton import END, Arc, Automaton, Builder, Start
from plmlab.world.probability.backwards import START, previous_words


def before(sentences: dict[tuple[str, ...], float], suffix: tuple[str, ...]) -> dict[str, float]:
    """The word before ``suffix``, by summing the sentences that end so."""
    found: dict[str, float] = defaultdict(float)
    for words, p in sentences.items():
        if words[len(words) - len(suffix):] == suffix:
            found[(START, *words)[len(words) - len(suffix)]] += p
    mass = sum(found.values())
    return {word: p / mass for word, p in found.items()}


def reversed_causal(automaton: Automaton, words: list[str]) -> list[float]:
    """log p of each word given all behind it, and of the sentence's begin given all of it."""
    read = [START, *words]
    return [math.log(previous_words(automaton, read[place + 1:])[word]) for place, word in enumerate(read)]


def from_the_left(automaton: Automaton, words: list[str]) -> list[float]:
    """log p of each word given all before it, and of the sentence's end given all of it."""
    said = [*words, END]
    return [math.log(automaton.next_words(said[:place])[word]) for place, word in enumerate(said)]


def test_figures_worked_by_hand() -> None:
    """a b (1/4), a c (1/4), c (1/2): before c stands the begin twice as often as a."""
    builder = Builder()
    b, c = (builder.state([Arc(word, None, 0, 1)]) for word in "bc")
    first = builder.state([Arc("a", None, b, 1)])
    second = builder.state([Arc("a", None, c, 1), Arc("c", None, 0, 2)])
    automaton = builder.automaton([Start("one", first, 1), Start("two", second, 3)])
    assert previous_words(automaton, []) == pytest.approx({"c": 3 / 4, "b": 1 / 4})
    found = previous_words(automaton, ["c"])
    assert found == pytest.approx({START: 2 / 3, "a": 1 / 3}) and list(found) == [START, "a"], "likeliest first"
    assert previous_words(automaton, ["a", "c"]) == {START: 1.0}
    for never in (["a"], ["c", "c"], ["zebra"], [START, "c"], ["a", "a", "b"]):
        assert previous_words(automaton, never) == {}


@pytest.mark.parametrize("seed", range(40))
def test_random_grammars_by_brute_force(seed: int) -> None:
    automaton = random_automaton(seed)
    sentences = language(automaton)
    for suffix in {words[place:] for words in sentences for place in range(len(words) + 1)}:
        found = previous_words(automaton, suffix)
        assert found == pytest.approx(before(sentences, suffix), abs=1e-12)
        assert list(found.values()) == sorted(found.values(), reverse=True)


@pytest.mark.parametrize("split", ["train", "facts"])
def test_the_small_world_by_all_its_sentences(split: str, small) -> None:
    automaton = small.automaton(split)
    sentences = dict(derivations(automaton))
    for words in list(sentences)[::400]:
        for place in range(len(words) + 1):
            tail = words[place:]
            assert previous_words(automaton, tail) == pytest.approx(before(sentences, tail), abs=1e-12)


@pytest.mark.parametrize("name, count", [("small", 100), ("full", 40)])
def test_from_either_side_a_sentence_costs_the_same(name: str, count: int, request: pytest.FixtureRequest) -> None:
    """The chain rule: the words' conditionals multiply to the sentence's probability, whatever side one reads from."""
    world = request.getfixturevalue(name)
    automaton = world.automaton()
    for words in islice(world.text(seed=5), count):
        right, left, whole = reversed_causal(automaton, words), from_the_left(automaton, words), world.logprob(words)
        assert sum(right) == pytest.approx(whole, abs=1e-9)
        assert sum(left) == pytest.approx(whole, abs=1e-9)
        assert right[1:] != pytest.approx(left[:-1]), "word by word the two sides differ"


def test_what_is_kept_goes_with_its_automaton() -> None:
    automaton = random_automaton(1)
    again = Automaton(list(automaton.starts), list(automaton.arcs))
    assert previous_words(automaton, []) == previous_words(again, [])
    other = random_automaton(2)
    assert previous_words(other, []) != previous_words(automaton, [])
    gone = weakref.ref(again)
    del again
    gc.collect()
    assert gone() is None
