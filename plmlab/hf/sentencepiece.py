"""Tokenizers of T5 in SentencePiece's own format, ``spiece.model``, read without the packages ``sentencepiece`` and
``protobuf``.

The file is a protocol buffer of which three fields are needed: the pieces with their scores, and the table of the text
normalization.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import T5Tokenizer

PIECES, TRAINER, NORMALIZER = 1, 2, 3
"""Fields of the file."""
TEXT, SCORE = 1, 2
"""Fields of a piece."""
MODEL_TYPE, UNIGRAM = 3, 1
"""Field of the trainer's settings, and its value for the unigram language model (Kudo 2018), the default."""
CHARSMAP = 2
"""Field of the normalizer's settings: its compiled table."""
EXTRA_IDS = 100
"""Number of sentinels, which are not in the file; the first has the largest id."""


def t5_tokenizer(file: str | Path) -> "T5Tokenizer":
    """Load a T5 tokenizer of ``transformers`` from a ``spiece.model``, with the sentinels <extra_id_0>, …, after the
    pieces. Raises ValueError for a file in another format or with another kind of model than unigram."""
    from transformers import T5Tokenizer

    try:
        found = list(fields(Path(file).read_bytes()))
        pieces = [dict(fields(value)) for number, value in found if number == PIECES]
        vocab = [(piece[TEXT].decode(), struct.unpack("<f", piece.get(SCORE, bytes(4)))[0]) for piece in pieces]
        trainer, normalizer = (dict(fields(dict(found)[number])) for number in (TRAINER, NORMALIZER))
    except (AttributeError, IndexError, KeyError, TypeError, UnicodeDecodeError, struct.error) as error:
        raise ValueError(f"{file} is not a SentencePiece model") from error
    if trainer.get(MODEL_TYPE, UNIGRAM) != UNIGRAM:
        raise ValueError(f"{file} has a SentencePiece model of type {trainer[MODEL_TYPE]}; a T5 has type {UNIGRAM}, a "
                         "unigram language model")
    return T5Tokenizer(vocab=[*vocab, *((f"<extra_id_{i}>", 0.0) for i in reversed(range(EXTRA_IDS)))],
                       _spm_precompiled_charsmap=normalizer.get(CHARSMAP) or None, extra_ids=EXTRA_IDS)


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each field of a protocol buffer message: an integer, or bytes (numbers of a
    fixed size, texts and nested messages). Raises IndexError or ValueError if the data end within a field."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield number, value
            continue
        size, at = _varint(data, at) if wire == 2 else ({1: 8, 5: 4}[wire], at)
        if at + size > len(data):
            raise IndexError("the message ends within a field")
        yield number, data[at:at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The integer that begins at ``at``, in groups of 7 bits, and the index after it."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at
