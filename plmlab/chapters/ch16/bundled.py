"""The two REALMs that come with the course, by ``python -m plmlab.chapters.ch16.bundled``, which goes on after a stop:
one after its warm start, where all arms begin, and one that was trained on from there."""

from collections.abc import Mapping
from pathlib import Path

import torch

from plmlab.chapters.ch16.arms import ARMS, BATCH, EVERY, FULL, begun, outcomes, train
from plmlab.chapters.ch16.warm_start import (
    ICT_BATCH,
    ICT_UPDATES,
    READER_BATCH,
    READER_UPDATES,
    bert,
    learn_to_match,
    learn_to_read,
    untrained_embedder,
)
from plmlab.chapters.ch16.warm_start import NAME as START
from plmlab.checkpoints import enter, home, save
from plmlab.models.realm import REALM
from plmlab.world.datasets.tokenizer import world_tokenizer

COMMAND = "python -m plmlab.chapters.ch16.bundled"
NAME, SEED, UPDATES, RATE, SAVED = "realm-world", 0, 1600, 6e-4, 4 * EVERY
RUNS = Path("runs")


def main() -> None:
    """Warm up, train, and put both into the index."""
    start()
    torch.manual_seed(SEED)
    model = begun(FULL)
    history = train(model, ARMS[FULL], RATE, SEED, UPDATES, save_to=RUNS / NAME, save_every=SAVED, resume=True)
    bundle(NAME, model, {f"updates of {BATCH} statements, rate {RATE:g}": f"{UPDATES:,}", "device": history.device,
                         "seconds": f"{history.seconds:.0f}"})


def start() -> None:
    """Warm retriever and reader up."""
    torch.manual_seed(SEED)
    embedder, reader = untrained_embedder(), bert()
    saving = {"save_every": SAVED, "resume": True}
    runs = (learn_to_match(embedder, SEED, save_to=RUNS / START / "embedder", **saving),
            learn_to_read(reader, SEED, save_to=RUNS / START / "reader", **saving))
    bundle(START, REALM.from_pretrained(embedder, reader), {
        f"inverse cloze, updates of {ICT_BATCH} blocks": f"{ICT_UPDATES:,}",
        f"reading beside BM25's best document, updates of {READER_BATCH} statements": f"{READER_UPDATES:,}",
        "device": runs[0].device, "seconds": f"{sum(run.seconds for run in runs):.0f}"})


def bundle(name: str, model: REALM, figures: Mapping[str, str]) -> None:
    """Save it, in half precision, with what it then reaches in the exam."""
    told = outcomes(FULL, model.half().float())
    save(home() / name, model.half(), world_tokenizer(), command=COMMAND, figures={
        **figures, "seed": str(SEED), **{key: f"{value:.3f}" for key, value in told.items()}})
    enter(name)


if __name__ == "__main__":
    main()
