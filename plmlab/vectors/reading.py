"""Reading of word-vector files: word2vec's text and binary formats, GloVe's text format, and fastText's .vec, each
plain or gzipped."""

import sys
from collections.abc import Iterator
from itertools import chain
from os import PathLike
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float32

from plmlab.vectors.layout import AGAIN, PIECE, Layout, is_number, numbers_at_end, pieces, recognise, shown
from plmlab.vectors.word_vectors import WordVectors

Block = tuple[list[bytes], Float32[np.ndarray, "word model"]]
AFTER_A_SPACE = 64
"""Number of bytes after the first space that are examined for a word with a space in it."""


def read_vectors(path: str | PathLike[str], *, limit: int | None = None) -> WordVectors:
    """Read the words and vectors (float32) of a file, or only its first ``limit`` words.

    The format is detected from the content, not from the file name: word2vec's text format (a header "count size", then
    one line per word, the word and its vector; fastText's .vec is the same) or binary format (the header, then word,
    space and float32 values), or GloVe's text format (no header; row 1 determines the size), each plain or gzipped. A
    word may contain spaces: the last values of its row are its vector. A first line of exactly two integers is always
    taken as a header.

    Raises VectorFileError (a ValueError) with the problem and the row: another kind of file, a truncated file, a row
    with more or fewer values than expected, a value that is not a finite number, a word that is empty, duplicate or not
    UTF-8. A GloVe file truncated between two rows cannot be distinguished from a complete one. With ``limit``, the rest
    is not checked.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit={limit} was given; it is the number of words to read, at least 1")
    data = pieces(Path(path))
    head = next(data, b"")
    layout = recognise(head, Path(path))
    blocks = (_binary_blocks if layout.binary else _text_blocks)(chain([head[layout.start:]], data), layout, limit)
    words: list[str] = []
    matrix = np.empty((0, layout.size), np.float32)
    most = _wanted(layout, limit)
    for named, block in blocks:
        done, now = len(words), len(words) + len(named)
        if now > len(matrix):
            room = min(max(now, 3 * len(matrix) // 2), most)
            matrix.resize((room, layout.size), refcheck=False)      # grows in place if possible
        words += [_word(name, done + i, layout) for i, name in enumerate(named, 1)]
        _all_finite(block, done, layout)
        matrix[done:now] = block
    matrix.resize((len(words), layout.size), refcheck=False)
    _none_twice(words, layout)
    return WordVectors(tuple(words), torch.from_numpy(matrix))


def _text_blocks(data: Iterator[bytes], layout: Layout, limit: int | None) -> Iterator[Block]:
    """Yield the rows of a text file, one chunk of the file at a time."""
    wanted = _wanted(layout, limit)
    done, rest, blank = 0, b"", False
    for piece in data:
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > PIECE + 32 * layout.size:
            raise layout.broken(done + len(lines) + 1, f"it has no end. {AGAIN}")
        block = np.empty((len(lines), layout.size), np.float32)
        words: list[bytes] = []
        for line in lines:
            row = done + len(words) + 1
            if row > wanted == limit:
                break
            word, *numbers = line.rstrip(b" \r").rsplit(b" ", layout.size)
            if not word and not numbers:
                blank = True
                continue
            if blank:
                raise layout.broken(row, f"there is a blank line before it. {AGAIN}, or remove the line")
            if row > wanted:
                raise layout.broken(row, f"the header gives {_many(wanted, 'word')}, but there is one more. {AGAIN}")
            try:
                if len(numbers) < layout.size or (b"_" in line and not all(map(is_number, numbers))):
                    raise ValueError
                with np.errstate(over="ignore"):
                    block[len(words)] = numbers
            except ValueError:
                raise layout.broken(row, _wrong(line, layout)) from None
            if b" " in word and _ends_in_a_number(word):
                raise layout.broken(row, _wrong(line, layout))
            words.append(word)
        yield words, block[:len(words)]
        done += len(words)
        if done == limit:
            return
    if rest.strip():
        raise layout.broken(done + 1, f"{shown(rest)} does not end in a line break: it may be truncated. {AGAIN}; if "
                            "it is complete, add a line break at its end")
    _all_there(done, wanted, layout)


def _binary_blocks(data: Iterator[bytes], layout: Layout, limit: int | None) -> Iterator[Block]:
    """Yield the rows of a binary file, one chunk of the file at a time."""
    wanted, length = _wanted(layout, limit), 4 * layout.size
    done, rest, last = 0, b"", (b"", b"")
    for piece in data:
        rest += piece
        words: list[bytes] = []
        values: list[bytes] = []
        at = 0
        while done + len(words) < wanted:
            begin = at + rest.startswith(b"\n", at)     # word2vec.c writes one after each row, gensim does not
            space = rest.find(b" ", begin)
            if space < 0 and len(rest) - begin > PIECE:
                raise layout.broken(done + len(words) + 1, f"no space ends its word within 1 MiB. {AGAIN}")
            end = space + 1 + length
            if space < 0 or end > len(rest):
                break
            _no_space_inside(last, rest[at:at + AFTER_A_SPACE], done + len(words), layout)
            last = rest[begin:space], rest[space + 1:end]
            words.append(last[0])
            values.append(last[1])
            at = end
        rest = rest[at:]
        yield words, np.frombuffer(b"".join(values), "<f4").reshape(-1, layout.size).astype(np.float32, copy=False)
        done += len(words)
        if done == wanted:
            _no_space_inside(last, rest, done, layout)
        if done == limit:
            return
        if done == wanted and rest not in (b"", b"\n"):
            raise layout.broken(done + 1, f"the header gives {_many(wanted, 'word')}, but the file continues. {AGAIN}")
    _no_space_inside(last, rest, done, layout)
    if done < wanted and rest not in (b"", b"\n"):
        raise layout.broken(done + 1, f"it is truncated: expected a word, a space and {length:,} bytes of numbers, "
                            f"but only {len(rest):,} bytes are left. {AGAIN}")
    _all_there(done, wanted, layout)


def _no_space_inside(last: tuple[bytes, bytes], behind: bytes, row: int, layout: Layout) -> None:
    """Raise an error if the previous row's word contains a space and was therefore cut off at the first space.

    The bytes taken for its vector then start with the rest of the word, as text, and the same number of bytes follows
    in ``behind``: shifted by this number of bytes, the values have a more plausible magnitude.
    """
    word, values = last
    ends, end = [], values.find(b" ", 1, AFTER_A_SPACE) + 1
    while 0 < end <= len(behind) and _is_text(values[:end - 1]):
        ends.append(end)
        end = values.find(b" ", end, AFTER_A_SPACE) + 1
    if not ends:
        return
    end = min(ends, key=lambda end: _wildest(values[end:] + behind[:end]))
    if _wildest(values[end:] + behind[:end]) < _wildest(values):
        raise layout.broken(row, (
            f"its word, {shown(word + b' ' + values[:end - 1])}, contains a space, which ends a word in a binary "
            "file: its numbers, and the rows after it, are misaligned. Write the file again in word2vec's text format, "
            "in which words may contain spaces, or with _ instead of the space"))


def _is_text(data: bytes) -> bool:
    try:
        return data.decode().isprintable()
    except UnicodeDecodeError:
        return False


def _wildest(values: bytes) -> int:
    """The largest distance from 1 of the float32s' magnitudes, in powers of 2; zeros do not count."""
    bits = np.frombuffer(values, "<u4") & 0x7FFFFFFF
    return int(np.abs((bits[bits > 0] >> 23).astype(int) - 127).max(initial=0))


def _wanted(layout: Layout, limit: int | None) -> int:
    """The number of rows to read; unlimited if only the end of the file determines it."""
    return min(sys.maxsize if bound is None else bound for bound in (layout.count, limit))


def _all_there(done: int, wanted: int, layout: Layout) -> None:
    if layout.count is not None and done < wanted:
        those = f"; limit={done} reads those" if done else ""
        raise layout.broken(done + 1, f"it is missing: the header gives {_many(layout.count, 'word')}, but the file "
                            f"ends after {done:,}. {AGAIN}{those}")


def _all_finite(block: Float32[np.ndarray, "word model"], done: int, layout: Layout) -> None:
    finite = np.isfinite(block)
    if not finite.all():
        row, column = np.argwhere(~finite)[0].tolist()
        raise layout.broken(done + row + 1, f"number {column + 1:,} is {block[row, column]} as a float32; every number "
                            "must be finite. Fix the row, or remove it")


def _ends_in_a_number(word: bytes) -> bool:
    last = word.rpartition(b" ")[2]
    return is_number(last) and last.strip(b"+-").lower() not in (b"nan", b"inf", b"infinity")


def _wrong(line: bytes, layout: Layout) -> str:
    """A description of what is wrong with the values in a row of text."""
    fields = line.rstrip(b" \r").split(b" ")
    if (found := numbers_at_end(fields)) > layout.size or len(fields) <= layout.size:
        return (f"{shown(fields[0])} has {_many(found, 'number')} at its end; expected {layout.expected}. {AGAIN}, or "
                "fix the row")
    bad = fields[-found - 1]
    hint = "there are two consecutive spaces" if not bad else f"{shown(bad)} is not a number"
    return f"{hint}; expected a word, then {layout.expected}, one space before each. {AGAIN}, or fix the row"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}" + "s" * (count != 1)


def _word(name: bytes, row: int, layout: Layout) -> str:
    if not name:
        raise layout.broken(row, "it has no word before its numbers. Fix the row, or remove it")
    if layout.binary and b"\n" in name:
        raise layout.broken(row, f"its word would be {shown(name)}, with a line break inside: the previous rows are "
                            f"not as long as the header implies. {AGAIN}")
    try:
        return name.decode()
    except UnicodeDecodeError as error:
        raise layout.broken(row, (
            f"the word {shown(name)} is not UTF-8 (byte 0x{name[error.start]:02x}). Save a copy as UTF-8; if only "
            "single words are broken, as word2vec cuts long ones: from_keyed_vectors(gensim.models.KeyedVectors."
            f"load_word2vec_format({str(layout.file)!r}, binary={layout.binary}, no_header={layout.count is None}, "
            "unicode_errors='replace')), which puts � for the broken bytes")) from None


def _none_twice(words: list[str], layout: Layout) -> None:
    if len({*words}) < len(words):
        seen: dict[str, int] = {}
        for row, word in enumerate(words, 1):
            if word in seen:
                raise layout.broken(row, f"the word {word!r:.60} is already in row {seen[word]:,}; each word must "
                                    "have one vector. Remove one of the two")
            seen[word] = row
