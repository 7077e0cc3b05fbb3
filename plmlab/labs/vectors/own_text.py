"""The reader's own text on its way to vectors: what cannot be trained on, said before anything is trained."""

from collections.abc import Callable, Mapping

from plmlab.labs.vectors.checks import Snapshots, snapshots
from plmlab.text.words import word_sentences
from plmlab.vectors import WordVectors

LIMIT = 4_000_000
"""A text has so many bytes at most."""
FEWEST = 50
"""Below so many words there is nothing to count."""

Train = Callable[[str], Mapping[int, WordVectors]]


def checked(text: str, name: str) -> str:
    """A text that can be trained on; a ValueError says in the reader's words why it cannot."""
    size = len(text.encode("utf-8", "replace"))
    if size > LIMIT:
        raise ValueError(f"“{name}” has {size / 1e6:.1f} MB; {LIMIT // 1_000_000} MB are read at most. Cut it, and try "
                         "again.")
    if not text.strip():
        raise ValueError(f"“{name}” is empty: there is nothing to train on.")
    if "\0" in text:
        raise ValueError(f"“{name}” is not a text: it holds zero bytes, as pictures, archives and programs do.")
    if (count := sum(map(len, word_sentences([text])))) < FEWEST:
        raise ValueError(f"“{name}” has {count} word{'s' * (count != 1)}; that is too short to train "
                         f"on. Take {FEWEST} or more; some ten thousand give vectors worth looking at.")
    return text


def trained(train: Train, text: str, name: str) -> Snapshots:
    """Vectors of a text; a ValueError where the text, or what came of it, cannot be shown."""
    read = checked(text, name)
    try:
        return snapshots(train(read))
    except ValueError as error:
        raise ValueError(f"no vectors came of “{name}”: {error}") from None
