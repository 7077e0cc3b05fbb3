"""The checkpoints that come with the course: whole, as good as their README says, and the world's own words."""

import re

import pytest
import torch

from plmlab import world
from plmlab.checkpoints import home, load, names
from plmlab.objectives import causal, masked
from plmlab.pretraining.material import WORLD_HELD_OUT
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import world_tokenizer

CASES = {"bert-world": (masked, 32), "gpt2-world": (causal, 64), "lstm-world": (causal, 64)}


def test_each_has_its_case() -> None:
    assert set(names()) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_checkpoint_reaches_the_loss_that_its_readme_tells(name: str) -> None:
    objective, batch = CASES[name]
    model, tokenizer = load(name)
    held_out = sentence_batches(world.full(), "test", tokenizer, objective, batch, seed=1)
    nats, count = 0.0, 0
    with torch.no_grad():
        for i in range(-(-WORLD_HELD_OUT // batch)):
            asked = int(((rows := held_out(i)).targets >= 0).sum())
            nats, count = nats + float(model.loss(rows)) * asked, count + asked
    told = (home() / name / "README.md").read_text(encoding="utf-8")
    loss, floor = (float(re.search(rf"\| {figure}[^|]*\| ([\d.]+)", told)[1])  # type: ignore[index]
                   for figure in ("held-out loss", "floor"))
    assert nats / count == pytest.approx(loss, rel=2e-3)
    assert floor < loss < 2 * floor


@pytest.mark.parametrize("name", CASES)
def test_its_tokens_are_the_words_of_the_full_world(name: str) -> None:
    _, tokenizer = load(name)
    assert tokenizer.fingerprint == world_tokenizer(world.full(), ["english"]).fingerprint
