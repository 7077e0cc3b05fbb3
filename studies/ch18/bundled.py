"""Train the bundled models of chapter 18: ``python -m studies.ch18.bundled``, followed by names to train only some.

``eae-world`` has the size of `studies.ch18.memory`. Each batch has the statements of that study, in which one name is
masked, and pairs of other training sentences under the objective of EaE, so that the model has also seen texts without
[MASK] and sentences that state nothing. No sentence that the study tests on is in the training text.

``fae-world`` is the FaE of `studies.ch18.edits` that is trained on many worlds, with facts left out at random, for the
entities of the first test world. It is trained with more updates.
"""

import sys
from collections.abc import Callable, Mapping
from itertools import islice
from random import Random
from statistics import fmean

import torch

from plmlab.batches import ExampleBatches
from plmlab.chapters.ch18 import fact_training
from plmlab.chapters.ch18.fact_edits import answers, correct
from plmlab.chapters.ch18.memory import accuracies, eae
from plmlab.checkpoints import enter, home, save
from plmlab.example import Example
from plmlab.models.eae import EaEPretraining
from plmlab.models.fae import FaE
from plmlab.objectives.entity_mentions import entity_mentions
from plmlab.train import fit
from plmlab.world.datasets.fact_documents import TEST_WORLDS
from plmlab.world.datasets.fact_worlds import FactWorld, fact_world
from plmlab.world.datasets.linked_statements import TEST, TRAIN, Statements, split_of, statements
from plmlab.world.datasets.linked_texts import linked_text
from plmlab.world.datasets.tokenizer import world_tokenizer

COMMAND = "python -m studies.ch18.bundled"
EAE, UPDATES = "eae-world", 5000
FAE, FACT_UPDATES, LEFT_OUT = "fae-world", 6000, 0.2
RATE = 1e-2
"""The best learning rate in the pilots of the studies: of EaE, and of FaE on one world."""
PAIRS, SENTENCES = 16, 2
"""Texts per batch beside the statements, and sentences per text."""


def texts(data: Statements, rng: Random) -> list[Example]:
    """Texts of sentences that are drawn from the world's grammar, without those that are held out."""
    drawn = (one for one in data.world.sentences(TRAIN, int(rng.random() * 2**53)) if split_of(one.words) == TRAIN)
    linked = [linked_text(data.world, [*islice(drawn, SENTENCES)], data.ids, data.tokenizer) for _ in range(PAIRS)]
    return [entity_mentions(text, links=links, vocab=data.tokenizer.vocab, rng=rng) for text, links in linked]


def batches(data: Statements, seed: int) -> ExampleBatches:
    """Batches of statements and other texts."""
    stated = data.batches(seed)
    return ExampleBatches(lambda rng: [*stated.draw(rng), *texts(data, rng)], seed, stated.pad)


def eae_world() -> None:
    """Train ``eae-world``."""
    torch.manual_seed(0)
    data = statements()
    model = eae(data)
    history = fit(model, batches(data, 0), steps=UPDATES, lr=RATE, warmup=UPDATES // 10, compile=False)
    save(home() / EAE, model, data.tokenizer, command=COMMAND, figures={
        "updates": f"{UPDATES:,}", **figures(model, data), "seconds": f"{history.seconds:.0f}"})


def figures(model: EaEPretraining, data: Statements) -> dict[str, str]:
    """Accuracy on the test clozes of the study."""
    return {f"masked entities, by {way}": f"{value:.3f}"
            for way, value in accuracies(model, data, data.clozes[TEST]).items()}


def fae_world() -> None:
    """Train ``fae-world``."""
    world = fact_world(TEST_WORLDS[0])
    model = fact_training.build(world, 0)
    history = fact_training.train(model, world, fact_training.MANY, LEFT_OUT, FACT_UPDATES, RATE, 0)
    save(home() / FAE, model, world_tokenizer(), command=COMMAND, figures={
        "updates": f"{FACT_UPDATES:,}", **fact_figures(model, world), "seconds": f"{history.seconds:.0f}"})


def fact_figures(model: FaE, world: FactWorld) -> dict[str, str]:
    """Accuracy on the test statements of the study, with a complete and with an empty memory."""
    found = {name: answers(model, world, world.test, facts) for name, facts in
             (("a complete", world.memory()), ("an empty", ()))}
    return {f"masked objects, with {name} memory": f"{fmean(correct(world, some)):.3f}" for name, some in found.items()}


TRAINED: Mapping[str, Callable[[], None]] = {EAE: eae_world, FAE: fae_world}


def main(*names: str) -> None:
    """Train the models with these names, by default all of them, and add them to the index of checkpoints."""
    for name in names or TRAINED:
        TRAINED[name]()
        enter(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
