"""The CNN softmax against a loop over words and numbers, in double precision."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from plmlab.layers.charcnn import CharCNN
from plmlab.layers.cnn_softmax import CNNSoftmax, CorrectedCNNSoftmax
from plmlab.text.characters import CODES, sentence_codes

WORDS = ["cat", "cats", "猫"]
SPELLED = sentence_codes(WORDS, 9)
TARGETS = torch.tensor([0, 4, 2, 2])


def cnn() -> CharCNN:
    torch.manual_seed(0)
    return CharCNN(CODES, 4, ((1, 3), (2, 5)), 1, 6).double()


def with_corrections() -> CorrectedCNNSoftmax:
    softmax = CorrectedCNNSoftmax(cnn(), len(SPELLED), 2).double()
    torch.nn.init.normal_(softmax.corrections)
    return softmax


def states() -> Tensor:
    return torch.randn(2, 2, 6, dtype=torch.double, generator=torch.Generator().manual_seed(1))


def test_the_logits_by_hand() -> None:
    softmax, hidden = CNNSoftmax(cnn()), states()
    logits = softmax(hidden, SPELLED).detach()
    assert logits.shape == (2, 2, len(SPELLED))
    for word, spelled in enumerate(SPELLED):
        vector = softmax.cnn(spelled[None, None])[0, 0].tolist()
        for row in range(2):
            for position in range(2):
                h = hidden[row, position].tolist()
                assert float(logits[row, position, word]) == pytest.approx(
                    sum(a * b for a, b in zip(h, vector, strict=True)), abs=1e-12)


def test_the_corrected_logits_by_hand() -> None:
    softmax, hidden = with_corrections(), states()
    logits, matrix = softmax(hidden, SPELLED).detach(), softmax.matrix.weight.tolist()
    for word, spelled in enumerate(SPELLED):
        vector, own = softmax.cnn(spelled[None, None])[0, 0].tolist(), softmax.corrections[word].tolist()
        for position in range(2):
            h = hidden[1, position].tolist()
            by_hand = sum(h[number] * (vector[number] + sum(matrix[number][place] * own[place] for place in range(2)))
                          for number in range(6))
            assert float(logits[1, position, word]) == pytest.approx(by_hand, abs=1e-12)


def test_it_begins_without_corrections() -> None:
    softmax = CorrectedCNNSoftmax(cnn(), len(SPELLED), 2).double()
    torch.testing.assert_close(softmax(states(), SPELLED), CNNSoftmax(cnn())(states(), SPELLED))


def test_only_a_correction_tells_words_with_one_spelling_apart() -> None:
    twins = SPELLED[[1, 1, 2, 3, 4]]
    logits = CNNSoftmax(cnn())(states(), twins)
    assert torch.equal(logits[..., 0], logits[..., 1])
    logits = with_corrections()(states(), twins)
    assert ((logits[..., 0] - logits[..., 1]).abs() > 1e-3).all()


def test_all_learns_but_a_bias_that_no_probability_feels() -> None:
    """The bias of the projection adds the same to all logits."""
    softmax = with_corrections()
    hidden = states().requires_grad_()
    F.cross_entropy(softmax(hidden, SPELLED).flatten(0, 1), TARGETS).backward()
    gradients = {name: weight.grad for name, weight in softmax.named_parameters()}
    assert {"cnn.characters.weight", "cnn.convolutions.0.weight", "corrections", "matrix.weight"} <= gradients.keys()
    still = {name for name, told in gradients.items() if told is None or told.abs().max() < 1e-12}
    assert still == {"cnn.projection.bias"}
    assert hidden.grad is not None and hidden.grad.abs().sum() > 0
    assert (softmax.corrections.grad.abs().sum(-1) > 0).all()  # type: ignore[union-attr]


def test_from_zero_the_corrections_learn_first_and_the_matrix_next() -> None:
    softmax = CorrectedCNNSoftmax(cnn(), len(SPELLED), 2).double()
    learned, matrix = torch.optim.SGD(softmax.parameters(), 0.1), softmax.matrix.weight.detach().clone()
    for changed in (False, True):
        learned.zero_grad()
        F.cross_entropy(softmax(states(), SPELLED).flatten(0, 1), TARGETS).backward()
        learned.step()
        assert softmax.corrections.abs().sum() > 0
        assert torch.equal(softmax.matrix.weight, matrix) is not changed


def test_the_published_ratio_of_weights() -> None:
    """793,471 words × 1,024 numbers in a full softmax; corrections of 128 numbers need an eighth of them, and M."""
    with torch.device("meta"):
        corrected = CorrectedCNNSoftmax(CharCNN(CODES, 4, ((1, 3),), 0, 1024), 793_471, 128)
    own = corrected.corrections.numel() + corrected.matrix.weight.numel()
    assert own == 793_471 * 1024 // 8 + 128 * 1024


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="correction=0: give a size of at least 1"):
        CorrectedCNNSoftmax(cnn(), 5, 0)
    with pytest.raises(ValueError, match="codes has 3 words, but there are corrections for 5"):
        with_corrections()(states(), SPELLED[:3])
