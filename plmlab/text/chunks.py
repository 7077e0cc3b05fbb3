"""Texts split into chunks of at most a given number of tokens, in memory or in a file larger than memory.

Each token id is stored with a mark, a number that encodes the text's known spans in base 4, one digit per kind of span:
words in the lowest digit, then sentences and entities.
"""

import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np

from plmlab.text import tokenfile
from plmlab.text.corpora import CorpusError
from plmlab.text.text import KNOWN, Text
from plmlab.text.tokenizers import Tokenizer

UNKNOWN, OUTSIDE, BEGINS, GOES_ON = range(4)
"""State of a token: unknown; outside all spans; at the beginning of a span; inside a span."""


@dataclass(frozen=True)
class TokenChunks:
    """Token chunks with random access: ``pieces[i]`` is the chunk ``ids[starts[i]:starts[i + 1]]``; ``marks`` encode
    the known spans of each token."""

    ids: np.ndarray
    marks: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, texts: Iterable[str], tokenizer: Tokenizer, longest: int) -> Self:
        """Build the chunks in memory. Raises CorpusError if there is no text."""
        pieces = list(cut(texts, tokenizer, longest))
        if not pieces:
            raise CorpusError("the corpus is empty: there is no text to make examples from")
        ids, marks = np.concatenate(pieces).T
        return cls(ids, marks, np.cumsum([0, *map(len, pieces)]))

    @classmethod
    def build(cls, texts: Iterable[str], tokenizer: Tokenizer, path: str | Path, longest: int, *,
              progress: bool = False) -> Self:
        """Write the chunks to ``path``, with a header next to it and an index in ``path`` + ".starts".

        The index holds the start of each chunk, the end of the last, ``longest``, and a checksum of all these. Raises
        CorpusError if there is no text or the disk cannot be written; existing files then stay unchanged.
        """
        starts = _starts(Path(path))
        draft = starts.with_name(f".{starts.name}.{os.getpid()}.unfinished")

        def noted() -> Iterator[np.ndarray]:
            at = checksum = 0
            with draft.open("wb") as file:
                for piece in cut(texts, tokenizer, longest, progress):
                    checksum = zlib.crc32(start := _number(at), checksum)
                    file.write(start)
                    at += len(piece)
                    yield piece.reshape(-1)
                ending = _number(at) + _number(longest)
                file.write(ending + _number(zlib.crc32(ending, checksum)))
                file.flush()
                os.fsync(file.fileno())

        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            tokenfile.write_rows(noted(), tokenizer, Path(path))
            draft.replace(starts)
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
        return cls.open(path, tokenizer, longest)

    @classmethod
    def open(cls, path: str | Path, tokenizer: Tokenizer, longest: int) -> Self:
        """Open the chunks in a file, which is read once for verification but not kept in memory. Raises CorpusError if
        the files are incomplete, belong to another tokenizer, or were split at another length than ``longest``."""
        tokens, file = tokenfile.read(Path(path), tokenizer, check=True), _starts(Path(path))
        if not _whole(file):
            raise CorpusError(f"{file} is not a valid index of the chunks of {path}: it is missing, or was changed "
                              "since it was built; build them again")
        numbers = np.memmap(file, dtype="<u8", mode="r")
        starts, cut_at = numbers[:-2], int(numbers[-2])
        if 2 * int(starts[-1]) != len(tokens):
            raise CorpusError(f"{file} does not belong to the chunks in {path}; build them again")
        if cut_at != longest:
            raise CorpusError(f"the chunks in {path} have up to {cut_at} tokens, not {longest}; build them again")
        ids, marks = tokens.reshape(-1, 2).T
        return cls(ids, marks, starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int) -> Text:
        place = slice(int(self.starts[index]), int(self.starts[index + 1]))
        return Text(self.ids[place].tolist(), **{what: partial(_spans, self.marks[place], 2 * digit)
                                                 for digit, what in enumerate(KNOWN)})


def cut(texts: Iterable[str], tokenizer: Tokenizer, longest: int, progress: bool = False) -> Iterator[np.ndarray]:
    """Yield each chunk as an array with one row per token, its id and its mark; a text longer than ``longest`` tokens
    yields several chunks. "[MASK]" and the like in a text are ordinary text, not special tokens."""
    for chunk in tokenfile.chunks(texts, progress):
        for text in tokenizer.texts(chunk, plain=True):
            for start in range(0, len(text), longest):
                piece = text[start:start + longest]
                yield np.array([piece, _marks(piece)], np.uint32).T


def _marks(text: Text) -> np.ndarray:
    """The known spans of a text, encoded as one number per token."""
    marks = np.zeros(len(text), np.uint32)
    for digit, what in enumerate(KNOWN):
        if (spans := getattr(text, what)) is not None:
            states = [OUTSIDE] * len(text)
            for start, end in spans:
                states[start:end] = [BEGINS] + [GOES_ON] * (end - start - 1)
            marks += np.array(states, np.uint32) << 2 * digit
    return marks


def _spans(marks: np.ndarray, shift: int) -> list[tuple[int, int]] | None:
    """The spans encoded in two bits of the tokens' marks, from bit ``shift`` on; None if they are not known."""
    states = marks >> shift & 3
    if (states == UNKNOWN).any():
        return None
    starts = np.flatnonzero(states == BEGINS)
    ends = np.flatnonzero((states > OUTSIDE) & (np.append(states[1:], OUTSIDE) != GOES_ON)) + 1
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


def _starts(path: Path) -> Path:
    return path.with_name(f"{path.name}.starts")


def _number(number: int) -> bytes:
    return number.to_bytes(8, "little")


def _whole(file: Path) -> bool:
    """Whether the index file exists and ends with the checksum of everything before it."""
    if not file.is_file() or (size := file.stat().st_size) < 4 * 8 or size % 8:
        return False
    checksum, left = 0, size - 8
    with file.open("rb") as numbers:
        while left and (block := numbers.read(min(left, tokenfile.BYTES_AT_ONCE))):
            checksum, left = zlib.crc32(block, checksum), left - len(block)
        return numbers.read() == _number(checksum)
