"""What a plan trains on: a file, a data set of the hub, the Small World; and what is said of one that can't be read."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest
from little_run import SMALL, TEXT, made_by, refusal

from plmlab import world
from plmlab.example import IGNORE, Batch
from plmlab.pretraining import Plan, material
from plmlab.pretraining.material import divided, from_world
from plmlab.text import CorpusError, Tokenizer, TokenStream
from plmlab.text.chunks import TokenChunks
from plmlab.world.grammar.splits import is_test


@pytest.mark.parametrize(("name", "content", "told"), [
    ("empty.txt", b"", "is empty"),
    ("blank.txt", b" \n\n \n", "is empty"),
    ("latin.txt", "ein Igel\n\nübt\n\nleise".encode("latin-1"), "is not UTF-8: byte 10 (line 3)"),
    ("wide.txt", TEXT.encode("utf-16"), "UTF-16"),
    ("single.txt", b"one paragraph only", "single paragraph"),
    ("page.pdf", b"%PDF", ".pdf is not supported"),
    ("wrong.jsonl", b'{"text": "a"}\n{"text": \n', "line 2 is not JSON"),
    ("other.jsonl", b'{"body": "a"}\n{"body": "b"}\n', "field 'text'; it has body. Give a file with its texts in"),
])
def test_a_file_that_is_no_corpus_is_one_line_and_leaves_nothing(name: str, content: bytes, told: str, tmp_path: Path,
                                                                 capsys) -> None:
    (tmp_path / name).write_bytes(content)
    said = refusal(capsys, "gpt2", "--corpus", str(tmp_path / name), *SMALL, "--out", str(tmp_path / "new"))
    assert told in said
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_folder_or_a_missing_file_as_corpus_is_one_line_and_leaves_nothing(tmp_path: Path, capsys) -> None:
    for name, told in (("", "is a folder"), ("nowhere.txt", "there is no file")):
        assert told in refusal(capsys, "bert", "--corpus", str(tmp_path / name), "--out", str(tmp_path / "new"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["skip-gram", "cbow"])
def test_paragraphs_of_one_word_give_word2vec_nothing_to_predict(name: str, tmp_path: Path, capsys) -> None:
    words = [f"{word}\n\n" for word in ("heron", "river", "bank", "bridge")] * 20
    for text, part in ((words, "training"), (["the heron sleeps\n\n"] * 60 + words[:20], "held-out")):
        (tmp_path / "words.txt").write_text("".join(text))
        said = refusal(capsys, name, "--corpus", str(tmp_path / "words.txt"), *SMALL, "--out", str(tmp_path / "new"))
        assert f"the {part} text gives {name} nothing to predict" in said
        assert [file.name for file in tmp_path.iterdir()] == ["words.txt"]


def test_a_single_paragraph_can_not_be_judged() -> None:
    with pytest.raises(ValueError, match="single paragraph"):
        divided(1, 0.05)


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_a_data_set_of_the_hub_is_a_corpus(name: str, corpus: Path, tmp_path: Path, monkeypatch) -> None:
    asked = []

    def hub(name: str) -> Sequence[str]:
        asked.append(name)
        return [part for text in TEXT.split("\n\n") for part in (text, "", " \n")]
    monkeypatch.setattr(material, "hub", hub)
    from_hub = made_by(name, "--corpus", "hub:someone/set", *SMALL, "--out", str(tmp_path / "hub"))
    assert asked == ["someone/set"]
    assert from_hub == made_by(name, "--corpus", str(corpus), *SMALL, "--out", str(tmp_path / "file")), \
        "texts without a word are passed over, as blank lines are"


def test_a_data_set_that_can_not_be_had_is_told_in_the_reader_s_words(tmp_path: Path, capsys) -> None:
    told = refusal(capsys, "gpt2", "--corpus", "hub:nobody/no-such-set", *SMALL, "--out", str(tmp_path / "new"))
    assert "the dataset 'nobody/no-such-set'" in told and "could not be loaded" in told and "you are online" in told
    assert not list(tmp_path.iterdir())


def texts_of(stream: TokenStream, tokenizer: Tokenizer) -> list[str]:
    """The texts between the stream's [END]s."""
    return tokenizer.decode(stream[:].tolist()).split("[END]")[:-1]


def test_the_end_of_a_text_is_held_out_and_nothing_is_lost(corpus: Path, tmp_path: Path) -> None:
    plan = Plan("gpt2", str(corpus), str(tmp_path / "new"), time=8, vocab=330, held_out=0.2)
    read = material.material(plan, tmp_path / "run")
    train, rest = (texts_of(TokenStream.open(tmp_path / "run" / name, read.tokenizer), read.tokenizer)
                   for name in ("train.bin", "held_out.bin"))
    assert train + rest == TEXT.split("\n\n") and len(rest) == 12
    assert sum(batch.targets.numel() for batch in read.held_out) == len(
        TokenStream.open(tmp_path / "run" / "held_out.bin")) - 1


def test_tokens_are_learned_from_what_is_trained_on_alone(tmp_path: Path) -> None:
    file = tmp_path / "two.txt"
    file.write_text("\n\n".join(["mumble mumble"] * 90 + ["quixotic zebra"] * 10), encoding="utf-8")
    plan = Plan("gpt2", str(file), str(tmp_path / "new"), time=8, vocab=330, held_out=0.1)
    tokenizer = material.material(plan, tmp_path / "run").tokenizer
    assert len(tokenizer.encode("mumble")) == 1 and len(tokenizer.encode("zebra")) == 5


def test_what_was_laid_down_is_found_again_and_what_was_damaged_is_laid_down_anew(corpus: Path, tmp_path: Path,
                                                                                  monkeypatch) -> None:
    plan = Plan("bert", str(corpus), str(tmp_path / "new"), time=8, vocab=330)
    folder = tmp_path / "run"
    first = material.material(plan, folder)
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert set(files) >= {"tokenizer.json", "train.bin", "train.bin.starts", "held_out.bin"}
    built = []
    build = TokenChunks.build.__func__  # type: ignore[attr-defined]

    def counted(kind: type[TokenChunks], texts: object, tokenizer: Tokenizer, path: Path, *more: int,
                **how: bool) -> TokenChunks:
        built.append(path.name)
        return build(kind, texts, tokenizer, path, *more, **how)
    monkeypatch.setattr(TokenChunks, "build", classmethod(counted))
    for damaged, again in ((None, []), ("train.bin", ["train.bin"]), ("held_out.bin.starts", ["held_out.bin"]),
                           ("train.bin.json", ["train.bin"])):
        built.clear()
        if damaged:
            (folder / damaged).write_bytes(files[damaged][:-3] + b"...")
            (folder / ".train.bin.77.unfinished").write_bytes(b"left by a kill")
        second = material.material(plan, folder)
        assert built == again
        assert first.batches(3).tokens.equal(second.batches(3).tokens)
        if built == ["train.bin"]:
            assert {file.name: file.read_bytes() for file in folder.iterdir()} == files


def test_tokens_that_the_disk_refuses_are_one_line_and_leave_nothing(corpus: Path, tmp_path: Path, monkeypatch,
                                                                     capsys) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")
    monkeypatch.setattr("os.fsync", full)
    for name in ("gpt2", "bert"):
        told = refusal(capsys, name, "--corpus", str(corpus), *SMALL, "--out", str(tmp_path / "new"))
        assert "could not be written" in told and "No space left on device" in told
        assert [file.name for file in tmp_path.iterdir()] == ["little.txt"]


def test_a_model_that_reads_pieces_sees_no_more_tokens_than_it_has_positions(corpus: Path, tmp_path: Path) -> None:
    plan = Plan("bert", str(corpus), str(tmp_path / "new"), time=6, vocab=330)
    read = material.material(plan, tmp_path / "run")
    assert max(read.batches(step).tokens.shape[1] for step in range(5)) == 6
    with pytest.raises(CorpusError, match="up to 4 tokens, not 3"):
        TokenChunks.open(tmp_path / "run" / "train.bin", read.tokenizer, 3)


def test_the_world_s_batches_are_its_text_and_keep_what_is_held_out(small_as_full: world.World) -> None:
    read = from_world(Plan("gpt", "world", "nowhere", batch=200))
    one, again, other = (read.batches(step) for step in (3, 3, 4))
    assert one.tokens.equal(again.tokens) and not one.tokens.equal(other.tokens)
    train, test = ({tuple(row[row > 38].tolist()) for row in batch.tokens} for batch in (one, read.held_out[0]))
    for ids, split in ((train, "train"), (test, "test")):
        for row in ids:
            words = read.tokenizer.tokens(row)
            assert small_as_full.logprob(words) > -100
            pattern = small_as_full.parse(words).pattern
            assert pattern not in small_as_full.open_patterns or is_test(words) == (split == "test")


def test_a_window_too_short_for_the_world(small_as_full: world.World, tmp_path: Path, capsys) -> None:
    longest = max(map(len, islice(small_as_full.text("train", seed=1), 5000)))
    assert small_as_full.automaton().longest == longest
    told = refusal(capsys, "gpt", "--corpus", "world", "--out", str(tmp_path / "new"), "--time", "8")
    assert f"longest sentence has {longest} words" in told


def test_one_text_in_eight_is_a_pair_as_long_as_the_model_can_read_at_most(small_as_full: world.World) -> None:
    read = from_world(Plan("bert", "world", "nowhere", batch=32, accumulate=2, time=48))
    for update in range(20):
        batches = [read.batches(2 * update + i) for i in range(2)]
        pairs = sum(int((batch.labels["next_sentence"] != IGNORE).sum()) for batch in batches)
        assert pairs == 8 and sum(batch.size[0] for batch in batches) == 64
        assert batches[0].size[1] <= batches[1].size[1] <= 48


def asked(batch: Batch) -> float:
    """The share of its positions that a batch asks for."""
    return float((batch.targets != IGNORE).sum() / (batch.tokens != 0).sum())


def test_what_is_chosen_counts_in_training_and_not_where_it_is_judged(small_as_full: world.World, corpus: Path,
                                                                      tmp_path: Path) -> None:
    for where in ("world", str(corpus)):
        usual, chosen = (material.material(Plan("bert", where, "nowhere", batch=64, vocab=330, choose=choose),
                                           tmp_path / f"run{choose}") for choose in ("", "rate=0.5"))
        assert 0.1 < asked(usual.batches(0)) < 0.2 and 0.4 < asked(chosen.batches(0)) < 0.6
        told = [next(iter(read.held_out)) for read in (usual, chosen)]
        assert told[0].targets.equal(told[1].targets)
