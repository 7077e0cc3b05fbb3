"""The checks of chapter 13 accept the notebook's code and refuse wrong versions of it."""

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil, log
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
import transformers.models.t5.modeling_t5  # noqa: F401 - takes seconds, so before the first test
from torch import Tensor

from plmlab.chapters.ch13 import equivalence
from plmlab.layers.attention import MultiHeadAttention, UnscaledAttention
from plmlab.models.t5 import T5, T5Decoder, T5Encoder, T5v11
from plmlab.models.transformer import Transformer
from plmlab.objectives.denoising import text_infilling
from plmlab.text.vocabulary import Vocabulary

pytestmark = pytest.mark.usefixtures("one_thread")
Pair = tuple[list[Any], list[Any]]


def failed(checks: dict[str, bool]) -> list[int]:
    """The places of the checks that fail."""
    return [place for place, holds in enumerate(checks.values()) if not holds]


def t5_example(tokens: Sequence[Any], spans: Sequence[Any], sentinels: Sequence[Any],
               marked: Callable[[Any, list[Any]], list[Any]] = lambda mark, span: [mark, *span],
               closing: Callable[[bool], bool] = lambda kept: kept) -> Pair:
    """The notebook's function; ``marked`` arranges a sentinel and its span, ``closing`` decides on a last sentinel."""
    source, target, last = list[Any](), list[Any](), 0
    for sentinel, (begin, end) in zip(sentinels, spans, strict=False):
        source += [*tokens[last:begin], sentinel]
        target += marked(sentinel, list(tokens[begin:end]))
        last = end
    if closing(last < len(tokens)):
        target.append(sentinels[len(spans)])
    return [*source, *tokens[last:]], target


WRONG_SPANS: dict[str, Callable[..., Pair]] = {
    "one sentinel for all": lambda tokens, spans, marks: t5_example(tokens, spans, [marks[0]] * 40),
    "the whole text as target": lambda tokens, spans, marks: (t5_example(tokens, spans, marks)[0], list(tokens)),
    "a sentinel after its span": lambda *given: t5_example(*given, marked=lambda mark, span: [*span, mark]),
    "always a closing sentinel": lambda *given: t5_example(*given, closing=lambda kept: True),
    "never a closing sentinel": lambda *given: t5_example(*given, closing=lambda kept: False),
    "none without spans": lambda *given: t5_example(*given, closing=lambda kept: kept and given[1] != []),
    "sentinels in reverse": lambda tokens, spans, marks: t5_example(
        tokens, spans, [*marks[:len(spans) + 1][::-1], *marks]),
    "source and target exchanged": lambda *given: t5_example(*given)[::-1],
    "a sentinel per token": lambda tokens, spans, marks: t5_example(
        tokens, [(i, i + 1) for begin, end in spans for i in range(begin, end)], [*marks, *marks]),
}


@pytest.mark.parametrize("name", WRONG_SPANS)
def test_wrong_sources_and_targets_are_refused(name: str) -> None:
    assert 0 in failed(equivalence.spans_dropped(WRONG_SPANS[name]))


def bucket(back: Tensor, buckets: int = 32, most: int = 128, clamped: bool = True, base: float = 0) -> Tensor:
    """The notebook's buckets of a decoder, or with a mistake."""
    near = buckets // 2
    ratio = torch.log(back.clamp(min=near) / near) / (base or torch.log(torch.tensor(most / near)))
    far = near + (ratio * (buckets - near)).long()
    return torch.where(back < near, back.clamp(min=0), far.clamp(max=buckets - 1) if clamped else far)


def encoder_bucket(back: Tensor, buckets: int = 32, **mistake: Any) -> Tensor:
    """The notebook's buckets of an encoder."""
    return bucket(back.abs(), buckets // 2, **mistake) + buckets // 2 * (back < 0)


Buckets = Callable[[Tensor, int], Tensor]
WRONG_BUCKETS: dict[str, tuple[Buckets, Buckets]] = {
    "not halved": (bucket, lambda back, count: bucket(back.abs(), count) + count // 2 * (back < 0)),
    "one direction": (bucket, lambda back, count: bucket(back.abs(), count // 2)),
    "later keys first": (bucket, lambda back, count: encoder_bucket(-back, count)),
    "> for ≥": (bucket, lambda back, count: bucket(back.abs(), count // 2) + count // 2 * (back <= 0)),
    "the decoder's": (bucket, bucket),
    "later keys by distance": (lambda back, count: bucket(back.abs(), count), encoder_bucket),
    "distances reversed": (lambda back, count: bucket(-back, count), encoder_bucket),
    "the encoder's": (encoder_bucket, encoder_bucket),
    **{name: (lambda back, count, kind=kind: bucket(back, count, **kind),
              lambda back, count, kind=kind: encoder_bucket(back, count, **kind))
       for name, kind in {"not clamped": {"clamped": False}, "base 2": {"base": log(2)}, "base 128": {"base": log(128)},
                          "at most 256": {"most": 256}}.items()},
    "one distance too few with its own": (lambda back, count: torch.where(
        back == count // 2 - 1, count // 2, bucket(back, count)), encoder_bucket),
}


@pytest.mark.parametrize("name", WRONG_BUCKETS)
def test_wrong_buckets_are_refused(name: str) -> None:
    decoder, encoder = WRONG_BUCKETS[name]
    assert failed(equivalence.buckets(decoder, encoder)) == [
        i for i, (wrong, right) in enumerate(((decoder, bucket), (encoder, encoder_bucket))) if wrong is not right]


@pytest.mark.parametrize(("owner", "name", "wrong", "expected"), [
    (T5, "token_logits", Transformer.token_logits, [0]),  # not scaled by d^−½
    (T5v11, "token_logits", T5.token_logits, [1]),        # tied and scaled
    (UnscaledAttention, "scale", None, [0, 1]),
    (T5Encoder, "bias", lambda *given: None, [0, 1]),
    (T5Decoder, "bias", lambda *given: None, [0, 1]),
])
def test_another_t5_is_refused(owner: type, name: str, wrong: Any, expected: list[int],
                               monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner, name, getattr(MultiHeadAttention, name) if wrong is None else wrong)
    assert failed(equivalence.t5_parity()) == expected


def infilling(tokens: Sequence[int], vocab: Vocabulary, rng: Random, *, shortest: int = 0, mean: float = 3,
              cut: bool = True, budget: Callable[[float], int] = ceil, merged: bool = False,
              shuffled: bool = True, lost: bool = False) -> list[int]:
    """Text infilling by numpy's Poisson and permutation, or with a mistake."""
    numbers, lengths = np.random.default_rng(int(rng.random() * 2 ** 31)), list[int]()
    wanted = max(1, budget(0.3 * len(tokens)))
    while sum(lengths) < wanted:
        length = max(shortest, int(numbers.poisson(mean)))
        lengths.append(min(length, (wanted if cut else len(tokens)) - sum(lengths)))
    units = [*lengths, *[-1] * (len(tokens) - sum(lengths))]
    source, rest = list[int](), list(tokens)
    for place in numbers.permutation(len(units)) if shuffled else range(len(units)):
        if units[place] < 0:
            source.append(rest.pop(0))
        else:
            del rest[:units[place]]
            source += [] if merged and source and source[-1] == vocab.mask else [vocab.need("mask")]
    return [token for token in source if token != vocab.mask] if lost else source


WRONG_NOISES: dict[str, dict[str, Any]] = {
    "GLM's lengths": {"shortest": 1}, "adjacent spans merged": {"merged": True}, "budget not cut": {"cut": False},
    "rounded": {"budget": round}, "half of the tokens": {"budget": lambda tokens: ceil(tokens / 2)},
    "mean 4": {"mean": 4}, "mean 2.5": {"mean": 2.5}, "not shuffled": {"shuffled": False}, "no [MASK]": {"lost": True},
}


@pytest.mark.parametrize("name", WRONG_NOISES)
def test_wrong_infilling_is_refused(name: str) -> None:
    assert failed(equivalence.infilling(partial(infilling, **WRONG_NOISES[name])))


def decoder_input(tokens: list[Any], u: int, v: int, start: Any = "[START]", ids: tuple[int, int] = (-1, 0),
                  inputs: tuple[int, int] = (-1, 0), targets: tuple[int, int] = (0, 1)) -> tuple[Any, ...]:
    """The notebook's function; the ranges are relative to u and v."""
    whole = [start, *tokens, start]
    return whole[u + inputs[0]:v + inputs[1]], whole[u + targets[0]:v + targets[1]], range(u + ids[0], v + ids[1])


def test_right_code_is_accepted() -> None:
    for checks, count in ((equivalence.spans_dropped(t5_example), 3), (equivalence.t5_parity(), 2),
                          (equivalence.buckets(bucket, encoder_bucket), 2), (equivalence.mass_slots(decoder_input), 2),
                          (equivalence.infilling(text_infilling), 4), (equivalence.infilling(infilling), 4)):
        assert len(checks) == count and not failed(checks)


@pytest.mark.parametrize("wrong", [
    partial(decoder_input, ids=(0, 1)), partial(decoder_input, inputs=(0, 1)), partial(decoder_input, targets=(-1, 0)),
    partial(decoder_input, inputs=(-1, -1), targets=(0, 0), ids=(-1, -1)),
    lambda tokens, u, v, start="": (*decoder_input(tokens, u, v, start)[:2], range(v - u + 1)),  # positions from 0
    lambda tokens, u, v, start="": ([start, *tokens[u - 1:v - 1]], *decoder_input(tokens, u, v, start)[1:]),
])
def test_wrong_slots_are_refused(wrong: Callable[..., Any]) -> None:
    assert len(failed(equivalence.mass_slots(wrong))) == 2
