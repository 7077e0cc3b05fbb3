"""Who is right about the number of a hidden noun: readers see what they should and no more."""

import torch

from plmlab.chapters.ch08.masked_nouns import (
    ASKED,
    NUMBERS,
    best_of_both,
    best_of_left,
    both_sides,
    flipped,
    is_correct,
    left_side,
    masked_nouns,
    nouns,
)
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.world import World
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.grammar.splits import is_test


def test_the_sentences_hide_a_noun_of_a_known_number_that_is_in_no_training_text(full: World) -> None:
    some = masked_nouns()
    assert len(some) == ASKED
    for noun in some:
        token = world_tokenizer().id(noun.words[noun.place])
        assert nouns(noun.number)[token] and not nouns("pl" if noun.number == "sg" else "sg")[token]
        assert is_test(noun.words) and full.parse(noun.words, "test").pattern in full.open_patterns
    assert {noun.number for noun in some} == set(NUMBERS)
    assert 0 < sum(noun.attractors > 0 for noun in some) < len(some)


def test_the_best_reader_of_both_sides_is_always_right_and_that_of_the_left_guesses() -> None:
    some = masked_nouns()[:40]
    assert all(is_correct(best_of_both, noun) for noun in some)
    assert sum(is_correct(best_of_left, noun) for noun in some) < 0.7 * len(some)
    assert abs(best_of_both(some[0].words, some[0].place).sum() - 1) < 1e-5


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
    noun = next(noun for noun in masked_nouns() if 2 < noun.place < len(noun.words) - 3)
    other_noun, behind, front = list(noun.words), list(noun.words), list(noun.words)
    other_noun[noun.place] = behind[noun.place + 1] = front[1] = "boat"
    for reader, sees_behind in ((both_sides(bert), True), (left_side(gpt), False)):
        said = reader(noun.words, noun.place)
        assert abs(said.sum() - 1) < 1e-5
        assert torch.equal(reader(tuple(other_noun), noun.place), said)
        assert torch.equal(reader(tuple(behind), noun.place), said) != sees_behind
        assert not torch.equal(reader(tuple(front), noun.place), said)
