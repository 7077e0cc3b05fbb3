"""What the notebook measures: attention at initialization, rotations, costs, baselines."""

from math import cos, factorial, log, sin

import pytest
import torch
from torch import nn

from plmlab.chapters.ch06 import agreement, backwards, cost, initialization, long_chains, parity, rotations
from plmlab.chapters.ch06.translation import Translations, most_similar
from plmlab.layers.positions import sinusoid
from plmlab.layers.transformer import PostNorm, PreNorm
from plmlab.models.transformer import Transformer, TransformerConfig


def test_division_keeps_the_softmax_from_saturating() -> None:
    torch.manual_seed(0)
    (divided, small), (undivided, other) = (initialization.saturation(256, divisor, queries=200) for divisor in (16, 1))
    assert 1 / 32 < divided < 0.5 < undivided <= 1 and small > 0 and other > 0


def test_gradients_shrink_with_depth_for_pre_norm_only() -> None:
    norms = {(residual, depth): initialization.gradient_norms(residual, depth, 0, width=16)[-1]
             for residual in (PreNorm, PostNorm) for depth in (2, 16)}
    assert norms[PreNorm, 16] < norms[PreNorm, 2] / 1.5 and norms[PostNorm, 16] > norms[PostNorm, 2] / 1.5


@pytest.mark.parametrize("steps", [1, 3])
def test_one_matrix_shifts_every_position(steps: int) -> None:
    table, matrix = sinusoid(torch.arange(40), 8), rotations.shift_matrix(steps, 8)
    assert rotations.shift_error(table, matrix, steps) < 1e-5 < 0.1 < rotations.shift_error(
        table, rotations.shift_matrix(steps + 1, 8), steps)
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(8))
    torch.testing.assert_close(matrix[:2, :2], torch.tensor([[cos(steps), -sin(steps)], [sin(steps), cos(steps)]]))


def test_multiplications_are_those_of_the_formulas() -> None:
    assert cost.multiplications(nn.Linear(5, 7, bias=False), torch.randn(3, 5)) == 3 * 5 * 7
    assert cost.multiplications(cost.LSTMInSteps(4), torch.randn(1, 6, 4)) == 6 * 8 * 4 * 4
    assert cost.milliseconds(nn.Linear(2, 2), torch.randn(1, 2)) > 0


def test_the_floor_of_a_bag_is_the_number_of_orders() -> None:
    vocab = backwards.ALPHABET
    batch = backwards.reversals(batch=5, low=3, high=6)(0)
    total = targets = 0
    for row in batch.source.tokens:
        word = [id for id in row.tolist() if id in vocab.words]
        orders = factorial(len(word))
        for letter in set(word):
            orders //= factorial(word.count(letter))
        total, targets = total + log(orders), targets + len(word) + 1
    assert backwards.bag_floor([batch], vocab.end) == pytest.approx(total / targets, rel=1e-6)


def test_an_untrained_model_matches_nothing_and_its_output_has_no_end() -> None:
    vocab = backwards.ALPHABET
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(vocab.size, layers=1, model=16, heads=2, inner=16, dropout=0.0)).eval()
    batch = backwards.reversals(batch=6)(1)
    outputs = backwards.generated(model, batch, vocab, 5)
    assert len(outputs) == 6 and not any(vocab.end in output for output in outputs)
    assert backwards.exact_match(model, batch, vocab) == 0


def test_the_update_from_which_a_seed_stays_above_the_level() -> None:
    points = [{"values": values} for values in ([0.5, 0.97, 0.99], [0.96, 0.9, 0.99], [0.99, 0.96, 0.94])]
    assert agreement.learned_at(points, (50, 100, 150)) == "100, 150, –"


def test_only_the_first_noun_is_always_correct() -> None:
    rules = (lambda nouns: nouns[0], lambda nouns: nouns[-1], lambda nouns: 1)
    first, last, constant = (long_chains.rule_accuracy(rule, 12, 300) for rule in rules)
    assert first == 1 and last < 0.8 and abs(constant - 0.5) < 0.1


def test_the_most_similar_sentence_shares_most_words() -> None:
    sentences = agreement.agreement_sentences("train", 1, 20)
    assert most_similar(sentences[7].words, sentences).text == sentences[7].text
    assert most_similar(("no", "such", "word"), sentences) is sentences[0]


def test_names_of_weights() -> None:
    assert parity.plmlab_name("token.weight") == "token.weight"
    assert parity.plmlab_name("decoder.1.norm2.bias") == "decoder.layers.1.feed_forward_residual.norm.bias"
    assert parity.plmlab_name("encoder.0.up.weight") == "encoder.layers.0.feed_forward.up.weight"


def test_sentence_pairs_are_batched_and_disjoint() -> None:
    data = Translations.drawn(60, 10)
    assert not {one.text for one in data.training} & {one.text for one in data.test}
    batch, sentence = data.collated(data.test), data.test[3]
    source = [data.words[id - data.vocab.words[0]] for id in batch.source.tokens[3].tolist() if id in data.vocab.words]
    target = [data.words[id - data.vocab.words[0]] for id in batch.targets[3].tolist() if id in data.vocab.words]
    assert (source, target) == (list(sentence.words), list(sentence.chinese))
    assert torch.equal(data.batch(4, 3).targets, data.batch(4, 3).targets)
