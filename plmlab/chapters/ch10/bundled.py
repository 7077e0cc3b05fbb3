"""Train the bundled Transformer-XL: ``python -m plmlab.chapters.ch10.bundled`` takes a few minutes."""

import torch

from plmlab.chapters.ch10.arms import SEEDS, evaluate, train_variant
from plmlab.chapters.ch10.recall_task import tokenizer
from plmlab.checkpoints import enter, home, save
from plmlab.recipes import recorded

COMMAND = "python -m plmlab.chapters.ch10.bundled"
NAME, ARM, SEED, UPDATES = "transformer-xl-world", "memory", SEEDS[0], 3600
"""The first of a variant's longer runs."""


def main() -> None:
    """Train the model, save it as a checkpoint, and add it to the index of checkpoints."""
    torch.set_num_threads(1)  # as in the recipe
    lr = recorded("10")["numbers"]["distances"]["arms"][ARM]["lr"]
    model, _ = train_variant(ARM, UPDATES, lr, SEED, show=True)
    result = evaluate(model, "test_set")
    save(home() / NAME, model, tokenizer(), command=COMMAND, figures={
        f"updates of 16 texts of 160 words, learning rate {lr:g}": f"{UPDATES:,}", "seed": str(SEED),
        "loss on the answers, nats per answer": f"{result.answers:.3f}",
        "loss on all words, nats per word": f"{result.all:.3f}",
        **{f"accuracy, answer {int(farthest) - 15} to {farthest} positions back": f"{share:.3f}"
           for farthest, share in result.right.items()}})
    enter(NAME)


if __name__ == "__main__":
    main()
