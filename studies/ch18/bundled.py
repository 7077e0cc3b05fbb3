"""Train the bundled EaE of chapter 18: ``python -m studies.ch18.bundled``.

It has the size of `studies.ch18.memory`. Each batch has the statements of that study, in which one name is masked, and
pairs of other training sentences under the objective of EaE, so that the model has also seen texts without [MASK] and
sentences that state nothing. No sentence that the study tests on is in the training text.
"""

from itertools import islice
from random import Random

import torch

from plmlab.batches import ExampleBatches
from plmlab.chapters.ch18.memory import accuracies, eae
from plmlab.checkpoints import enter, home, save
from plmlab.example import Example
from plmlab.models.eae import EaEPretraining
from plmlab.objectives.entity_mentions import entity_mentions
from plmlab.train import fit
from plmlab.world.datasets.linked_statements import TEST, TRAIN, Statements, split_of, statements
from plmlab.world.datasets.linked_texts import linked_text

COMMAND = "python -m studies.ch18.bundled"
NAME, UPDATES, RATE = "eae-world", 10_000, 3e-3
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


def main() -> None:
    """Train the model and add it to the index of checkpoints."""
    torch.manual_seed(0)
    data = statements()
    model = eae(data)
    history = fit(model, batches(data, 0), steps=UPDATES, lr=RATE, warmup=UPDATES // 10, compile=False)
    save(home() / NAME, model, data.tokenizer, command=COMMAND, figures={
        "updates": f"{UPDATES:,}", **figures(model, data), "seconds": f"{history.seconds:.0f}"})
    enter(NAME)


def figures(model: EaEPretraining, data: Statements) -> dict[str, str]:
    """Accuracy on the test clozes of the study."""
    return {f"masked entities, by {way}": f"{value:.3f}"
            for way, value in accuracies(model, data, data.clozes[TEST]).items()}


if __name__ == "__main__":
    main()
