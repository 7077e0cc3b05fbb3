"""A reader's own text: a file on this machine, or a data set by its name on the Hugging Face hub."""

import codecs
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

PARAGRAPHS = (".txt", ".text", ".md")
RECORDS = (".jsonl", ".ndjson")
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)


class CorpusError(ValueError):
    """A corpus that is not there, cannot be read, or is too short for what is asked of it."""


def read_texts(path: str | Path, field: str = "text") -> list[str]:
    """The texts in a reader's file: paragraphs of a .txt, set apart by blank lines, or one field of a .jsonl.

    The file must be UTF-8. CorpusError where it is missing, cannot be read, or holds no text. For one
    larger than memory see `each`.
    """
    return list(each(path, field))


def each(path: str | Path, field: str = "text") -> Iterator[str]:
    """The texts of `read_texts`, one at a time, the file read as they are asked for.

    A CorpusError tells what is wrong. What is wrong with the file as a whole (missing, a folder, another format) is
    said at once; a line that cannot be read, when it is reached; an empty file, at its end.
    """
    file = _there(Path(path))
    texts = _paragraphs(file) if file.suffix.lower() in PARAGRAPHS else _records(file, field)
    return _some(texts, file)


def hub(name: str, split: str = "train", column: str = "text", *, config: str | None = None) -> Sequence[str]:
    """One column of texts of a data set by its name on the hub; the only thing here that needs a network.

    ``config`` chooses among the data set's configurations. CorpusError where the package ``datasets``, the data set or
    the column cannot be had.
    """
    try:
        import datasets
    except ImportError:
        raise CorpusError('hub data sets need the package datasets: pip install "plmlab[hub]"') from None
    try:
        data = datasets.load_dataset(name, config, split=split)
    except Exception as error:  # network, name, split and format errors share no other base
        raise CorpusError(
            f"the data set {name!r}, split {split!r}, could not be loaded ({type(error).__name__}: {error}); check "
            "its name, and that you are online. Without a network, plmlab.text has Wikipedia's sample, and "
            "read_texts(path)"
        ) from error
    if column not in data.column_names:
        raise CorpusError(f"{name!r} has no column {column!r}; it has {', '.join(data.column_names)}")
    return data[column]


def _there(file: Path) -> Path:
    """The file, once it is sure that it is one, and of a format that we read."""
    if file.is_dir():
        raise CorpusError(f"{file} is a folder; give one file in it, a .txt or .jsonl")
    if not file.exists():
        raise CorpusError(f"there is no file {file} (looked for from {Path.cwd()})")
    if file.suffix.lower() not in (*PARAGRAPHS, *RECORDS):
        raise CorpusError(f"{file.name}: a {file.suffix or 'file without ending'} is not read; give plain text as "
                          ".txt, or one JSON object a line as .jsonl")
    return file


def _some(texts: Iterator[str], file: Path) -> Iterator[str]:
    """The texts, and an error if there are none."""
    empty = True
    for text in texts:
        empty = False
        yield text
    if empty:
        raise CorpusError(f"{file} is empty: it holds no text")


def _lines(file: Path) -> Iterator[str]:
    """The decoded lines of a file, without their ends; an error tells the byte that is not UTF-8."""
    with _opened(file) as raw:
        start = raw.read(4)
        for mark, encoding in MARKS:
            if start.startswith(mark):
                raise CorpusError(f"{file} is {encoding.upper()}, not UTF-8 (its first bytes say so). "
                                  + _to_utf8(file, encoding))
        begin = len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0
        raw.seek(begin)
        for number, line in enumerate(raw, 1):
            yield _decoded(line, begin, number, file)
            begin += len(line)


def _opened(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except OSError as error:
        raise CorpusError(f"{file} cannot be opened ({error.strerror})") from error


def _decoded(line: bytes, begin: int, number: int, file: Path) -> str:
    """One line as text; it begins at byte ``begin`` of the file."""
    if (zero := line.find(0)) >= 0:
        raise CorpusError(f"{file} is no plain text: there is a zero byte at byte {begin + zero:,}, line {number:,}. "
                          "If it is text, it is UTF-16. " + _to_utf8(file, "utf-16-le"))
    try:
        return line.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{file} is not UTF-8: byte {begin + error.start:,} (line {number:,}) is 0x{line[error.start]:02x}. "
            "Common others are cp1252 (Western) and gb18030 (Chinese). " + _to_utf8(file, "cp1252")
        ) from None


def _to_utf8(file: Path, encoding: str) -> str:
    return (f"Save it as UTF-8 in your editor, or: from pathlib import Path; p = Path({str(file)!r}); "
            f"p.write_text(p.read_text({encoding!r}), 'utf-8')")


def _paragraphs(file: Path) -> Iterator[str]:
    """The paragraphs of a plain text, their line breaks kept."""
    block: list[str] = []
    for line in _lines(file):
        if line.strip():
            block.append(line)
        elif block:
            yield "\n".join(block)
            block = []
    if block:
        yield "\n".join(block)


def _records(file: Path, field: str) -> Iterator[str]:
    """One field of every JSON object, one object a line; blank lines and empty texts are passed over."""
    for number, line in enumerate(_lines(file), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CorpusError(f"{file}, line {number:,} is not JSON ({error}): {line[:60]!r}") from None
        if not isinstance(record, dict):
            raise CorpusError(f"{file}, line {number:,} is a JSON {type(record).__name__}, not an object such as "
                              f'{{"{field}": "…"}}')
        if field not in record:
            raise CorpusError(f"{file}, line {number:,} has no field {field!r}; it has {', '.join(record) or 'none'}. "
                              "Name the right one: read_texts(path, field=…)")
        if not isinstance(record[field], str):
            raise CorpusError(f"{file}, line {number:,}: field {field!r} is not text but {record[field]!r}"[:300])
        if record[field].strip():
            yield record[field]
