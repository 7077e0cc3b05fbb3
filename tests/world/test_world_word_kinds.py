"""Sentences of the grammar without any kept apart, against every sentence written out; and the kinds of words."""

from collections import defaultdict
from itertools import islice
from math import log

import pytest
from world_brute import derivations

from plmlab.world.datasets.word_kinds import free_sentences, word_kinds
from plmlab.world.grammar.splits import is_test
from plmlab.world.probability.cooccurrence import word_counts


def test_free_sentences_are_those_of_the_grammar_as_often_as_it_says(small) -> None:
    """Of 4,000: a test of chi-square for the sentences, bounds of 4.5 standard errors for the words."""
    automaton, count = small.automaton(), 4000
    drawn = list(islice(free_sentences(small, 3), count))
    chances: dict[tuple[str, ...], float] = defaultdict(float)
    seen: dict[tuple[str, ...], int] = defaultdict(int)
    for said, p in derivations(automaton):
        chances[said] += p
    for words in drawn:
        seen[tuple(words)] += 1
    assert seen.keys() <= chances.keys()
    often = [said for said, p in chances.items() if p * count >= 8]
    expected = [chances[said] * count for said in often]
    observed = [seen[said] for said in often]
    expected.append(count - sum(expected))
    observed.append(count - sum(observed))
    square = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
    free = len(expected) - 1
    assert free > 20 and abs(square - free) < 4 * (2 * free) ** 0.5
    said = [word for words in drawn for word in words]
    for word, mean in zip(automaton.vocabulary, word_counts(automaton, automaton.vocabulary), strict=True):
        spread = sum(p * (words.count(word) - mean) ** 2 for words, p in chances.items())
        assert said.count(word) / count == pytest.approx(mean, abs=4.5 * (spread / count) ** 0.5 + 1e-9)


def test_free_sentences_keep_none_apart_and_come_again(small) -> None:
    def first(seed: int) -> list[list[str]]:
        return list(islice(free_sentences(small, seed), 300))
    assert first(1) == first(1) != first(2)
    assert any(is_test(words) for words in first(1)) and any(not is_test(words) for words in first(1))
    assert all(small.automaton().logprob(words) > -log(1e12) for words in first(1))


def test_the_kind_of_a_word(small) -> None:
    kinds = word_kinds(small)
    assert list(kinds) == sorted(kinds) and set(kinds) <= set(small.automaton().vocabulary)
    assert all(kinds.values())
    for entity in small.facts.entities.values():
        word = entity.words[-1]
        if entity.kind in ("town", "country") and word in kinds:
            assert entity.kind in kinds[word]
    assert "year" in kinds["1950"] and kinds["1950"] == {"year"}
    names = {entity.words[0] for entity in small.facts.entities.values() if entity.kind == "person"}
    assert {word for word, found in kinds.items() if "given name" in found} == names & set(kinds)
    baker = small.lexicon["baker.noun"]
    assert {f"{name} sg" for name in baker.classes} <= kinds["baker"] and not kinds["baker"] & kinds["bakers"]
    for word, found in kinds.items():
        listed = {f"{name} {form}" for one in small.lexicon for form, surface in one.forms.items()
                  if surface == word for name in one.classes}
        assert listed == {kind for kind in found if " " in kind and not kind.endswith(" name")}
