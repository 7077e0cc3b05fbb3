"""NEZHA: functional relative positions against a loop over all pairs, and the form of the authors' code."""

import math
from dataclasses import replace
from random import Random

import pytest
import torch
from standin import SENTENCES, annotated
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.interpret import watch
from plmlab.labs import PositionLab
from plmlab.layers.relative import FunctionalRelativeAttention
from plmlab.models.nezha import NEZHA, NEZHAConfig, NEZHAPretraining
from plmlab.models.registry import type_of
from plmlab.objectives import cls_first, whole_words
from plmlab.text import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import AttentionMask

VOCAB = Vocabulary(90)
SIZE = NEZHAConfig(90, time=4, layers=2, model=8, heads=2, inner=12, dropout=0.0, attention_dropout=0.0)

pytestmark = pytest.mark.usefixtures("one_thread")


def encoding(distance: int, width: int, window: int, shift: int = 0) -> list[float]:
    """Wei et al. 2019: sine and cosine of the clipped distance, in turn; the authors' code adds ``shift`` to it."""
    place = max(-window, min(window, distance)) + shift
    return [(math.sin if i % 2 == 0 else math.cos)(place / 10_000 ** ((i - i % 2) / width)) for i in range(width)]


def by_pairs(module: FunctionalRelativeAttention, x: Tensor, looks: Tensor, shift: int = 0) -> Tensor:
    """Every query with every key: e = q(k + a)/√d, z = Σ α (v + a)."""
    batch, time, model = x.shape
    width = model // module.heads
    q, keys, values, z = module.q(x), module.k(x), module.v(x), torch.zeros_like(x)
    for b in range(batch):
        for h in range(module.heads):
            part = slice(h * width, (h + 1) * width)
            for i in range(time):
                a = [torch.tensor(encoding(j - i, width, module.window, shift), dtype=x.dtype) for j in range(time)]
                e = torch.stack([q[b, i, part] @ (keys[b, j, part] + a[j]) for j in range(time)]) / math.sqrt(width)
                alpha = e.masked_fill(~looks[b, i], -math.inf).softmax(0)
                z[b, i, part] = sum(alpha[j] * (values[b, j, part] + a[j]) for j in range(time))
    return module.out(z)


def attention(window: int) -> FunctionalRelativeAttention:
    """In double precision, the encodings too."""
    torch.manual_seed(window)
    module = FunctionalRelativeAttention(8, 2, window=window).double()
    module.table = torch.tensor([encoding(d, 4, window) for d in range(-window, window + 1)], dtype=torch.float64)
    torch.testing.assert_close(module.table.float(), FunctionalRelativeAttention(8, 2, window=window).table)
    return module


@pytest.mark.parametrize("window", [1, 3, 64])
@pytest.mark.parametrize("pattern", ["full", "causal", "padded"])
def test_pair_by_pair(window: int, pattern: str) -> None:
    module, x = attention(window), torch.randn(2, 7, 8, dtype=torch.float64)
    looks = torch.ones(2, 7, 7, dtype=torch.bool)
    mask = AttentionMask()
    if pattern == "causal":
        looks, mask = looks.tril(), AttentionMask(causal=True)
    elif pattern == "padded":
        keys = torch.tensor([[False, False, *[True] * 5], [True] * 7])
        looks, mask = keys[:, None].expand(2, 7, 7), AttentionMask(keys=keys)
    output = module(x, mask)
    torch.testing.assert_close(output, by_pairs(module, x, looks), rtol=0, atol=1e-10)
    with watch(module) as seen:
        torch.testing.assert_close(module(x, mask), output, rtol=0, atol=1e-12)
    assert seen["weights"].shape == (2, 2, 7, 7)


def test_nothing_is_learned_and_distances_beyond_the_window_are_alike() -> None:
    module = attention(2)
    assert set(module.state_dict()) == {f"{name}.{kind}" for name in ("q", "k", "v", "out") for kind in (
        "weight", "bias")}
    a = module.encode_keys(module.distance(6, 6))
    assert torch.equal(a[0, 2], a[0, 5]) and not torch.equal(a[0, 1], a[0, 2])
    assert torch.equal(a[5, 0], a[5, 3]) and not torch.equal(a[5, 0], a[0, 5]), "before and after are told apart"
    assert torch.equal(a, module.encode_values(module.distance(6, 6)))


def test_the_code_of_the_authors_is_a_rotation_of_it() -> None:
    """Their sinusoid of j − i + window: with projections rotated by window · ω in each pair of dimensions, the output
    is the same."""
    module, x = attention(3), torch.randn(1, 6, 8, dtype=torch.float64)
    turns = []
    for i in range(0, 4, 2):
        angle = 3 / 10_000 ** (i / 4)
        sin, cos = math.sin(angle), math.cos(angle)
        turns.append(torch.tensor([[cos, sin], [-sin, cos]], dtype=torch.float64))
    turn = torch.block_diag(*turns, *turns)  # a(d + window) = turn · a(d), in both heads
    theirs = attention(3)
    with torch.no_grad():
        for ours, other in zip((module.q, module.k, module.v), (theirs.q, theirs.k, theirs.v), strict=True):
            other.weight.copy_(turn @ ours.weight)
            other.bias.copy_(turn @ ours.bias)
        theirs.out.weight.copy_(module.out.weight @ turn.T)
        theirs.out.bias.copy_(module.out.bias)
    looks = torch.ones(1, 6, 6, dtype=torch.bool)
    torch.testing.assert_close(by_pairs(theirs, x, looks, shift=3), module(x, AttentionMask()), rtol=0, atol=1e-10)
    assert not torch.allclose(by_pairs(module, x, looks, shift=3), module(x, AttentionMask())), "not without it"


def model() -> NEZHA:
    torch.manual_seed(0)
    made = NEZHA(SIZE)
    for parameter in made.parameters():
        nn.init.normal_(parameter, std=0.4)
    return made.eval()


def test_only_distances_matter() -> None:
    """Neither position ids nor a longer padding change a hidden state; exchanged tokens do."""
    made, batch = model(), Batch.of([cls_first(range(40, 52), None, VOCAB)], pad=0)
    hidden = made(batch)
    torch.testing.assert_close(made(replace(batch, position_ids=batch.position_ids + 9)), hidden, rtol=0, atol=0)
    size = batch.size[1]
    padded = Batch(nn.functional.pad(batch.tokens, (5, 0)), torch.arange(size + 5)[None, None],
                   nn.functional.pad(batch.segments, (5, 0)),
                   AttentionMask(keys=torch.tensor([[False] * 5 + [True] * size])),
                   nn.functional.pad(batch.targets, (5, 0), value=-100))
    torch.testing.assert_close(made(padded)[:, 5:], hidden, rtol=0, atol=1e-5)
    swapped = batch.tokens.clone()
    swapped[0, [3, 4]] = swapped[0, [4, 3]]
    back = made(replace(batch, tokens=swapped))[0, [4, 3]]
    assert not torch.allclose(back, hidden[0, [3, 4]], atol=1e-3), "the order of the tokens is known"


def test_no_text_is_too_long() -> None:
    made = model()
    assert made(Batch.of([cls_first([50] * 200, None, VOCAB)], pad=0)).shape == (1, 202, 8)
    assert not any("position" in name for name in made.state_dict())


def test_an_odd_head_has_no_pairs() -> None:
    with pytest.raises(ValueError, match="width must be even, got 3"):
        NEZHA(replace(SIZE, model=6))


def test_its_objective_is_whole_word_masking() -> None:
    pretraining = type_of(NEZHAPretraining(SIZE)).pretraining
    assert pretraining is not None and pretraining.objective is whole_words and pretraining.pairs is not None
    example = pretraining.pairs(annotated(range(40, 50)), annotated(range(50, 60)), True, vocab=VOCAB, rng=Random(0))
    assert example.labels["next_sentence"] == 0


def test_the_position_lab_finds_no_learned_positions() -> None:
    tokenizer = Tokenizer.words([SENTENCES[12]], 100)
    lab = PositionLab(NEZHA(replace(SIZE, vocab=len(tokenizer))), tokenizer, SENTENCES[12])
    assert lab.message == "" and not lab.learned
