"""Who is right about the number of a hidden noun: readers see what they should and no more."""

import pytest
import torch

from plmlab.chapters.ch08 import masked_nouns as module
from plmlab.chapters.ch08.masked_nouns import (
    NUMBERS,
    SENTENCES,
    accuracies,
    both_sides,
    flipped,
    is_correct,
    left_context,
    masked_nouns,
    nouns,
    optimal_both_sides,
    optimal_left_context,
)
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.world import World
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.grammar.splits import is_test


def test_the_sentences_hide_a_noun_of_a_known_number_that_is_in_no_training_text(full: World) -> None:
    some = masked_nouns()
    assert len(some) == SENTENCES
    for noun in some:
        token = world_tokenizer().id(noun.words[noun.position])
        assert nouns(noun.number)[token] and not nouns("pl" if noun.number == "sg" else "sg")[token]
        assert is_test(noun.words) and full.parse(noun.words, "test").pattern in full.open_patterns
    assert {noun.number for noun in some} == set(NUMBERS)
    assert 0 < sum(noun.attractors > 0 for noun in some) < len(some)


def test_the_best_reader_of_both_sides_is_always_right_and_that_of_the_left_guesses() -> None:
    some = masked_nouns()[:40]
    assert all(is_correct(optimal_both_sides, noun) for noun in some)
    assert sum(is_correct(optimal_left_context, noun) for noun in some) < 0.7 * len(some)
    assert abs(optimal_both_sides(some[0].words, some[0].position).sum() - 1) < 1e-5


def test_a_turned_verb_asks_for_a_noun_of_the_other_number_and_turned_twice_it_is_the_same() -> None:
    for noun in masked_nouns()[:40]:
        other = flipped(noun)
        assert [i for i, (a, b) in enumerate(zip(noun.words, other.words, strict=True)) if a != b] == [noun.verb]
        assert flipped(other) == noun and other.number != noun.number


def test_the_hidden_word_is_not_seen_and_the_left_reader_sees_nothing_to_its_right() -> None:
    torch.manual_seed(0)
    bert = BERTPretraining(BERTConfig(len(world_tokenizer()), time=64, layers=1, model=16, heads=2, inner=32)).eval()
    gpt = GPT2(GPTConfig(len(world_tokenizer()), time=64, layers=1, model=16, heads=2)).eval()
    for model in (bert, gpt):
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
    noun = next(noun for noun in masked_nouns() if 2 < noun.position < len(noun.words) - 3)
    other_noun, behind, front = list(noun.words), list(noun.words), list(noun.words)
    other_noun[noun.position] = behind[noun.position + 1] = front[1] = "boat"
    for reader, sees_behind in ((both_sides(bert), True), (left_context(gpt), False)):
        said = reader(noun.words, noun.position)
        assert abs(said.sum() - 1) < 1e-5
        assert torch.equal(reader(tuple(other_noun), noun.position), said)
        assert torch.equal(reader(tuple(behind), noun.position), said) != sees_behind
        assert not torch.equal(reader(tuple(front), noun.position), said)


def test_accuracies_are_those_of_all_sentences_and_of_both_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    attractor = [noun.attractors > 0 for noun in masked_nouns()]
    monkeypatch.setattr(module, "results", lambda *_: {"with": attractor, "all": [True] * SENTENCES})
    counts, told = accuracies(torch.nn.Identity(), torch.nn.Identity())
    assert counts == [SENTENCES, sum(attractor), SENTENCES - sum(attractor)]
    assert told["with"] == pytest.approx([sum(attractor) / SENTENCES, 1, 0]) and told["all"] == [1, 1, 1]
