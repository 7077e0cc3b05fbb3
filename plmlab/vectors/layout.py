"""How a file of word vectors is laid out: told from its first bytes, never from its name."""

import gzip
import re
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from plmlab import git_lfs

PIECE = 1 << 20
LONGEST = 1 << 20
"""No word has more numbers than this: a header that says so is none."""
HEADER = re.compile(rb"[ \t]*([0-9]+)[ \t]+([0-9]+)[ \t\r]*")
DIGITS = b"0123456789+-.eEnaifNAIF \t\r\n"
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
GZIP = b"\x1f\x8b"
AGAIN = "Fetch or write the file again"
TO_TEXT = "gensim.models.KeyedVectors.load({0!r}).save_word2vec_format({0!r} + '.w2v.txt')"
NO_VECTORS = (
    (re.compile(rb"\x80[\x02-\x05]"), "a pickle, as gensim's own save makes it. Pickles are not read here, for they "
     f"can run any code. If you trust it: {TO_TEXT} (.wv before .save_… for a whole Word2Vec), then read that"),
    (re.compile(rb"\x93NUMPY"), "a NumPy array: numbers without words. If it lies beside a gensim model, load that: "
     f"{TO_TEXT.format('the .model or .kv file')}, then read what this writes"),
    (re.compile(rb"PK[\x03\x05\x07]"), "a zip, as GloVe's vectors are offered. Unzip it, and give one file inside"),
    (re.compile(rb"BZh|\xfd7zXZ\x00|7z\xbc\xaf"), "packed (bzip2, xz or 7z). Unpack it; gzip alone is read as it is"),
    (re.compile(rb"\xba\x16\x4f\x2f"), "fastText's own .bin. from_keyed_vectors(gensim.models.fasttext."
     "load_facebook_vectors({0!r})) takes its words' vectors; the .vec beside it is read here"),
    (re.compile(rb".{3}\x00{5}\{", re.DOTALL), "safetensors: a model's weights. A checkpoint is loaded as a folder, "
     "with plmlab.checkpoints.load(folder)"),
    (re.compile(BOM_UTF16_LE + b"|" + BOM_UTF16_BE), "UTF-16 text. Save a copy as UTF-8 in your editor"),
    (re.compile(re.escape(git_lfs.START)), git_lfs.POINTER),
    (re.compile(rb"\s*<(!doctype|html)", re.IGNORECASE), "a web page; the download went wrong. Fetch the file itself"),
)
"""How files begin that hold no word vectors, or none for us, and what to do about each."""


class VectorFileError(ValueError):
    """A file that is no whole file of word vectors: where it fails, what was found, and what to do."""


@dataclass(frozen=True)
class Layout:
    """Where the rows of a file are, and what they look like.

    ``count`` is what a header says, None where there is none (GloVe); ``size`` is how many numbers each word has, and
    ``start`` the byte at which the first row begins.
    """

    file: Path
    binary: bool
    count: int | None
    size: int
    start: int

    def broken(self, row: int, what: str) -> VectorFileError:
        """The error that a row, from 1, calls for."""
        line = f" (line {row + 1:,})" if self.count is not None and not self.binary else ""
        return VectorFileError(f"{self.file}, row {row:,}{line}: {what}")

    @property
    def expected(self) -> str:
        """How many numbers each row must have, and who says so."""
        return f"{self.size:,}, as {'row 1 has' if self.count is None else 'the header says'}"


def pieces(file: Path) -> Iterator[bytes]:
    """A file's bytes, at most 1 MiB at a time, unpacked where it is gzip.

    VectorFileError where it is missing, a folder, cannot be opened, or its gzip is cut or damaged.
    """
    if file.is_dir():
        checkpoint = (file / "config.json").exists() and (file / "model.safetensors").exists()
        raise VectorFileError(f"{file} is a folder" + (
            f" with a model's weights; load it with plmlab.checkpoints.load({str(file)!r})" if checkpoint
            else "; give one file of word vectors in it"))
    if not file.exists():
        raise VectorFileError(f"there is no file {file} (looked for from {Path.cwd()})")
    try:
        with file.open("rb") as raw:
            packed = raw.read(len(GZIP)) == GZIP
            raw.seek(0)
            with gzip.open(raw) if packed else raw as unpacked:
                while piece := unpacked.read(PIECE):
                    yield piece
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise VectorFileError(f"{file} is a gzip that is cut or damaged ({error}). {AGAIN}") from None
    except OSError as error:
        raise VectorFileError(f"{file} cannot be read ({error.strerror})") from error


def recognise(head: bytes, file: Path) -> Layout:
    """The layout of the file that begins with ``head``; VectorFileError where it is none that we read.

    A first line of just two whole numbers is word2vec's header. A GloVe file could begin so only if its words had one
    number each, without a decimal point, and GloVe itself always writes one.
    """
    if not head:
        raise VectorFileError(f"{file} is empty. {AGAIN}")
    for begin, what in NO_VECTORS:
        if begin.match(head):
            raise VectorFileError(f"{file} is {what.format(str(file))}")
    start = len(BOM_UTF8) if head.startswith(BOM_UTF8) else 0
    end = head.find(b"\n", start)
    if end < 0:
        raise VectorFileError(f"{file}: its first line, {shown(head)}, has no end. A file of word vectors has a line "
                              f"for each word, and a line break after it. If it is one, it is cut off. {AGAIN}")
    first = head[start:end]
    header = HEADER.fullmatch(first)
    if not header:
        return Layout(file, False, None, _size_of(first, file), start)
    count, size = (int(number[:19]) for number in header.groups())
    if not count or not 0 < size <= LONGEST:
        raise VectorFileError(f"{file}: the header says {count:,} words of {size:,} numbers each; there must be one at "
                              f"least of both, and at most {LONGEST:,} numbers. {AGAIN}")
    return Layout(file, _binary(head[end + 1:], count, size), count, size, end + 1)


def numbers_at_end(fields: list[bytes]) -> int:
    """How many fields at the end of a row are numbers; the first is a word, whatever it looks like."""
    return next((i for i, field in enumerate(reversed(fields[1:])) if not is_number(field)), len(fields) - 1)


def is_number(field: bytes) -> bool:
    """Does this read as a number, NaN and infinity among them?"""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def shown(data: bytes) -> str:
    """The beginning of some bytes, for an error."""
    return repr(data[:40].decode("utf-8", "backslashreplace")) + (" …" if len(data) > 40 else "")


def _size_of(first: bytes, file: Path) -> int:
    """How many numbers the first row of a file without a header has."""
    fields = first.rstrip(b" \r").split(b" ")
    size = numbers_at_end(fields)
    if not size or any(map(is_number, fields[1:-size])):
        raise VectorFileError(
            f"{file} begins with the line {shown(first)}, which is neither a header of two whole numbers (how many "
            "words, how many numbers each: word2vec, fastText) nor a word and its numbers, spaces between (GloVe). Is "
            "it a file of word vectors?")
    return size


def _binary(rows: bytes, count: int, size: int) -> bool:
    """Are these the first rows of a binary file, not of a text?

    They are if what follows the first word's space, and would be its numbers, is no text. Short ones can look like
    text, and are binary if all that is at hand falls into words and numbers just so.
    """
    line = rows.partition(b"\n")[0].rstrip(b" \r").split(b" ")
    space = rows.find(b" ") + 1
    values = rows[space:space + 4 * size]
    if numbers_at_end(line) >= size or not values.strip(DIGITS):
        return False
    try:
        getincrementaldecoder("utf-8")().decode(values)
    except UnicodeDecodeError:
        return True
    return bool(CONTROL.search(values)) or _falls_into_rows(rows, count, size)


def _falls_into_rows(rows: bytes, count: int, size: int) -> bool:
    """Do these bytes divide into ``count`` words with ``size`` float32 each, as far as they go?"""
    at = 0
    for _ in range(count):
        begin = at + rows.startswith(b"\n", at)
        space = rows.find(b" ", begin)
        if space <= begin or b"\n" in rows[begin:space]:
            return False
        at = space + 1 + 4 * size
        if at >= PIECE // 2:
            return True
    return rows[at:] in (b"", b"\n") and at <= len(rows)
