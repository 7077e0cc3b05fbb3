"""Byte-pair encoding of the `tokenizers` library, compared with an implementation that is given as functions."""

import json
from collections.abc import Callable, Sequence

from plmlab.text import Tokenizer
from plmlab.text.vocabulary import Vocabulary

HARD_TEXTS = ("", " ", "  two  spaces ", "a\n\n b\t", "don't DON'T 'tis", "naïve e\u0301 ½ ² 3.14", "语言 模型，你好",
              "🙂👩‍👩‍👧🇨🇳", "שלום עולם", "\u202eright to left", "nul\x00nul", "<img onerror=alert(1)>", "aaaaaaa",
              "\ufffd\ufeff\u200b")
SPECIAL = len(Vocabulary(0).special)
"""Number of special tokens of the course's tokenizers."""

PRINTABLE = (*range(33, 127), *range(161, 173), *range(174, 256))
"""Bytes that are a visible character in Latin-1."""
BYTE_ORDER = [bytes([byte]) for byte in sorted(range(256), key=lambda byte: (byte not in PRINTABLE, byte))]
"""All bytes in the order of their ids in the library, which decides ties between equally frequent pairs."""

Merge = tuple[bytes, bytes]


def symbols() -> dict[bytes, str]:
    """Byte → the character with which the library writes it."""
    from tokenizers import pre_tokenizers

    return dict(zip(BYTE_ORDER, sorted(pre_tokenizers.ByteLevel.alphabet()), strict=True))


def identical_merges(merges: Sequence[Merge], trained: Tokenizer) -> int:
    """Number of merges that a trained tokenizer has learned at the same place in the order."""
    symbol_of = symbols()

    def written(subword: bytes) -> str:
        return "".join(symbol_of[bytes([byte])] for byte in subword)
    theirs = json.loads(trained.backend.to_str())["model"]["merges"]
    return sum([written(a), written(b)] == list(pair) for (a, b), pair in zip(merges, theirs, strict=True))


def split_differently(encode: Callable[[str], Sequence[bytes]], trained: Tokenizer, texts: Sequence[str],
                      ) -> list[str]:
    """Texts that ``encode`` and a trained tokenizer split differently, or that one of them does not restore."""
    byte_of = {symbol: byte for byte, symbol in symbols().items()}

    def theirs(text: str) -> list[bytes]:
        return [b"".join(byte_of[symbol] for symbol in subword) for subword in trained.backend.encode(text).tokens]
    return [text for text in texts if theirs(text) != list(encode(text)) or b"".join(encode(text)).decode() != text
            or trained.decode(trained.encode(text)) != text]
