"""The comparison with the library's BPE accepts its own merges and subwords, and finds changed ones."""

import json

import pytest

from plmlab.chapters.ch07.library_bpe import (
    BYTE_ORDER,
    HARD_TEXTS,
    SPECIAL,
    identical_merges,
    split_differently,
    symbols,
)
from plmlab.text import Tokenizer

TEXTS = ["the then hen the the then", "voilà, the 语言 hens"]


@pytest.fixture(scope="module")
def trained() -> Tokenizer:
    return Tokenizer.bpe(TEXTS, SPECIAL + 256 + 5)


def as_bytes(text: str) -> bytes:
    byte_of = {symbol: byte for byte, symbol in symbols().items()}
    return b"".join(byte_of[symbol] for symbol in text)


def test_bytes_are_written_as_gpt2_writes_them() -> None:
    assert sorted(BYTE_ORDER) == [bytes([byte]) for byte in range(256)]
    assert symbols()[b"a"] == "a" and symbols()[b" "] == "Ġ" and symbols()[b"\n"] == "Ċ"


def test_its_own_merges_are_identical_and_swapped_ones_are_not(trained: Tokenizer) -> None:
    pairs = json.loads(trained.backend.to_str())["model"]["merges"]
    merges = [(as_bytes(a), as_bytes(b)) for a, b in pairs]
    assert identical_merges(merges, trained) == len(merges)
    assert identical_merges([merges[1], merges[0], *merges[2:]], trained) == len(merges) - 2


def test_its_own_subwords_are_identical_and_bytes_are_not(trained: Tokenizer) -> None:
    def own(text: str) -> list[bytes]:
        return [as_bytes(subword) for subword in trained.backend.encode(text).tokens]

    assert not split_differently(own, trained, [*TEXTS, *HARD_TEXTS])
    assert split_differently(lambda text: [bytes([byte]) for byte in text.encode()], trained, TEXTS) == TEXTS
