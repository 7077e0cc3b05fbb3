"""The items *complexity* and *parameters*: operations counted as a function of the length, and parameters compared with
BERT's."""

from collections.abc import Callable, Sequence
from functools import partial
from math import log

import torch
from torch import nn

from plmlab.chapters.ch19.finding import NOTHING, Finding
from plmlab.flops import operations
from plmlab.layers.attention import MultiHeadAttention
from plmlab.models.bert import BERT, BERTConfig
from plmlab.visibility import AttentionMask

LENGTHS = (64, 128, 256, 512)
MODEL, HEADS = 32, 2


@torch.no_grad()
def score_operations(kind: type[MultiHeadAttention], time: int) -> int:
    """Operations of all attention scores of one text, of the given width and number of heads, projections excluded."""
    layer = kind(MODEL, HEADS)
    heads = torch.zeros(1, HEADS, time, MODEL // HEADS)
    return operations(lambda: layer.score(heads, heads))


@torch.no_grad()
def attention_operations(kind: type[MultiHeadAttention], time: int) -> int:
    """Operations of the scores, the softmax and the weighted sum of one text, projections excluded."""
    layer, heads = kind(MODEL, HEADS), torch.zeros(1, HEADS, time, MODEL // HEADS)
    return operations(lambda: layer.attend(heads, heads, heads, AttentionMask()))


def slope(counts: Sequence[int], lengths: Sequence[int] = LENGTHS) -> float:
    """The exponent p of n^p between the two largest lengths: the slope in a log–log plot."""
    return log(counts[-1] / counts[-2]) / log(lengths[-1] / lengths[-2])


def check_slope(claim: str, count: Callable[[int], int], exponent: int, repair: str = NOTHING, open: str = NOTHING,
                ) -> Finding:
    """The finding on a claimed exponent, which holds if the slope is within 0.1 of it."""
    counts = [count(time) for time in LENGTHS]
    found = slope(counts)
    return Finding("complexity", claim, f"slope {found:.2f}; {counts[-1] / LENGTHS[-1]**2:,.0f} operations per pair",
                   abs(found - exponent) < 0.1, repair, open)


def check_factor(claim: str, kind: type[MultiHeadAttention]) -> Finding:
    """The finding on the claim that scores need no more operations than scaled dot products."""
    ours, plain = (score_operations(one, LENGTHS[-1]) for one in (kind, MultiHeadAttention))
    return Finding("complexity", claim, f"{ours / plain:.2f} times the operations of scaled dot products",
                   ours <= plain, open="time: see the benchmark")


def parameters(build: Callable[[], nn.Module]) -> int:
    """The number of parameters, counted without allocating memory."""
    with torch.device("meta"):
        return sum(weight.numel() for weight in build().parameters())


def check_parameters(claim: str, build: Callable[[], nn.Module], expected: float, within: float = 0.01,
                     open: str = NOTHING) -> Finding:
    """The finding on a number of parameters, ``expected`` millions, with a relative tolerance."""
    count = parameters(build) / 1e6
    return Finding("parameters", claim, f"{count:.1f} M, stated {expected:.0f} M", abs(count / expected - 1) < within,
                   open=open)


def check_fewer(claim: str, build: Callable[[], nn.Module], open: str = NOTHING) -> Finding:
    """The finding on the claim that a model has fewer parameters than BERT-base."""
    count, bert = (parameters(one) for one in (build, partial(BERT, BERTConfig.base())))
    return Finding("parameters", claim, f"{count / 1e6:.1f} M; BERT-base {bert / 1e6:.1f} M", count < bert, open=open)
