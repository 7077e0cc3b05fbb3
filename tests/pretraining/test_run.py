"""`plmlab pretrain` from a text to a checkpoint that loads, whatever stops it on the way."""

import json
import re
import signal
from pathlib import Path
from random import Random

import alone
import pytest
import torch
from forked import Forked, two
from little_run import SIZE, SMALL, interrupted_at, made_by, refusal, run_of
from safetensors.torch import load_file
from torch.testing import assert_close

from plmlab import cli, world
from plmlab.checkpoints import load
from plmlab.objectives import causal, masked
from plmlab.pretraining import material, run


def perplexity_by_frequency(texts: list[list[int]]) -> float:
    """That of who knows how often each token comes, and nothing of what stands before it."""
    counts = torch.bincount(torch.tensor([id for text in texts for id in text])).double()
    return float(torch.distributions.Categorical(counts).perplexity())


@pytest.mark.parametrize(("name", "kind"), [("gpt", "gpt"), ("gpt2", "gpt2"), ("bert", "bert-pretraining")])
def test_a_text_becomes_a_checkpoint(name: str, kind: str, corpus: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "made"
    assert cli.main(["pretrain", name, "--corpus", str(corpus), "--out", str(out), *SMALL]) == 0
    model, tokenizer = load(out, expect=kind)
    assert model.config.layers == 1 and model.config.vocab == len(tokenizer)
    assert str(out) in capsys.readouterr().out
    readme = (out / "README.md").read_text(encoding="utf-8")
    assert f"plmlab pretrain {name}" in readme
    perplexity = float(re.search(r"perplexity \| ([\d.]+)", readme)[1])  # type: ignore[index]
    assert 1 < perplexity < perplexity_by_frequency(tokenizer.encode_all(corpus.read_text().split("\n\n")))
    assert not list(tmp_path.glob("made.run-*"))


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_an_interrupted_run_goes_on_and_ends_as_if_it_had_not_been(name: str, corpus: Path, tmp_path: Path,
                                                                   monkeypatch, capsys) -> None:
    plain = [name, "--corpus", str(corpus), *SIZE, "--steps", "15", "--save-every", "5"]
    broken = [*plain, "--out", str(tmp_path / "broken")]
    with monkeypatch.context() as patch:
        interrupted_at(10, patch)
        assert cli.main(["pretrain", *broken]) == 0
    told = capsys.readouterr().out
    assert "after step 10 of 15" in told and "the same command continues" in told
    assert str(run_of(tmp_path / "broken")) in told
    assert not (tmp_path / "broken").exists()
    assert made_by(*broken) == made_by(*plain, "--out", str(tmp_path / "straight"))


def test_a_kill_while_it_trains_loses_nothing_that_was_saved(corpus: Path, tmp_path: Path, capsys) -> None:
    plain = ["gpt2", "--corpus", str(corpus), *SIZE, "--steps", "40", "--save-every", "10"]
    broken = [*plain, "--out", str(tmp_path / "broken")]
    done = Forked(alone.killed_at, 25, *broken).end()
    assert done.code == -signal.SIGKILL, done.err[-3000:]
    assert [state.name for state in run_of(tmp_path / "broken").glob("step-*")] == ["step-00000020"]
    assert not (tmp_path / "broken").exists()
    made = made_by(*broken)
    begun = re.search(r"(\d+)/40", capsys.readouterr().err)
    assert begun and int(begun[1]) >= 20, "the steps that were saved are not made again"
    assert made == made_by(*plain, "--out", str(tmp_path / "straight"))


@pytest.mark.parametrize(("name", "file"), [("gpt2", ".train.bin.*.unfinished"),
                                            ("bert", ".held_out.bin.*.unfinished")])
def test_a_kill_while_tokens_are_laid_down_leaves_no_half_file(name: str, file: str, tmp_path: Path,
                                                               monkeypatch) -> None:
    monkeypatch.setattr(material, "HELD_OUT_TOKENS", 500)
    rng = Random(0)
    text = tmp_path / "longer.txt"
    words = ["the", "cat", "dog", "sees", "hears", "moon", "garden"]
    paragraphs = (" ".join(words[int(7 * rng.random())] for _ in range(200)) for _ in range(150))
    text.write_text("\n\n".join(paragraphs), encoding="utf-8")
    plain = [name, "--corpus", str(text), *SIZE, "--steps", "3", "--held-out", "0.5"]
    broken = [*plain, "--out", str(tmp_path / "broken")]
    done = Forked(alone.killed_in, file.removeprefix(".").removesuffix(".*.unfinished"), *broken).end()
    assert done.code == -signal.SIGKILL, done.err[-3000:]
    left = run_of(tmp_path / "broken")
    assert any(half.stat().st_size for half in left.glob(file)) and not list(left.glob("step-*"))
    made = made_by(*broken)
    assert made == made_by(*plain, "--out", str(tmp_path / "straight"))
    assert not left.exists()


def test_a_full_disk_when_the_checkpoint_is_saved_costs_no_training(corpus: Path, tmp_path: Path, monkeypatch,
                                                                    capsys) -> None:
    plain = ["gpt2", "--corpus", str(corpus), *SMALL, "--out", str(tmp_path / "made")]

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(run, "save", full)
        told = refusal(capsys, *plain)
    assert "No space left on device" in told and str(tmp_path / "made") in told and "nothing is lost" in told
    assert not (tmp_path / "made").exists()
    state = json.loads((run_of(tmp_path / "made") / "step-00000030" / "state.json").read_text(encoding="utf-8"))
    assert len(state["history"]["losses"]) == 30

    monkeypatch.setattr("plmlab.train.update.Update.__call__", lambda *_: pytest.fail("it trains again"))
    assert cli.main(["pretrain", *plain]) == 0
    readme = (tmp_path / "made" / "README.md").read_text(encoding="utf-8")
    assert "| steps | 30 |" in readme
    final = load_file(tmp_path / "made" / "model.safetensors")
    monkeypatch.undo()
    made_by(*plain[:-1], str(tmp_path / "straight"))
    assert all(weight.equal(final[name]) for name, weight in
               load_file(tmp_path / "straight" / "model.safetensors").items())


def test_two_processes_make_the_model_of_one_with_the_doubled_batch(corpus: Path, tmp_path: Path,
                                                                    tmp_path_factory) -> None:
    plain = ["gpt2", "--corpus", str(corpus), *SMALL]
    first, second = two(tmp_path_factory.mktemp("two") / "meeting", alone.pretrained, *plain, "--out",
                        str(tmp_path / "two"))
    assert first.code == second.code == 0, first.err[-4000:] + second.err[-4000:]
    assert first.out.count("the checkpoint is in") == 1 == first.out.count("\n") and not second.out
    made_by(*plain, "--accumulate", "2", "--out", str(tmp_path / "one"))
    one, both = (load_file(tmp_path / name / "model.safetensors") for name in ("one", "two"))
    assert one.keys() == both.keys()
    for name, weight in one.items():
        assert_close(both[name], weight, atol=1e-5, rtol=0)
    told = [(tmp_path / name / "README.md").read_text(encoding="utf-8") for name in ("one", "two")]
    positions = [re.search(r"positions processed, padding included \| ([\d,]+)", text) for text in told]
    assert positions[0] and positions[1] and positions[0][1] == positions[1][1]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["little.txt", "one", "two"]


def test_the_world_is_a_corpus_with_its_floor_beside_the_loss(small_as_full: world.World, tmp_path: Path,
                                                              capsys) -> None:
    out = tmp_path / "made"
    size = ["--steps", "90", "--batch", "16", "--time", "32", "--layers", "1", "--width", "32", "--heads", "2",
            "--lr", "0.02"]
    assert cli.main(["pretrain", "gpt2", "--corpus", "world", "--out", str(out), *size]) == 0
    _, tokenizer = load(out, expect="gpt2")
    assert set(tokenizer.tokens(range(39, len(tokenizer)))) >= set(small_as_full.vocabulary)
    floor = small_as_full.floor(causal, split="test").mean
    told = capsys.readouterr().out
    loss = float(re.search(r"held-out loss is ([\d.]+)", told)[1])  # type: ignore[index]
    assert f"its floor {floor:.4f} nats per token (exact)" in told
    assert 1.0 < loss / floor < 3.0, "below the floor something leaks; it begins at 9"
    assert f"{floor:.4f} nats per token" in (out / "README.md").read_text(encoding="utf-8")


def test_a_masked_model_has_a_floor_with_its_error(small_as_full: world.World, tmp_path: Path, capsys) -> None:
    size = ["--steps", "5", "--batch", "8", "--time", "64", "--layers", "1", "--width", "16", "--heads", "2"]
    assert cli.main(["pretrain", "bert", "--corpus", "world", "--out", str(tmp_path / "made"), *size]) == 0
    mean, error = map(float, re.search(r"floor ([\d.]+) nats per token ± ([\d.]+)",  # type: ignore[union-attr]
                                       capsys.readouterr().out).groups())
    known = small_as_full.floor(masked, split="test", sentences=material.WORLD_HELD_OUT)
    assert (mean, error) == pytest.approx((known.mean, known.stderr), abs=1e-3) and error > 0
