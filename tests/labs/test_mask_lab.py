"""The Mask Lab without a browser: what it computes, what it says, and that no input leaves it in a half state."""

import json
import random
from dataclasses import replace

import fixtures
import pytest
import torch
from standin import HOSTILE, SENTENCES, Words, words

from plmlab.example import IGNORE, Example
from plmlab.labs import MaskLab, MaskPreset
from plmlab.labs.mask.marks import marks_of
from plmlab.objectives import OBJECTIVES, Choice, Objective, masked
from plmlab.objectives.blanks import blank_infilling
from plmlab.visibility import Visibility


@pytest.fixture
def lab() -> MaskLab:
    return MaskLab(words(), SENTENCES[12], "masked", seed=3, choices={"rate": 0.3})


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch):
    """Register an objective for one test."""
    def add(name: str, make, **more) -> None:
        monkeypatch.setitem(OBJECTIVES, name, Objective(name, name, name, "a test", make, **more))
    return add


def test_what_python_and_javascript_both_compute_is_stored() -> None:
    """grid and mask_lab.test.mjs read the file; ``python tests/labs/fixtures.py`` writes it anew."""
    assert json.loads(fixtures.FILE.read_text(encoding="utf-8")) == json.loads(json.dumps(fixtures.cases()))


def test_it_draws_what_the_objective_makes(lab: MaskLab) -> None:
    tokenizer = words()
    made = masked(tokenizer.encode(SENTENCES[12]), vocab=tokenizer.vocab, rng=random.Random(3), rate=0.3)
    state = lab.state
    assert state["tokens"] == tokenizer.tokens(made.tokens.tolist())
    assert state["position_ids"] == made.position_ids.tolist()
    assert state["segments"] == made.segments.tolist()
    assert state["targets"] == [None if t == IGNORE else tokenizer.names[t] for t in made.targets.tolist()]
    assert state["masks"][0]["rule_ids"] == made.visible.rule_ids().flatten().tolist()
    assert (lab.message, lab.stale) == ("", False)
    json.dumps(state)


def test_what_befell_each_position_is_marked() -> None:
    tokenizer = words()
    ids = tokenizer.encode("the cat sat down")
    made = masked(ids, vocab=tokenizer.vocab, rng=random.Random(0), select=(1, 2, 3),
                  corrupt=lambda token, *_: {ids[0]: 4, ids[1]: ids[3], ids[2]: ids[2]}[token])
    assert marks_of(made, ids, tokenizer.vocab) == ["special", "mask", "changed", "kept", "word", "special"]
    causal = OBJECTIVES["causal"].make(ids, vocab=tokenizer.vocab, rng=random.Random(0))
    assert marks_of(causal, ids, tokenizer.vocab) == ["special", "word", "word", "word", "word"]
    twice = tokenizer.encode("the the the")
    causal = OBJECTIVES["causal"].make(twice, vocab=tokenizer.vocab, rng=random.Random(0))
    assert marks_of(causal, twice, tokenizer.vocab) == ["special", "word", "word", "word"]


@pytest.mark.parametrize("spans", [[(0, 4)], [(0, 2), (2, 4)], [(1, 2)]])
def test_in_a_blank_no_word_was_changed(spans: list[tuple[int, int]]) -> None:
    """A position with a place in a blank says the next word, even where no other word is left to tell."""
    tokenizer = words()
    ids = tokenizer.encode("the cat sat down")
    made = blank_infilling(ids, vocab=tokenizer.vocab, rng=random.Random(0), spans=spans)
    expected = {tokenizer.vocab.mask: "mask", tokenizer.vocab.start: "special"}
    assert marks_of(made, ids, tokenizer.vocab) == [expected.get(token, "word") for token in made.tokens.tolist()]
    marks = MaskLab(words(), SENTENCES[12], "sentence_infilling").state["marks"]
    assert marks[:2] == ["mask", "special"] and set(marks[2:]) == {"word"}


def test_each_registered_objective_can_be_drawn() -> None:
    for name in OBJECTIVES:
        lab = MaskLab(words(), f"{SENTENCES[12]} {SENTENCES[6]}", name)
        assert lab.state.get("objective") == name


def test_draws_differ_and_come_again(lab: MaskLab) -> None:
    first = lab.state
    lab.draws += 1
    second = lab.state
    assert second["targets"] != first["targets"]
    lab.draws -= 1
    assert lab.state == first
    assert MaskLab(words(), SENTENCES[12], "masked", seed=4, choices={"rate": 0.3}).state == second


def test_edits_reach_the_example_and_go_with_a_new_draw(lab: MaskLab) -> None:
    before = lab.example
    lab.edits = [[0, 1, 2, False], [0, 3, 3, False], [0, 3, 3, True]]
    looks = before.visible.dense()
    looks[1, 2] = False
    assert torch.equal(lab.example.visible.dense(), looks)
    assert "by hand" in lab.example.visible.reason(3, 3)
    assert lab.example.visible.pattern == "other"
    lab.draws += 1
    assert lab.edits == []
    assert bool(lab.example.visible.dense().all())


def test_a_second_stream_has_a_mask_of_its_own(register) -> None:
    def two_streams(tokens, *, vocab, rng) -> Example:
        made = OBJECTIVES["causal"].make(tokens, vocab=vocab, rng=rng)
        return replace(made, query_stream_mask=Visibility.full(len(made.tokens)))
    register("two_streams", two_streams)
    lab = MaskLab(words(), "the cat sat", "two_streams")
    assert [mask["title"] for mask in lab.state["masks"]] == ["content stream", "query stream"]
    lab.edits = [[1, 0, 1, False]]
    assert lab.example.query_stream_mask is not None
    assert not lab.example.query_stream_mask.dense()[0, 1]
    assert torch.equal(lab.example.visible.dense(), Visibility.causal(4).dense())


@pytest.mark.parametrize("name", HOSTILE)
def test_any_sentence_is_drawn(lab: MaskLab, name: str) -> None:
    known = MaskLab(words(HOSTILE[name]), HOSTILE[name])
    assert known.example.tokens.shape[0] == len(known.state["tokens"]) <= 64
    lab.text = HOSTILE[name]
    assert not lab.stale
    assert lab.state["tokens"][0] == "[CLS]"


def test_an_empty_sentence_is_said_and_the_old_picture_stays(lab: MaskLab) -> None:
    before, example = lab.state, lab.example
    lab.text = "   "
    assert lab.state == before
    assert torch.equal(lab.example.tokens, example.tokens)
    assert lab.stale
    assert "empty" in lab.message
    lab.text = "the cat"
    assert (lab.message, lab.stale) == ("", False)
    assert len(lab.state["tokens"]) == 4


def test_a_lab_may_begin_empty() -> None:
    lab = MaskLab(words())
    assert lab.state == {}
    assert "empty" in lab.message
    assert "empty" in repr(lab)
    with pytest.raises(ValueError, match="no Example yet"):
        _ = lab.example
    lab.text = "the cat"
    assert lab.state["tokens"]


def test_a_long_sentence_is_cut_in_the_picture_only() -> None:
    text = " ".join(["the"] * 100)
    for objective in ("causal", "masked"):
        lab = MaskLab(words(), text, objective)
        assert len(lab.state["tokens"]) == 64
        assert lab.text == text
        assert not lab.stale
    assert "64 tokens" in lab.message
    assert "38 tokens" in lab.message
    lab.max_tokens = 16
    assert len(lab.state["tokens"]) == 16
    lab.max_tokens = 1
    assert "max_tokens is 1" in lab.message
    assert len(lab.state["tokens"]) == 16


def test_unknown_words_are_told(lab: MaskLab) -> None:
    lab.text = "the wombat sat"
    assert "1 of the tokens is not" in lab.message
    assert not lab.stale


def test_errors_become_messages(lab: MaskLab, register) -> None:
    before = lab.state
    lab.objective = "nonsense"
    assert "no objective 'nonsense'" in lab.message
    assert "masked" in lab.message
    lab.objective = "masked"
    lab.choices = {"rate": 5}
    assert "rate" in lab.message
    lab.choices = {"sauce": 1}
    assert "has no parameter 'sauce'; it has rate" in lab.message
    assert lab.stale
    assert lab.state == before

    def pairs(tokens, *, vocab, rng):
        return object()
    register("pairs", pairs)
    with lab.hold_trait_notifications():
        lab.objective, lab.choices = "pairs", {}
    assert "unexpected error" in lab.message
    assert lab.state == before


def test_a_tokenizer_without_the_special_tokens_is_told() -> None:
    class Bare(Words):
        @property
        def vocab(self):
            return replace(super().vocab, cls=None)
    lab = MaskLab(Bare(SENTENCES.values()), "the cat")
    assert "[CLS]" in lab.message
    lab.objective = "causal"
    assert lab.state["objective"] == "causal"


def test_an_unknown_objective_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match=r"choose one of (\w+, )*causal"):
        MaskLab(words(), "the cat", "mask")


def test_presets_for_objectives_that_are_not_there_are_left_out() -> None:
    lab = MaskLab(words(), "the cat", presets=[MaskPreset("a", "causal", text="the"), MaskPreset("b", "not yet")])
    assert lab.menu["presets"] == [{"title": "a", "objective": "causal", "choices": {}, "text": "the"}]


def test_choices_come_with_their_ranges(register) -> None:
    def chosen(tokens, *, vocab, rng, share=0.5) -> Example:
        return OBJECTIVES["causal"].make(tokens, vocab=vocab, rng=rng)
    register("chosen", chosen, choices=(Choice("share", "a share", 0.5, 0.0, 1.0, 0.1),))
    lab = MaskLab(words(), "the cat", "chosen", choices={"share": 0.2})
    assert lab.state["choices"] == [
        {"name": "share", "title": "a share", "default": 0.5, "low": 0, "high": 1, "step": 0.1, "value": 0.2}]


def test_one_change_costs_one_computation(lab: MaskLab, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    original = MaskLab.compute
    monkeypatch.setattr(MaskLab, "compute", lambda self, change: made.append(1) or original(self, change))
    lab.set_state({"objective": "causal", "choices": {}, "text": "the cat"})
    assert lab.state["objective"] == "causal"
    assert len(made) == 1
