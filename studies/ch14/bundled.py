"""Train the bundled CogQA: ``python -m studies.ch14.bundled``, which resumes after an interruption."""

from pathlib import Path

from plmlab.chapters.ch14.compared import BOTH
from plmlab.checkpoints import enter, home, save
from plmlab.models.cogqa import CogQA
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch14.arms import answer, train
from studies.ch14.learning import BATCH, RATE, UPDATES
from studies.ch14.outcomes import by_group

COMMAND = "python -m studies.ch14.bundled"
NAME, SEED = "cogqa-world", 1
"""The seed with the best development score among the recipe's three runs with both systems."""


def main() -> None:
    """Train the model and add it to the index of checkpoints."""
    model, history = train(BOTH, RATE, SEED, save_to=Path("runs") / NAME, save_every=100, resume=True, show=True)
    assert isinstance(model, CogQA)
    bundle(model, history.device, history.seconds)


def bundle(model: CogQA, device: str, seconds: float) -> None:
    """Save the model with its test results."""
    right = {f"exact match, {name}": f"{scores['exact']:.3f}" for name, scores in by_group(answer(BOTH, model)).items()}
    save(home() / NAME, model, world_tokenizer(), command=COMMAND, figures={
        f"updates of {BATCH} questions, learning rate {RATE:g}": f"{UPDATES:,}", "seed": str(SEED), **right,
        "device": device, "seconds": f"{seconds:.0f}"})
    enter(NAME)


if __name__ == "__main__":
    main()
