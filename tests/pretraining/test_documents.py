"""BART, T5, PEGASUS and PALM are pretrained on documents, where a corpus has them; nothing is longer than a model can
read."""

from pathlib import Path
from random import Random

import pytest
import torch
from little_run import SMALL, TEXT

from plmlab import cli, world
from plmlab.checkpoints import load
from plmlab.example import PairBatch
from plmlab.models.registry import pretrainable
from plmlab.objectives import denoising
from plmlab.pretraining import Plan, material
from plmlab.pretraining.material import fitting, from_world, real_tokens
from plmlab.text import Text
from plmlab.text.vocabulary import SPECIALS, Vocabulary
from plmlab.world.datasets.tokenizer import build_world_tokenizer

STOPS = (".", "?", "!")


def test_which_models_are_trained_on_documents() -> None:
    assert {name for name, kind in pretrainable().items() if kind.pretraining and kind.pretraining.documents} == {
        "bart", "palm", "pegasus", "t5", "t5-v1_1"}


@pytest.mark.parametrize("name", ["bart", "t5", "mass", "pegasus", "palm"])
def test_texts_have_several_sentences_only_where_documents_are_wanted(name: str, small_as_full: world.World) -> None:
    plan = Plan(name, "world", "nowhere", batch=32, accumulate=2, time=48)
    read, pretraining = from_world(plan), plan.kind.pretraining
    assert pretraining is not None
    for batches in ([read.batches(step) for step in range(4)], read.held_out):
        rows = [read.tokenizer.tokens(row.tolist()) for batch in batches for row in batch.source.tokens]
        several = sum(sum(map(row.count, STOPS)) > 1 for row in rows) / len(rows)
        assert several > 0.2 if pretraining.documents else several < 0.1, "MASS inserts random tokens"
        assert max(batch.source.size[1] for batch in batches) <= 48
        assert max(batch.target.size[1] for batch in batches) <= 48


def test_held_out_documents_are_not_those_of_training(small_as_full: world.World) -> None:
    read = from_world(Plan("bart", "world", "nowhere", batch=64, time=48))
    kept, seen = ({tuple(row[row > len(SPECIALS) + 31].tolist()) for batch in batches for row in batch.target.tokens}
                  for batches in (read.held_out, [read.batches(step) for step in range(20)]))
    whole = {tuple(read.tokenizer.encode(" ".join(word for one in article.sentences for word in one.words), plain=True))
             for article in small_as_full.paired("train")}
    assert not kept & whole
    assert len([row for row in kept if row in seen]) < len(kept) / 4, "short texts of closed patterns occur in both"


@pytest.mark.parametrize("rate", [0.05, 0.3])
def test_a_source_is_drawn_again_until_it_fits(rate: float) -> None:
    vocab = Vocabulary([*SPECIALS, "a", "b"])
    text = Text([7, 8] * 10, sentences=[(0, 20)])
    sizes = [len(objective(text, vocab=vocab, rng=Random(seed), infilling=rate).source.tokens)
             for objective in (denoising, fitting(denoising, 22)) for seed in range(600)]
    assert (max(sizes[:600]) > 22) == (rate == 0.05) and max(sizes[600:]) <= 22
    assert all(new == old for old, new in zip(sizes[:600], sizes[600:], strict=True) if old <= 22), "others stay"
    with pytest.raises(ValueError, match="more than 10 tokens from a text of 20; use a larger --time"):
        fitting(denoising, 10)(text, vocab=vocab, rng=Random(0), infilling=0, permutation=1)


def test_real_tokens_of_pairs_are_counted(small_as_full: world.World) -> None:
    plan = Plan("t5", "world", "nowhere", steps=4, batch=8, accumulate=2, time=48)
    tokenizer = build_world_tokenizer(small_as_full, ["english"])
    batches = material.world_batches(plan, tokenizer)
    made = [batches(step) for step in range(8)]
    assert all(isinstance(batch, PairBatch) for batch in made)
    assert real_tokens(plan, tokenizer, every=1) == sum(
        int(torch.count_nonzero(side.tokens)) for batch in made for side in (batch.source, batch.target)), "0 is [PAD]"


@pytest.mark.parametrize("name", ["bart", "t5", "pegasus", "palm"])
def test_paragraphs_of_a_file_have_sentences(name: str, tmp_path: Path) -> None:
    file, out = tmp_path / "long.txt", tmp_path / "made"
    file.write_text("\n\n".join(" ".join(part.split("\n\n")) for part in TEXT.split("river")), encoding="utf-8")
    assert cli.main(["pretrain", name, "--corpus", str(file), *SMALL[:2], "--batch", "4", "--time", "24", "--vocab",
                     "330", "--layers", "1", "--width", "16", "--heads", "2", "--steps", "2", "--out", str(out)]) == 0
    assert load(out)[0].config.vocab <= 330
