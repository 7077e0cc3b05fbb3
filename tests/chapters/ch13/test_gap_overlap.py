"""What gap sentences have in common with source and summary, by hand."""

import pytest

from plmlab.chapters.ch13.gap_overlap import overlap
from plmlab.objectives.gap_sentences import lead_sentences
from plmlab.text import Tokenizer

WORDS = Tokenizer.words(["a b c d e ."], 60)
ARTICLES = [(WORDS.text("a b a . c a . d e ."), (0, 2)), (WORDS.text("a . b ."), (1,))]
"""The first sentences are the gaps. Of the first one's tokens, both a and the full stop are in the rest; of the second
one's, only the full stop is."""


def test_gap_sentences_and_tokens() -> None:
    assert overlap(ARTICLES, WORDS, selection=lead_sentences) == (0, pytest.approx(4 / 6), 0.5)
    assert overlap(ARTICLES, WORDS, selection=lead_sentences, intact=1.0) == (1, 1, 0.5)
