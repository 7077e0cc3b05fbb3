"""The Attention Lab without a browser: its maps, its questions and their answers, and what it says of bad input."""

import json
import re
from base64 import b64decode
from random import Random

import pytest
import torch
from small_models import OTHER, SIZE, TEXT, WORDS, bert, both, gpt, seeded, weights_of
from standin import HOSTILE
from torch.nn import functional as F

from plmlab.interpret.ablation import Ablation
from plmlab.interpret.attention_maps import attention_maps
from plmlab.interpret.forward_pass import forward_pass
from plmlab.labs.attention.lab import ANIMAL, PRESETS, AttentionLab, AttentionPreset, default_model
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.unilm import UniLM, UniLMConfig
from plmlab.objectives.prefix import MASKS


@pytest.fixture(scope="module")
def minilm() -> AttentionLab:
    return AttentionLab()


def test_an_encoder_decoder_has_three_maps() -> None:
    lab = AttentionLab(both(), WORDS, TEXT, "a bank")
    assert [m["name"] for m in lab.state["maps"]] == ["encoder", "decoder", "cross"]
    assert lab.state["map"] == "encoder"
    lab.shown = 1
    assert lab.state["queries"] == lab.state["keys"] == ["[START]", "a", "bank"]
    assert lab.state["mask"]["rule_ids"] == [1, -1, -1, 1, 1, -1, 1, 1, 1]
    lab.shown = 2
    assert (len(lab.state["queries"]), len(lab.state["keys"])) == (3, 6)
    lab.off, lab.closed = [["cross", 1, 0]], [["cross", 2, 4]]
    assert float(weights_of(lab)[:, :, 2, 4].max()) == 0
    assert lab.state["change"]["tokens"] == ["[START]", "a", "bank"]
    assert lab.state["change"]["positions"][0] > 0
    lab.off, lab.closed = [["decoder", 0, 1]], []
    assert lab.state["change"]["positions"][-1] > 0
    assert lab.detail["map"] == "cross"


def row_of(lab: AttentionLab, query: str) -> dict[str, float]:
    at = len(lab.state["queries"]) - 1 - lab.state["queries"][::-1].index(query)
    return dict(zip(lab.state["keys"], weights_of(lab)[lab.layer, lab.head, at].tolist(), strict=True))


def test_the_first_question_is_answered_truly(minilm: AttentionLab) -> None:
    minilm.set_state(PRESETS[0].traits() | {"preset": 0})
    assert minilm.state["start"] == [9, 2]
    row = row_of(minilm, "it")
    assert (max(row, key=row.get), round(row["animal"], 2)) == ("animal", 0.69)
    minilm.text = ANIMAL.replace("tired", "wide")
    row = row_of(minilm, "it")
    assert (round(row["animal"], 2), round(row["street"], 2)) == (0.32, 0.15)
    assert minilm.state["question"] == PRESETS[0].question
    minilm.text = "Good morning."
    assert "over all heads" in minilm.state["question"].lower()


def test_the_other_questions_are_answered_truly(minilm: AttentionLab) -> None:
    minilm.set_state(PRESETS[1].traits() | {"preset": 1})
    assert float(weights_of(minilm)[0, 2].diagonal(-1)[1:].min()) > 0.99
    minilm.set_state(PRESETS[2].traits() | {"preset": 2})
    head = weights_of(minilm)[2, 9]
    assert minilm.state["start"] == [11, 2]
    assert (round(float(head[11, 2]), 2), round(float(head[2, 11]), 2)) == (0.95, 0.84)


def test_what_a_head_less_and_a_cell_less_do(minilm: AttentionLab) -> None:
    minilm.set_state(PRESETS[3].traits() | {"preset": 3})
    change = minilm.state["change"]
    two = sorted(zip(change["positions"], change["tokens"], strict=True))[-2:]
    assert [(round(position, 2), token) for position, token in two] == [(0.11, "[SEP]"), (0.11, "it")]
    assert round(change["whole"], 2) == 0.08
    minilm.set_state(PRESETS[4].traits() | {"preset": 4})
    moved = dict(zip(minilm.state["change"]["tokens"], minilm.state["change"]["positions"], strict=True))
    assert round(moved.pop("it"), 2) == 0.18
    assert max(moved.values()) < 0.001


def test_no_other_head_does_as_much() -> None:
    model, words = default_model()
    before = forward_pass(model, words, ANIMAL).vectors.mean(0)
    turned = {(layer, head): float(1 - F.cosine_similarity(before, forward_pass(
        model, words, ANIMAL, ablation=Ablation(off=(("self", layer, head),))).vectors.mean(0), dim=0))
              for layer in range(6) for head in range(12)}
    assert max(turned, key=turned.get) == (5, 11)
    assert sorted(turned.values())[36] < 0.002


def test_the_question_of_any_other_model_is_answered_from_its_weights() -> None:
    lab = AttentionLab(gpt(), WORDS, TEXT)
    share = weights_of(lab).mean((0, 1, 2))
    names = lab.state["key_names"]
    assert f"“{names[int(share.argmax())]}”, with {float(share.max()):.2f}" in lab.state["answer"]


def test_closed_cells_go_with_their_sentence_and_heads_stay_off() -> None:
    lab = AttentionLab(bert(), WORDS, TEXT)
    lab.off, lab.closed = [["self", 0, 0]], [["self", 1, 1]]
    lab.text = OTHER
    assert (lab.closed, lab.off) == ([], [["self", 0, 0]])
    assert lab.state["change"]["tokens"][1:-1] == OTHER.split()
    lab.closed = [["self", 1, 1]]
    lab.text = ""
    assert lab.closed == [["self", 1, 1]]
    preset = AttentionPreset("x", TEXT, 0, 0, "man", "saw", closed=((2, 3),))
    lab = AttentionLab(bert(), WORDS, OTHER, presets=[preset])
    lab.set_state(preset.traits() | {"preset": 0})
    assert lab.closed == [["self", 2, 3]]
    assert lab.state["start"] == [2, 3]


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "long"])
def test_any_sentence_is_drawn(name: str) -> None:
    model = seeded(BERT(BERTConfig(SIZE, time=60, layers=2, model=8, heads=2, inner=8)))
    lab = AttentionLab(model, WORDS, TEXT)
    lab.text = HOSTILE[name]
    assert (lab.message, lab.stale) == ("", False)
    page = lab.html()
    assert page.count("</script>") == 2
    traits = json.loads(re.search(r'id="traits">(.*?)</script>', page, re.DOTALL).group(1))
    assert b64decode(traits["state"]["weights"]) == lab.state["weights"]
    assert b64decode(traits["detail"]["numbers"]) == lab.detail["numbers"]


@pytest.mark.parametrize(("text", "said"), [
    ("", "empty"), ("  \n", "empty"), ("the man " * 1250, "20 positions; shorten it"),
])
def test_a_text_that_cannot_be_read_is_said_and_the_old_picture_stays(text: str, said: str) -> None:
    lab = AttentionLab(bert(), WORDS, TEXT)
    before = lab.state
    lab.text = text
    assert said in lab.message
    assert lab.stale
    assert lab.state is before
    lab.layer = 1
    assert said in lab.message
    lab.text = OTHER
    assert (lab.message, lab.stale) == ("", False)
    assert lab.state["queries"][1:-1] == OTHER.split()
    assert lab.detail["layer"] == 1


@pytest.mark.parametrize(("traits", "said"), [
    ({"layer": 9}, "no head 0 in layer 9: this model has layers 0 … 2 and heads 0 … 1"),
    ({"head": 2}, "no head 2 in layer 0"),
    ({"off": [["self", 0, 5]]}, r"cannot switch off heads \[5\]; this model has heads 0 … 1"),
    ({"off": [["cross", 0, 0]]}, "cannot switch off heads in layer 0 of 'cross'; this model has 'self' layers 0 … 2"),
    ({"off": [3]}, "give an ablated head as"),
    ({"closed": [["self", 0, 70]]}, r"no cell \(0, 70\) in a map of 7 queries × 7 keys"),
    ({"shown": 3}, "there is no map 3"),
])
def test_errors_become_messages(traits: dict, said: str) -> None:
    lab = AttentionLab(bert(), WORDS, TEXT)
    before = lab.state
    lab.set_state(traits)
    assert re.search(said, lab.message), lab.message
    assert lab.stale
    assert lab.state is before


def test_unknown_words_are_told(minilm: AttentionLab) -> None:
    minilm.text = "我喜欢红苹果 🦊"
    assert "not in this tokenizer's vocabulary and are replaced by [UNK]" in minilm.message
    assert not minilm.stale
    assert "[UNK]" in minilm.state["queries"]


def test_a_model_without_its_tokenizer_is_refused() -> None:
    with pytest.raises(ValueError, match="belong together"):
        AttentionLab(bert())


def test_a_lab_may_begin_empty() -> None:
    lab = AttentionLab(bert(), WORDS)
    assert lab.state == {}
    assert "empty" in repr(lab)
    lab.text = TEXT
    assert lab.state["queries"]


def test_one_change_costs_one_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr("plmlab.labs.attention.lab.forward_pass",
                        lambda *a, **k: made.append(1) or forward_pass(*a, **k))
    lab = AttentionLab(bert(), WORDS, TEXT)
    assert len(made) == 1
    lab.layer = 2
    lab.head = 1
    assert len(made) == 1
    lab.set_state({"off": [["self", 0, 0]], "closed": [["self", 1, 1]]})
    assert len(made) == 2
    lab.set_state({"text": OTHER, "off": []})
    assert len(made) == 3


def test_an_encoder_decoder_asks_for_its_second_text() -> None:
    lab = AttentionLab(both(), WORDS, TEXT)
    assert "as the second" in lab.message
    assert lab.menu["two"]
    lab.second = "a bank"
    assert (lab.message, lab.stale) == ("", False)
    lab = AttentionLab(bert(), WORDS, TEXT, OTHER)
    assert lab.state["queries"] == ["[CLS]", *TEXT.split(), "[SEP]", *OTHER.split(), "[SEP]"]


def test_one_head_under_four_masks() -> None:
    """The weights are those of an Example that is made by the objective of the mask; heads stay off, cells go."""
    model = seeded(UniLM(UniLMConfig(len(WORDS), layers=2, model=16, heads=2, inner=8)))
    lab = AttentionLab(model, WORDS, TEXT, layer=1, head=1)
    assert lab.menu["masks"] == list(MASKS) and lab.mask == "both directions"
    ids = WORDS.encode(TEXT)
    lab.off, lab.closed = [["self", 0, 1]], [["self", 1, 2]]
    for name, make in MASKS.items():
        lab.mask = name
        assert lab.message == "" and (lab.layer, lab.head) == (1, 1)
        assert (lab.off, lab.closed) == ([["self", 0, 1]], [] if name != "both directions" else [["self", 1, 2]])
        example = make(ids, vocab=WORDS.vocab, rng=Random(0), select=())
        assert lab.state["queries"] == WORDS.tokens(example.tokens.tolist())
        looks = example.visible.dense()
        assert (weights_of(lab)[:, :, ~looks] == 0).all()
        lab.off, lab.closed = [], []
        [expected] = attention_maps(model, WORDS, example)
        assert torch.allclose(weights_of(lab).float(), torch.stack(expected.weights), atol=1e-4)
        lab.off = [["self", 0, 1]]


def test_a_mask_that_a_model_does_not_have() -> None:
    lab = AttentionLab(seeded(UniLM(UniLMConfig(len(WORDS), layers=1, model=16, heads=2, inner=8))), WORDS, TEXT)
    before = lab.state
    lab.mask = "upside down"
    assert "not pretrained under a mask 'upside down'; its masks are both directions, sequence" in lab.message
    assert lab.state == before
    other = AttentionLab(bert(), WORDS, TEXT)
    assert other.menu["masks"] == [] and other.mask == ""
    assert "it has only one" in AttentionLab(bert(), WORDS, TEXT, mask="left to right").message
