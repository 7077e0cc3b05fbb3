"""Soft alignment: numbers worked by hand, what may not be looked at, and what can be watched and changed."""

from math import exp, tanh

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from plmlab.interpret import intervene, watch
from plmlab.layers.alignment import AdditiveAlignment, Alignment, DotAlignment, GeneralAlignment
from plmlab.visibility import AttentionMask

KINDS = [DotAlignment, GeneralAlignment, AdditiveAlignment]
every_kind = pytest.mark.parametrize("kind", KINDS)
LENGTHS = torch.tensor([3, 5, 1])
PADDED = AttentionMask(keys=torch.arange(5) < LENGTHS[:, None])


def made(kind: type[Alignment], width: int = 4) -> Alignment:
    torch.manual_seed(0)
    return kind(width).double()


def tensor(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def numbers(rows: list) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def look(module: Alignment, queries: Tensor, memory: Tensor, mask: AttentionMask) -> Tensor:
    return module(queries, module.prepared(memory), memory, mask)


def worked(kind: type[Alignment]) -> tuple[Alignment, list[float]]:
    """An alignment with weights that can be worked with, and its scores of (1, 0) with (1, 2) and with (0, 3)."""
    module = kind(2).double()
    with torch.no_grad():
        if isinstance(module, GeneralAlignment):
            module.source.weight.copy_(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
            return module, [2.0, 3.0]
        if isinstance(module, AdditiveAlignment):
            module.source.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 0.5]]))
            module.state.weight.copy_(torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
            module.vote.weight.copy_(torch.tensor([[1.0, -2.0]]))
            return module, [tanh(1 + 1) - 2 * tanh(1 + 1), tanh(1 + 0) - 2 * tanh(1 + 1.5)]
    return module, [1.0, 0.0]


@every_kind
def test_two_positions_by_hand(kind: type[Alignment]) -> None:
    module, (one, other) = worked(kind)
    memory, query = numbers([[[1, 2], [0, 3]]]), numbers([[[1, 0]]])
    with watch(module) as seen:
        context = look(module, query, memory, AttentionMask())
    first = exp(one) / (exp(one) + exp(other))
    assert_close(seen["scores"], numbers([[[[one, other]]]]), atol=1e-12, rtol=0)
    assert_close(seen["weights"], numbers([[[[first, 1 - first]]]]), atol=1e-12, rtol=0)
    assert_close(context, numbers([[[first, 2 * first + 3 * (1 - first)]]]), atol=1e-12, rtol=0)


@every_kind
def test_padding_has_no_weight_and_the_others_share_it_all(kind: type[Alignment]) -> None:
    module, queries, memory = made(kind), tensor(3, 2, 4), tensor(3, 5, 4, seed=2)
    with watch(module) as seen:
        context = look(module, queries, memory, PADDED)
    weights = seen["weights"]
    assert weights.shape == seen["scores"].shape == (3, 1, 2, 5)
    assert_close(weights.sum(-1), torch.ones(3, 1, 2).double())
    for row, length in enumerate(LENGTHS.tolist()):
        assert not weights[row, ..., length:].any() and (weights[row, ..., :length] > 0).all()
        short = memory[row:row + 1, :length]
        assert_close(context[row:row + 1], look(module, queries[row:row + 1], short, AttentionMask()))


@every_kind
def test_a_query_that_may_look_nowhere_gets_zeros(kind: type[Alignment]) -> None:
    module, mask = made(kind), AttentionMask(keys=torch.tensor([[False] * 5, [True] * 5]))
    queries = tensor(2, 3, 4).requires_grad_()
    with watch(module) as seen:
        context = look(module, queries, tensor(2, 5, 4, seed=2), mask)
    assert not context[0].any() and not seen["weights"][0].any() and context[1].all()
    context.sum().backward()
    assert queries.grad is not None and queries.grad.isfinite().all() and not queries.grad[0].any()


@every_kind
def test_gradients_are_those_of_small_steps(kind: type[Alignment]) -> None:
    module = made(kind)
    assert torch.autograd.gradcheck(lambda q, m: look(module, q, m, PADDED),
                                    (tensor(3, 2, 4).requires_grad_(), tensor(3, 5, 4, seed=2).requires_grad_()))
    for weight in module.parameters():
        assert torch.autograd.grad(look(module, tensor(3, 2, 4), tensor(3, 5, 4, seed=2), PADDED).pow(2).sum(),
                                   weight)[0].abs().max() > 0


@every_kind
def test_each_point_has_one_head_and_can_be_changed(kind: type[Alignment]) -> None:
    module, queries, memory = made(kind), tensor(3, 2, 4), tensor(3, 5, 4, seed=2)
    with watch(module) as seen:
        look(module, queries, memory, PADDED)
    assert torch.equal(seen["queries"][:, 0], queries) and torch.equal(seen["values"][:, 0], memory)
    assert torch.equal(seen["keys"][:, 0], module.prepared(memory))
    assert_close(seen["mixed"], seen["weights"] @ seen["values"])

    def at_the_first(weights: Tensor) -> Tensor:
        return torch.zeros_like(weights).index_fill(-1, torch.tensor([0]), 1.0)

    with intervene(module, {"weights": at_the_first}):
        assert_close(look(module, queries, memory, PADDED), memory[:, :1].expand(-1, 2, -1))
    with intervene(module, {"scores": torch.zeros_like}):
        mean = torch.stack([row[:length].mean(0) for row, length in zip(memory, LENGTHS, strict=True)])
        assert_close(look(module, queries, memory, PADDED), mean[:, None].expand(-1, 2, -1))
    with intervene(module, {"mixed": torch.zeros_like}):
        assert not look(module, queries, memory, PADDED).any()


@every_kind
def test_what_it_tells_of_its_score_is_true(kind: type[Alignment]) -> None:
    module = made(kind)
    with watch(module) as seen:
        look(module, tensor(3, 2, 4), tensor(3, 5, 4, seed=2), PADDED)
    products = seen["queries"] @ seen["keys"].transpose(-2, -1)
    if module.scale is None:
        assert "tanh" in module.formula and not torch.allclose(products, seen["scores"], atol=1e-2)
    else:
        assert module.formula == "q·k"
        assert_close(products * module.scale, seen["scores"])
