"""Where a language model falls short: against readers whose distance from the best one is known."""

from collections.abc import Callable
from itertools import islice
from math import log

import pytest
import torch
from torch import nn

from plmlab import world
from plmlab.example import Batch
from plmlab.world import World
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor
from plmlab.world.datasets.excess_loss import CATEGORIES, category_means, kinds, kl_by_category, unseen
from plmlab.world.datasets.excess_loss import test_set as evaluation_set
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.probability.automaton import END


class Believing(nn.Module):
    """A reader that knows the exact probabilities, mixed with so much of the even distribution over all tokens."""

    def __init__(self, even: float) -> None:
        super().__init__()
        self.even = even

    def forward(self, batch: Batch) -> torch.Tensor:
        size, vocab = len(world_tokenizer()), world_tokenizer().vocab
        beliefs = torch.full((*batch.tokens.shape, size), self.even / size, dtype=torch.float64)
        for row, tokens in enumerate(batch.tokens.tolist()):
            words = [word for word in world_tokenizer().tokens(tokens[1:]) if word != "[PAD]"]
            for place in range(len(words) + 1):
                for word, p in world.full().next_words(words[:place], "test").items():
                    token = vocab.need("end") if word is END else world_tokenizer().id(str(word))
                    beliefs[row, place, token] += (1 - self.even) * p
        return beliefs.log()


def best() -> BayesOptimalPredictor:
    return BayesOptimalPredictor(world.full(), "test", world_tokenizer(), len(world_tokenizer()))


def test_the_best_reader_falls_short_of_nothing() -> None:
    found = kl_by_category(Believing(0.0), best(), evaluation_set(world.full())[:8])
    assert max(abs(gap) for told in found.values() for gap in told) < 1e-9


def test_who_knows_nothing_falls_short_of_all_that_can_be_known() -> None:
    sentences = evaluation_set(world.full())[:5]
    found = kl_by_category(Believing(1.0), best(), sentences)
    entropies = [-sum(p * log(p) for p in world.full().next_words(one.words[:place], "test").values() if p)
                 for one in sentences for place in range(len(one.words) + 1)]
    told = [gap for kind in found for gap in found[kind]]
    assert len(told) == len(entropies) == sum(len(one.words) + 1 for one in sentences)
    assert sum(told) == pytest.approx(len(told) * log(len(world_tokenizer())) - sum(entropies))


@pytest.mark.parametrize("size", [world.small, world.full])
def test_every_kind_stands_where_it_is_said_to(size: Callable[[], World]) -> None:
    for sentence in evaluation_set(size()):
        found = kinds(sentence)
        assert len(found) == len(sentence.words) + 1 and set(found) <= set(CATEGORIES)
        verbs = {link.verb for link in sentence.agreement if link.subject < link.verb}
        assert {place for place, kind in enumerate(found) if kind == "agreement"} == verbs
        named = {place for start, end, _ in sentence.mentions for place in range(start, end)}
        assert {place for place, kind in enumerate(found) if kind in ("names", "facts")} <= named
        if not sentence.facts:
            assert "facts" not in found
    assert {kind for sentence in evaluation_set(size()) for kind in kinds(sentence)} == set(CATEGORIES)


def test_means_weigh_every_word_alike() -> None:
    found = {kind: [0.0] for kind in CATEGORIES} | {"facts": [1.0, 1.0, 4.0]}
    assert category_means(found) == dict.fromkeys(CATEGORIES, 0.0) | {"facts": 2.0, "all": 6 / 7}


def test_what_was_read_is_left_out_and_nothing_twice() -> None:
    small, asked = world.small(), evaluation_set(world.small())
    found = unseen(small, asked, drawn=5000)
    read = {tuple(words) for words in islice(small.text("train", seed=17), 5000)}
    assert 0 < len(found) < len({one.words for one in asked}) and not {one.words for one in found} & read
    assert {one.words for one in found} | read >= {one.words for one in asked}


def test_what_begins_no_sentence_has_no_next_word() -> None:
    with pytest.raises(ValueError, match="no sentence of the world begins with 'keys the'"):
        best().after(("keys", "the"))
