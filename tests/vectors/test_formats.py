"""Files of word vectors: ours and gensim's, both ways, and what is said of a broken one."""

import gzip
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import torch
from gensim.models import KeyedVectors, Word2Vec
from hypothesis import given, settings
from hypothesis import strategies as st

from plmlab.vectors import (
    VectorFileError,
    WordVectors,
    from_keyed_vectors,
    read_vectors,
    to_keyed_vectors,
    write_glove,
    write_word2vec,
    write_word2vec_binary,
)

WRITERS = {"word2vec": write_word2vec, "binary": write_word2vec_binary, "glove": write_glove}
LOAD = {"word2vec": {}, "binary": {"binary": True}, "glove": {"no_header": True}}
WORDS = ("the", "café", "桥", "😀", "New_York", "1990", "nan", "\u00a0", "a\u2028b", "\x85", "\t", "e1", "x\r", "</s>")
HARD = torch.tensor([0.1, -0.0, 1 / 3, 1e-45, -3.4028235e38, 1.17549435e-38, 1001.00006, 7.038530691851209e-26])


def drawn(words: int = 50, size: int = 4) -> WordVectors:
    return WordVectors(tuple(f"wörd{i}" for i in range(words)),
                       torch.randn(words, size, generator=torch.Generator().manual_seed(words)))


def hard() -> WordVectors:
    """Words and numbers that are easily lost."""
    return WordVectors(WORDS, torch.stack([HARD.roll(i) for i in range(len(WORDS))]))


def put(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def same(ours: WordVectors, theirs: WordVectors) -> None:
    """The same words, and the same numbers to the bit."""
    assert ours.words == theirs.words
    assert ours.matrix.dtype == torch.float32
    assert torch.equal(ours.matrix.view(torch.int32), theirs.matrix.float().view(torch.int32))


def says(path, *parts: str, **choices) -> None:
    with pytest.raises(VectorFileError) as told:
        read_vectors(path, **choices)
    for part in (str(path), *parts):
        assert part in str(told.value), str(told.value)


@pytest.mark.parametrize("name", ["v.txt", "v.gz", "v"])
@pytest.mark.parametrize("form", WRITERS)
def test_what_is_written_is_read_again_to_the_bit(form: str, name: str, tmp_path) -> None:
    for vectors in (hard(), drawn()):
        WRITERS[form](vectors, tmp_path / name)
        same(read_vectors(str(tmp_path / name)), vectors)
        assert os.listdir(tmp_path) == [name]
        assert name.endswith("gz") == (tmp_path / name).read_bytes().startswith(b"\x1f\x8b")


def test_the_shortest_digits_would_lose_one(tmp_path) -> None:
    """Why nine are written: gensim writes the shortest, which float64 rounds to the neighbour."""
    value = np.array([0x15AE43FD], np.uint32).view(np.float32)
    assert np.float32(float(str(value[0]))) != value[0] == np.float32(float(f"{value[0]:.9g}"))
    write_word2vec(WordVectors(("a",), torch.from_numpy(value)[None]), tmp_path / "v")
    assert read_vectors(tmp_path / "v").matrix.numpy() == value


@pytest.mark.parametrize("form", WRITERS)
def test_gensim_reads_what_we_write(form: str, tmp_path) -> None:
    for vectors in (drawn(), hard()):
        WRITERS[form](vectors, tmp_path / "v")
        same(from_keyed_vectors(KeyedVectors.load_word2vec_format(tmp_path / "v", **LOAD[form])), vectors)


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("choices", [{}, {"binary": True}, {"write_header": False}])
def test_we_read_what_gensim_writes(choices: dict, suffix: str, tmp_path) -> None:
    path = str(tmp_path / f"v{suffix}")
    to_keyed_vectors(drawn()).save_word2vec_format(path, **choices)
    same(read_vectors(path), drawn())


def test_a_binary_file_of_ours_is_gensims(tmp_path) -> None:
    to_keyed_vectors(drawn()).save_word2vec_format(tmp_path / "theirs", binary=True)
    write_word2vec_binary(drawn(), tmp_path / "ours")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_word2vecs_own_files_end_a_row_otherwise(tmp_path) -> None:
    """word2vec.c and fastText put a space before a text row's end, word2vec.c a line break after a binary row."""
    says_so = [[1.5, -2], [0, 10]]
    for content in ("2 2\na 1.5 -2 \nb 0 10 \n", "2 2\r\na 1.5 -2\r\nb 0 1e1\r\n", "\ufeffa 1.5 -2.0\nb 0.0 10.0\n",
                    "\ufeff2 2\na 1.5 -2\nb +0 1E1\n", "2 2\na 1.5 -2\nb 0 10\n\n \n",
                    b"2 2\na " + np.float32([1.5, -2]).tobytes() + b"\nb " + np.float32([0, 10]).tobytes() + b"\n"):
        vectors = read_vectors(put(tmp_path / "v", content))
        assert vectors.words == ("a", "b") and vectors.matrix.tolist() == says_so


def test_words_may_hold_spaces(tmp_path) -> None:
    """As some of GloVe's 840B do: the last numbers of a row are the vector."""
    rows = ", 0.1 0.2\n. . . 0.3 0.4\nat name@domain.com 0.5 0.6\n1 2/3 0.7 0.8\nto infinity 0.9 1.0\n"
    for content in (rows, "5 2\n" + rows):
        vectors = read_vectors(put(tmp_path / "v", content))
        assert vectors.words == (",", ". . .", "at name@domain.com", "1 2/3", "to infinity")
        assert vectors.matrix[:, 0].tolist() == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9])
    assert read_vectors(put(tmp_path / "v", "New York 0.1 0.2\na 1.0 2.0\n")).words == ("New York", "a")


def test_two_whole_numbers_are_a_header(tmp_path) -> None:
    assert read_vectors(put(tmp_path / "v", "1 1\n2 3\n")).words == ("2",)
    assert read_vectors(put(tmp_path / "v", "1 1.0\n2 3\n")).words == ("1", "2")
    says(put(tmp_path / "v", "7 1\n8 2\n9 3\n"), "row 3 (line 4)", "header gives 7 words")


@pytest.mark.parametrize("form", WRITERS)
def test_a_limit_reads_the_first_words_only(form: str, tmp_path) -> None:
    WRITERS[form](drawn(), tmp_path / "v")
    for limit in (1, 7, 50, 80):
        same(read_vectors(tmp_path / "v", limit=limit), drawn().only(drawn().words[:limit]))
    put(tmp_path / "v", (tmp_path / "v").read_bytes()[:-1])
    same(read_vectors(tmp_path / "v", limit=3), drawn().only(drawn().words[:3]))
    with pytest.raises(ValueError, match="limit=0 was given"):
        read_vectors(tmp_path / "v", limit=0)


@pytest.mark.parametrize("form", WRITERS)
def test_a_file_of_many_pieces_is_read_as_one(form: str, tmp_path, monkeypatch) -> None:
    WRITERS[form](drawn(), tmp_path / "v")
    for piece in (*range(60, 75), 500):
        monkeypatch.setattr("plmlab.vectors.layout.PIECE", piece)
        same(read_vectors(tmp_path / "v"), drawn())


@pytest.mark.parametrize("content, parts", [
    ("", ["is empty"]),
    ("3 2\n", ["row 1 (line 2)", "header gives 3 words", "ends after 0"]),
    ("3 2", ["has no end", "truncated"]),
    ("a 1 2\nb 3 4", ["row 2:", "'b 3 4'", "may be truncated"]),
    ("3 2\na 1 2\nb 3 4\n", ["row 3 (line 4)", "header gives 3 words", "ends after 2", "limit=2"]),
    ("1 2\na 1 2\nb 3 4\n", ["row 2 (line 3)", "header gives 1 word,", "one more"]),
    ("0 2\n", ["0 words"]),
    ("2 0\na\nb\n", ["with 0 numbers each"]),
    ("2 99999999999\na 1\n", ["99,999,999,999 numbers"]),
    ("99999999999 2\na 1 2\n", ["row 2", "ends after 1"]),
    ("2 2\na 1 2\nb 3\n", ["row 2 (line 3)", "'b' has 1 number at its end;", "expected 2, as in the header"]),
    ("2 2\na 1 2\nb\n", ["row 2", "'b' has 0 numbers"]),
    ("2 2\na 1 2\nb 3 4 5\n", ["row 2", "'b' has 3 numbers"]),
    ("a 1 2\nb 3 4 5\n", ["row 2:", "'b' has 3 numbers", "expected 2, as in row 1"]),
    ("a 1 2\nb 3 x\n", ["row 2:", "'x' is not a number"]),
    ("2 2\na 1 x\nb 3 4\n", ["row 1 (line 2)", "'x' is not a number"]),
    ("2 2\nç é x\nß 3 4\n", ["row 1 (line 2)", "'x' is not a number"]),
    ("a 1 2\nb 3 1_0\n", ["row 2:", "'1_0' is not a number"]),
    ("a 1 2\nb 3  4\n", ["row 2:", "two consecutive spaces"]),
    ("a 1 2\nb\t3\t4\n", ["row 2:", "'b\\t3\\t4'"]),
    ("a 1 2\nb 3 nan\n", ["row 2:", "number 2 is nan"]),
    ("a 1 2\nb -inf 3\n", ["row 2:", "number 1 is -inf"]),
    ("a 1 2\nb 1e39 3\n", ["row 2:", "number 1 is inf as a float32"]),
    ("a 1 2\nb 3 4\na 5 6\n", ["row 3:", "'a' is already in row 1"]),
    ("a 1 2\n 3 4\n", ["row 2:", "no word"]),
    ("a 1 2\n\nb 3 4\n", ["row 2:", "blank line"]),
    (b"2 2\na 1 2\ncaf\xe9 3 4\n", ["row 2 (line 3)", "byte 0xe9", "unicode_errors='replace'", "binary=False"]),
    (b"2 1\na \x00\x00\x80?caf\xe9 \x00\x00\x80?", ["row 2:", "byte 0xe9", "binary=True"]),
    (b"2 1\na \x00\x00\x80?b \x00\x00\xc0\x7f", ["row 2:", "number 1 is nan"]),
    (b"2 1\na \x00\x00\x80?a \x00\x00\x80?", ["row 2:", "'a' is already in row 1"]),
    (b"2 1\na \x00\x00\x80? \x00\x00\x80?", ["row 2:", "no word"]),
    (b"3 1\na \x00\x00\x80?b \x00\x00\x80?", ["row 3:", "header gives 3 words"]),
    (b"2 2\na \x00\x00\x80?\x00\x00\x80?b \x00\x00\x80?", ["row 2:", "truncated", "8 bytes of numbers"]),
    (b"1 1\na \x00\x00\x80?b \x00\x00\x80?", ["row 2:", "file continues"]),
    (b"2 1\na \x00\x00\x80?\x00\x00\x80?b\nc defg", ["row 2:", "line break inside"]),
    ("just a text.\nOf two lines.\n", ["'just a text.'", "neither a header", "nor a word and its numbers"]),
    ("the 0.1 x 0.2\n", ["neither a header"]),
    ("x" * 3_000_000, ["has no end"]),
    ("a 1 2\n" + "x" * 5_000_000, ["row 2:", "has no end"]),
    (b"2 1\na \x00\x00\x80?" + b"x" * 3_000_000, ["row 2:", "no space ends its word"]),
    ("a 1 2\n".encode("utf-16"), ["UTF-16"]),
    ("<!DOCTYPE html>\n<p>404", ["a web page"]),
    ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n", ["a git LFS pointer", "git lfs pull"]),
    (b"\xba\x16\x4f\x2f\x0c\x00\x00\x00", ["fastText's own .bin", "load_facebook_vectors"]),
    (b"BZh91AY&SY", ["Unpack it"]),
    (gzip.compress(b"", mtime=0), ["is empty"]),
    (gzip.compress(b"a 1 2\nb 3 4\n", mtime=0)[:-1], ["truncated or damaged gzip"]),
    (gzip.compress(b"a 1 2\nb 3 4\n", mtime=0)[:-8] + bytes(8), ["truncated or damaged gzip"]),
    (gzip.compress(b"a 1 2\nb 3 x\n", mtime=0), ["row 2", "'x' is not a number"]),
])
def test_a_broken_file_is_told(content, parts: list[str], tmp_path) -> None:
    says(put(tmp_path / "v", content), *parts)


@pytest.mark.parametrize("size", [8, 50])
@pytest.mark.parametrize("word", ["New York", "b c", "to be or not", "nun ja", "new  line", "abc def", "桥 上"])
def test_gensims_binary_with_a_space_in_a_word_is_told(word: str, size: int, tmp_path, monkeypatch) -> None:
    """gensim itself reads such a file without an error, and wrongly."""
    for seed, place in ((0, 1), (1, 2), (2, 3)):
        kv, matrix = KeyedVectors(size), np.random.default_rng(seed).normal(0, 0.3, (4, size)).astype(np.float32)
        words = ["the", "of", "and"]
        kv.add_vectors([*words[:place], word, *words[place:]], matrix)
        kv.save_word2vec_format(tmp_path / "v", binary=True)
        wrong = KeyedVectors.load_word2vec_format(tmp_path / "v", binary=True, unicode_errors="replace")
        assert word not in wrong and not np.array_equal(wrong.vectors, matrix)
        for piece in (1 << 20, 83) if size == 8 else (1 << 20,):
            monkeypatch.setattr("plmlab.vectors.layout.PIECE", piece)
            says(tmp_path / "v", f"row {place + 1}:", f"its word, {word!r}, contains a space", "misaligned")
        assert read_vectors(tmp_path / "v", limit=place).words == tuple(words[:place])
        kv.save_word2vec_format(tmp_path / "v.txt")
        assert word in read_vectors(tmp_path / "v.txt")


def test_words_of_a_binary_file_are_not_taken_for_words_with_spaces(tmp_path) -> None:
    """A space among the bytes of a number, after letters, is common; nothing is made of it."""
    generator = torch.Generator().manual_seed(0)
    for size in (1, 3, 50):
        vectors = WordVectors(tuple(map(str, range(20_000))), torch.randn(20_000, size, generator=generator))
        write_word2vec_binary(vectors, tmp_path / "v")
        same(read_vectors(tmp_path / "v"), vectors)


def test_advice_replaces_no_file(tmp_path) -> None:
    """A pickle that has the very name that a text might get."""
    to_keyed_vectors(drawn()).save(str(tmp_path / "vectors.txt"))
    before = (tmp_path / "vectors.txt").read_bytes()
    with pytest.raises(VectorFileError) as told:
        read_vectors(tmp_path / "vectors.txt")
    exec("import gensim; " + str(told.value).partition("If you trust it: ")[2].partition(" (")[0])
    assert (tmp_path / "vectors.txt").read_bytes() == before
    assert read_vectors(tmp_path / "vectors.txt.w2v.txt").words == drawn().words


def test_what_is_no_file_of_ours_is_told(tmp_path) -> None:
    says(tmp_path / "not there", "there is no file")
    says(tmp_path, "is a folder; give one file")
    with zipfile.ZipFile(tmp_path / "glove.zip", "w") as packed:
        packed.writestr("glove.txt", "a 1 2\n")
    says(tmp_path / "glove.zip", "Unzip it")
    np.save(tmp_path / "v.npy", np.ones((2, 2)))
    says(tmp_path / "v.npy", "NumPy array", "KeyedVectors.load(")
    to_keyed_vectors(drawn()).save(str(tmp_path / "v.kv"))
    says(tmp_path / "v.kv", f"KeyedVectors.load({str(tmp_path / 'v.kv')!r}).save_word2vec_format")


def test_a_checkpoint_is_told(tmp_path) -> None:
    from safetensors.torch import save_file
    save_file({"weight": torch.ones(2, 2)}, tmp_path / "model.safetensors")
    says(tmp_path / "model.safetensors", "plmlab.checkpoints.load(folder)")
    put(tmp_path / "config.json", "{}")
    says(tmp_path, f"plmlab.checkpoints.load({str(tmp_path)!r})")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a file that may not be read")
def test_a_file_that_may_not_be_read_is_told(tmp_path) -> None:
    put(tmp_path / "v", "a 1 2\n").chmod(0)
    says(tmp_path / "v", "cannot be read")


@pytest.mark.parametrize("vectors", [drawn(3, 1), drawn(3, 2), WordVectors(("a", "b\x00", "ç"), torch.ones(3, 2)),
                                     WordVectors(("w",), torch.tensor([[1.5625, -2.5]]))])
@pytest.mark.parametrize("form", WRITERS)
def test_a_file_cut_anywhere_is_refused(form: str, vectors: WordVectors, tmp_path) -> None:
    """Only a GloVe text that is cut between two rows cannot be told from a whole one. The last vectors' text, cut after
    "1.5625 -", is as long as a binary would be."""
    WRITERS[form](vectors, tmp_path / "v")
    whole = (tmp_path / "v").read_bytes()
    for end in range(len(whole)):
        put(tmp_path / "v", whole[:end])
        if form == "glove" and whole[:end].endswith(b"\n"):
            same(read_vectors(tmp_path / "v"), vectors.only(vectors.words[:whole[:end].count(b"\n")]))
        else:
            says(tmp_path / "v")
    for end in range(len(packed := gzip.compress(whole, mtime=0))):
        says(put(tmp_path / "v", packed[:end]))


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \n"), min_size=1, max_size=6)


@st.composite
def some(draw) -> WordVectors:
    words = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    number = st.floats(width=32, allow_nan=False, allow_infinity=False)
    size = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(number, min_size=size, max_size=size), min_size=len(words), max_size=len(words)))
    return WordVectors(tuple(words), torch.tensor(rows, dtype=torch.float32))


@pytest.mark.parametrize("form", WRITERS)
def test_any_words_and_numbers_come_back(form: str, tmp_path_factory, monkeypatch) -> None:
    folder = tmp_path_factory.mktemp("any")
    monkeypatch.setattr("os.fsync", lambda handle: None)    # a disk's speed is not what is looked at

    @settings(max_examples=60, deadline=None)
    @given(some(), st.data())
    def comes_back(vectors: WordVectors, data: st.DataObject) -> None:
        try:
            WRITERS[form](vectors, folder / "v")
        except ValueError as error:
            assert form == "glove" and "first line would be" in str(error)
            return
        same(read_vectors(folder / "v"), vectors)
        whole = (folder / "v").read_bytes()
        cut = whole[:data.draw(st.integers(0, len(whole) - 1))]
        if form != "glove" or not cut.endswith(b"\n"):
            says(put(folder / "v", cut))

    comes_back()


def test_any_bytes_are_read_or_refused(tmp_path_factory) -> None:
    """Nothing else comes of a file, however odd: no other error, no endless search."""
    file = tmp_path_factory.mktemp("odd") / "v"
    begins = st.sampled_from([b"", b"2 2\n", b"a 1 2\n", b"1 1\na ", b"2 1\na 1", b"\x1f\x8b\x08\x00", b"\xef\xbb\xbf"])
    bits = st.sampled_from([b" ", b"\n", b"a", b"1", b"-", b".5", b"\x00", b"\xc3", b"\r", b"nan", b"_"])

    @settings(max_examples=150, deadline=None)
    @given(begins, st.binary(max_size=20) | st.lists(bits, max_size=20).map(b"".join))
    def read_or_refused(begin: bytes, rest: bytes) -> None:
        try:
            vectors = read_vectors(put(file, begin + rest))
        except VectorFileError:
            return
        assert len(vectors) and vectors.matrix.isfinite().all()

    read_or_refused()


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("word, matrix, says", [
    ("New York", [[1., 2.]], "word 1 is 'New York'"), ("", [[1., 2.]], "word 1 is ''"),
    ("a\nb", [[1., 2.]], r"'a\\nb'"), ("\ud800", [[1., 2.]], "UTF-8 cannot encode"),
    ("a", [[1., float("nan")]], "the vector of 'a' has a number that is NaN"),
    ("a", [[1e39, 1.]], "infinite as a float32"), ("a", [[]], "is empty"),
])
def test_what_a_file_cannot_hold_is_refused_before_anything_is_written(form, word, matrix, says, tmp_path) -> None:
    put(tmp_path / "v", "as before")
    with pytest.raises(ValueError, match=says):
        WRITERS[form](WordVectors((word,), torch.tensor(matrix, dtype=torch.float64)), tmp_path / "v")
    assert (tmp_path / "v").read_text() == "as before" and os.listdir(tmp_path) == ["v"]


def test_a_glove_text_that_would_read_as_another_is_refused(tmp_path) -> None:
    for word, number in [("7", 1.), ("\ufeffa", 0.5)]:
        with pytest.raises(ValueError, match=r"first line would be .* use write_word2vec"):
            write_glove(WordVectors((word,), torch.tensor([[number]])), tmp_path / "v")
        write_word2vec(WordVectors((word,), torch.tensor([[number]])), tmp_path / "v")
        assert read_vectors(tmp_path / "v").words == (word,)


def test_a_file_appears_whole_or_not_at_all(tmp_path, monkeypatch) -> None:
    put(tmp_path / "v", "as before")
    monkeypatch.setattr("os.fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "no space left")))
    with pytest.raises(OSError, match="no space left"):
        write_word2vec(drawn(), tmp_path / "v")
    assert (tmp_path / "v").read_text() == "as before" and os.listdir(tmp_path) == ["v"]
    monkeypatch.undo()
    with pytest.raises(ValueError, match="is a folder"):
        write_word2vec(drawn(), tmp_path)
    write_word2vec(drawn(), tmp_path / "new" / "folder" / "v")
    same(read_vectors(tmp_path / "new" / "folder" / "v"), drawn())


def test_vectors_in_training_or_of_another_precision_are_written_as_float32(tmp_path) -> None:
    third = torch.nn.Parameter(torch.tensor([[1 / 3]], dtype=torch.float64))
    write_word2vec(WordVectors(("a",), third), tmp_path / "v")
    assert read_vectors(tmp_path / "v").matrix.item() == torch.tensor(1 / 3).item()


def test_gensims_vectors_over_and_back() -> None:
    trained = Word2Vec([["a", "b", "c"], ["a", "b"], ["a"]], vector_size=5, min_count=1, workers=1, seed=1).wv
    vectors = from_keyed_vectors(trained)
    assert vectors.words == ("a", "b", "c") and np.array_equal(vectors.matrix.numpy(), trained.vectors)
    same(from_keyed_vectors(to_keyed_vectors(vectors)), vectors)
    vectors.matrix.zero_()
    assert trained.vectors.any(), "a copy"
    with_number = KeyedVectors(2)
    with_number.add_vectors([7], np.ones((1, 2), np.float32))
    with pytest.raises(ValueError, match="the key 7 is not a word"):
        from_keyed_vectors(with_number)


def test_a_file_is_not_held_twice(tmp_path) -> None:
    import tracemalloc
    vectors = drawn(20_000, 100)
    write_word2vec_binary(vectors, tmp_path / "v")
    tracemalloc.start()
    try:
        read_vectors(tmp_path / "v")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8e6 + 9e6, "the matrix, the words and some pieces of 1 MiB"


def test_reading_needs_no_gensim() -> None:
    code = "import sys, plmlab.vectors; sys.exit('gensim' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
