"""User-provided text: a local file, or a dataset from the Hugging Face Hub."""

import codecs
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from plmlab import git_lfs

PARAGRAPHS = (".txt", ".text", ".md")
RECORDS = (".jsonl", ".ndjson")
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)
OTHERS = ("gb18030", "cp1252", "cp1251")
"""Common encodings other than UTF-8 and UTF-16: Chinese, Western, Cyrillic."""
HEAD = 1000
"""Number of bytes at the start of a file that are checked for the alternating zeros of UTF-16."""


class CorpusError(ValueError):
    """Raised for a corpus that is missing, unreadable or too short."""


def read_texts(path: str | Path, field: str = "text") -> list[str]:
    """Read the texts of a file: the paragraphs of a .txt file, separated by blank lines, or one field of a .jsonl file.

    The file must be UTF-8. Raises CorpusError if it is missing, cannot be read, or contains no text. For a file larger
    than memory, use `each`.
    """
    return list(each(path, field))


def each(path: str | Path, field: str = "text") -> Iterator[str]:
    """Iterate over the texts of a file as in `read_texts`, but read the file lazily.

    Raises CorpusError with the cause: at once for a problem with the whole file (missing, a folder, another format),
    for an unreadable line when it is reached, and for an empty file at the end.
    """
    file = _there(Path(path))
    texts = _paragraphs(file) if file.suffix.lower() in PARAGRAPHS else _records(file, field)
    return _some(texts, file)


def hub(name: str, split: str = "train", column: str = "text", *, config: str | None = None) -> Sequence[str]:
    """Load one text column of a dataset on the Hugging Face Hub; the only function in this module that needs a network.

    ``config`` selects one of the dataset's configurations. Raises CorpusError if the package ``datasets``, the dataset
    or the column is not available.
    """
    try:
        import datasets
    except ImportError:
        raise CorpusError('datasets from the Hub need the package datasets: pip install "plmlab[hub]"') from None
    try:
        data = datasets.load_dataset(name, config, split=split)
    except Exception as error:  # network, name, split and format errors share no other base
        raise CorpusError(
            f"the dataset {name!r}, split {split!r}, could not be loaded ({type(error).__name__}: {error}); check "
            "its name, and that you are online. Without a network, use the Wikipedia sample of plmlab.text, or "
            "read_texts(path)"
        ) from error
    if column not in data.column_names:
        raise CorpusError(f"{name!r} has no column {column!r}; it has {', '.join(data.column_names)}")
    return data[column]


def _there(file: Path) -> Path:
    """Return the file. Raises CorpusError if it does not exist, is a folder, or has an unsupported format."""
    if file.is_dir():
        raise CorpusError(f"{file} is a folder; give one file in it, a .txt or .jsonl")
    if not file.exists():
        raise CorpusError(f"there is no file {file} (looked for from {Path.cwd()})")
    if file.suffix.lower() not in (*PARAGRAPHS, *RECORDS):
        raise CorpusError(f"{file.name}: {file.suffix or 'a file without extension'} is not supported; give plain text "
                          "as .txt, or one JSON object per line as .jsonl")
    return file


def _some(texts: Iterator[str], file: Path) -> Iterator[str]:
    """Yield the texts; raises CorpusError if there are none."""
    empty = True
    for text in texts:
        empty = False
        yield text
    if empty:
        raise CorpusError(f"{file} is empty: it holds no text")


def _lines(file: Path) -> Iterator[str]:
    """Yield the decoded lines of a file, without line ends; an error message names the first byte that is not UTF-8."""
    with _opened(file) as raw:
        start = raw.read(len(git_lfs.START))
        if start == git_lfs.START:
            raise CorpusError(f"{file} is {git_lfs.POINTER}")
        for mark, encoding in MARKS:
            if start.startswith(mark):
                raise CorpusError(f"{file} is {encoding.upper()}, not UTF-8 (it has that byte order mark)."
                                  + _copied(file, encoding))
        begin = len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0
        raw.seek(begin)
        ascii = not begin
        for number, line in enumerate(raw, 1):
            yield _decoded(line, begin, number, file, ascii)
            begin += len(line)
            ascii = ascii and line.isascii()


def _opened(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except OSError as error:
        raise CorpusError(f"{file} cannot be opened ({error.strerror})") from error


def _decoded(line: bytes, begin: int, number: int, file: Path, ascii: bool) -> str:
    """Decode one line, which starts at byte ``begin`` of the file; ``ascii`` is True if all previous bytes are
    ASCII."""
    if (zero := line.find(0)) >= 0:
        raise CorpusError(f"{file} is not plain text: there is a zero byte at byte {begin + zero:,}, line {number:,}."
                          + _alternating(file))
    try:
        return line.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        at = error.start
        problem = f"{file} is not UTF-8: byte {begin + at:,} (line {number:,}) is 0x{line[at]:02x}."
        if ascii and line[:at].isascii():
            raise CorpusError(problem + _elsewhere(file, line, at)) from None
        raise CorpusError(f"{problem} The characters before it are valid UTF-8: the byte may be damaged, or the file "
                          "was cut in the middle of a character. Download it again, or fix this line in a "
                          "copy") from None


def _alternating(file: Path) -> str:
    """A hint for an error about zero bytes: in UTF-16 text every other byte is zero, even without a byte order mark."""
    with _opened(file) as raw:
        head = raw.read(HEAD)
    for zeros, letters, encoding in ((1, 0, "utf-16-le"), (0, 1, "utf-16-be")):
        if 2 * head[zeros::2].count(0) > len(head[zeros::2]) and 0 not in head[letters::2]:
            return " Every other byte is zero, as in UTF-16." + _copied(file, encoding)
    return " If it is a text file, remove that byte in a copy"


def _elsewhere(file: Path, line: bytes, at: int) -> str:
    """Show a line, whose first non-ASCII byte is at ``at``, in each of the other encodings that can decode the whole
    file."""
    readings = [f"as {encoding} {line[max(0, at - 20):].decode(encoding)[:40].strip()!r}"
                for encoding in OTHERS if _decodes(file, encoding)]
    if not readings:
        return " The byte is damaged, or the file is not text. Download it again, or fix this line in a copy"
    return (f" That place reads {', '.join(readings)}. If none of these is correct, the byte is damaged, or the "
            "encoding is another one. If one is, put its name for ENCODING and" + _copy(file, "ENCODING"))


def _copied(file: Path, encoding: str) -> str:
    """Instructions for writing a UTF-8 copy of a file in a known encoding, or a note that the file is damaged if it
    cannot be decoded."""
    if not _decodes(file, encoding):
        return " But it is damaged and does not decode as such; download it again"
    return f" To read it,{_copy(file, repr(encoding))}"


def _decodes(file: Path, encoding: str) -> bool:
    """Whether a whole file can be decoded as text in an encoding."""
    try:
        with file.open(encoding=encoding) as text:
            return all(True for _ in text)
    except UnicodeError:
        return False


def _copy(file: Path, encoding: str) -> str:
    """A line of Python code that writes a UTF-8 copy next to a file, without overwriting anything."""
    copy = file.with_name(f"{file.stem}.utf-8{file.suffix}")
    return (f" write a copy in UTF-8: with open({str(file)!r}, encoding={encoding}) as old, open({str(copy)!r}, 'x', "
            "encoding='utf-8') as new: new.writelines(old)")


def _paragraphs(file: Path) -> Iterator[str]:
    """Yield the paragraphs of a plain text, with their line breaks."""
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
    """Yield one field of every JSON object, one object per line; blank lines and empty texts are skipped."""
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
            raise CorpusError(f"{file}, line {number:,} has no field {field!r}; it has "
                              f"{', '.join(record) or 'none':.200}. Give a file with its texts in {field!r}; in "
                              "Python, read_texts(path, field=…) reads another field")
        if not isinstance(record[field], str):
            raise CorpusError(f"{file}, line {number:,}: field {field!r} is not text but {record[field]!r:.60}")
        if record[field].strip():
            yield record[field]
