"""How much of the targets is in the source, by hand."""

import pytest

from plmlab.chapters.ch13.gaps import in_source
from plmlab.objectives.gap_sentences import lead_sentences
from plmlab.text import Tokenizer

WORDS = Tokenizer.words(["a b c d e ."], 60)
TEXTS = [WORDS.text("a b a . c a . d e ."), WORDS.text("a . b .")]
"""The first sentences are the gaps: of a, b, a and the full stop all but b are in the rest; of the second text, only
the full stop is."""


def test_gap_sentences_and_tokens_in_the_source() -> None:
    assert in_source(TEXTS, WORDS, selection=lead_sentences) == (0, pytest.approx(4 / 6))
    assert in_source(TEXTS, WORDS, selection=lead_sentences, intact=1.0) == (1, 1)
