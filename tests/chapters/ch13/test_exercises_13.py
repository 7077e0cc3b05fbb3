"""The solutions of chapter 13 against plmlab's objectives and independent computations."""

from random import Random

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from plmlab.chapters.ch13 import exercises as right
from plmlab.chapters.ch13.presets import SENTENCE
from plmlab.draws import shuffled
from plmlab.example import IGNORE, Batch
from plmlab.objectives import causal
from plmlab.objectives.denoising import sentence_permutation, text_infilling
from plmlab.text import Text
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(90)


def test_the_papers_example_has_a_closing_sentinel() -> None:
    tokens, sentinels = SENTENCE.split(), ["<X>", "<Y>", "<Z>"]
    source, target = right.span_corruption(tokens, [[2, 4], [8, 9]], sentinels)
    assert " ".join(source) == "Thank you <X> me to your party <Y> week ."
    assert " ".join(target) == "<X> for inviting <Y> last <Z>"


@pytest.mark.parametrize("buckets, most", [(32, 128), (16, 128), (8, 20)])
@pytest.mark.parametrize("bidirectional", [True, False])
def test_buckets_are_those_of_transformers(buckets: int, most: int, bidirectional: bool) -> None:
    from transformers.models.t5.modeling_t5 import T5Attention
    back = torch.arange(-700, 701)
    assert torch.equal(right.relative_bucket(back, buckets, most, bidirectional),
                       T5Attention._relative_position_bucket(-back, bidirectional, buckets, most))


@pytest.mark.parametrize("mean", [0.5, 1.0, 3.0])
def test_lengths_have_the_poisson_distribution(mean: float) -> None:
    """Quantiles of 40,000 samples of numpy: the length of a draw is the quantile at that draw."""
    samples = np.sort(np.random.default_rng(0).poisson(mean, 40_000))
    for draw in (0.02, 0.1, 0.3, 0.55, 0.7, 0.9, 0.97):
        [length] = right.infilled_lengths([draw], mean, 1000)
        assert (samples < length).mean() <= draw + 0.01 and draw <= (samples <= length).mean() + 0.01


def test_lengths_are_those_of_text_infilling() -> None:
    """The same random numbers give the same lengths."""
    for seed in range(50):
        rng = Random(seed)
        draws = [rng.random() for _ in range(100)]
        lengths = right.infilled_lengths(draws, 3.0, 12)
        source = text_infilling(range(40, 80), VOCAB, Random(seed))
        assert sum(lengths) == 12 and source.count(VOCAB.need("mask")) == len(lengths)


def test_a_permutation_of_the_objective_is_undone() -> None:
    for seed in range(100):
        rng = Random(seed)
        lengths = [1 + int(5 * rng.random()) for _ in range(1 + int(6 * rng.random()))]
        tokens = [40 + int(50 * rng.random()) for _ in range(sum(lengths))]
        ends = [sum(lengths[:i + 1]) for i in range(len(lengths))]
        text = Text(tokens, sentences=[(end - length, end) for length, end in zip(lengths, ends, strict=True)])
        order = shuffled(rng, range(len(lengths)))
        permuted = sentence_permutation(text, VOCAB, rng, order=order)
        assert right.unpermuted(list(permuted), lengths, list(order)) == tokens


def test_the_decoders_batch_is_that_of_the_course() -> None:
    targets = [[40, 41, 42], [50], [60, 61]]
    batch = Batch.of([causal(row, vocab=VOCAB, rng=Random(0)) for row in targets], pad=VOCAB.need("pad"))
    inputs, labels, real = right.teacher_forcing(targets, VOCAB.need("start"), VOCAB.need("end"), VOCAB.need("pad"))
    assert torch.equal(inputs, batch.tokens) and torch.equal(labels, batch.targets)
    assert torch.equal(real, batch.targets != IGNORE)
    logits = torch.randn(3, 4, 90, generator=torch.Generator().manual_seed(0))
    by_row = [float(F.cross_entropy(logits[i, :len(row) + 1], torch.tensor([*row, VOCAB.need("end")]), reduction="sum"))
              for i, row in enumerate(targets)]
    assert float(F.cross_entropy(logits.flatten(0, 1), labels.flatten())) == pytest.approx(sum(by_row) / 9)
