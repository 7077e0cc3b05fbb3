"""Labels of tokens: nothing in them is drawn as nothing, and what can be seen stays."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plmlab.text.printable import printable
from plmlab.text.tokenizers import Tokenizer

NOTHING = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe0f\u180b\U000e0100"
"""Drawn as nothing though no category says so: Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt, and
the blank of Braille."""


@pytest.mark.parametrize(("token", "label"), {
    " the": "␣the", "  ": "␣␣", "a ": "a␣", "New York": "New York", "\n": "↵", ".\n\n": ".↵↵", "\t\tx": "⇥⇥x",
    "\r\n": "␍↵", "\0": "␀", "\x1b[": "␛[", "\x7f": "␡", "\u200b": "⟨U+200B⟩", "a\u200bb": "a⟨U+200B⟩b",
    "\xa0": "⟨U+00A0⟩", "\u3000": "⟨U+3000⟩", "\u2028": "⟨U+2028⟩", "\u202e": "⟨U+202E⟩",
    "\ufeff": "⟨U+FEFF⟩", "\ud800": "⟨U+D800⟩",
    "\u200d": "⟨U+200D⟩", "\ufe0f": "⟨U+FE0F⟩", "👩\u200d👧": "👩\u200d👧", "❤\ufe0f": "❤\ufe0f",
    "می\u200cخواهم": "می\u200cخواهم", "é": "é", "桥": "桥", "##ing": "##ing", "⟨e4 bd⟩": "⟨e4 bd⟩", "": "",
}.items())
def test_each_has_its_sign(token: str, label: str) -> None:
    assert printable(token) == label
    assert printable(label) == label


@given(st.text(min_size=1))
def test_every_label_can_be_seen(token: str) -> None:
    label = printable(token)
    seen = [letter for letter in label if unicodedata.category(letter)[0] not in "CZ" and letter not in NOTHING]
    assert seen and not set(label) & set("\0\t\n\r\x0b\x0c\x7f\u2028\u2029")
    assert label.strip() == label


def test_byte_level_tokens_are_told_apart_by_their_labels() -> None:
    tokenizer = Tokenizer.bpe(["a\tb c\n", "a\u200bb\n\nc"], 310)
    labels = tokenizer.tokens(range(len(tokenizer)))
    assert {"↵", "⇥", "␀", "␣", "␡"} <= set(labels) and len(set(labels)) == len(labels)
    assert all(label.strip() and label.isprintable() for label in labels)
    assert tokenizer.tokens([tokenizer.id("↵")]) == ["↵"] and tokenizer.decode([tokenizer.id("↵")]) == "\n"
