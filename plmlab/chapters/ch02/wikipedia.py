"""The Wikipedia sample as training text for word vectors, and the settings for that training."""

from functools import cache

from plmlab.text import paragraphs
from plmlab.text.words import word_sentences

SIZE, LEAST, SAMPLE, ROUNDS = 50, 5, 1e-3, 5


@cache
def sentences() -> list[list[str]]:
    """The sample as sentences of lower-case words (cached)."""
    return list(word_sentences(paragraphs()))
