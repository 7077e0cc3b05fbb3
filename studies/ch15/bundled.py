"""Train the bundled CogLTX: ``python -m studies.ch15.bundled``. Its weights are stored in half precision, because those
of two encoders would exceed the 4 MB of a bundled checkpoint."""

from copy import deepcopy
from statistics import fmean

import torch

from plmlab.chapters.ch15.answering import evaluation_documents, outcomes
from plmlab.chapters.ch15.selections import mem_recall, needed_blocks
from plmlab.chapters.ch15.training import SIZE, labelled_texts, pretrained, train, training_documents
from plmlab.checkpoints import enter, home, save
from plmlab.models.cogltx import CogLTX
from plmlab.world.datasets.tokenizer import world_tokenizer

COMMAND = "python -m studies.ch15.bundled"
NAME, RATE, TEST = "cogltx-world", 1e-3, 202
WORLDS, PER_WORLD, UPDATES = (2, 3, 4, 5, 6, 7, 8, 9), 600, 9000
"""More worlds than in the study, because it is trained for longer."""


def main() -> None:
    """Train the model with relevance labels and add it to the index of checkpoints."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = CogLTX.from_pretrained(pretrained())
    texts = labelled_texts(training_documents(WORLDS, PER_WORLD), model.config.longest)
    history = train(model, texts, UPDATES, RATE, precision="bf16")
    bundle(model, history.device, history.seconds)


def bundle(model: CogLTX, device: str, seconds: float) -> None:
    """Save the model with its test results, which are those of the stored weights."""
    half = deepcopy(model).half()
    results = figures(half.float())
    save(home() / NAME, half.half(), world_tokenizer(), command=COMMAND, figures={
        f"updates of {SIZE} texts, learning rate {RATE:g}": f"{UPDATES:,}", **results,
        "device": device, "seconds": f"{seconds:.0f}"})
    enter(NAME)


def figures(model: CogLTX) -> dict[str, str]:
    """Exact match, and how often MemRecall finds the supporting sentences, on test documents."""
    documents = evaluation_documents("test", TEST)
    found, given = (outcomes(model, documents, select) for select in (mem_recall, needed_blocks))
    rows = {"exact match": [one.answer for one in found],
            "first supporting sentence recalled": [one.first for one in found],
            "both supporting sentences recalled": [one.first and one.second for one in found],
            "needed blocks given, exact match": [one.answer for one in given]}
    return {name: f"{fmean(row):.3f}" for name, row in rows.items()}


if __name__ == "__main__":
    main()
