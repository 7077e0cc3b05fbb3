"""Flat binary files of token ids, written once and read during training: a .bin file of integers with a .json
header."""

import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np
from tqdm.auto import tqdm

from plmlab.text.corpora import CorpusError
from plmlab.text.tokenizers import Tokenizer

FORMAT = "plmlab tokens 1"
LETTERS_AT_ONCE = 1 << 18
TEXTS_AT_ONCE = 4096
BYTES_AT_ONCE = 1 << 24


def chunks(texts: Iterable[str], progress: bool = False) -> Iterator[list[str]]:
    """Yield the texts in lists of about 256 thousand characters and at most 4,096 texts; ``progress`` shows a progress
    bar."""
    if isinstance(texts, str):
        raise CorpusError("texts is a single string; give a list of texts, such as [text]")
    chunk: list[str] = []
    letters = 0
    with tqdm(unit=" characters", unit_scale=True, desc="tokens", disable=not progress) as line:
        for text in texts:
            chunk.append(text)
            letters += len(text)
            if letters >= LETTERS_AT_ONCE or len(chunk) == TEXTS_AT_ONCE:
                yield chunk
                line.update(letters)
                chunk, letters = [], 0
        if chunk:
            yield chunk
            line.update(letters)


def encoded(texts: Iterable[str], tokenizer: Tokenizer, separator: str | None,
            progress: bool = False) -> Iterator[np.ndarray]:
    """Yield the ids of the texts, one array per chunk, with the token ``separator`` after each text (None: no
    separator)."""
    after = [] if separator is None else [tokenizer.id(separator)]
    for chunk in chunks(texts, progress):
        yield _joined([row + after for row in tokenizer.encode_all(chunk, plain=True)])


def _joined(rows: Sequence[Sequence[int]]) -> np.ndarray:
    return np.fromiter((id for row in rows for id in row), dtype=np.uint32)


def write(texts: Iterable[str], tokenizer: Tokenizer, path: Path, separator: str | None, progress: bool) -> None:
    """Encode all texts and write their ids with `write_rows`."""
    write_rows(encoded(texts, tokenizer, separator, progress), tokenizer, path)


def write_rows(rows: Iterator[np.ndarray], tokenizer: Tokenizer, path: Path) -> None:
    """Write arrays of ids one after the other; the file gets its name only when it is complete and flushed to disk.

    Raises CorpusError if there is no text or the disk cannot be written; an existing file then stays unchanged.
    """
    kind = np.dtype("<u2" if tokenizer.vocab.size <= 1 << 16 else "<u4")
    data, header_file = _unfinished(path), _unfinished(_header_of(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with data.open("wb") as file:
            header = _pour(rows, file, kind)
            _settle(file)
        if not header["tokens"]:
            raise CorpusError("the corpus is empty: there is no text to tokenize")
        header |= {"vocabulary": tokenizer.vocab.size, "tokenizer": tokenizer.fingerprint}
        with header_file.open("wb") as file:
            file.write(json.dumps(header, indent=1).encode())
            _settle(file)
        data.replace(path)
        header_file.replace(_header_of(path))
    except OSError as error:
        raise CorpusError(f"the tokens could not be written to {path} ({error.strerror}); an existing file is "
                          "unchanged. Give a writable folder, on a disk with enough space") from error
    finally:
        for file_left in (data, header_file):
            with suppress(OSError):
                file_left.unlink(missing_ok=True)


def read(path: Path, tokenizer: Tokenizer | None, check: bool) -> np.ndarray:
    """Memory-map the ids in a token file.

    Raises CorpusError if the file is missing, differs in length from its header, was changed (checked only if ``check``
    is True), or was written with another tokenizer than ``tokenizer``.
    """
    header = _header(path)
    kind = np.dtype(header["dtype"])
    if not path.is_file():
        raise CorpusError(f"there is no file {path}, only its header; build the stream again")
    if (size := path.stat().st_size) != (due := header["tokens"] * kind.itemsize):
        raise CorpusError(f"{path} has {size:,} bytes instead of {due:,}: it was truncated or replaced; "
                          "build the stream again")
    if check and _checksum(path) != header["crc32"]:
        raise CorpusError(f"{path} was changed since it was built (its checksum differs); build the stream again")
    if tokenizer is not None and header["tokenizer"] != tokenizer.fingerprint:
        raise CorpusError(f"{path} was written with another tokenizer (of {header['vocabulary']:,} tokens; yours has "
                          f"{tokenizer.vocab.size:,}); load that one, or build the stream again")
    return np.memmap(path, dtype=kind, mode="r")


def _header(path: Path) -> dict:
    file = _header_of(path)
    try:
        header = json.loads(file.read_bytes())
        if header["format"] == FORMAT and {"dtype", "tokens", "crc32", "vocabulary", "tokenizer"} <= header.keys():
            return header
    except FileNotFoundError:
        raise CorpusError(f"there is no token stream at {path}: {file.name} is missing; "
                          "write one with TokenStream.build, under an unused name") from None
    except (ValueError, TypeError, KeyError, OSError):
        pass
    raise CorpusError(f"{file} is not the header of a token stream ({FORMAT!r}); build the stream again, "
                      "under an unused name")


def _header_of(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.unfinished")


def _pour(rows: Iterator[np.ndarray], file: BinaryIO, kind: np.dtype) -> dict:
    """Write the arrays of ids as they arrive. Returns the contents of the header."""
    tokens = checksum = 0
    for row in rows:
        raw = row.astype(kind).tobytes()
        file.write(raw)
        tokens, checksum = tokens + len(row), zlib.crc32(raw, checksum)
    return {"format": FORMAT, "dtype": kind.str, "tokens": tokens, "crc32": checksum}


def _settle(file: BinaryIO) -> None:
    """Flush the file to disk."""
    file.flush()
    os.fsync(file.fileno())


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(BYTES_AT_ONCE):
            checksum = zlib.crc32(block, checksum)
    return checksum
