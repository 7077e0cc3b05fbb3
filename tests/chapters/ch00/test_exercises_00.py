"""The exercise of chapter 00 against an objective of the course and SDPA; other correct answers are accepted."""

from random import Random

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from plmlab.chapters.ch00 import exercises
from plmlab.exercises import check
from plmlab.objectives import causal
from plmlab.text.vocabulary import Vocabulary


@pytest.mark.parametrize("length", [2, 3, 7])
def test_the_mask_is_that_of_the_causal_objective(length: int) -> None:
    example = causal(range(10, 10 + length), vocab=Vocabulary(64), rng=Random(0))
    count = len(example.tokens)
    assert torch.equal(exercises.causal_mask(count), example.visible.dense())


def test_the_mask_is_that_of_scaled_dot_product_attention() -> None:
    q, k, v = torch.randn(3, 1, 6, 4, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(scaled_dot_product_attention(q, k, v, attn_mask=exercises.causal_mask(6)),
                               scaled_dot_product_attention(q, k, v, is_causal=True))


def compared(length):
    return torch.arange(length)[:, None] >= torch.arange(length)


def nested(length):
    return torch.tensor([[k <= q for k in range(length)] for q in range(length)])


def ahead(length):
    return torch.arange(length)[:, None] <= torch.arange(length)


def blocked(length):
    return ~nested(length)


@pytest.mark.parametrize(("answer", "said"), [
    (compared, "correct"), (nested, "correct"), (ahead, "transposed"), (blocked, "True and False are swapped"),
    (lambda length: torch.ones(length, length).tril(), "bool"),
])
def test_answers_as_people_write_them(answer, said: str) -> None:
    assert said in repr(check("00.1", answer)).lower() or said in repr(check("00.1", answer))
