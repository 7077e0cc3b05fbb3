"""The translator that comes with the course: ``python -m plmlab.chapters.ch03.bundled`` makes it anew, in a minute."""

from plmlab.chapters.ch03.noisy_translation import ARMS, BEAMS, LONGEST, SEEDS, SOURCES, asked, exam, learn, spelling
from plmlab.checkpoints import enter, home, save
from plmlab.recipes import recorded

COMMAND = "python -m plmlab.chapters.ch03.bundled"
NAME, ARM, UPDATES = "transformer-telegrams", "smoothing", 1500
"""A run of `noisy_translation`, that of its first seed."""


def main() -> None:
    """Make it, and put it into the index."""
    lr, seed = recorded("03")["numbers"]["noisy translation"]["lr"], SEEDS[0]
    model, history = learn(ARMS[ARM], UPDATES, lr, seed, show=False)
    told = asked(model, ARMS[ARM].lost, exam(ARMS[ARM].lost, LONGEST, seed, SOURCES), BEAMS[:1], ())
    save(home() / NAME, model, spelling(), command=COMMAND, figures={
        f"texts of {LONGEST} sentences": str(SOURCES),
        "share whose likeliest translation is empty": told["exact"]["empty"],
        "share that greedy search gets right": told["beam 1"]["right"], "updates of 32 texts": str(UPDATES),
        "seconds": f"{history.seconds:.0f}"})
    enter(NAME)


if __name__ == "__main__":
    main()
