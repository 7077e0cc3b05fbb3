"""The bundled EaE and FaE find masked entities as their READMEs state."""

from collections.abc import Callable
from random import Random

import pytest
import torch
from readmes import stated

from plmlab.chapters.ch18.fact_edits import answers, correct
from plmlab.chapters.ch18.memory import accuracies, masked_batch, name_logprobs
from plmlab.checkpoints import home, load
from plmlab.models.eae import EaEPretraining
from plmlab.models.fae import FaE
from plmlab.objectives.entity_mentions import masked_mention
from plmlab.objectives.fact_batches import FactBatch
from plmlab.world.datasets.fact_documents import TEST_WORLDS
from plmlab.world.datasets.fact_worlds import fact_world
from plmlab.world.datasets.linked_statements import TEST, statements

NAME, FACTS = "eae-world", "fae-world"
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


def correct_answers(name: str, empty: bool = False) -> list[float]:
    """1 for each statement whose masked object the FaE predicts with all facts, or with none."""
    world = fact_world(TEST_WORLDS[0])
    return correct(world, answers(load(name)[0], world, world.test, () if empty else world.memory()))


@pytest.mark.bundled
@pytest.mark.parametrize("name", [FACTS])
def test_a_fae_finds_masked_objects_as_its_readme_tells(name: str) -> None:
    for memory in ("complete", "empty"):
        found = correct_answers(name, memory == "empty")
        row = f"masked objects, with {'an' if memory == 'empty' else 'a'} {memory} memory"
        assert sum(found) / len(found) == pytest.approx(stated(name, row), abs=0.009), "one statement more or less"


@torch.no_grad()
@pytest.mark.parametrize("name", [FACTS])
def test_ten_objects_have_their_loss(name: str, same_ten: Callable[[str, float], None]) -> None:
    world, (model, tokenizer) = fact_world(TEST_WORLDS[0]), load(name)
    texts = [(one.mention, *world.linked(one.sentence)) for one in world.test[:10]]
    batch = FactBatch.of([masked_mention(text, vocab=tokenizer.vocab, rng=Random(0), links=links, select=mention)
                          for mention, text, links in texts], world.memory(), pad=tokenizer.vocab.need("pad"))
    same_ten(name, float(model.eval().losses(batch)["answers"]))


@pytest.mark.parametrize(("name", "kind"), [(NAME, EaEPretraining), (FACTS, FaE)])
def test_they_are_small(name: str, kind: type[EaEPretraining]) -> None:
    assert sum(path.stat().st_size for path in (home() / name).iterdir()) < 4e6
    assert type(load(name)[0]) is kind
