"""Sentences that carry on with another's memory: swapping nothing, or all, is reading one sentence or the other."""

from collections.abc import Iterator

import pytest
import torch
from toy_size import changed

from plmlab import world
from plmlab.chapters.ch01 import interchange
from plmlab.chapters.ch01.interchange import Pair, pairs, predicts_own_verb
from plmlab.models.recurrent import LSTMLanguageModel, RecurrentConfig
from plmlab.world.datasets.batches import next_word_batch
from plmlab.world.datasets.tokenizer import world_tokenizer

SOME = slice(0, 6)


@pytest.fixture(autouse=True, scope="module")
def few_pairs() -> Iterator[None]:
    """The first 40 pairs."""
    with changed((interchange, "COUNT", 40), forget=[pairs]):
        yield


def untrained() -> LSTMLanguageModel:
    torch.manual_seed(0)
    model = LSTMLanguageModel(RecurrentConfig(len(world_tokenizer()), layers=2, model=24, dropout=0.0)).eval()
    for weights in model.parameters():
        torch.nn.init.normal_(weights, std=0.4)
    return model


def own_verb(model: LSTMLanguageModel, pair: Pair, words: tuple[str, ...]) -> bool:
    with torch.no_grad():
        logits = model(next_word_batch([words], world_tokenizer()))[0, len(words)]
    return bool(logits[world_tokenizer().id(pair.verb)] > logits[world_tokenizer().id(pair.other_verb)])


def test_a_pair_differs_in_its_subject_alone() -> None:
    assert len(pairs()) == 40
    for pair in pairs():
        apart = [place for place, two in enumerate(zip(pair.words, pair.other, strict=True)) if two[0] != two[1]]
        assert apart == [pair.subject] and len(pair.words) - pair.subject > 3
        assert pair.verb != pair.other_verb
        for words, verb in ((pair.words, pair.verb), (pair.other, pair.other_verb)):
            assert verb in world.full().next_words(words, "test")


def test_without_a_swap_it_reads_its_own_sentence_and_with_both_the_other() -> None:
    model, one_swapped = untrained(), []
    for pair in pairs()[SOME]:
        assert predicts_own_verb(model, pair) == own_verb(model, pair, pair.words)
        for after in range(3):
            both = predicts_own_verb(model, pair, hidden_state=True, cell_state=True, after=after)
            assert both == own_verb(model, pair, pair.other)
        one_swapped.append((predicts_own_verb(model, pair, cell_state=True),
                            predicts_own_verb(model, pair, hidden_state=True)))
    assert len(set(one_swapped)) > 1


def test_one_half_of_a_state_is_swapped() -> None:
    """A network whose verb hangs on the memory alone: its gates and candidate are deaf to the state."""
    model = untrained()
    with torch.no_grad():
        for cell in model.recurrent.cells:
            cell.weight_hh.zero_()
    for pair in pairs()[SOME]:
        assert predicts_own_verb(model, pair, hidden_state=True) == predicts_own_verb(model, pair)
        assert predicts_own_verb(model, pair, cell_state=True) == own_verb(model, pair, pair.other)
