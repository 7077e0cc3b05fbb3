"""What gap sentences have in common with source and summary, by hand."""

from types import SimpleNamespace
from typing import Any

import pytest

from plmlab.chapters.ch13 import gaps
from plmlab.chapters.ch13.gaps import counted
from plmlab.objectives.gap_sentences import lead_sentences
from plmlab.text import Tokenizer

WORDS = Tokenizer.words(["a b c d e ."], 60)
ARTICLES: list[Any] = [SimpleNamespace(sentences="a b a . c a . d e .", gist=(0, 2)),
                       SimpleNamespace(sentences="a . b .", gist=(1,))]
"""The first sentences are the gaps. Of the first one's tokens, both a and the full stop are in the rest; of the second
one's, only the full stop is."""


def test_gap_sentences_and_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaps, "document_text", lambda text, tokenizer: tokenizer.text(text))
    assert counted(ARTICLES, WORDS, selection=lead_sentences) == (0, pytest.approx(4 / 6), 0.5)
    assert counted(ARTICLES, WORDS, selection=lead_sentences, intact=1.0) == (1, 1, 0.5)
