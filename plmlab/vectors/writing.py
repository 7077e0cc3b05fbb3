"""Writing of word-vector files: word2vec's text and binary formats, and GloVe's text format."""

import gzip
import os
from codecs import BOM_UTF8
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

import numpy as np
from jaxtyping import Float32

from plmlab.atomic import draft_of, settle
from plmlab.vectors.layout import HEADER
from plmlab.vectors.word_vectors import WordVectors

Where = str | PathLike[str]


def write_word2vec(vectors: WordVectors, path: Where) -> None:
    """Write word2vec's text format: a header "count size", then one line per word with the word and its vector.

    Values have nine digits, so that `read_vectors` restores the same float32 values. The output is compressed if the
    path ends in .gz. The file is written atomically. Raises ValueError, before anything is written, if a word is empty
    or contains a space or a line break, or if a value is not finite as a float32; OSError if the disk cannot be
    written.
    """
    numbers = _numbers(vectors)
    _put(path, _text(vectors, numbers, _header(numbers)))


def write_glove(vectors: WordVectors, path: Where) -> None:
    """Write GloVe's text format: like `write_word2vec`, but without a header.

    Also raises ValueError if the first line would be read as word2vec's header, that is, if its word is an integer and
    its vector a single integer.
    """
    numbers = _numbers(vectors)
    first = next(_text(vectors, numbers[:1], b"")).rstrip(b"\n")
    if HEADER.fullmatch(first) or first.startswith(BOM_UTF8):
        raise ValueError(f"the first line would be {first.decode()!r:.60}, which would be read as a header or as a "
                         "byte order mark; use write_word2vec")
    _put(path, _text(vectors, numbers, b""))


def write_word2vec_binary(vectors: WordVectors, path: Where) -> None:
    """Write word2vec's binary format: a header "count size", then each word, a space and its vector as little-endian
    float32 values.

    There are no line breaks between rows, as in gensim's files. Otherwise like `write_word2vec`.
    """
    numbers = _numbers(vectors).astype("<f4", copy=False)
    rows = (word.encode() + b" " + row.tobytes() for word, row in zip(vectors.words, numbers, strict=True))
    _put(path, _after(_header(numbers), rows))


def _numbers(vectors: WordVectors) -> Float32[np.ndarray, "word model"]:
    """The vectors as float32. Raises ValueError if a file cannot represent the vectors or their words."""
    if not vectors.matrix.numel():
        raise ValueError(f"{vectors} is empty; a file needs at least one word with at least one number")
    for row, word in enumerate(vectors.words, 1):
        if not word or " " in word or "\n" in word:
            raise ValueError(f"word {row:,} is {word!r:.60}: these files separate words by spaces and line breaks, so "
                             "a word must not be empty or contain one. Write it differently (word2vec's convention is "
                             "New_York), or leave it out with .only(words)")
        if not word.isascii():
            try:
                word.encode()
            except UnicodeEncodeError:
                raise ValueError(f"word {row:,} is {word!r:.60}, which UTF-8 cannot encode; leave it out with "
                                 ".only(words)") from None
    numbers = vectors.matrix.detach().cpu().float().numpy()
    finite = np.isfinite(numbers).all(axis=1)
    if not finite.all():
        word = vectors.words[int(finite.argmin())]
        raise ValueError(f"the vector of {word!r:.60} has a number that is NaN or infinite as a float32; fix it, or "
                         "leave the word out with .only(words)")
    return numbers


def _header(numbers: Float32[np.ndarray, "word model"]) -> bytes:
    return b"%d %d\n" % numbers.shape


def _text(vectors: WordVectors, numbers: Float32[np.ndarray, "word model"], header: bytes) -> Iterator[bytes]:
    """Yield the lines of a text file.

    Nine digits distinguish every float32 from its neighbours, even if a reader rounds to float64 first. The shortest
    representation can fail there (7.038531e-26 for 0x15ae43fd).
    """
    line = "%s" + " %.9g" * numbers.shape[1] + "\n"
    return _after(header, ((line % (word, *row.tolist())).encode()
                           for word, row in zip(vectors.words, numbers, strict=False)))


def _after(header: bytes, rows: Iterator[bytes]) -> Iterator[bytes]:
    if header:
        yield header
    yield from rows


def _put(path: Where, data: Iterator[bytes]) -> None:
    """Write to a temporary file, flush it, and rename it into place; compress if the name ends in .gz."""
    file = Path(path)
    if file.is_dir():
        raise ValueError(f"{file} is a folder; give the name of a file in it")
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = draft_of(file)
    try:
        with draft.open("wb") as raw:
            if file.suffix == ".gz":
                with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
                    packed.writelines(data)
            else:
                raw.writelines(data)
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(draft, file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    settle(file.parent)
