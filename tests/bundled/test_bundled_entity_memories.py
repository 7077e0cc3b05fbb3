"""The bundled EaE finds masked entities as its README states."""

from collections.abc import Callable

import pytest
import torch
from readmes import stated

from plmlab.chapters.ch18.memory import accuracies, masked_batch, name_logprobs
from plmlab.checkpoints import home, load
from plmlab.models.eae import EaEPretraining
from plmlab.world.datasets.linked_statements import TEST, statements

NAME = "eae-world"
WAYS = {"names": "masked entities, by names", "entities": "masked entities, by entities"}
"""How entities are predicted → how the row of the accuracy begins."""


@pytest.mark.bundled
@pytest.mark.parametrize("name", [NAME])
def test_an_eae_finds_masked_entities_as_its_readme_tells(name: str) -> None:
    data = statements()
    found = accuracies(load(name)[0], data, data.clozes[TEST])
    for way, row in WAYS.items():
        assert found[way] == pytest.approx(stated(name, row), abs=0.006)
    assert min(found.values()) > 0.8


@torch.no_grad()
@pytest.mark.parametrize("name", [NAME])
def test_ten_names_have_their_loss(name: str, same_ten: Callable[[str, float], None]) -> None:
    data, (model, _) = statements(), load(name)
    clozes = data.clozes[TEST][:10]
    batch, masked = masked_batch(data, clozes)
    logprobs = name_logprobs(model.eval().token_logits(model.encoder(batch)), masked, data.names)
    same_ten(name, -float(logprobs[torch.arange(10), [cloze.entity for cloze in clozes]].mean()))


@pytest.mark.parametrize("name", [NAME])
def test_it_is_small(name: str) -> None:
    assert sum(path.stat().st_size for path in (home() / name).iterdir()) < 4e6
    assert type(load(name)[0]) is EaEPretraining
