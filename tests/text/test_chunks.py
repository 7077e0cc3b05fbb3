"""Pieces of texts: a file holds what memory holds, piece for piece, and damage to it is noticed."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch

from plmlab.objectives import causal, masked
from plmlab.text import CorpusError, Tokenizer, examples, tokenfile
from plmlab.text.chunks import TokenChunks
from plmlab.text.streams import examples_of
from plmlab.text.text import Named

TEXTS = ["the miller mended the bridge and a heron slept below it", "nobody saw [MASK] the heron", "",
         "a bridge", "[CLS] the [SEP] miller [PAD]", "the heron"]
TRAIN, STARTS, HEADER = "train.bin", "train.bin.starts", "train.bin.json"


@pytest.fixture(scope="module", params=["words", "bpe", "wordpiece"])
def tokenizer(request) -> Tokenizer:
    return getattr(Tokenizer, request.param)(TEXTS, 320)


@pytest.fixture
def built(tmp_path: Path) -> tuple[Path, Tokenizer]:
    """The texts in pieces of five in a file, and what they were cut with."""
    tokenizer = Tokenizer.words(TEXTS, 100)
    TokenChunks.build(TEXTS, tokenizer, tmp_path / TRAIN, 5)
    return tmp_path / TRAIN, tokenizer


def by_hand(tokenizer: Tokenizer, longest: int) -> list[list[int]]:
    """The pieces, one text after the other, cut where they are full."""
    pieces = []
    for text in TEXTS:
        ids = tokenizer.encode(text, plain=True)
        while ids:
            pieces.append(ids[:longest])
            ids = ids[longest:]
    return pieces


@pytest.mark.parametrize("longest", [1, 2, 5, 11, 1000])
def test_a_file_holds_what_memory_holds_piece_for_piece(tokenizer: Tokenizer, longest: int, tmp_path: Path) -> None:
    expected = by_hand(tokenizer, longest)
    in_memory = TokenChunks.of(iter(TEXTS), tokenizer, longest)
    built = TokenChunks.build(iter(TEXTS), tokenizer, tmp_path / "deep" / TRAIN, longest)
    opened = TokenChunks.open(tmp_path / "deep" / TRAIN, tokenizer, longest)
    assert isinstance(opened.ids, np.memmap) and isinstance(opened.starts, np.memmap)
    for pieces in (in_memory, built, opened):
        assert len(pieces) == len(expected)
        assert [list(pieces[i]) for i in range(len(pieces))] == expected
    assert sorted(file.name for file in (tmp_path / "deep").iterdir()) == [TRAIN, HEADER, STARTS]


def test_a_piece_knows_what_the_same_part_of_its_text_knows(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """In memory and in a file; of its entities nothing, where its text does not."""
    texts = [*TEXTS, "a heron. a bridge! nobody", Named("nobody saw a heron", [(0, 6), (13, 18)]),
             Named("a bridge", [])]
    expected = [text[start:start + 5] for text in map(partial(tokenizer.text, plain=True), texts)
                for start in range(0, len(text), 5)]
    for pieces in (TokenChunks.of(texts, tokenizer, 5), TokenChunks.build(texts, tokenizer, tmp_path / TRAIN, 5)):
        for what in ("words", "sentences", "entities"):
            assert [getattr(pieces[i], what) for i in range(len(pieces))] == [getattr(part, what) for part in expected]
    assert {part.entities is None for part in expected} == {True, False}


def test_pieces_of_ids_alone_as_they_once_were_are_refused(tmp_path: Path) -> None:
    tokenizer = Tokenizer.words(TEXTS, 100)
    for texts in (TEXTS[:1], TEXTS[:2]):
        ids = TokenChunks.build(texts, tokenizer, tmp_path / TRAIN, 5).ids
        tokenfile.write_rows(iter([np.array(ids)]), tokenizer, tmp_path / TRAIN)
        with pytest.raises(CorpusError, match="does not belong to the chunks"):
            TokenChunks.open(tmp_path / TRAIN, tokenizer, 5)


def test_a_special_token_in_a_text_stays_text(tokenizer: Tokenizer, tmp_path: Path) -> None:
    pieces = TokenChunks.build(TEXTS, tokenizer, tmp_path / TRAIN, 4)
    vocab = tokenizer.vocab
    assert not {vocab.mask, vocab.cls, vocab.sep, vocab.pad} & set(pieces.ids.tolist())
    assert vocab.mask in tokenizer.encode(TEXTS[1]), "a person who types it means the token"


def test_a_vocabulary_of_two_bytes_and_one_of_four_are_cut_alike(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(70_000)]
    texts = [" ".join(words[i:i + 700]) for i in range(0, 70_000, 700)]
    tokenizer = Tokenizer.words(words, 80_000)
    pieces = TokenChunks.build(texts, tokenizer, tmp_path / TRAIN, 256)
    assert (tmp_path / TRAIN).stat().st_size == 2 * 4 * 70_000, "an id and a mark a token"
    assert [len(pieces[i]) for i in range(3)] == [256, 256, 188]
    assert tokenizer.tokens(pieces[299]) == words[-188:]


@pytest.mark.parametrize("objective", [masked, causal])
def test_batches_from_a_file_are_those_from_memory(objective: Callable, tokenizer: Tokenizer, tmp_path: Path) -> None:
    in_memory = examples(TEXTS, tokenizer, objective, batch=5, seed=3, max_tokens=4)
    pieces = TokenChunks.build(TEXTS, tokenizer, tmp_path / TRAIN, 4)
    from_file = examples_of(pieces, tokenizer.vocab, objective, batch=5, seed=3)
    for step in (0, 7, 2):
        one, other = in_memory(step), from_file(step)
        assert torch.equal(one.tokens, other.tokens) and torch.equal(one.targets, other.targets)
        assert torch.equal(one.position_ids, other.position_ids)
    rng = Random("3:7")     # the promise to other machines, written out
    expected = by_hand(tokenizer, 4)
    drawn = [objective(piece, vocab=tokenizer.vocab, rng=rng)
             for piece in [expected[int(rng.random() * len(expected))] for _ in range(5)]]
    for row, example in zip(from_file(7).tokens, drawn, strict=True):
        assert torch.equal(row[:len(example.tokens)], example.tokens)


def test_where_the_pieces_begin_must_be_whole(built: tuple[Path, Tokenizer]) -> None:
    path, tokenizer = built
    starts = path.with_name(STARTS)
    whole = starts.read_bytes()
    zeros, swapped = bytes(len(whole)), whole[8:16] + whole[:8] + whole[16:]
    changed = [bytes([*whole[:i], whole[i] ^ 1, *whole[i + 1:]]) for i in range(0, len(whole), 5)]
    cut_off = [whole[:end] for end in (0, 1, 8, 16, 24, len(whole) - 8, len(whole) - 1)]
    for damaged in (*cut_off, whole[8:], whole + b"\0", whole * 2, zeros, swapped, *changed):
        starts.write_bytes(damaged)
        with pytest.raises(CorpusError, match=r"is not a valid index of the chunks of .*build them again"):
            TokenChunks.open(path, tokenizer, 5)
    starts.unlink()
    with pytest.raises(CorpusError, match=r"train\.bin\.starts is not a valid index of .*: it is missing"):
        TokenChunks.open(path, tokenizer, 5)
    starts.write_bytes(whole)
    assert len(TokenChunks.open(path, tokenizer, 5)) == len(by_hand(tokenizer, 5))


def test_the_tokens_must_be_whole_and_theirs(built: tuple[Path, Tokenizer]) -> None:
    path, tokenizer = built
    whole, starts = path.read_bytes(), path.with_name(STARTS).read_bytes()
    with pytest.raises(CorpusError, match="written with another tokenizer"):
        TokenChunks.open(path, Tokenizer.words(["x y"], 100), 5)
    path.write_bytes(whole[:-2])
    with pytest.raises(CorpusError, match="was truncated or replaced"):
        TokenChunks.open(path, tokenizer, 5)
    path.write_bytes(whole[:-1] + b"\x07")
    with pytest.raises(CorpusError, match="was changed since it was built"):
        TokenChunks.open(path, tokenizer, 5)
    TokenChunks.build(TEXTS[:2], tokenizer, path, 5)
    path.with_name(STARTS).write_bytes(starts)
    with pytest.raises(CorpusError, match="does not belong to the chunks"):
        TokenChunks.open(path, tokenizer, 5)
    with pytest.raises(CorpusError, match="no token stream at"):
        TokenChunks.open(path.with_name("none.bin"), tokenizer, 5)


@pytest.mark.parametrize("longest", [4, 6])
def test_pieces_of_another_length_are_refused(built: tuple[Path, Tokenizer], longest: int) -> None:
    with pytest.raises(CorpusError, match=f"up to 5 tokens, not {longest}; build them again"):
        TokenChunks.open(*built, longest)


def test_a_build_that_fails_leaves_what_was_there(built: tuple[Path, Tokenizer], monkeypatch) -> None:
    path, tokenizer = built
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}

    def interrupted() -> Iterator[str]:
        yield "the bridge"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TokenChunks.build(interrupted(), tokenizer, path, 5)
    for nothing in ([], ["", ""]):
        with pytest.raises(CorpusError, match="the corpus is empty"):
            TokenChunks.build(nothing, tokenizer, path, 5)
        with pytest.raises(CorpusError, match="the corpus is empty"):
            TokenChunks.of(nothing, tokenizer, 5)
    with pytest.raises(CorpusError, match="single string"):
        TokenChunks.build("the bridge", tokenizer, path, 5)
    monkeypatch.setattr("os.fsync", lambda file: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(CorpusError, match=r"could not be written .*No space left"):
        TokenChunks.build(["a heron"], tokenizer, path, 5)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_progress_is_told_in_characters(built: tuple[Path, Tokenizer], capsys) -> None:
    path, tokenizer = built
    TokenChunks.build(TEXTS, tokenizer, path, 5)
    assert capsys.readouterr().err == ""
    TokenChunks.build(TEXTS, tokenizer, path, 5, progress=True)
    assert f"{sum(map(len, TEXTS))}" in capsys.readouterr().err
