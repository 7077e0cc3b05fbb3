"""`plmlab pretrain` from a text to a checkpoint that loads, and what it says where it can't."""

import re
import shlex
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from plmlab import cli, world
from plmlab.checkpoints import load
from plmlab.objectives import causal, masked
from plmlab.pretraining import Plan, material, run
from plmlab.pretraining.material import divided, from_world
from plmlab.world.grammar.splits import is_test

TEXT = "\n\n".join(f"the {a} {b} the {c}." for a in ("cat", "dog", "bird", "fox") for b in ("sees", "hears", "likes")
                   for c in ("house", "river", "garden", "moon", "street"))
SMALL = ["--steps", "30", "--batch", "8", "--time", "8", "--vocab", "330", "--layers", "1", "--width", "16",
         "--heads", "2", "--lr", "0.02"]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    file = tmp_path / "little.txt"
    file.write_text(TEXT, encoding="utf-8")
    return file


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
    assert perplexity < len(tokenizer) / 3
    assert not list(tmp_path.glob("made.run-*"))


def interrupted_at(step: int, patch: pytest.MonkeyPatch) -> None:
    """As if somebody pressed Ctrl-C when the batch of a step is drawn."""
    through = run.material

    def material_that_stops(plan: Plan, folder: Path) -> material.Material:
        made = through(plan, folder)

        def batch(i: int):
            if i == step:
                raise KeyboardInterrupt
            return made.batches(i)
        return replace(made, batches=batch)
    patch.setattr(run, "material", material_that_stops)


def test_an_interrupted_run_goes_on_and_ends_as_if_it_had_not_been(corpus: Path, tmp_path: Path, monkeypatch,
                                                                 capsys) -> None:
    plain = ["pretrain", "gpt2", "--corpus", str(corpus), *SMALL, "--save-every", "10"]
    assert cli.main([*plain, "--out", str(tmp_path / "straight")]) == 0
    broken = [*plain, "--out", str(tmp_path / "broken")]
    with monkeypatch.context() as patch:
        interrupted_at(20, patch)
        assert cli.main(broken) == 0
    assert "goes on" in capsys.readouterr().out and not (tmp_path / "broken").exists()
    assert cli.main(broken) == 0
    one, other = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("straight", "broken"))
    assert one == other


def refusal(capsys, *arguments: str) -> str:
    """The one line that a refused request gets."""
    assert cli.main(["pretrain", *arguments]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and told.startswith("plmlab: ")
    return told


def test_requests_that_cannot_be_met(corpus: Path, tmp_path: Path, capsys) -> None:
    to = ["--out", str(tmp_path / "new")]
    text = ["--corpus", str(corpus)]
    assert "xlnet" in refusal(capsys, "xlnet", *text, *to)
    assert "nowhere.txt" in refusal(capsys, "gpt", "--corpus", str(tmp_path / "nowhere.txt"), *to)
    assert "--steps is 0" in refusal(capsys, "gpt", *text, *to, "--steps", "0")
    assert "3 heads" in refusal(capsys, "gpt", *text, *to, "--heads", "3")
    assert "at least" in refusal(capsys, "gpt", *text, *to, "--vocab", "10")
    assert "window" in refusal(capsys, "gpt", *text, *to, "--time", "100000")
    assert not list(tmp_path.glob("new*"))
    assert "needs --corpus, --out" in refusal(capsys, "gpt2")


def test_a_folder_with_something_in_it_is_never_replaced(corpus: Path, tmp_path: Path, capsys) -> None:
    assert "is there already" in refusal(capsys, "gpt", "--corpus", str(corpus), "--out", str(tmp_path))
    assert corpus.read_text(encoding="utf-8") == TEXT


def test_a_single_paragraph_can_not_be_judged() -> None:
    with pytest.raises(ValueError, match="single paragraph"):
        divided(1, 0.05)


def test_the_command_of_a_plan_is_that_plan() -> None:
    plan = Plan("bert", "my file.txt", "out/bert small", steps=7, lr=3e-4, save_every=9, held_out=0.2)
    asked = cli.parser().parse_args(shlex.split(plan.command)[1:])
    assert Plan(**{name: value for name, value in vars(asked).items() if name != "run"}) == plan


def test_the_help_tells_the_defaults_of_a_plan() -> None:
    plan = Plan("gpt", "a.txt", "out")
    for name, kind, told in cli.PRETRAIN:
        default = getattr(plan, name.replace("-", "_"))
        assert type(default) is kind
        assert str(default) in told if kind is str else f"({default})" in told or f"({default:g})" in told


@pytest.fixture
def small_as_full(monkeypatch: pytest.MonkeyPatch) -> world.World:
    """The small world in the full one's place, and fewer sentences to judge by."""
    monkeypatch.setattr(world, "full", world.small)
    monkeypatch.setattr(material, "WORLD_HELD_OUT", 400)
    return world.small()


def test_the_world_is_a_corpus_with_its_floor_beside_the_loss(small_as_full: world.World, tmp_path: Path,
                                                              capsys) -> None:
    out = tmp_path / "made"
    size = ["--steps", "150", "--time", "32", "--layers", "1", "--width", "32", "--heads", "2", "--lr", "0.02"]
    assert cli.main(["pretrain", "gpt2", "--corpus", "world", "--out", str(out), *size]) == 0
    _, tokenizer = load(out, expect="gpt2")
    assert set(tokenizer.tokens(range(39, len(tokenizer)))) >= set(small_as_full.vocabulary)
    floor = small_as_full.floor(causal, split="test").mean
    told = capsys.readouterr().out
    loss = float(re.search(r"held-out loss is ([\d.]+)", told)[1])  # type: ignore[index]
    assert f"its floor {floor:.4f} nats a token (exact)" in told
    assert 1.0 < loss / floor < 2.0, "below the floor something leaks"
    assert f"{floor:.4f} nats a token" in (out / "README.md").read_text(encoding="utf-8")


def test_a_masked_model_has_a_floor_with_its_error(small_as_full: world.World, tmp_path: Path, capsys) -> None:
    size = ["--steps", "5", "--time", "64", "--layers", "1", "--width", "16", "--heads", "2"]
    assert cli.main(["pretrain", "bert", "--corpus", "world", "--out", str(tmp_path / "made"), *size]) == 0
    mean, error = map(float, re.search(r"floor ([\d.]+) nats a token ± ([\d.]+)",  # type: ignore[union-attr]
                                       capsys.readouterr().out).groups())
    again = small_as_full.floor(masked, split="test", sentences=400, rng=Random(8))
    assert abs(mean - again.mean) < 4 * (error + again.stderr)


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
    told = refusal(capsys, "bert", "--corpus", "world", "--out", str(tmp_path / "new"), "--time", "16")
    longest = max(len(sentence.words) for article in small_as_full.articles("train") for sentence in article.sentences)
    assert f"needs {2 * longest + 3} slots" in told
