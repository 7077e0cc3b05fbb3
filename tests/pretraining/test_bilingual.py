"""UniLM on a corpus of two languages: read in both, judged on the English, and refused where a text does not fit."""

import re
from pathlib import Path

import pytest
import torch
from little_run import refusal
from torch import Tensor

from plmlab import cli, world
from plmlab.checkpoints import load
from plmlab.example import IGNORE, Batch
from plmlab.objectives import mask_mixture
from plmlab.pretraining import Plan, material
from plmlab.pretraining.material import from_world
from plmlab.world.datasets.tokenizer import build_bilingual_tokenizer, build_world_tokenizer


def test_it_is_pretrained_on_both_languages(small_as_full: world.World, tmp_path: Path, capsys) -> None:
    size = ["--steps", "5", "--batch", "8", "--time", "64", "--layers", "1", "--width", "16", "--heads", "2"]
    out = tmp_path / "made"
    assert cli.main(["pretrain", "unilm", "--corpus", "world-bilingual", "--out", str(out), *size]) == 0
    mean, error = map(float, re.search(r"floor ([\d.]+) nats per token ± ([\d.]+)",  # type: ignore[union-attr]
                                       capsys.readouterr().out).groups())
    known = small_as_full.floor(mask_mixture, split="test", sentences=material.WORLD_HELD_OUT)
    assert (mean, error) == pytest.approx((known.mean, known.stderr), abs=1e-3) and error > 0
    model, tokenizer = load(out, expect="unilm-pretraining")
    words = build_bilingual_tokenizer(small_as_full)
    assert model.config.segments == 6 and model.config.vocab == len(tokenizer) == len(words)
    assert tokenizer.tokens(range(len(words))) == words.tokens(range(len(words)))


def truth(batch: Batch) -> Tensor:
    """What stands in each position; a random word shown in its place may be of either language."""
    return torch.where(batch.targets == IGNORE, batch.tokens, batch.targets)


def test_chinese_is_read_and_english_is_judged(small_as_full: world.World) -> None:
    english = len(build_world_tokenizer(small_as_full, ["english"]))
    both, one = (from_world(Plan("unilm", corpus, "nowhere", batch=64, time=48))
                 for corpus in ("world-bilingual", "world"))
    rows = [bool((row >= english).any()) for step in range(4) for row in truth(both.batches(step))]
    assert 0.3 < sum(rows) / len(rows) < 0.7
    for judged, other in zip(both.held_out, one.held_out, strict=True):
        assert truth(judged).equal(truth(other)) and int(truth(judged).max()) < english
    assert max(int(truth(one.batches(step)).max()) for step in range(4)) < english


def test_a_window_too_short(small_as_full: world.World, tmp_path: Path, capsys) -> None:
    """[CLS] and two [SEP] stand beside the longest sentence."""
    longest = small_as_full.automaton().longest
    told = refusal(capsys, "unilm", "--corpus", "world-bilingual", "--out", str(tmp_path / "new"),
                   "--time", str(longest + 2))
    assert f"longest sentence has {longest} words and needs --time {longest + 3}" in told
