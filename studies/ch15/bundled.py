"""Train the bundled CogLTX: ``python -m studies.ch15.bundled``. Its weights are stored in half precision, because those
of two encoders would exceed the 4 MB of a bundled checkpoint."""

from copy import deepcopy
from statistics import fmean

import torch

from plmlab.chapters.ch15.answering import Outcome, outcomes
from plmlab.chapters.ch15.selections import needed_blocks
from plmlab.chapters.ch15.training import SIZE, labelled_texts, pretrained, train, training_documents
from plmlab.checkpoints import enter, home, save
from plmlab.models.cogltx import CogLTX
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch15.selection import documents

COMMAND = "python -m studies.ch15.bundled"
NAME, UPDATES, RATE, TEST = "cogltx-world", 2000, 1e-3, 202


def main() -> None:
    """Train the model with relevance labels and add it to the index of checkpoints."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = CogLTX.from_pretrained(pretrained())
    history = train(model, labelled_texts(training_documents(), model.config.longest), UPDATES, RATE)
    bundle(model, history.device, history.seconds)


def bundle(model: CogLTX, device: str, seconds: float) -> None:
    """Save the model with its test results, which are those of the stored weights."""
    half = deepcopy(model).half()
    found = outcomes(half.float(), documents("test", TEST))
    given = outcomes(half, documents("test", TEST), needed_blocks)
    save(home() / NAME, half.half(), world_tokenizer(), command=COMMAND, figures={
        f"updates of {SIZE} texts, learning rate {RATE:g}": f"{UPDATES:,}", **figures(found),
        "exact match, needed blocks given": f"{fmean(one.answer for one in given):.3f}",
        "device": device, "seconds": f"{seconds:.0f}"})
    enter(NAME)


def figures(found: list[Outcome]) -> dict[str, str]:
    """Exact match, and how often MemRecall found the supporting sentences."""
    return {"exact match": f"{fmean(one.answer for one in found):.3f}",
            "first supporting sentence recalled": f"{fmean(one.first for one in found):.3f}",
            "both supporting sentences recalled": f"{fmean(one.first and one.second for one in found):.3f}"}


if __name__ == "__main__":
    main()
