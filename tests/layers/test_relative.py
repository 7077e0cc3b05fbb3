"""Relative positions: Shaw's attention and Transformer-XL's against loops over their papers' equations."""

import math

import pytest
import torch

from plmlab.interpret import intervene, watch
from plmlab.layers.attention import MultiHeadAttention
from plmlab.layers.relative import RelativePositionBias, ShawAttention, TransformerXLAttention, relative_shift
from plmlab.visibility import AttentionMask

TERMS = ("content", "content_position", "global_content", "global_position")
SIZES = [(1, 1), (1, 6), (5, 5), (3, 8), (7, 7), (4, 9)]
"""Queries and keys: one of each, one query that remembers, no memory, and memories shorter and longer than the text."""


def shaw(module: ShawAttention, x: torch.Tensor, looks: torch.Tensor) -> torch.Tensor:
    """Shaw et al. 2018, eqs. 3 and 4, pair by pair; a^K and a^V clipped at k (eq. 5 of §3.2's definition)."""
    batch, time, model = x.shape
    width, k = model // module.heads, module.window
    z = torch.zeros_like(x)
    q, keys, values = module.q(x), module.k(x), module.v(x)
    for b in range(batch):
        for h in range(module.heads):
            part = slice(h * width, (h + 1) * width)
            for i in range(time):
                rows = [max(-k, min(k, j - i)) + k for j in range(time)]
                e = torch.stack([q[b, i, part] @ (keys[b, j, part] + module.key_distance.weight[rows[j]])
                                 for j in range(time)]) / math.sqrt(width)
                alpha = e.masked_fill(~looks[i], -math.inf).softmax(0)
                z[b, i, part] = sum(alpha[j] * (values[b, j, part] + module.value_distance.weight[rows[j]])
                                    for j in range(time))
    return module.out(z)


@pytest.mark.parametrize("window", [1, 2, 16])
@pytest.mark.parametrize("causal", [False, True])
def test_relative_attention_against_shaws_equations(window: int, causal: bool) -> None:
    torch.manual_seed(window)
    module = ShawAttention(6, 2, window=window).double()
    x = torch.randn(2, 7, 6, dtype=torch.float64)
    looks = torch.ones(7, 7, dtype=torch.bool)
    looks = looks.tril() if causal else looks
    output = module(x, AttentionMask(causal=causal))
    torch.testing.assert_close(output, shaw(module, x, looks), rtol=0, atol=1e-10)
    with watch(module) as seen:
        torch.testing.assert_close(module(x, AttentionMask(causal=causal)), output, rtol=0, atol=1e-12)
    assert seen["weights"].shape == (2, 2, 7, 7)


def test_relative_attention_does_not_see_where_the_text_begins() -> None:
    torch.manual_seed(0)
    module = ShawAttention(6, 2, window=2).double()
    x = torch.randn(1, 9, 6, dtype=torch.float64)
    keys = torch.tensor([[False] * 3 + [True] * 6])
    torch.testing.assert_close(module(x, AttentionMask(keys=keys))[:, 3:], module(x[:, 3:], AttentionMask()))


def test_distances() -> None:
    module = ShawAttention(4, 1, window=2)
    assert module.distance(2, 4).tolist() == [[0, 1, 2, 3], [0, 0, 1, 2]]


def close(a: torch.Tensor, b: torch.Tensor, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=tolerance)


def xl(model: int = 12, heads: int = 3, *, clamp: int | None = None) -> TransformerXLAttention:
    """In float64, every weight large enough to matter."""
    torch.manual_seed(2)
    module = TransformerXLAttention(model, heads).double()
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    module.clamp = clamp
    return module


def noise(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(5))


def place(distance: int, model: int) -> torch.Tensor:
    """R of a distance: sine beside cosine, rounded to single precision as the layer's table is."""
    angles = [distance / 10_000 ** (2 * pair / model) for pair in range(model // 2)]
    return torch.tensor([f(angle) for angle in angles for f in (math.sin, math.cos)]).double()


def by_pairs(module: TransformerXLAttention, h: torch.Tensor, query: int, looks: torch.Tensor) -> torch.Tensor:
    """Dai et al. 2019, §3.3, pair by pair: the last ``query`` positions of h look at all of it."""
    batch, key, model = h.shape
    width, z = model // module.heads, torch.zeros(batch, query, model, dtype=h.dtype)
    for b in range(batch):
        for head in range(module.heads):
            w_q, w_k, w_v, w_r = (part.weight[head * width:(head + 1) * width]
                                  for part in (module.q, module.k, module.v, module.r))
            u, v = module.content_bias[head], module.position_bias[head]
            for i in range(query):
                at, scores = key - query + i, {}
                for j in range(key):
                    if looks[b, i, j]:
                        r = w_r @ place(at - j if module.clamp is None else min(at - j, module.clamp), model)
                        q, k = w_q @ h[b, at], w_k @ h[b, j]
                        scores[j] = (q @ k + q @ r + u @ k + v @ r) / math.sqrt(width)
                total = sum(score.exp() for score in scores.values())
                for j, score in scores.items():
                    z[b, i, head * width:(head + 1) * width] += score.exp() / total * (w_v @ h[b, j])
    return z @ module.out.weight.T


def masks(form: str, query: int, key: int) -> tuple[AttentionMask, torch.Tensor]:
    """What ours is told, and who looks at whom in a batch of two. A query may be left with nothing to look at."""
    looks = torch.tensor([[j <= key - query + i for j in range(key)] for i in range(query)]).expand(2, -1, -1)
    if form == "causal":
        return AttentionMask(causal=True), looks
    if form == "keys":
        real = torch.ones(2, key, dtype=torch.bool)
        real[1, :(key + 1) // 2] = False
        return AttentionMask(causal=True, keys=real), looks & real[:, None]
    pairs = looks & (noise(2, query, key) < 0.7)
    return AttentionMask(pairs=pairs), pairs


@pytest.mark.parametrize("form", ["causal", "keys", "pairs"])
@pytest.mark.parametrize("clamp", [None, 0, 2, 50])
@pytest.mark.parametrize(("query", "key"), SIZES)
@torch.no_grad()
def test_transformer_xl_s_attention_pair_by_pair(query: int, key: int, clamp: int | None, form: str) -> None:
    module, h = xl(6, 2, clamp=clamp), noise(2, key, 6)
    told, looks = masks(form, query, key)
    close(module(h[:, key - query:], told, h), by_pairs(module, h, query, looks))


@pytest.mark.parametrize("clamp", [None, 2])
@pytest.mark.parametrize(("query", "key"), SIZES)
def test_four_terms_are_the_two_products(query: int, key: int, clamp: int | None) -> None:
    """Equation 3 is equation 4: as sums, in what comes out, and in every gradient."""
    module, h, told = xl(clamp=clamp), noise(2, key, 12).requires_grad_(), AttentionMask(causal=True)
    inputs, found = (h, *module.parameters()), []

    def read() -> torch.Tensor:
        return module(h[:, key - query:], told, h)

    with watch(module, "scores") as two_by_two:
        found.append(read())
    with watch(module) as seen:
        found.append(read())
    found.append(read())
    reached = torch.ones(query, key, dtype=torch.bool).tril(key - query)
    assert {seen[term].shape[1:] for term in TERMS} == {(3, query, key)}
    for scores in (two_by_two["scores"], seen["scores"]):
        close(sum(seen[term] for term in TERMS)[..., reached], scores[..., reached])
    gradients = [torch.autograd.grad((z * noise(*z.shape)).sum(), inputs) for z in found]
    for z, other in zip(found[:2], gradients[:2], strict=True):
        close(z, found[2])
        for ours, theirs in zip(other, gradients[2], strict=True):
            close(ours, theirs, 1e-11)


@pytest.mark.parametrize("off", TERMS)
def test_a_term_that_is_switched_off_is_missing_from_the_score(off: str) -> None:
    module, h, told = xl(), noise(2, 7, 12), AttentionMask(causal=True)
    with watch(module) as whole:
        before = module(h[:, 3:], told, h)
    with intervene(module, {off: torch.zeros_like}), watch(module, "scores") as less:
        after = module(h[:, 3:], told, h)
    reached = torch.ones(4, 7, dtype=torch.bool).tril(3)
    close((whole["scores"] - less["scores"])[..., reached], whole[off].expand(2, -1, -1, -1)[..., reached])
    assert whole[off][..., reached].std() > 0.05 and not torch.isclose(before[:, 1:], after[:, 1:]).all(-1).any()


@torch.no_grad()
def test_what_each_term_hangs_on() -> None:
    """(a) on both tokens, (b) on the query and the distance, (c) on the key alone, (d) on the distance alone."""
    module, h, told = xl(), noise(1, 6, 12), AttentionMask(causal=True)
    h[:, 4] = h[:, 3]
    with watch(module) as seen:
        module(h, told)
    content, content_position, global_content, global_position = (seen[term][0] for term in TERMS)
    close(content[:, 5, 3], content[:, 5, 4])
    close(content_position[:, 3, 1], content_position[:, 4, 2])
    close(global_content, global_content[:, :1].expand(-1, 6, -1))
    close(global_position[:, 5, 3], global_position[:, 2, 0])
    assert not torch.isclose(content_position[:, 5, 3], content_position[:, 4, 2]).any()
    assert not torch.isclose(global_position[:, 5, 3], global_position[:, 5, 4]).any()


@pytest.mark.parametrize("extra", [0, 1, 2])
@pytest.mark.parametrize(("query", "key"), SIZES)
def test_relative_shift_is_a_gather(query: int, key: int, extra: int) -> None:
    """As many distances as keys are right where the key is not behind the query; those of the keys behind it too, and
    maybe more, as in XLNet, everywhere."""
    for distances, everywhere in ((key, False), (key + query - 1 + extra, True)):
        given = noise(2, 3, query, distances)
        shifted = relative_shift(given, key)
        assert shifted.shape == (2, 3, query, key)
        for i in range(query):
            for j in range(key):
                distance = key - query + i - j
                if everywhere or distance >= 0:
                    assert torch.equal(shifted[..., i, j], given[..., i, key - 1 - distance])


@torch.no_grad()
def test_a_text_that_moves_keeps_its_scores() -> None:
    """The pairs of a text score the same wherever it stands, and whatever is remembered before it."""
    module, text = xl(), noise(1, 5, 12)
    found = []
    for before in (0, 1, 4, 600):
        h = torch.cat([noise(1, before, 12), text], 1)
        with watch(module, "scores") as seen:
            module(text, AttentionMask(causal=True), h)
        found.append(seen["scores"][..., before:].tril())
    for moved in found[1:]:
        close(moved, found[0])


def test_the_bias_is_that_of_mpnet_s_buckets() -> None:
    """Of any positions, those that stand twice too, against the buckets of ``transformers``."""
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

    bias = RelativePositionBias(32, 3)
    query, key = torch.tensor([[5, 0, 300, 17]]), torch.tensor([[0, 1, 5, 5, 299, 140, 20]])
    buckets = MPNetEncoder.relative_position_bucket(key[:, None, :] - query[:, :, None], num_buckets=32)
    torch.testing.assert_close(bias(query, key), bias.weight[buckets].permute(0, 3, 1, 2))


def test_a_bias_fused_is_the_bias_watched() -> None:
    """Outputs, and gradients of queries and of the bias too; a query that may look nowhere gets zeros."""
    torch.manual_seed(1)
    module, x = MultiHeadAttention(12, 3).double(), torch.randn(2, 5, 12, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(2, 3, 5, 5, dtype=torch.float64, requires_grad=True)
    looks = torch.rand(2, 5, 5) < 0.6
    looks[1, 2] = False
    mask, found = AttentionMask(pairs=looks), []
    for _ in range(2):
        if found:
            with watch(module, "weights") as seen:
                out = module(x, mask, bias=bias)
            assert not seen["weights"][1, :, 2].any() and seen["weights"].shape == (2, 3, 5, 5)
        else:
            out = module(x, mask, bias=bias)
        found.append([out, *torch.autograd.grad((out * torch.arange(12)).sum(), (x, bias))])
    for fused, watched in zip(*found, strict=True):
        torch.testing.assert_close(fused, watched, rtol=0, atol=1e-10)
    torch.testing.assert_close(module(x, mask, bias=torch.zeros_like(bias)), module(x, mask), rtol=0, atol=1e-10)
    assert (found[0][0] - module(x, mask)).abs().max() > 0.01
