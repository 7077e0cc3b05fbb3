"""Train the two bundled REALMs: ``python -m plmlab.chapters.ch16.bundled``, which resumes after an interruption.

One is the checkpoint after the warm start, with which all variants are initialized; the other is trained further.
"""

from collections.abc import Mapping
from pathlib import Path

import torch

from plmlab.chapters.ch16.arms import ARMS, BATCH, EVERY, FULL, initialized, outcomes, train
from plmlab.chapters.ch16.warm_start import (
    ICT_BATCH,
    ICT_UPDATES,
    READER_BATCH,
    READER_UPDATES,
    bert,
    learn_to_read,
    train_inverse_cloze,
    untrained_embedder,
)
from plmlab.chapters.ch16.warm_start import NAME as START
from plmlab.checkpoints import enter, home, save
from plmlab.models.realm import REALM
from plmlab.world.datasets.tokenizer import world_tokenizer

COMMAND = "python -m plmlab.chapters.ch16.bundled"
NAME, SEED, UPDATES, RATE, SAVED = "realm-world", 0, 1600, 6e-4, 4 * EVERY
RUNS = Path("runs")
LABELS = {"first": "recall@1", "among four": "recall@4", "right": "accuracy", "loss": "loss, nats per statement",
          "null": "mean probability of the null document", "utility": "retrieval utility, nats"}
"""Keys of `outcomes` → their labels in the README of a checkpoint."""


def main() -> None:
    """Run the warm start, train, and add both models to the index of checkpoints."""
    start()
    torch.manual_seed(SEED)
    model = initialized(FULL)
    history = train(model, ARMS[FULL], RATE, SEED, UPDATES, save_to=RUNS / NAME, save_every=SAVED, resume=True)
    bundle(NAME, model, {f"updates of {BATCH} statements, learning rate {RATE:g}": f"{UPDATES:,}",
                         "device": history.device, "seconds": f"{history.seconds:.0f}"})


def start() -> None:
    """Run the warm start of the retriever and the reader."""
    torch.manual_seed(SEED)
    embedder, reader = untrained_embedder(), bert()
    saving = {"save_every": SAVED, "resume": True}
    runs = (train_inverse_cloze(embedder, SEED, save_to=RUNS / START / "embedder", **saving),
            learn_to_read(reader, SEED, save_to=RUNS / START / "reader", **saving))
    bundle(START, REALM.from_pretrained(embedder, reader), {
        f"inverse cloze task, updates of {ICT_BATCH} blocks": f"{ICT_UPDATES:,}",
        f"reader training with BM25's top document, updates of {READER_BATCH} statements": f"{READER_UPDATES:,}",
        "device": runs[0].device, "seconds": f"{sum(run.seconds for run in runs):.0f}"})


def bundle(name: str, model: REALM, figures: Mapping[str, str]) -> None:
    """Save a model in half precision, with test results measured in that precision."""
    results = outcomes(FULL, model.half().float())
    save(home() / name, model.half(), world_tokenizer(), command=COMMAND, figures={
        **figures, "seed": str(SEED), **{LABELS[key]: f"{value:.3f}" for key, value in results.items()}})
    enter(name)


if __name__ == "__main__":
    main()
