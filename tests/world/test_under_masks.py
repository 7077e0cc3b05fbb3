"""What can be known of a word under each of the four masks, against every sentence of the small world written out."""

from itertools import islice
from math import fsum
from random import Random

import pytest
from world_brute import Language, language

from plmlab.draws import randint
from plmlab.objectives.prefix import MASKS
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from plmlab.world.probability.under_masks import posterior_under_masks

CUPS = ("the", "cups", "near", "the", "chair", "are", "lost", ".")


@pytest.fixture(scope="module")
def sentences(small) -> Language:
    return language(small.automaton("train"))


def enumerated(sentences: Language, gap: int, fits) -> dict[str, float] | None:
    """What stands in the gap among the sentences that fit."""
    masses: dict[str, float] = {}
    for words, p in sentences.items():
        if len(words) > gap and fits(words):
            masses[words[gap]] = masses.get(words[gap], 0.0) + p
    return {word: mass / fsum(masses.values()) for word, mass in masses.items()} or None


def in_sight(words, gap: int, cut: int) -> dict:
    """The name of each mask → whether a sentence could be the one that is read, as far as the gap's position can
    tell."""
    length, target = len(words), gap >= cut
    behind = range(gap + 1, length)
    source = [i for i in range(cut) if i != gap]
    return {
        "both directions": lambda s: len(s) == length and all(s[i] == words[i] for i in (*range(gap), *behind)),
        "sequence to sequence": lambda s: len(s) > cut and all(
            s[i] == words[i] for i in (range(gap) if target else source)),
        "left to right": lambda s: s[:gap] == words[:gap],
        "right to left": lambda s: len(s) == length and all(s[i] == words[i] for i in behind),
    }


def test_each_mask_leaves_the_sentences_that_it_cannot_tell_apart(small, sentences):
    rng, automaton = Random(3), small.automaton("train")
    sides = []
    for words in map(tuple, islice(small.text("train", seed=5), 25)):
        gap, cut = randint(rng, len(words)), randint(rng, len(words))
        found = posterior_under_masks(automaton, words, gap, cut)
        assert list(found) == list(MASKS)
        for name, fits in in_sight(words, gap, cut).items():
            assert found[name] == pytest.approx(enumerated(sentences, gap, fits)), (name, words, gap, cut)
        sides.append(gap < cut)
    assert 5 < sum(sides) < 20


def test_what_stands_in_the_gap_is_not_looked_at(small):
    automaton, words = small.automaton("train"), list(CUPS)
    masked = [*words[:5], "", *words[6:]]
    assert posterior_under_masks(automaton, words, 5, 3) == posterior_under_masks(automaton, masked, 5, 3)


def test_a_mask_that_hides_what_is_wrong_still_has_an_answer(small, sentences):
    words = (*CUPS[:5], "is", *CUPS[6:])
    found = posterior_under_masks(small.automaton("train"), words, 1, 3)
    for name, fits in in_sight(words, 1, 3).items():
        expected = enumerated(sentences, 1, fits)
        assert found[name] == (None if expected is None else pytest.approx(expected))
    assert "cups" not in found["both directions"] and found["left to right"]["cups"] > 0
    strange = posterior_under_masks(small.automaton("train"), ["zebra", *words[1:]], 1, 3)
    assert [name for name, belief in strange.items() if belief is None] == [
        "both directions", "sequence to sequence", "left to right"]


@pytest.mark.parametrize("gap, cut, told", [(8, 0, "position=8"), (-1, 0, "position=-1"), (0, 8, "source_length=8")])
def test_places_that_there_are_not(small, gap: int, cut: int, told: str):
    with pytest.raises(ValueError, match=told):
        posterior_under_masks(small.automaton("train"), CUPS, gap, cut)


def test_the_best_reader_has_it_over_its_tokens(small):
    words = small_world_tokenizer()
    reader = BayesOptimalPredictor(small, "train", words, len(words) + 3)
    found = reader.under_masks(["Henry", "Quinn", "plays", "the", "piano", "."], 0, 3)
    exact = posterior_under_masks(small.automaton("train"), ["Henry", "Quinn", "plays", "the", "piano", "."], 0, 3)
    for name, belief in found.items():
        assert belief.shape == (len(words) + 3,) and float(belief.sum()) == pytest.approx(1)
        assert {words.tokens([i])[0]: float(belief[i]) for i in belief.nonzero()[:, 0].tolist()} == \
            pytest.approx(exact[name])
