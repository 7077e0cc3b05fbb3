"""Each preset of chapter 13 is drawn by the Mask Lab, and shows what its title says."""

from random import Random
from typing import Any

import pytest

from plmlab.chapters.ch13.presets import PRESETS, SEED, SENTENCE, THREE_SENTENCES, TWO_SENTENCES
from plmlab.labs import MaskLab
from plmlab.objectives import OBJECTIVES
from plmlab.text import Tokenizer

TOKENIZER, WORDS = Tokenizer.words([SENTENCE], 100), SENTENCE.split()


def lab(**given: Any) -> Any:
    """The chapter's lab."""
    first = {"text": SENTENCE, "objective": "span_corruption", "choices": PRESETS[0].choices}
    return MaskLab(TOKENIZER, **first | given, seed=SEED, presets=PRESETS)


def drawn(title: str) -> tuple[str, str]:
    """Source and targets that the lab draws for a preset, without [START] and [END]."""
    [preset] = (preset for preset in PRESETS if preset.title == title)
    opened = lab(text=preset.text, objective=preset.objective, choices=preset.choices)
    assert not opened.message and opened.state["split"] > 1
    source, targets = opened.state["tokens"][:opened.state["split"]], filter(None, opened.state["targets"])
    first, second = (" ".join(token for token in row if token not in ("[START]", "[END]")) for row in (source, targets))
    return first, second


def test_the_lab_begins_with_the_first_preset_and_has_a_button_for_each() -> None:
    opened = lab()
    assert opened.menu["presets"][0].items() >= {"text": opened.text, "objective": opened.objective}.items()
    assert [button["title"] for button in opened.menu["presets"]] == [preset.title for preset in PRESETS]
    assert len({preset.title for preset in PRESETS}) == len(PRESETS) == 13


def test_spans_of_t5() -> None:
    assert drawn("T5: 30 %, short spans") == ("Thank you [X0] me to your party last week [X1]",
                                              "[X0] for inviting [X1] .")
    assert drawn("T5: 15 %, one span") == ("Thank you for inviting me to your party last [X0]", "[X0] week .")
    assert drawn("T5: half of the tokens") == ("Thank you [X0] your party last [X1]",
                                               "[X0] for inviting me to [X1] week .")


def test_the_span_of_mass_is_half_of_the_text_one_token_or_all() -> None:
    """Some tokens of the span are not [MASK]: unchanged (inviting, you) or random (party, at another position)."""
    assert drawn("MASS: half of the text") == ("Thank you [MASK] inviting [MASK] [MASK] [MASK] [MASK] last week .",
                                               "for inviting me to your party")
    assert drawn("MASS: one token, like BERT") == (SENTENCE.replace("me", "[MASK]"), "me")
    assert drawn("MASS: the whole text, like GPT") == (
        "[MASK] you " + "[MASK] " * 7 + "party [MASK]", SENTENCE)


@pytest.mark.parametrize(("noise", "source"), [
    ("token masking", "Thank [MASK] for inviting me [MASK] your [MASK] last [MASK] ."),
    ("token deletion", "Thank for inviting me your last ."),  # the same tokens
    ("text infilling", "Thank [MASK] for inviting me to [MASK] week ."),
    ("document rotation", "inviting me to your party last week . Thank you for"),
])
def test_each_noise_of_bart(noise: str, source: str) -> None:
    assert drawn(f"BART: {noise}") == (source, SENTENCE)


def test_the_final_choice_permutes_two_sentences() -> None:
    assert TOKENIZER.text(TWO_SENTENCES).sentences == ((0, 6), (6, 14)) and set(TWO_SENTENCES.split()) <= set(WORDS)
    assert drawn("BART: final objective, two sentences") == (
        "Thank you for your party last week . [MASK] .", TWO_SENTENCES)
    [final] = (preset for preset in PRESETS if "final" in preset.title)
    defaults = {choice.name: choice.default for choice in OBJECTIVES["denoising"].choices}
    assert final.choices == defaults


def test_pegasus_masks_the_sentence_that_shares_most_and_palm_continues() -> None:
    first, second, third = (f"{sentence}." for sentence in THREE_SENTENCES.split(".")[:3])
    assert drawn("PEGASUS: one gap sentence of three") == (f"{first} [MASK]{third}", second.strip())
    assert drawn("PALM: the last sentence of three") == (f"[CLS] {first}{second} [SEP]", third.strip())


def test_no_seed_draws_the_papers_spans() -> None:
    """The last token is dropped with every seed, so "week ." never follows a span."""
    tokens, make = TOKENIZER.text(SENTENCE), OBJECTIVES["span_corruption"].make
    for seed in range(300):
        example = make(tokens, vocab=TOKENIZER.vocab, rng=Random(seed), **PRESETS[0].choices)
        assert tokens[-1] not in example.source.tokens.tolist()
