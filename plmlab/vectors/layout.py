"""Format detection for files of word vectors, from their first bytes, independent of the file name."""

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
"""Maximum vector size; a larger number in the first line is not a valid header."""
HEADER = re.compile(rb"[ \t]*([0-9]+)[ \t]+([0-9]+)[ \t\r]*")
DIGITS = b"0123456789+-.eEnaifNAIF \t\r\n"
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
GZIP = b"\x1f\x8b"
AGAIN = "Fetch or write the file again"
TO_TEXT = "gensim.models.KeyedVectors.load({0!r}).save_word2vec_format({0!r} + '.w2v.txt')"
NO_VECTORS = (
    (re.compile(rb"\x80[\x02-\x05]"), "a pickle, as written by gensim's own save. Pickles are not read here, because "
     f"they can run any code. If you trust it: {TO_TEXT} (.wv before .save_… for a whole Word2Vec), then read that"),
    (re.compile(rb"\x93NUMPY"), "a NumPy array: numbers without words. If it belongs to a gensim model, load that: "
     f"{TO_TEXT.format('the .model or .kv file')}, then read the file that this writes"),
    (re.compile(rb"PK[\x03\x05\x07]"), "a zip archive, as GloVe's vectors are distributed. Unzip it, and give one file "
     "inside"),
    (re.compile(rb"BZh|\xfd7zXZ\x00|7z\xbc\xaf"), "packed (bzip2, xz or 7z). Unpack it; only gzip is read directly"),
    (re.compile(rb"\xba\x16\x4f\x2f"), "fastText's own .bin. from_keyed_vectors(gensim.models.fasttext."
     "load_facebook_vectors({0!r})) loads its word vectors; the .vec next to it can be read here"),
    (re.compile(rb".{3}\x00{5}\{", re.DOTALL), "safetensors: a model's weights. A checkpoint is loaded as a folder, "
     "with plmlab.checkpoints.load(folder)"),
    (re.compile(BOM_UTF16_LE + b"|" + BOM_UTF16_BE), "UTF-16 text. Save a copy as UTF-8 in your editor"),
    (re.compile(re.escape(git_lfs.START)), git_lfs.POINTER),
    (re.compile(rb"\s*<(!doctype|html)", re.IGNORECASE), "a web page; the download went wrong. Fetch the file itself"),
)
"""First bytes of unsupported files, and what to do about each."""


class VectorFileError(ValueError):
    """Raised for a file that is not a complete file of word vectors; the message gives the location, the problem and a
    remedy."""


@dataclass(frozen=True)
class Layout:
    """The format of a file and the position of its rows.

    ``count`` is the number of words given in the header, None if there is no header (GloVe); ``size`` is the dimension
    of the vectors, and ``start`` the byte offset of the first row.
    """

    file: Path
    binary: bool
    count: int | None
    size: int
    start: int

    def broken(self, row: int, what: str) -> VectorFileError:
        """Build the error for an invalid row, counted from 1."""
        line = f" (line {row + 1:,})" if self.count is not None and not self.binary else ""
        return VectorFileError(f"{self.file}, row {row:,}{line}: {what}")

    @property
    def expected(self) -> str:
        """The expected number of values per row, and where that number comes from, for messages."""
        return f"{self.size:,}, as in {'row 1' if self.count is None else 'the header'}"


def pieces(file: Path) -> Iterator[bytes]:
    """Yield a file's bytes in chunks of at most 1 MiB, decompressed if the file is gzipped.

    Raises VectorFileError if the file is missing, a folder or unreadable, or if gzip data are truncated or damaged.
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
        raise VectorFileError(f"{file} is a truncated or damaged gzip file ({error}). {AGAIN}") from None
    except OSError as error:
        raise VectorFileError(f"{file} cannot be read ({error.strerror})") from error


def recognise(head: bytes, file: Path) -> Layout:
    """Detect the layout of the file that begins with ``head``. Raises VectorFileError for an unsupported format.

    A first line of exactly two integers is word2vec's header. A GloVe file could begin like this only if it had
    one-dimensional vectors written without a decimal point, and GloVe itself always writes a decimal point.
    """
    if not head:
        raise VectorFileError(f"{file} is empty. {AGAIN}")
    for begin, what in NO_VECTORS:
        if begin.match(head):
            raise VectorFileError(f"{file} is {what.format(str(file))}")
    start = len(BOM_UTF8) if head.startswith(BOM_UTF8) else 0
    end = head.find(b"\n", start)
    if end < 0:
        raise VectorFileError(f"{file}: its first line, {shown(head)}, has no end. A file of word vectors has one line "
                              f"per word, each with a line break. If it is one, it is truncated. {AGAIN}")
    first = head[start:end]
    header = HEADER.fullmatch(first)
    if not header:
        return Layout(file, False, None, _size_of(first, file), start)
    count, size = (int(number[:19]) for number in header.groups())
    if not count or not 0 < size <= LONGEST:
        raise VectorFileError(f"{file}: the header gives {count:,} words with {size:,} numbers each; both must be at "
                              f"least 1, and there are at most {LONGEST:,} numbers. {AGAIN}")
    return Layout(file, _binary(head[end + 1:], count, size), count, size, end + 1)


def numbers_at_end(fields: list[bytes]) -> int:
    """The number of numeric fields at the end of a row; the first field is always a word."""
    return next((i for i, field in enumerate(reversed(fields[1:])) if not is_number(field)), len(fields) - 1)


def is_number(field: bytes) -> bool:
    """Whether the field parses as a number, including NaN and infinity."""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def shown(data: bytes) -> str:
    """The first bytes of ``data``, formatted for quoting in an error message."""
    return repr(data[:40].decode("utf-8", "backslashreplace")) + (" …" if len(data) > 40 else "")


def _size_of(first: bytes, file: Path) -> int:
    """The number of values in the first row of a file that has no header."""
    fields = first.rstrip(b" \r").split(b" ")
    size = numbers_at_end(fields)
    if not size or any(map(is_number, fields[1:-size])):
        raise VectorFileError(
            f"{file} begins with the line {shown(first)}, which is neither a header of two whole numbers (number of "
            "words, vector size: word2vec, fastText) nor a word and its numbers, separated by spaces (GloVe). Is it a "
            "file of word vectors?")
    return size


def _binary(rows: bytes, count: int, size: int) -> bool:
    """Whether these are the first rows of a binary file, not of a text file.

    The file is binary if the bytes after the first space, where the first word's vector would be, are not text. Short
    vectors can look like text; then the file is binary if all available bytes divide exactly into words and vectors.
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
    """Whether the available bytes divide into rows of a word and ``size`` float32 values, up to ``count`` rows."""
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
