"""Every lab's labels: what would be drawn as nothing has a sign, in whatever lab it is typed."""

from collections.abc import Iterator
from typing import Any

import pytest
from beginnings import BEGINNINGS, made
from next_token_models import seeded

from plmlab.labs import AttentionLab, NextTokenLab, SoftmaxLab
from plmlab.labs.bertviz.lab import head_view
from plmlab.models.gpt import GPT2
from plmlab.text.printable import printable
from plmlab.text.tokenizers import Tokenizer

LABELS = {"tokens", "token", "names", "words", "word", "source", "queries", "keys", "query_names", "key_names", "next"}
TYPED = "the \u200b \0 \x7f cat"
BYTES = Tokenizer.bpe(["Anna:\n\tThe red boat"], 320)


def labelled(state: Any, name: str = "") -> Iterator[str]:
    """All strings of a state that are labels of tokens."""
    if isinstance(state, str):
        yield from [state] if name in LABELS else []
    elif isinstance(state, dict):
        for key, value in state.items():
            yield from labelled(value, key)
    elif isinstance(state, list | tuple):
        for value in state:
            yield from labelled(value, name)


@pytest.mark.parametrize("lab_class", BEGINNINGS)
def test_no_label_of_a_typed_text_is_drawn_as_nothing(lab_class: str) -> None:
    lab = made(BEGINNINGS[lab_class][0])
    lab.text = TYPED
    assert [label for label in labelled(lab.state) if printable(label) != label] == []
    assert "An unexpected error" not in lab.message
    assert printable(repr(lab)) == repr(lab)


def test_line_breaks_and_tabs_have_their_signs() -> None:
    text = "Anna:\n\tThe"
    attention = AttentionLab(seeded(GPT2, len(BYTES)), BYTES, text)
    assert {"↵", "⇥"} <= set(attention.state["keys"])
    assert '"↵"' in head_view(seeded(GPT2, len(BYTES)), BYTES, text).html()
    assert repr(attention) == f"<AttentionLab: {attention.summary()}>" and "↵" in repr(attention)
    lens = NextTokenLab(seeded(GPT2, len(BYTES)), BYTES, text)
    assert {"↵", "⇥"} <= set(lens.state["lens"]["tokens"]) and "'Anna:↵⇥The'" in repr(lens)
    assert list(SoftmaxLab({"\n": 1, " ": 2, "\u200b": 0}).shares()) == ["↵", "␣", "⟨U+200B⟩"]
