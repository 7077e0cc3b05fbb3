"""Train vectors on the user's own text, after validating it."""

from collections.abc import Callable, Mapping

from plmlab.labs.vectors.checks import Snapshots, snapshots
from plmlab.text.words import word_sentences
from plmlab.vectors import WordVectors

LIMIT = 4_000_000
"""Maximum size of a text in bytes."""
FEWEST = 50
"""Minimum number of words."""

Train = Callable[[str], Mapping[int, WordVectors]]


def checked(text: str, name: str) -> str:
    """Validate a text for training. Raises ValueError, with a message for the user, if it is not suitable."""
    size = len(text.encode("utf-8", "replace"))
    if size > LIMIT:
        raise ValueError(f"“{name}” has {size / 1e6:.1f} MB; the limit is {LIMIT // 1_000_000} MB. Shorten it, and try "
                         "again.")
    if not text.strip():
        raise ValueError(f"“{name}” is empty: there is nothing to train on.")
    if "\0" in text:
        raise ValueError(f"“{name}” is not a text file: it contains zero bytes, as images, archives and programs do.")
    if (count := sum(map(len, word_sentences([text])))) < FEWEST:
        raise ValueError(f"“{name}” has {count} word{'s' * (count != 1)}, which is too short to train on. Use at least "
                         f"{FEWEST}; about ten thousand give useful vectors.")
    return text


def trained(train: Train, text: str, name: str) -> Snapshots:
    """Train vectors on a text. Raises ValueError if the text is not suitable or the vectors cannot be shown."""
    valid = checked(text, name)
    try:
        return snapshots(train(valid))
    except ValueError as error:
        raise ValueError(f"training on “{name}” gave no vectors: {error}") from None
