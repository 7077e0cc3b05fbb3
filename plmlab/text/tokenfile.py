"""A flat file of tokens: what training reads, laid down once. A .bin of whole numbers, and a .json that says which."""

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
    """The texts in lists of about 256 thousand characters, 4,096 texts at most; ``progress``
    shows a line that counts them."""
    if isinstance(texts, str):
        raise CorpusError("the texts are one string; give a list of texts, such as [text]")
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
    """The ids of the texts, an array for each chunk, the token ``separator`` after each text (None: nothing)."""
    after = [] if separator is None else [tokenizer.id(separator)]
    for chunk in chunks(texts, progress):
        yield _joined([row + after for row in tokenizer.encode_all(chunk, plain=True)])


def _joined(rows: Sequence[Sequence[int]]) -> np.ndarray:
    return np.fromiter((id for row in rows for id in row), dtype=np.uint32)


def write(texts: Iterable[str], tokenizer: Tokenizer, path: Path, separator: str | None, progress: bool) -> None:
    """Write the ids of all texts, as `write_rows` does."""
    write_rows(encoded(texts, tokenizer, separator, progress), tokenizer, path)


def write_rows(rows: Iterator[np.ndarray], tokenizer: Tokenizer, path: Path) -> None:
    """Write ids one after the other; the file appears under its name only when it is complete and on the disk.

    CorpusError where there is no text, or where the disk refuses; what stood there stays as it was.
    """
    kind = np.dtype("<u2" if tokenizer.vocab.size <= 1 << 16 else "<u4")
    data, header = _unfinished(path), _unfinished(_header_of(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with data.open("wb") as file:
            said = _pour(rows, file, kind)
            _settle(file)
        if not said["tokens"]:
            raise CorpusError("the corpus is empty: there is no text to write tokens of")
        said |= {"vocabulary": tokenizer.vocab.size, "tokenizer": tokenizer.fingerprint}
        with header.open("wb") as file:
            file.write(json.dumps(said, indent=1).encode())
            _settle(file)
        data.replace(path)
        header.replace(_header_of(path))
    except OSError as error:
        raise CorpusError(f"the tokens could not be written to {path} ({error.strerror}); what stood there is as it "
                          "was. Give a folder that you may write to, on a disk with room") from error
    finally:
        for file_left in (data, header):
            with suppress(OSError):
                file_left.unlink(missing_ok=True)


def read(path: Path, tokenizer: Tokenizer | None, check: bool) -> np.ndarray:
    """The ids in a token file, mapped into memory as they are touched.

    CorpusError where the file is missing, has another length than its header says, was changed (looked at only if
    ``check`` is True), or was written with another tokenizer than ``tokenizer``.
    """
    said = _header(path)
    kind = np.dtype(said["dtype"])
    if not path.is_file():
        raise CorpusError(f"there is no file {path}, only its header; build the stream again")
    if (size := path.stat().st_size) != (due := said["tokens"] * kind.itemsize):
        raise CorpusError(f"{path} has {size:,} bytes and should have {due:,}: it was cut off or replaced; "
                          "build the stream again")
    if check and _checksum(path) != said["crc32"]:
        raise CorpusError(f"{path} was changed since it was built (its checksum differs); build the stream again")
    if tokenizer is not None and said["tokenizer"] != tokenizer.fingerprint:
        raise CorpusError(f"{path} was written with another tokenizer (of {said['vocabulary']:,} tokens; yours has "
                          f"{tokenizer.vocab.size:,}); load that one, or build the stream again")
    return np.memmap(path, dtype=kind, mode="r")


def _header(path: Path) -> dict:
    file = _header_of(path)
    try:
        said = json.loads(file.read_bytes())
        if said["format"] == FORMAT and {"dtype", "tokens", "crc32", "vocabulary", "tokenizer"} <= said.keys():
            return said
    except FileNotFoundError:
        raise CorpusError(f"there is no token stream at {path}: {file.name} is not there; "
                          "write one, under a name that no other file has, with TokenStream.build") from None
    except (ValueError, TypeError, KeyError, OSError):
        pass
    raise CorpusError(f"{file} is not the header of a token stream ({FORMAT!r}); build the stream again, "
                      "under a name that no other file has")


def _header_of(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.unfinished")


def _pour(rows: Iterator[np.ndarray], file: BinaryIO, kind: np.dtype) -> dict:
    """Write the ids as they come; returns what the header says of them."""
    tokens = checksum = 0
    for row in rows:
        raw = row.astype(kind).tobytes()
        file.write(raw)
        tokens, checksum = tokens + len(row), zlib.crc32(raw, checksum)
    return {"format": FORMAT, "dtype": kind.str, "tokens": tokens, "crc32": checksum}


def _settle(file: BinaryIO) -> None:
    """On the disk, not only on its way there."""
    file.flush()
    os.fsync(file.fileno())


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(BYTES_AT_ONCE):
            checksum = zlib.crc32(block, checksum)
    return checksum
