"""Attention: watched = fused, whatever the mask; the cache; rows that may look nowhere."""

import math

import pytest
import torch
from torch import Tensor

from plmlab.interpret import ablate_heads, intervene, watch
from plmlab.layers.attention import Cache, MultiHeadAttention, masked_softmax, scaled_dot_product
from plmlab.layers.relative import ShawAttention
from plmlab.visibility import AttentionMask

B, H, T, D = 3, 4, 7, 12
GENERATOR = torch.Generator().manual_seed(0)
KEYS = torch.tensor([[True] * 7, [True] * 4 + [False] * 3, [False] * 7])
PAIRS = torch.rand(B, T, T, generator=GENERATOR) < 0.4
PAIRS[0, 2] = False
MASKS = {
    "all": AttentionMask(), "causal": AttentionMask(causal=True), "keys": AttentionMask(keys=KEYS),
    "pairs": AttentionMask(pairs=PAIRS), "causal and keys": AttentionMask(True, KEYS),
    "keys and pairs": AttentionMask(keys=KEYS, pairs=PAIRS), "all three": AttentionMask(True, KEYS, PAIRS),
}
every_mask = pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)


def attention(kind: type[MultiHeadAttention] = MultiHeadAttention) -> MultiHeadAttention:
    torch.manual_seed(1)
    return kind(D, H).double().eval()


def tensor(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64, requires_grad=True)


def by_hand(module: MultiHeadAttention, x: Tensor, mask: AttentionMask) -> Tensor:
    """Every row of every head on its own, with plain loops; a row that may look nowhere mixes nothing."""
    width = D // H
    q, k, v = (linear(x).detach() for linear in (module.q, module.k, module.v))
    mixed = torch.zeros(B, T, D, dtype=x.dtype)
    for b in range(B):
        for h in range(H):
            part = slice(h * width, (h + 1) * width)
            for i in range(T):
                looks = [j for j in range(T) if (not mask.causal or j <= i)
                         and (mask.keys is None or mask.keys[b, j]) and (mask.pairs is None or mask.pairs[b, i, j])]
                grades = [math.exp(float(q[b, i, part] @ k[b, j, part]) / math.sqrt(width)) for j in looks]
                for j, grade in zip(looks, grades, strict=True):
                    mixed[b, i, part] += grade / sum(grades) * v[b, j, part]
    return module.out(mixed)


@every_mask
def test_against_loops(mask: AttentionMask) -> None:
    module, x = attention(), tensor(B, T, D)
    torch.testing.assert_close(module(x, mask), by_hand(module, x, mask), rtol=0, atol=1e-10)


@every_mask
def test_watched_is_fused(mask: AttentionMask) -> None:
    module, x = attention(), tensor(B, T, D)
    results = []
    for looks in (False, True):
        module.zero_grad()
        if looks:
            with watch(module) as seen:
                output = module(x, mask)
            assert set(seen) == {"queries", "keys", "values", "scores", "weights", "mixed"}
        else:
            output = module(x, mask)
        weigh = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view_as(output)
        (inward,) = torch.autograd.grad((output * weigh).sum(), x, retain_graph=True)
        (output * weigh).sum().backward()
        results.append([output, inward, *(p.grad.clone() for p in module.parameters())])
    for fused, watched in zip(*results, strict=True):
        assert fused.isfinite().all()
        torch.testing.assert_close(watched, fused, rtol=0, atol=1e-10)


class Near(MultiHeadAttention):
    """A score of its own: the further, the less."""

    def score(self, q: Tensor, k: Tensor, relation: object = None) -> Tensor:
        place = torch.arange(k.shape[2], dtype=q.dtype)
        return super().score(q, k) - (place[None, :] - place[:, None]).abs()


def test_a_variant_s_score_counts_watched_or_not() -> None:
    near, plain = attention(Near), attention()
    x, mask = tensor(2, 5, D), AttentionMask(causal=True)
    own = near(x, mask)
    with watch(near):
        torch.testing.assert_close(near(x, mask), own)
    assert (plain(x, mask) - own).abs().max() > 0.01


@every_mask
def test_in_single_precision(mask: AttentionMask) -> None:
    module, x = attention().float(), tensor(B, T, D).float()
    with watch(module, "scores"):
        watched = module(x, mask)
    torch.testing.assert_close(watched, module(x, mask), rtol=0, atol=1e-5)


def test_rows_that_may_look_nowhere_are_zero() -> None:
    module, x = attention(), tensor(B, T, D)
    with watch(module) as seen:
        module(x, MASKS["keys and pairs"])
    allowed = (KEYS[:, None, :] & PAIRS).any(-1)
    assert not allowed.all()
    sums = seen["weights"].sum(-1)
    torch.testing.assert_close(sums, allowed[:, None].expand(-1, H, -1).double())
    assert (seen["weights"][~(KEYS[:, None, :] & PAIRS)[:, None].expand(-1, H, -1, -1)] == 0).all()


def test_masked_softmax_by_hand() -> None:
    scores = torch.tensor([[1.0, 2.0, 5.0], [1.0, 1.0, 1.0]])
    weights = masked_softmax(scores, torch.tensor([[True, True, False], [False, False, False]]))
    torch.testing.assert_close(weights, torch.tensor([[1 / (1 + math.e), math.e / (1 + math.e), 0], [0, 0, 0]]))


def test_scores_are_divided_by_the_root_of_the_width() -> None:
    q, k = torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.tensor([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 2.0]])
    torch.testing.assert_close(scaled_dot_product(q, k), torch.tensor([[5.0, 4.0]]))


@pytest.mark.parametrize("kind", [MultiHeadAttention, ShawAttention])
@pytest.mark.parametrize("cuts", [[1] * 7, [3, 4], [2, 1, 4], [7]])
def test_cache_is_no_cache(kind: type[MultiHeadAttention], cuts: list[int]) -> None:
    module, x, cache = attention(kind), tensor(B, T, D), Cache()
    mask = AttentionMask(causal=True)
    parts = [module(part, mask, cache=cache) for part in x.split(cuts, dim=1)]
    assert cache.time == T
    torch.testing.assert_close(torch.cat(parts, 1), module(x, mask), rtol=0, atol=1e-10)


def test_cross_attention_remembers_its_memory() -> None:
    module, x, memory, cache = attention(), tensor(B, T, D), tensor(B, 5, D), Cache()
    mask = AttentionMask(keys=torch.tensor([[True] * 5, [True] * 2 + [False] * 3, [True] * 4 + [False]]))
    parts = [module(part, mask, memory, cache) for part in x.split(1, dim=1)]
    assert cache.time == 5
    torch.testing.assert_close(torch.cat(parts, 1), module(x, mask, memory), rtol=0, atol=1e-10)


def test_cache_rows_can_be_chosen() -> None:
    module, x, cache = attention(), tensor(B, T, D), Cache()
    mask, rows = AttentionMask(causal=True), torch.tensor([2, 0, 2, 1])
    module(x[:, :4], mask, cache=cache)
    cache.select(rows)
    torch.testing.assert_close(module(x[rows, 4:], mask, cache=cache), module(x[rows], mask)[:, 4:],
                               rtol=0, atol=1e-10)
    empty = Cache()
    empty.select(rows)
    assert empty.time == 0


def test_what_a_cache_forgets_it_never_read() -> None:
    """Positions are read ahead, forgotten, and others read in their place; an empty cache has nothing to forget."""
    module, x, cache = attention(), tensor(B, T, D), Cache()
    mask = AttentionMask(causal=True)
    cache.forget(1)
    module(x[:, :4], mask, cache=cache)
    for last in (1, 3):
        module(x[:, :last] + 1, mask, cache=cache)
        cache.forget(last)
        assert cache.time == 4
    torch.testing.assert_close(module(x[:, 4:], mask, cache=cache), module(x, mask)[:, 4:], rtol=0, atol=1e-10)


def test_a_head_switched_off_is_its_slice_of_the_projection_zeroed() -> None:
    module, x, mask = attention(), tensor(B, T, D), MASKS["keys"]
    cut = attention()
    width = D // H
    with torch.no_grad():
        cut.out.weight[:, 2 * width:3 * width] = 0
    for point in ("weights", "mixed"):
        with intervene(module, {point: ablate_heads(2)}):
            changed = module(x, mask)
        torch.testing.assert_close(changed, cut(x, mask), rtol=0, atol=1e-10)
        assert not torch.allclose(changed, module(x, mask))


def test_dropout_falls_on_the_weights_in_both_ways() -> None:
    module = MultiHeadAttention(D, H, dropout=1.0).double().train()
    x = tensor(B, T, D)
    nothing = module.out(torch.zeros(B, T, D, dtype=torch.float64))
    torch.testing.assert_close(module(x, AttentionMask()), nothing)
    with watch(module, "weights") as seen:
        torch.testing.assert_close(module(x, AttentionMask()), nothing)
    torch.testing.assert_close(seen["weights"].sum(-1), torch.ones(B, H, T, dtype=torch.float64))


def test_a_width_that_heads_cannot_share() -> None:
    with pytest.raises(ValueError, match=r"model width \(10\) must be divisible by the number of heads \(4\)"):
        MultiHeadAttention(10, 4)
