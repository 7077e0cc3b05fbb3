"""The Shape X-ray without a browser: real tensors, the wrong reshape really computed, and whose numbers lie where."""

import json
from math import sqrt

import fixtures_xray
import pytest
import torch
from einops import rearrange
from standin import HOSTILE
from torch import nn

from plmlab.labs.shape_xray.lab import Pass, ShapeXray, follow, small_attention, split_by_view, word_vectors
from plmlab.layers.attention import MultiHeadAttention
from plmlab.layers.relative import ShawAttention
from plmlab.visibility import AttentionMask

SIZES = [(1, 8, 2), (5, 8, 2), (6, 8, 2), (7, 12, 3), (8, 16, 4), (3, 4, 1)]
CAUSAL = AttentionMask(causal=True)


def passes(time: int, width: int, heads: int, *, causal: bool = True,
           ) -> tuple[MultiHeadAttention, torch.Tensor, Pass, Pass]:
    module = small_attention(width, heads, seed=time).double()
    x = torch.randn(time, width, generator=torch.Generator().manual_seed(width), dtype=torch.float64)
    mask = AttentionMask(causal=causal)
    return module, x, follow(module, x, mask), follow(module, x, mask, split_by_view)


def by_hand(module: MultiHeadAttention, x: torch.Tensor, causal: bool, view: bool) -> torch.Tensor:
    """Multi-head attention in plain PyTorch, with the transpose or with ``view`` alone."""
    time, model = x.shape
    heads, width = module.heads, model // module.heads

    def split(p: torch.Tensor) -> torch.Tensor:
        p = p[None].contiguous()
        return p.view(1, heads, time, width) if view else p.view(1, time, heads, width).transpose(1, 2)

    q, k, v = (split(nn.functional.linear(x, m.weight, m.bias)) for m in (module.q, module.k, module.v))
    scores = q @ k.mT / sqrt(width)
    if causal:
        scores = scores + torch.full((time, time), float("-inf"), dtype=x.dtype).triu(1)
    joined = (scores.softmax(-1) @ v).transpose(1, 2).reshape(time, model)
    return module.out(joined)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_both_ways_end_where_plain_pytorch_ends(size: tuple[int, int, int], causal: bool) -> None:
    module, x, right, wrong = passes(*size, causal=causal)
    with torch.no_grad():
        torch.testing.assert_close(right.out, module(x[None], AttentionMask(causal=causal))[0])
        torch.testing.assert_close(right.out, by_hand(module, x, causal, view=False))
        torch.testing.assert_close(wrong.out, by_hand(module, x, causal, view=True))


@pytest.mark.parametrize("size", SIZES)
def test_each_number_after_the_split_is_the_one_that_its_source_names(size: tuple[int, int, int]) -> None:
    _, _, right, wrong = passes(*size)
    for made in (right, wrong):
        for before, after in ((made.q, made.queries), (made.k, made.keys), (made.v, made.values)):
            assert torch.equal(before.flatten()[made.sources], after)
            assert before.unique().numel() == before.numel(), "equal numbers would hide a wrong source"


@pytest.mark.parametrize("size", SIZES)
def test_whose_numbers_agree_with_tokens_pushed_through_the_reshapes(size: tuple[int, int, int]) -> None:
    time, width, heads = size
    _, _, right, wrong = passes(*size)
    tokens = torch.arange(time)[:, None].expand(time, width).contiguous()
    assert torch.equal(right.holders, tokens.view(time, heads, width // heads).transpose(0, 1))
    assert torch.equal(wrong.holders, tokens.view(heads, time, width // heads))


@pytest.mark.parametrize("size", SIZES)
def test_parts_and_bias_add_up_to_the_output(size: tuple[int, int, int]) -> None:
    module, x, right, wrong = passes(*size)
    for made in (right, wrong):
        torch.testing.assert_close(made.parts.sum(0) + module.out.bias.detach(), made.out)
    for token in range(len(x)):
        with torch.no_grad():
            values = torch.zeros_like(right.v).index_copy(0, torch.tensor([token]), right.v[token][None])
            split = rearrange(values, "time (head width) -> head time width", head=module.heads)
            mixed = rearrange(right.weights @ split, "head query width -> query (head width)")
            torch.testing.assert_close(right.parts[token], nn.functional.linear(mixed, module.out.weight))


def test_leaks_are_the_rows_that_read_a_later_token() -> None:
    _, _, right, wrong = passes(6, 8, 2)
    assert right.leaks() == 0
    leaking = 0
    for head in range(2):
        for query in range(6):
            leaking += any(wrong.weights[head, query, key] > 0 and wrong.holders[head, key, 0] > query
                           for key in range(6))
    assert wrong.leaks() == leaking == 5
    module, x, *_ = passes(6, 8, 2)
    later = x.clone()
    later[3] += 1
    changed = (follow(module, later, CAUSAL, split_by_view).mixed - wrong.mixed).abs().amax(-1) > 1e-9
    assert bool(changed[1, 0]), "position 0 has seen position 3"
    assert not (follow(module, later, CAUSAL).out[:3] - right.out[:3]).any()


def test_following_leaves_the_module_as_it_was() -> None:
    module = MultiHeadAttention(8, 2, dropout=0.5).train()
    x = torch.randn(4, 8)
    assert torch.equal(follow(module, x, CAUSAL).out, follow(module, x, CAUSAL).out)
    assert module.training
    assert not any(point.changes or point.records for point in (module.queries, module.weights))
    follow(module.double(), x, CAUSAL)


@pytest.fixture
def lab() -> ShapeXray:
    return ShapeXray()


def test_the_first_state_teaches(lab: ShapeXray) -> None:
    assert lab.state["tokens"] == ["the", "cat", "sat", "on", "the", "mat"]
    assert (lab.message, lab.stale, lab.followed, lab.wrong) == ("", False, 2, False)
    assert lab.apart > 0.3
    assert repr(lab) == repr(ShapeXray()) == "<ShapeXray: the cat sat on the mat: head 2 × time 6 × width 4>"
    json.dumps(lab.state, allow_nan=False)


def test_what_is_sent_are_the_tensors(lab: ShapeXray) -> None:
    for name, made in lab.passes.items():
        for tensor, value in vars(made).items():
            sent = torch.tensor(lab.state[name][tensor])
            torch.testing.assert_close(sent.double(), value.double(), atol=6e-5, rtol=0)
    assert not lab.state["same"]
    assert lab.state["apart"] == lab.apart


def test_what_javascript_reads_in_its_tests_is_stored() -> None:
    """shape_xray.test.mjs reads the file; ``python tests/labs/fixtures_xray.py`` writes it anew."""
    stored = json.loads(fixtures_xray.FILE.read_text(encoding="utf-8"))
    made = json.loads(json.dumps(fixtures_xray.cases()))
    assert stored.keys() == made.keys()
    for name, case in made.items():
        assert fixtures_xray.close(stored[name], case), name


def test_one_word_or_one_head_cannot_be_split_wrongly() -> None:
    one = ShapeXray("alone")
    assert one.state["same"] and one.apart == 0 and one.followed == 0
    single = ShapeXray("the cat sat", MultiHeadAttention(4, 1))
    assert single.state["same"] and single.followed == 2


def test_a_shorter_sentence_keeps_a_word_followed(lab: ShapeXray) -> None:
    lab.followed = 5
    lab.text = "two words"
    assert lab.followed == 1
    assert lab.state["tokens"] == ["two", "words"]


@pytest.mark.parametrize("name", HOSTILE)
def test_any_sentence_is_drawn(lab: ShapeXray, name: str) -> None:
    lab.text = HOSTILE[name]
    assert not lab.stale
    assert lab.state["tokens"] == HOSTILE[name].split()[:8]
    assert ("8 words that are drawn" in lab.message) == (len(HOSTILE[name].split()) > 8)


def test_an_empty_sentence_is_said_and_the_old_picture_stays(lab: ShapeXray) -> None:
    before, made = lab.state, lab.passes
    lab.text = " \n "
    assert lab.state == before and lab.passes is made
    assert lab.stale and "empty" in lab.message
    lab.text = "the cat"
    assert not lab.stale and lab.message == ""
    empty = ShapeXray("")
    assert "empty" in repr(empty) and empty.state == {}


def test_a_module_of_the_readers_own() -> None:
    module = MultiHeadAttention(12, 3)
    vectors = torch.randn(4, 12)
    lab = ShapeXray("a b c d", module, lambda text: (text.split(), vectors), causal=False)
    with torch.no_grad():
        torch.testing.assert_close(lab.passes["right"].out, module(vectors[None], AttentionMask())[0])
    assert lab.state["leaks"] == 0


def test_what_cannot_be_drawn_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="at most 16"):
        ShapeXray(attention=MultiHeadAttention(32, 4))
    with pytest.raises(ValueError, match="differs from that of ShawAttention"):
        ShapeXray(attention=ShawAttention(8, 2, window=2))
    wrong = ShapeXray("a b", read=lambda text: (text.split(), torch.zeros(2, 6)))
    assert "(2, 6)" in wrong.message and "(2, 8)" in wrong.message and wrong.stale
    broken = small_attention()
    nn.init.constant_(broken.out.bias, float("nan"))
    assert "not finite" in ShapeXray(attention=broken).message


def test_the_same_seed_gives_the_same_numbers() -> None:
    before = torch.random.get_rng_state()
    first, second = word_vectors(8, 3)("a b a")[1], word_vectors(8, 3)("a b a")[1]
    assert torch.equal(first, second)
    assert not torch.equal(first[0], first[2]), "a word's vector carries its position"
    assert not torch.equal(first, word_vectors(8, 4)("a b a")[1])
    assert torch.equal(small_attention(seed=1).q.weight, small_attention(seed=1).q.weight)
    assert not torch.equal(small_attention(seed=1).q.weight, small_attention(seed=2).q.weight)
    assert torch.equal(torch.random.get_rng_state(), before)
