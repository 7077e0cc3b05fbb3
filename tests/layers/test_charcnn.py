"""Words out of characters, against loops over filters and places, and against highways by hand."""

from math import exp

import pytest
import torch
from torch import nn

from plmlab.interpret.watching import watch
from plmlab.layers.charcnn import ELMO, CharCNN, Highway
from plmlab.text.characters import CODES, batch_codes

FILTERS = ((1, 2), (3, 4), (2, 3))
SENTENCES = [["the", "naïve", "cat"], ["猫"], ["a" * 60]]


def made(**choices: object) -> CharCNN:
    torch.manual_seed(0)
    return CharCNN(CODES, 5, FILTERS, **{"highways": 2, "width": 6, **choices})  # type: ignore[arg-type]


def by_hand(model: CharCNN, word: list[int]) -> list[float]:
    """The filters of a word, sums over characters and their numbers."""
    vectors = model.characters.weight.tolist()
    found = []
    for convolution in model.convolutions:
        size, places = convolution.kernel_size[0], []
        for filter, bias in zip(convolution.weight.tolist(), convolution.bias.tolist(), strict=True):
            places = [bias + sum(filter[number][place] * vectors[word[start + place]][number]
                                 for place in range(size) for number in range(5))
                      for start in range(len(word) - size + 1)]
            found.append(max(0.0, *places))
    return found


def test_filters_and_the_largest_place_by_hand() -> None:
    model, codes = made(), batch_codes(SENTENCES)
    with watch(model) as seen:
        words = model(codes)
    assert words.shape == (3, 5, 6)
    found = seen["found"].unflatten(0, (3, 5))
    for row, position in ((0, 1), (0, 2), (1, 1), (2, 1), (2, 3)):
        assert found[row, position].tolist() == pytest.approx(by_hand(model, codes[row, position].tolist()), abs=1e-5)
    torch.testing.assert_close(words, model.projection(model.highways(found)))


def test_a_highway_by_hand() -> None:
    torch.manual_seed(0)
    highway, x = Highway(2), torch.tensor([[0.5, -1.0]])
    (a, b), (c, d) = highway.gate.weight.tolist()
    gates = [1 / (1 + exp(2 - (one * 0.5 - two))) for one, two in ((a, b), (c, d))]
    layer = highway.transform(x).clamp(min=0)[0].tolist()
    assert highway(x)[0].tolist() == pytest.approx([
        gate * new + (1 - gate) * old for gate, new, old in zip(gates, layer, (0.5, -1.0), strict=True)])


def test_it_begins_by_letting_words_through() -> None:
    with watch(model := made()) as seen:
        model(batch_codes(SENTENCES))
    assert seen["highways.0.opened"].mean().item() < 0.2


def test_other_activations_and_no_highway() -> None:
    model = made(highways=0, activation=nn.Tanh())
    with watch(model) as seen:
        words = model(batch_codes(SENTENCES))
    assert seen["found"].min().item() < 0 and seen["found"].abs().max().item() < 1
    torch.testing.assert_close(words.flatten(0, 1), model.projection(seen["found"]))


def test_the_published_filters() -> None:
    assert sum(count for _, count in ELMO) == 2048 and [width for width, _ in ELMO] == [1, 2, 3, 4, 5, 6, 7]


def test_it_learns_and_words_that_are_too_short_are_refused() -> None:
    model = made()
    model(batch_codes(SENTENCES)).square().mean().backward()
    assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in model.parameters())
    assert not model.characters.weight.grad[0].any()
    with pytest.raises(ValueError, match="words have 2 character codes, but the widest filter spans 3"):
        model(torch.ones(1, 1, 2, dtype=torch.long))
