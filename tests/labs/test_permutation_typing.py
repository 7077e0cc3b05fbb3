"""What a reader of the Permutation Lab types, orders and presses: any text, bad input, presets, the question."""

import json

import pytest
from permutation_models import MIXED, SMALL, TEXT, WORDS, lab, random_model
from standin import HOSTILE

from plmlab.labs import PermutationLab, PermutationPreset
from plmlab.labs.permutation import orders
from plmlab.labs.permutation.quiz import answer
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.mpnet import MPNetConfig, MPNetPretraining
from plmlab.text.words import word_tokenizer
from plmlab.world.datasets.tokenizer import build_world_tokenizer


def test_what_is_no_sentence_is_told_and_the_exact_reader_goes_as_far_as_it_can() -> None:
    made = lab("the cats is hungry .", order=[1, 4, 2, 0, 3])
    assert made.state["exact"] is None and "'is' cannot occur here" in made.state["why_not"] and made.message == ""
    best = [step["belief"]["own"]["best"] for step in made.state["steps"]]
    assert best[0] > 0 and best[1] == 1 and best[2:] == [0, None, None]
    assert [step["sums"][1] is None for step in made.state["steps"]] == [False, False, True, True, True]
    json.dumps(made.state, allow_nan=False)


def test_without_a_world_nobody_is_exact() -> None:
    made = lab(world=None)
    assert made.state["exact"] is None and made.state["why_not"].startswith("No world was given")
    assert made.state["steps"][0]["belief"]["kl"] is None and made.menu["presets"] == []
    assert repr(made).endswith("nats>")


def test_a_lab_without_a_text_begins_with_something_to_teach() -> None:
    made = lab(None)
    count = len(made.state["order"])
    assert count == 5 and made.order not in ([*range(5)], [*range(5)][::-1]) and made.message == ""
    assert any(step["left"] and step["right"] for step in made.state["steps"])
    assert made.state["exact"] is not None
    assert [preset["title"] for preset in made.menu["presets"]] == [
        "the verb first", "the verb last", "an incorrect verb", "a long sentence"]


def test_each_preset_shows_its_point() -> None:
    made = lab(None)
    first, last, wrong, long = made.menu["presets"]
    verb = first["order"][0]
    assert last["order"][-1] == verb
    for preset in (first, last, wrong, long):
        made.set_state({name: value for name, value in preset.items() if name != "title"})
        assert not made.stale and made.message == "" and made.text == preset["text"]
        if preset is not long:
            assert made.order == preset["order"]
    assert made.state["exact"] is not None and len(made.state["steps"]) >= 8
    made.set_state({name: value for name, value in wrong.items() if name != "title"})
    assert 0 in [step["belief"]["own"]["best"] for step in made.state["steps"]]
    own = lab(presets=[PermutationPreset("mine", "the girls sing .", [3, 2, 1, 0], leak=True)])
    assert own.text == TEXT and own.menu["presets"] == [
        {"title": "mine", "text": "the girls sing .", "order": [3, 2, 1, 0], "leak": True, "step": None}]


def test_an_order_stays_with_its_length() -> None:
    made = lab(step=2)
    made.text = "the cats are tired ."
    assert made.order == MIXED and made.step is None
    made.text = "the girls sing ."
    assert sorted(made.order) == [0, 1, 2, 3] and made.order not in ([0, 1, 2, 3], [3, 2, 1, 0])
    for _ in range(20):
        before = made.order
        made.draws += 1
        assert sorted(made.order) == [0, 1, 2, 3] and made.order != before
    made.order = [3, 2, 1, 0]
    assert [step["position"] for step in made.state["steps"]] == [3, 2, 1, 0]


@pytest.mark.parametrize(("order", "said"), [
    ([0, 1, 2], "give the index of each of the 5 words once, from 0 to 4"), ([0, 1, 2, 3, 3], "once"),
    ([1, 2, 3, 4, 5], "from 0 to 4"), ([], "once"),
])
def test_an_order_that_is_none_is_told(order: list[int], said: str) -> None:
    made = lab()
    stood = made.state
    made.order = order
    assert made.stale and said in made.message and made.state == stood
    made.order = MIXED
    assert not made.stale and made.message == ""


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_is_read(name: str) -> None:
    made = lab()
    made.text = HOSTILE[name]
    assert len(made.state["steps"]) <= 12 and made.state["exact"] is None and made.state["why_not"]
    assert ("longer than the 12 words" in made.message) == (name == "long")
    json.dumps(made.state, allow_nan=False)
    assert "onerror=alert(1)>" not in made.html().split('<script type="application/json"')[0]


def test_a_sentence_is_cut_to_its_first_words() -> None:
    made = lab()
    made.max_tokens = 3
    assert not made.stale and made.state["tokens"] == ["the", "cats", "are", "[SEP]", "[CLS]"]
    assert "its last 2 words are left out" in made.message
    alone = lab("sing")
    assert alone.state["orders"]["listed"] == [[0]] and alone.state["steps"][0]["left"] == ()


def test_a_leak_needs_a_model_that_leaks() -> None:
    made = lab(leaking=None)
    made.leak = True
    assert made.stale and "no leaking model was given" in made.message
    assert not made.menu["leaking"]


def test_a_step_that_is_none_is_told() -> None:
    made = lab(step=6)
    assert made.message == "step is 6; this sentence has 5 steps, give one from 1 to 5"


def test_other_models_are_told_apart() -> None:
    size = len(WORDS)
    mpnet = MPNetPretraining(MPNetConfig(size, time=20, layers=1, model=8, heads=2, inner=8))
    for model in (mpnet, random_model().encoder, GPT2(GPTConfig(size, time=20, layers=1, model=8, heads=2)),
                  BERTPretraining(BERTConfig(size, time=20, layers=1, model=8, heads=2, inner=8))):
        with pytest.raises(ValueError, match=f"model is a {type(model).__name__}, which has no query stream"):
            PermutationLab(model, WORDS, TEXT)
        with pytest.raises(ValueError, match="leaking is a"):
            PermutationLab(random_model(), WORDS, TEXT, leaking=model)
    with pytest.raises(ValueError, match="does the tokenizer belong to another model"):
        PermutationLab(random_model(), build_world_tokenizer(SMALL), TEXT)
    few = word_tokenizer(["cat", "sat"])
    with pytest.raises(ValueError, match="are not a single token"):
        PermutationLab(random_model(), few, "cat sat", world=SMALL)
    assert PermutationLab(random_model(), few, "cat sat").state["tokens"][:2] == ["cat", "sat"]


@pytest.mark.parametrize(("order", "said"), [
    ([0, 1, 3, 4, 2], "All 4 others, each at its own position: 2 on the left of “are” and 2 on its right"),
    ([0, 1, 2, 3, 4], "All 4 others, each at its own position: 4 on the left of “.” and 0 on its right"),
    ([4, 3, 2, 1, 0], "0 on the left of “the” and 4 on its right"),
])
def test_the_question_is_answered(order: list[int], said: str) -> None:
    made = lab(order=order)
    assert "the last word of the order" in made.state["question"]
    assert said in made.state["answer"] and "it does not see its own word" in made.state["answer"]
    made.leak = True
    assert "it also sees its own word: that is the leak" in made.state["answer"]


def test_the_answer_for_one_word_and_for_two() -> None:
    assert answer(orders.steps([0])[-1], ["sing"], False).startswith("“sing” is the only word, and its query stream")
    assert answer(orders.steps([1, 0])[-1], ["she", "sang"], False).startswith(
        "The only other word, on the right of “she”")
