"""The Transformer-XL that comes with the course: ``python -m plmlab.chapters.ch10.bundled`` makes it in minutes."""

from statistics import fmean

import torch

from plmlab.chapters.ch10.arms import SEEDS, UPDATES, learn, said
from plmlab.chapters.ch10.recalling import spelling
from plmlab.checkpoints import enter, home, save
from plmlab.recipes import recorded

COMMAND = "python -m plmlab.chapters.ch10.bundled"
NAME, ARM = "transformer-xl-world", "memory"
"""A run of `arms`, that of the seed which is right most often where the answer is in sight."""
IN_SIGHT = ("16", "32", "48", "64")


def main() -> None:
    """Make it, and put it into the index."""
    torch.set_num_threads(1)  # as in the recipe
    arm = recorded("10")["numbers"]["distances"]["arms"][ARM]
    seed = max(SEEDS, key=lambda one: fmean(arm["right"][most]["values"][SEEDS.index(one)] for most in IN_SIGHT))
    model, _ = learn(ARM, UPDATES, arm["lr"], seed, show=True)
    told = said(model, "exam")
    save(home() / NAME, model, spelling(), command=COMMAND, figures={
        f"updates of 16 texts of 160 words, rate {arm['lr']:g}": f"{UPDATES:,}", "seed": str(seed),
        "nats an answer": f"{told.answers:.3f}", "nats a word": f"{told.all:.3f}",
        **{f"right answers, read {int(most) - 15} to {most} slots back": f"{share:.3f}"
           for most, share in told.right.items()}})
    enter(NAME)


if __name__ == "__main__":
    main()
