"""Streams and batches: the same for the same step, complete, and no larger in memory than they must be."""

import json
import subprocess
import sys
from random import Random

import numpy as np
import pytest
import torch

from plmlab.example import IGNORE
from plmlab.objectives import causal, masked
from plmlab.text import CorpusError, Tokenizer, TokenStream, articles, examples, paragraphs

TEXTS = ["the miller mended the bridge", "a heron slept below the bridge", "nobody saw [MASK] the heron", ""]


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.words(TEXTS, 100)


def counting(n):
    return TokenStream.of(range(n))


def test_a_built_stream_is_the_texts_with_a_separator(tokenizer, tmp_path):
    path = tmp_path / "deep" / "stream.bin"
    stream = TokenStream.build(iter(TEXTS), tokenizer, path, progress=False)
    expected = [id for text in TEXTS for id in (*tokenizer.encode(text, plain=True), tokenizer.vocab.end)]
    assert len(stream) == len(expected) and stream[:].tolist() == expected
    assert stream[3:8].dtype == torch.int64 and stream[3:8].tolist() == expected[3:8]
    assert sorted(file.name for file in path.parent.iterdir()) == ["stream.bin", "stream.bin.json"]
    assert path.stat().st_size == 2 * len(expected)
    assert TokenStream.open(path, tokenizer)[:].tolist() == expected
    assert TokenStream.from_texts(TEXTS, tokenizer)[:].tolist() == expected
    assert tokenizer.vocab.mask not in expected
    bare = TokenStream.from_texts(TEXTS, tokenizer, separator=None)[:].tolist()
    assert bare == [id for id in expected if id != tokenizer.vocab.end]


def test_a_large_vocabulary_takes_four_bytes_a_token(tmp_path):
    words = [f"w{i}" for i in range(70_000)]
    tokenizer = Tokenizer.words(words, 80_000)
    stream = TokenStream.build(words, tokenizer, tmp_path / "s.bin", None, progress=False)
    assert (tmp_path / "s.bin").stat().st_size == 4 * 70_000
    assert tokenizer.tokens(stream[65_000:65_002].tolist()) == words[65_000:65_002]


def test_memory_does_not_grow_with_the_corpus(tmp_path):
    program = f"""
import resource
from plmlab.text import Tokenizer, TokenStream
text = "the miller mended the bridge and a heron slept below it. " * 1000
tokenizer = Tokenizer.words([text], 100)
def grown(megabytes):
    texts = (text for _ in range(megabytes * 1_000_000 // len(text)))
    stream = TokenStream.build(texts, tokenizer, {str(tmp_path / "s.bin")!r}, progress=False)
    return len(stream), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(*grown(1), *grown(9))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    few, before, many, after = map(float, done.stdout.split())
    assert many > 8 * few > 1_500_000   # held in memory as numbers of Python, these were 60 MB more
    assert after - before < 20   # MiB


def test_building_is_quick_enough(tmp_path):
    """Measured side by side on the machine that runs it; it is a tenth more."""
    from time import process_time

    texts = paragraphs()[:300]
    tokenizer = Tokenizer.bpe(texts, 1000)

    def least(work):
        spent = []
        for _ in range(3):
            began = process_time()
            work()
            spent.append(process_time() - began)
        return min(spent)

    built = least(lambda: TokenStream.build(texts, tokenizer, tmp_path / "s.bin", progress=False))
    assert built < 3 * least(lambda: tokenizer.encode_all(texts, plain=True))


def test_progress_is_told_in_characters(tokenizer, tmp_path, capsys):
    TokenStream.build(TEXTS, tokenizer, tmp_path / "s.bin")
    assert f"{sum(map(len, TEXTS)):.0f}" in capsys.readouterr().err


def test_damage_is_noticed(tokenizer, tmp_path):
    path = tmp_path / "s.bin"
    TokenStream.build(TEXTS, tokenizer, path, progress=False)
    whole, header = path.read_bytes(), (tmp_path / "s.bin.json").read_bytes()

    path.write_bytes(whole[:-2])
    with pytest.raises(CorpusError, match=r"has 42 bytes instead of 44: it was truncated"):
        TokenStream.open(path)
    path.write_bytes(whole[:-1] + b"\x07")
    with pytest.raises(CorpusError, match="was changed since it was built"):
        TokenStream.open(path)
    assert len(TokenStream.open(path, check=False)) == 22
    path.unlink()
    with pytest.raises(CorpusError, match="only its header"):
        TokenStream.open(path)
    path.write_bytes(whole)
    for broken in (b"", b"[1]", header[:-9], json.dumps({**json.loads(header), "format": "else"}).encode()):
        (tmp_path / "s.bin.json").write_bytes(broken)
        with pytest.raises(CorpusError, match=r"is not the header of a token stream.*an unused name"):
            TokenStream.open(path)
    with pytest.raises(CorpusError, match=r"no token stream at.*an unused name"):
        TokenStream.open(tmp_path / "none.bin")


def test_another_tokenizer_cannot_read_it(tokenizer, tmp_path):
    TokenStream.build(TEXTS, tokenizer, tmp_path / "s.bin", progress=False)
    with pytest.raises(CorpusError, match="written with another tokenizer"):
        TokenStream.open(tmp_path / "s.bin", Tokenizer.words(["x y"], 100))


def test_a_build_that_fails_leaves_what_was_there(tokenizer, tmp_path, monkeypatch):
    path = tmp_path / "s.bin"
    TokenStream.build(TEXTS, tokenizer, path, progress=False)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def interrupted():
        yield "the bridge"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TokenStream.build(interrupted(), tokenizer, path, progress=False)
    with pytest.raises(CorpusError, match="the corpus is empty"):
        TokenStream.build([], tokenizer, path, None, progress=False)
    monkeypatch.setattr("os.fsync", lambda file: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(CorpusError, match=r"could not be written .*No space left"):
        TokenStream.build(["a heron"], tokenizer, path, progress=False)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_one_string_is_no_list_of_texts(tokenizer, tmp_path):
    with pytest.raises(CorpusError, match="single string"):
        TokenStream.build("the bridge", tokenizer, tmp_path / "s.bin", progress=False)
    with pytest.raises(CorpusError, match="single string"):
        examples("the bridge", tokenizer, masked, 2, 0, 8)


def test_a_window_is_a_piece_of_the_stream_shifted_by_one():
    batch = counting(100).windows(8, 5, seed=1)(0)
    assert batch.tokens.shape == batch.targets.shape == (8, 5)
    assert torch.equal(batch.targets, batch.tokens + 1)
    assert torch.equal(batch.tokens, batch.tokens[:, :1] + torch.arange(5))
    assert batch.visible.causal


def test_every_place_is_drawn_and_none_beyond():
    windows = counting(8).windows(16, 5, seed=0)
    starts = {int(row[0]) for step in range(30) for row in windows(step).tokens}
    assert starts == {0, 1, 2}


def test_a_step_has_its_batch_whatever_was_asked_before():
    windows = counting(10_000).windows(4, 6, seed=3)
    later = windows(7).tokens
    [windows(step) for step in (1, 2, 3, 7)]
    assert torch.equal(windows(7).tokens, later)
    assert torch.equal(counting(10_000).windows(4, 6, seed=3)(7).tokens, later)
    assert not torch.equal(counting(10_000).windows(4, 6, seed=4)(7).tokens, later)
    assert not torch.equal(windows(8).tokens, later)
    rng = Random("3:7")     # the promise to other machines, written out
    assert later[:, 0].tolist() == [int(rng.random() * (10_000 - 6)) for _ in range(4)]


def test_windows_from_a_file_are_those_from_memory(tokenizer, tmp_path):
    on_disk = TokenStream.build(TEXTS * 9, tokenizer, tmp_path / "s.bin", progress=False)
    in_memory = TokenStream.from_texts(TEXTS * 9, tokenizer)
    assert isinstance(on_disk.ids, np.memmap)
    for step in range(3):
        assert torch.equal(on_disk.windows(3, 9, 0)(step).tokens, in_memory.windows(3, 9, 0)(step).tokens)


def test_a_split_parts_the_stream_without_loss():
    train, validation = counting(101).split(0.1)
    assert torch.cat([train[:], validation[:]]).tolist() == list(range(101)) and len(validation) == 10
    for share in (0.0, 1.0, -0.5):
        with pytest.raises(CorpusError, match="it is a fraction of the stream"):
            counting(10).split(share)
    with pytest.raises(CorpusError, match="too short to hold out"):
        counting(2).split(0.1)


@pytest.mark.parametrize("n", [2, 3, 16, 17, 18, 31, 32, 33, 34, 100])
def test_in_order_every_token_is_predicted_once(n):
    batches = counting(n).sequential(batch=3, time=5)
    for _ in range(2):
        seen = [batch.targets for batch in batches]
        assert [int(t) for targets in seen for t in targets.flatten()] == list(range(1, n))
        assert len(seen) == len(batches)


def test_a_stream_too_short_is_said_to_be():
    with pytest.raises(CorpusError, match=r"a window of 8 positions needs 9 tokens, but the stream has 8"):
        counting(8).windows(2, 8, 0)
    assert counting(9).windows(2, 8, 0)(0).tokens.tolist() == [list(range(8))] * 2
    with pytest.raises(CorpusError, match="has nothing to predict"):
        counting(1).sequential(2, 8)
    for make in (counting(9).windows, lambda b, t, s: counting(9).sequential(b, t)):
        with pytest.raises(CorpusError, match="at least 1, but 0 was given"):
            make(0, 4, 0)
        with pytest.raises(CorpusError, match="at least 1"):
            make(4, 0, 0)


def test_examples_are_those_of_the_objective(tokenizer):
    drawn = examples(TEXTS, tokenizer, masked, batch=5, seed=2, max_tokens=64, rate=0.3)
    texts = [tokenizer.encode(text, plain=True) for text in TEXTS if text]
    rng = Random("2:11")
    chosen = [texts[int(rng.random() * len(texts))] for _ in range(5)]
    expected = [masked(text, vocab=tokenizer.vocab, rng=rng, rate=0.3) for text in chosen]
    drawn(3)
    batch = drawn(11)
    for row, one in enumerate(expected):
        n = len(one.tokens)
        assert torch.equal(batch.tokens[row, :n], one.tokens) and torch.equal(batch.targets[row, :n], one.targets)
        assert (batch.tokens[row, n:] == tokenizer.vocab.pad).all() and (batch.targets[row, n:] == IGNORE).all()


def test_a_long_text_is_cut_and_nothing_is_lost(tokenizer):
    drawn = examples([TEXTS[0]], tokenizer, causal, batch=40, seed=0, max_tokens=2)
    ids = tokenizer.encode(TEXTS[0])
    pieces = {tuple(ids[i : i + 2]) for i in range(0, len(ids), 2)}
    rows = drawn(0)
    added = {tokenizer.vocab.start, tokenizer.vocab.pad}
    seen = {tuple(id for id in row.tolist() if id not in added) for row in rows.tokens}
    assert seen == pieces
    assert causal(ids[:2], vocab=tokenizer.vocab, rng=Random(0)).tokens.tolist() in rows.tokens.tolist()


def test_what_cannot_be_made_examples_of(tokenizer):
    with pytest.raises(CorpusError, match="the corpus is empty"):
        examples(["", ""], tokenizer, masked, 2, 0, 8)
    with pytest.raises(CorpusError, match="max_tokens must be at least 1"):
        examples(TEXTS, tokenizer, masked, 2, 0, 0)


def test_wikipedia_trains_a_model_end_to_end():
    tokenizer = Tokenizer.bpe(articles()[0].paragraphs, 400)
    train, validation = TokenStream.from_texts(articles()[0].paragraphs, tokenizer).split()
    batch = train.windows(4, 16, 0)(0)
    assert batch.size == (4, 16) and int(batch.tokens.max()) < len(tokenizer) and len(validation) > 100
