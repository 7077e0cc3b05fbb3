"""What all labs of one typed sentence do alike: read any text, cut what is too long, and say what can't be read."""

import re

import blank_models
import cloze_models
import four_masks_models
import permutation_models
import pytest
from standin import HOSTILE

from plmlab.labs import BlankLab, ClozeLab, FourMasksLab, PermutationLab
from plmlab.labs.shared.sentence import RIVER, SentenceLab

MADE = {"blank": blank_models.lab, "cloze": cloze_models.crossed, "four masks": four_masks_models.lab,
        "permutation": permutation_models.lab}


@pytest.fixture(params=MADE)
def lab(request: pytest.FixtureRequest) -> SentenceLab:
    return MADE[request.param]()


@pytest.mark.parametrize("text, told", [
    ("", "The sentence is empty. Type one;"), ("   ", "The sentence is empty. Type one;"),
    ("the [PAD] are lost .", "the text contains [PAD], which the lab inserts itself: type words"),
    ("[CLS] the cups are lost .", "the text contains [CLS], which the lab inserts itself: type words"),
])
def test_what_cannot_be_read_leaves_what_stood(lab: SentenceLab, text: str, told: str) -> None:
    before, stood = lab.state, lab.text
    lab.text = text
    assert lab.stale and lab.message.startswith(told) and lab.state == before and lab.text == text
    lab.text = stood
    assert not lab.stale and lab.state == before


@pytest.mark.parametrize("name", HOSTILE)
def test_any_sentence_is_read_cut_and_kept(lab: SentenceLab, name: str) -> None:
    lab.text = HOSTILE[name]
    assert not lab.stale and lab.text == HOSTILE[name] and lab.html().count("</script>") == 2
    assert ("longer than the" in lab.message) == (name == "long")
    assert ("not in this tokenizer's vocabulary" in lab.message) == ("[UNK]" in lab.state["tokens"])


def test_the_least_room_is_told(lab: SentenceLab) -> None:
    lab.max_tokens = 0
    assert lab.stale
    least = int(re.search(r"max_tokens is 0: too small to draw a word, give at least (\d+)$", lab.message)[1])
    lab.max_tokens = least - 1
    assert lab.stale and f"max_tokens is {least - 1}" in lab.message
    lab.max_tokens = least
    assert not lab.stale and f"longer than the 1 {lab.unit}s that are drawn" in lab.message


def test_without_a_world_or_a_text_the_river_is_read() -> None:
    two, bert = permutation_models.random_model(), cloze_models.bert()
    for made in (BlankLab(blank_models.random_model(), blank_models.WORDS), ClozeLab(bert, cloze_models.WORDS),
                 FourMasksLab(four_masks_models.random_model(), four_masks_models.WORDS),
                 PermutationLab(two, permutation_models.WORDS)):
        assert made.text == RIVER and made.state["tokens"] and made.menu["presets"] == [] and not made.menu["world"]
