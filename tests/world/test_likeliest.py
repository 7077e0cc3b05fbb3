"""The likeliest sentences against every sentence written out, and against what the world draws."""

import math
from itertools import islice

import pytest
from world_brute import derivations, random_automaton

from plmlab.world.probability.ambiguity import SelfProduct
from plmlab.world.probability.automaton import Arc, Automaton, Builder, Start
from plmlab.world.probability.likeliest import likeliest
from plmlab.world.probability.posterior import NotInGrammar


def agrees(automaton: Automaton, prefix: tuple[str, ...], count: int) -> None:
    """The head of the ranking by brute force: the same figures, distinct sentences, and each figure its sentence's."""
    sentences = {words: p for words, p in derivations(automaton) if words[: len(prefix)] == prefix}
    ranked = sorted(sentences.values(), reverse=True)
    found = likeliest(automaton, prefix, count)
    assert [math.exp(nats) for _, nats in found] == pytest.approx(ranked[:count], rel=1e-9)
    assert len({words for words, _ in found}) == len(found) == min(count, len(ranked))
    for words, nats in found:
        assert sentences[words] == pytest.approx(math.exp(nats))
        assert nats == pytest.approx(automaton.logprob(words), abs=1e-9)


def test_a_toy_worked_by_hand() -> None:
    """b a (2/3), a c (1/4), a b (1/12): the likelier first word is not always the greedy one's."""
    builder = Builder()
    a, b, c = (builder.state([Arc(word, None, 0, 1)]) for word in "abc")
    first = builder.state([Arc("a", None, c, 3), Arc("a", None, b, 1), Arc("b", None, a, 8)])
    automaton = builder.automaton([Start("one", first, 1)])
    found = likeliest(automaton, count=9)
    assert [words for words, _ in found] == [("b", "a"), ("a", "c"), ("a", "b")]
    assert [nats for _, nats in found] == pytest.approx([math.log(p) for p in (2 / 3, 1 / 4, 1 / 12)])
    assert likeliest(automaton, ["a"]) == [found[1]]


def test_the_likeliest_sentence_need_not_begin_with_the_likeliest_word() -> None:
    """a leads to four sentences of 0.15, b to one of 0.4."""
    builder = Builder()
    many = builder.state(Arc(word, None, 0, 1) for word in "cdef")
    one = builder.state([Arc("c", None, 0, 1)])
    automaton = builder.automaton([Start("one", builder.state([Arc("a", None, many, 3), Arc("b", None, one, 2)]), 1)])
    assert next(iter(automaton.next_words([]))) == "a"
    [(words, nats)] = likeliest(automaton)
    assert words == ("b", "c") and math.exp(nats) == pytest.approx(0.4)


def test_random_grammars_by_brute_force() -> None:
    unambiguous = [automaton for automaton in (random_automaton(seed, words="abcdefgh", states=6) for seed in range(80))
                   if SelfProduct(automaton).clash() is None]
    assert len(unambiguous) > 20
    for automaton in unambiguous:
        for prefix in {words[:place] for words, _ in derivations(automaton) for place in range(len(words) + 1)}:
            for count in (1, 3, 100):
                agrees(automaton, prefix, count)


@pytest.mark.parametrize("count", [1, 5, 50, 2000])
@pytest.mark.parametrize("split", ["train", "facts"])
def test_the_small_world_by_all_its_sentences(count: int, split: str, small) -> None:
    automaton = small.automaton(split)
    every = [words for words, _ in derivations(automaton)]
    for prefix in {words[:place] for words in every[::20] for place in (0, 1, 2, len(words))}:
        agrees(automaton, prefix, count)


def test_no_sentence_of_the_full_world_that_is_drawn_is_likelier(full) -> None:
    drawn = {tuple(words): full.logprob(words) for words in islice(full.text(seed=3), 4000)}
    for prefix in [(), ("the",), ("in", "the")]:
        found = dict(likeliest(full.automaton(), prefix, 20))
        for words, nats in found.items():
            assert words[: len(prefix)] == prefix and nats == pytest.approx(full.logprob(words), abs=1e-9)
        assert list(found.values()) == sorted(found.values(), reverse=True) and len(found) == 20
        others = {words for words in drawn if words[: len(prefix)] == prefix} - set(found)
        assert others and max(map(drawn.__getitem__, others)) <= min(found.values()) + 1e-9


def test_the_search_goes_nearly_straight(full) -> None:
    """Of some 40,000 states it looks only at those on ways as good as the best."""
    looked: list[int] = []

    class Watched(list):
        def __getitem__(self, state):
            looked.append(state)
            return super().__getitem__(state)

    automaton = Automaton(full.automaton().starts, full.automaton().arcs)
    assert len(automaton.best_tails) == automaton.states > 40_000
    automaton.arcs = Watched(automaton.arcs)
    likeliest(automaton)
    assert 0 < len(looked) < 100


def test_what_no_sentence_begins_with_is_told(small) -> None:
    with pytest.raises(NotInGrammar, match=r"no sentence of the grammar begins with 'the the'"):
        likeliest(small.automaton(), ["the", "the"])
    with pytest.raises(ValueError, match="count=0; give 1 or more sentences"):
        likeliest(small.automaton(), count=0)
