"""`plmlab pretrain skip-gram` and `cbow`: the noise is told, and a loss that is no −log p has no perplexity."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import torch
from little_run import TEXT, interrupted_at, made_by
from torch.testing import assert_close

from plmlab import cli, world
from plmlab.checkpoints import load
from plmlab.models import word2vec
from plmlab.world.datasets.tokenizer import build_world_tokenizer
from plmlab.world.probability.cooccurrence import word_counts

SIZE = ["--batch", "8", "--time", "8", "--vocab", "330", "--width", "16", "--heads", "2", "--lr", "0.02"]
SMALL = ["--steps", "30", *SIZE]
NAMES = ("skip-gram", "cbow")
both = pytest.mark.parametrize("name", NAMES)


COUNTED = 25


@pytest.fixture(autouse=True)
def soon_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise is told by fewer batches than usual."""
    monkeypatch.setattr(word2vec, "COUNTED", COUNTED)


@both
def test_a_text_becomes_a_checkpoint_without_a_perplexity(name: str, corpus: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "made"
    assert cli.main(["pretrain", name, "--corpus", str(corpus), "--out", str(out), *SMALL]) == 0
    said = capsys.readouterr().out
    assert said.count("\n") == 1 and f"the checkpoint is in {out}" in said and "floor" not in said
    model, tokenizer = load(out, expect=name)
    assert model.config.model == 16 and model.config.vocab == len(tokenizer)
    readme = (out / "README.md").read_text(encoding="utf-8")
    assert f"plmlab pretrain {name}" in readme and "| steps | 30 |" in readme
    assert "perplexity" not in readme and "floor" not in readme and "nats" not in readme
    loss = float(re.search(r"\| held-out loss \| ([\d.]+) \|", readme)[1])  # type: ignore[index]
    assert 0 < loss < 6 * 0.6931, "below 6 log 2, which all words alike would cost"
    assert not list(tmp_path.glob("made.run-*"))


@both
def test_the_noise_is_that_of_the_words_read(name: str, corpus: Path, tmp_path: Path) -> None:
    """Words are drawn as often as they stand in the training text, so that the shares are near its own."""
    made_by(name, "--corpus", str(corpus), *SMALL, "--steps", "2", "--out", str(tmp_path / "made"))
    model, tokenizer = load(tmp_path / "made")
    text = TEXT.split("\n\n")[:57]
    counts = Counter(id for row in tokenizer.encode_all(text) for id in row)
    raised = torch.tensor([counts[id] ** 0.75 for id in range(len(tokenizer))])
    noise, positions = raised / raised.sum(), 8 * COUNTED * 7
    assert len(counts) == 14 and (model.word_loss.noise > 0).sum() == 14
    for share, drawn in zip(noise.tolist(), model.word_loss.noise.tolist(), strict=True):
        assert drawn == pytest.approx(share, abs=4 * (share / positions) ** 0.5)
    assert noise.max() > 4 * noise[noise > 0].min()


@both
def test_an_interrupted_run_goes_on_and_ends_as_if_it_had_not_been(name: str, corpus: Path, tmp_path: Path,
                                                                   monkeypatch, capsys) -> None:
    """Ctrl-C as the batch of step 8 is drawn for training, after all words were counted."""
    plain = [name, "--corpus", str(corpus), *SIZE, "--steps", "12", "--save-every", "4"]
    broken = [*plain, "--out", str(tmp_path / "broken")]
    with monkeypatch.context() as patch:
        interrupted_at(8, patch, asked=2)
        assert cli.main(["pretrain", *broken]) == 0
    assert "after step 8 of 12" in capsys.readouterr().out
    assert made_by(*broken) == made_by(*plain, "--out", str(tmp_path / "straight"))


@both
def test_on_the_world_nothing_is_compared_with_it(name: str, small_as_full: world.World, tmp_path: Path,
                                                  capsys) -> None:
    out = tmp_path / "made"
    assert cli.main(["pretrain", name, "--corpus", "world", "--out", str(out), *SMALL, "--time", "32"]) == 0
    said, readme = capsys.readouterr().out, (out / "README.md").read_text(encoding="utf-8")
    assert "floor" not in said + readme and "perplexity" not in readme
    model, tokenizer = load(out, expect=name)
    assert tokenizer.backend.to_str() == build_world_tokenizer(small_as_full, ["english"]).backend.to_str()
    noise = model.word_loss.noise
    words = sorted(small_as_full.automaton().vocabulary)
    said_words = noise[[tokenizer.id(word) for word in words]]
    assert_close(said_words.sum(), torch.tensor(1.0))
    exact = torch.from_numpy(word_counts(small_as_full.automaton(), words)).float() ** 0.75
    assert torch.corrcoef(torch.stack([said_words, exact]))[0, 1] > 0.95, "as the grammar says them"


def test_the_window_can_be_chosen(corpus: Path, tmp_path: Path, capsys) -> None:
    plain = ["skip-gram", "--corpus", str(corpus), *SIZE, "--steps", "5"]
    made = [made_by(*plain, *choice, "--out", str(tmp_path / f"made{i}"))
            for i, choice in enumerate(([], ["--choose", "window=5"], ["--choose", "window=1"]))]
    assert made[0] == made[1] != made[2]
    assert cli.main(["pretrain", "skip-gram", "--corpus", str(corpus), *SMALL, "--choose", "window=0", "--out",
                     str(tmp_path / "none")]) == 2
    assert "the objective of skip-gram has the parameters window=1 … 10" in capsys.readouterr().err


@both
def test_texts_of_one_word_have_nothing_to_say_and_do_no_harm(name: str, tmp_path: Path) -> None:
    """Where every text of a batch is a single word there is no pair, and the loss is 0."""
    text = tmp_path / "words.txt"
    text.write_text("\n\n".join(["alone", "the cat sees the dog"] * 20), encoding="utf-8")
    out = tmp_path / "made"
    made_by(name, "--corpus", str(text), *SMALL, "--batch", "1", "--out", str(out))
    model, _ = load(out)
    assert all(bool(weight.isfinite().all()) for weight in model.parameters())
    assert json.loads((out / "config.json").read_text(encoding="utf-8"))["model_type"] == name
