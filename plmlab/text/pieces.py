"""Texts cut into pieces of at most so many tokens, in memory or in a file larger than memory."""

import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from plmlab.text import tokenfile
from plmlab.text.corpora import CorpusError
from plmlab.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class Pieces:
    """``pieces[i]`` are the ids of one piece: the tokens ``ids[starts[i]:starts[i + 1]]``."""

    ids: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, texts: Iterable[str], tokenizer: Tokenizer, longest: int) -> Self:
        """Pieces in memory. CorpusError where there is no text."""
        pieces = list(cut(texts, tokenizer, longest))
        if not pieces:
            raise CorpusError("the corpus is empty: there is no text to make examples of")
        return cls(np.concatenate(pieces), np.cumsum([0, *map(len, pieces)]))

    @classmethod
    def build(cls, texts: Iterable[str], tokenizer: Tokenizer, path: str | Path, longest: int, *,
              progress: bool = False) -> Self:
        """Write the pieces to ``path``, with a header beside it and, in ``path`` + ".starts", where each begins, where
        the last one ends, ``longest``, and a checksum of these.

        CorpusError where there is no text, or where the disk refuses; what stood there stays as it was.
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
                    yield piece
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
        """The pieces in a file, which is read through once, not into memory. CorpusError where they are not whole, are
        another tokenizer's, or were cut at another length than ``longest``."""
        ids, file = tokenfile.read(Path(path), tokenizer, check=True), _starts(Path(path))
        if not _whole(file):
            raise CorpusError(f"{file} does not say where the pieces of {path} begin: it is not there, or was changed "
                              "since it was built; build them again")
        numbers = np.memmap(file, dtype="<u8", mode="r")
        starts, cut_at = numbers[:-2], int(numbers[-2])
        if int(starts[-1]) != len(ids):
            raise CorpusError(f"{file} belongs to other pieces than those in {path}; build them again")
        if cut_at != longest:
            raise CorpusError(f"the pieces in {path} have up to {cut_at} tokens, and not {longest}; build them again")
        return cls(ids, starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int) -> np.ndarray:
        return self.ids[int(self.starts[index]):int(self.starts[index + 1])]


def cut(texts: Iterable[str], tokenizer: Tokenizer, longest: int, progress: bool = False) -> Iterator[np.ndarray]:
    """The ids of the texts, a text longer than ``longest`` tokens in several pieces. "[MASK]" and the like in a text
    are text, not special tokens."""
    for chunk in tokenfile.chunks(texts, progress):
        for row in tokenizer.encode_all(chunk, plain=True):
            for start in range(0, len(row), longest):
                yield np.array(row[start:start + longest], np.uint32)


def _starts(path: Path) -> Path:
    return path.with_name(f"{path.name}.starts")


def _number(number: int) -> bytes:
    return number.to_bytes(8, "little")


def _whole(file: Path) -> bool:
    """Whether a file of numbers is there and ends with the checksum of all that comes before."""
    if not file.is_file() or (size := file.stat().st_size) < 4 * 8 or size % 8:
        return False
    checksum, left = 0, size - 8
    with file.open("rb") as numbers:
        while left and (block := numbers.read(min(left, tokenfile.BYTES_AT_ONCE))):
            checksum, left = zlib.crc32(block, checksum), left - len(block)
        return numbers.read() == _number(checksum)
