"""The Four-mask Lab without a browser: its panels against torch, enumeration and masks written by hand."""

import math
from typing import Any

import pytest
import torch
from four_masks_models import SMALL, TEXT, WORDS, lab, random_model
from small_models import WORDS as OTHERS
from small_models import bert

from plmlab.example import Batch
from plmlab.labs import FourMasksLab
from plmlab.labs.four_masks.presets import KNOWN, OPEN, default_presets
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.unilm import UniLM, UniLMConfig, UniLMPretraining
from plmlab.objectives.prefix import MASKS, SOURCE, TARGET
from plmlab.visibility import AttentionMask
from plmlab.world.probability.under_masks import posterior_under_masks

CLS, SEP, MASK = (WORDS.vocab.need(name) for name in ("cls", "sep", "mask"))


def panels(made: FourMasksLab) -> dict[str, dict[str, Any]]:
    return {panel["name"]: panel for panel in made.state["panels"]}


def seen(panel: dict[str, Any]) -> list[list[bool]]:
    count = len(panel["tokens"])
    return [[cause > 0 for cause in panel["mask"]["rule_ids"][q * count:(q + 1) * count]] for q in range(count)]


def by_hand(name: str, ids: list[int], gap: int, cut: int) -> Batch:
    """What the network is given under a mask, written out from the paper's figure."""
    words = [MASK if place == gap else id for place, id in enumerate(ids)]
    count = len(ids)
    if name == "sequence to sequence":
        tokens, time = [CLS, *words[:cut], SEP, *words[cut:], SEP], count + 3
        segments = [SOURCE] * (cut + 2) + [TARGET] * (count - cut + 1)
        looks = [[k < cut + 2 or (q >= cut + 2 and k <= q) for k in range(time)] for q in range(time)]
    else:
        tokens, time = [CLS, *words, SEP], count + 2
        segments = [{"both directions": 0, "left to right": 2, "right to left": 3}[name]] * time
        looks = [[{"both directions": True, "left to right": k <= q, "right to left": k >= q}[name]
                  for k in range(time)] for q in range(time)]
    return Batch(torch.tensor([tokens]), torch.arange(time)[None, None], torch.tensor([segments]),
                 AttentionMask(pairs=torch.tensor([looks])), torch.full((1, time), -100))


@pytest.mark.parametrize("gap, cut", [(5, 3), (1, 4), (0, 0), (7, 7)])
def test_a_panel_is_what_the_network_says_under_that_mask(gap: int, cut: int) -> None:
    made = lab(hide=None, cut=cut)
    made.hidden = gap
    assert made.message == "" and (made.hidden, made.cut) == (gap, cut)
    ids = list(WORDS.encode(TEXT))
    assert list(panels(made)) == list(MASKS)
    for name, panel in panels(made).items():
        batch = by_hand(name, ids, gap, cut)
        position = batch.tokens[0].tolist().index(MASK)
        assert (panel["tokens"], panel["position"]) == (WORDS.tokens(batch.tokens[0].tolist()), position)
        assert seen(panel) == batch.visible.pairs[0].tolist(), name
        with torch.no_grad():
            p = random_model()(batch)[0, position].softmax(-1)
        own = panel["belief"]["own"]
        assert own["p"] == pytest.approx(float(p[ids[gap]]))
        assert own["nats"] == pytest.approx(-math.log(own["p"]))
        assert {row["word"]: row["p"] for row in panel["belief"]["rows"]} == pytest.approx(
            {row["word"]: float(p[WORDS.id(row["word"])]) for row in panel["belief"]["rows"]})


@pytest.mark.parametrize("gap, cut", [(5, 3), (1, 4)])
def test_beside_it_stands_the_best_possible_reader_under_the_same_mask(gap: int, cut: int) -> None:
    made = lab(hide=None, cut=cut)
    made.hidden = gap
    exact = posterior_under_masks(SMALL.automaton(), TEXT.split(), gap, cut)
    for name, panel in panels(made).items():
        for row in panel["belief"]["rows"]:
            assert row["best"] == pytest.approx(exact[name].get(row["word"], 0.0))
        assert panel["belief"]["own"]["best"] == pytest.approx(exact[name][TEXT.split()[gap]])


def test_places_link_the_panels_and_names_are_told_apart() -> None:
    made = lab(cut=3)
    found = panels(made)
    assert found["left to right"]["places"] == ("begin", *range(8), "end")
    assert found["sequence to sequence"]["places"] == ("begin", 0, 1, 2, "cut", *range(3, 8), "end")
    assert found["left to right"]["names"] == ["[CLS]", "the (word 1)", "cups", "near", "the (word 4)", "chair",
                                               "[MASK]", "lost", ".", "[SEP]"]
    names = found["sequence to sequence"]["names"]
    assert (names[4], names[-1]) == ("[SEP] (source)", "[SEP] (target)")


def test_the_first_state_has_the_gap_in_the_target_and_a_preset_as_it_was_meant() -> None:
    made = FourMasksLab(random_model(), WORDS, world=SMALL)
    first = made.menu["presets"][0]
    assert (made.text, made.hidden) == (first["text"], first["hidden"])
    assert made.cut == min(len(made.state["tokens"]) // 2, made.hidden)
    assert FourMasksLab(random_model(), WORDS).state["word"] is not None
    for preset in made.menu["presets"]:
        made.set_state({name: value for name, value in preset.items() if name != "title"} | {"tried": made.tried + 1})
        assert (made.text, made.hidden) == (preset["text"], preset["hidden"])
        assert made.message == "" and preset["cut"] in (None, made.cut)


def test_presets_are_what_their_titles_say() -> None:
    tries = {one.title: one for one in default_presets(SMALL, "train")}
    assert len(tries) == 5

    def exact(title: str) -> list[float]:
        one = tries[title]
        words = one.text.split()
        cut = min(len(words) // 2, one.hidden) if one.cut is None else one.cut
        beliefs = posterior_under_masks(SMALL.automaton(), words, one.hidden, cut)
        return [belief[words[one.hidden]] for belief in beliefs.values()]

    def told(title: str) -> str:
        return "".join("k" if p > KNOWN else "o" if p < OPEN else "?" for p in exact(title))

    assert [told(title) for title in tries] == ["kkko", "kook", "kkok", "kooo", "kkko"]


def test_the_guess_is_answered_from_the_state() -> None:
    made = lab()
    chances = {name: panel["belief"]["own"]["p"] for name, panel in panels(made).items()}
    ranked = sorted(chances, key=lambda name: -chances[name])
    answer = made.state["answer"]
    assert answer.startswith(f"Under “{ranked[0]}”: “are” gets {100 * chances[ranked[0]]:.3g} %"[:40])
    model, exact = answer.split("The Bayes-optimal predictor")
    assert [model.index(f"“{name}”") for name in ranked] == sorted(model.index(f"“{name}”") for name in ranked)
    assert exact.count("100 %") == 3 and "50 % under “right to left”" in exact


def test_an_edit_keeps_the_hidden_word_and_the_cut() -> None:
    made = lab(cut=3)
    made.text = "the old cups near the chair are lost ."
    assert (made.hidden, made.state["word"], made.cut) == (6, "are", 3)
    made.text = "the cups ."
    assert (made.hidden, made.cut) == (2, 2)
    made.hidden = 1
    assert made.state["word"] == "cups" and not made.stale


def test_a_typed_mask_is_the_gap() -> None:
    made = lab()
    made.text = "the cats [MASK] hungry ."
    assert (made.hidden, made.state["word"], made.message) == (2, None, "")
    assert all(panel["belief"]["own"] is None for panel in made.state["panels"])
    assert made.state["answer"].count("%") == 8
    before = made.state
    made.hidden = 0
    assert "replace it by a word" in made.message and made.stale and made.state == before
    made.text = "the [MASK] are hungry ."
    assert (made.message, made.hidden) == ("", 1)
    made.text = "the [MASK] [MASK] lost ."
    assert "the text contains 2 [MASK]s" in made.message and made.state["tokens"][1] == "[MASK]"


def test_a_long_text_is_cut_and_kept() -> None:
    made = lab(max_tokens=8, hide="near")
    assert len(made.state["tokens"]) == 5 and "longer than the 5 words" in made.message
    assert made.text == TEXT and len(panels(made)["sequence to sequence"]["tokens"]) == 8
    with pytest.raises(ValueError, match="not a token of the sentence"):
        lab(hide="zebra")


def test_outside_the_grammar_the_network_s_beliefs_stand() -> None:
    made = lab()
    made.text = "cups the zebra are are"
    assert not made.stale and "exact probabilities are missing" in made.message and "[UNK]" in made.message
    assert "“both directions”" in made.message
    belief = panels(made)["both directions"]["belief"]
    assert belief["kl"] is None and belief["rows"][0]["p"] > 0
    single = lab("cups")
    assert (single.hidden, single.cut, single.stale) == (0, 0, False)


@pytest.mark.parametrize("trait, value", [("hidden", 99), ("hidden", -1), ("cut", 8), ("cut", -1)])
def test_places_that_there_are_not(trait: str, value: int) -> None:
    made = lab()
    before = made.state
    setattr(made, trait, value)
    assert f"{trait} is {value}; for this sentence of 8 words" in made.message and made.state == before


@pytest.mark.parametrize("model, words, told", [
    (bert(), OTHERS, "not pretrained under the masks"),
    (BERTPretraining(BERTConfig(len(WORDS), layers=1, model=8, heads=2, inner=8)), WORDS, "give a UniLMPretraining"),
    (UniLM(UniLMConfig(len(WORDS), layers=1, model=8, heads=2, inner=8)), WORDS, "no masked-language-model head"),
    (UniLMPretraining(UniLMConfig(9, layers=1, model=8, heads=2, inner=8)), WORDS, "the model's vocabulary has only 9"),
])
def test_models_that_cannot_be_asked(model: Any, words: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        FourMasksLab(model, words)


def test_its_line_says_what_each_mask_believes() -> None:
    made = lab()
    row = panels(made)["right to left"]["belief"]["rows"][0]
    assert repr(made).startswith("<FourMasksLab: the cups near the chair [MASK] lost .: both directions ")
    assert f"right to left {row['word']} {row['p']:.2f}" in repr(made)
