"""The ways of telling places that are pure functions, against ``transformers`` and numbers worked by hand."""

import pytest
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.gptj import modeling_gptj as gptj
from transformers.models.llama import modeling_llama as llama
from transformers.models.t5.modeling_t5 import T5Attention

from plmlab.labs.position.formulas import alibi, alibi_slopes, rotated
from plmlab.layers.relative import relative_position_bucket

DISTANCES = torch.arange(-200, 400)


@pytest.mark.parametrize(("buckets", "farthest"), [(32, 128), (8, 20), (16, 128)])
def test_the_buckets_are_t5s_for_one_side_and_for_both(buckets: int, farthest: int) -> None:
    """``transformers`` counts j − i, we i − j. Both ways, each side has half the buckets, those ahead come last."""
    theirs = T5Attention._relative_position_bucket(-DISTANCES, False, buckets, farthest)
    assert relative_position_bucket(DISTANCES, buckets, farthest).tolist() == theirs.tolist()
    both = T5Attention._relative_position_bucket(-DISTANCES, True, buckets, farthest)
    ours = relative_position_bucket(DISTANCES.abs(), buckets // 2, farthest) + buckets // 2 * (DISTANCES < 0)
    assert ours.tolist() == both.tolist()


def test_the_buckets_by_hand() -> None:
    """Of 8 buckets up to 64: 0 to 3 alone, then 4 to 7, 8 to 15, 16 to 31, and all the rest."""
    edges = torch.tensor([-3, 0, 3, 4, 7, 9, 15, 17, 31, 33, 64, 1000])
    assert relative_position_bucket(edges, 8, 64).tolist() == [0, 0, 3, 4, 4, 5, 5, 6, 6, 7, 7, 7]


def test_rotary_positions_are_those_of_gpt_j_and_in_another_layout_llamas() -> None:
    """GPT-J pairs neighbours, as the paper does; Llama pairs dimension i with i + d/2."""
    x, places = torch.randn(9, 12, generator=torch.Generator().manual_seed(1)), torch.arange(7, 16)
    sin, cos = gptj.create_sinusoidal_positions(16, 12)[7:].chunk(2, dim=-1)
    found = rotated(x, places)
    torch.testing.assert_close(found, gptj.apply_rotary_pos_emb(x[None, :, None], sin[None], cos[None])[0, :, 0])
    halves = torch.cat([torch.arange(0, 12, 2), torch.arange(1, 12, 2)])
    theirs, _ = llama.apply_rotary_pos_emb(x[None, None, :, halves], x[None, None, :, halves],
                                           cos.repeat(1, 2)[None], sin.repeat(1, 2)[None])
    torch.testing.assert_close(found[:, halves], theirs[0, 0])


def test_a_quarter_turn_by_hand() -> None:
    """A pair (1, 0) at place 2 has turned by 2 radians; lengths stay."""
    turned = rotated(torch.tensor([[1.0, 0.0]]), torch.tensor([2]))
    torch.testing.assert_close(turned, torch.tensor([[-0.416147, 0.909297]]))


@pytest.mark.parametrize("heads", [1, 2, 8, 16])
def test_alibi_is_blooms_up_to_a_number_for_each_query(heads: int) -> None:
    """Bloom adds slope · j, which differs from −slope · (i − j) by slope · i, the same in a whole row."""
    theirs = build_alibi_tensor(torch.ones(1, 6), heads, torch.float32)
    slopes = alibi_slopes(heads)
    for head, slope in enumerate(slopes):
        ours = alibi(torch.arange(6)[:, None] - torch.arange(6), slope)
        torch.testing.assert_close(ours - ours[:, :1], theirs[head].expand(6, 6))
    assert slopes[-1] == 2.0 ** -8


@pytest.mark.parametrize("heads", [0, 3, 12])
def test_slopes_of_other_numbers_of_heads_are_refused(heads: int) -> None:
    with pytest.raises(ValueError, match=f"{heads} were given"):
        alibi_slopes(heads)
