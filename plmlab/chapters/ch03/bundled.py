"""Train the bundled translator: ``python -m plmlab.chapters.ch03.bundled`` (one minute)."""

from plmlab.chapters.ch03 import noisy_translation as curse
from plmlab.checkpoints import enter, home, save
from plmlab.recipes import recorded

COMMAND = "python -m plmlab.chapters.ch03.bundled"
NAME, ARM, UPDATES = "transformer-telegrams", "smoothing", curse.VERDICT_UPDATES
"""The run of `noisy_translation` with its first seed."""


def main() -> None:
    """Train and evaluate the translator, save it, and add it to the index of checkpoints."""
    lr, seed = recorded("03")["numbers"]["noisy translation"]["lr"], curse.SEEDS[0]
    arm = curse.ARMS[ARM]
    model, history = curse.learn(arm, UPDATES, lr, seed, show=False)
    model.eval()
    telegrams = curse.test_set(arm.lost, curse.LONGEST, seed, curse.SOURCES)
    exact = [curse.likeliest(model, telegram) for telegram in telegrams]
    greedy = curse.beamed(model, telegrams, 1)
    save(home() / NAME, model, curse.tokenizer(), command=COMMAND, figures={
        f"texts of {curse.LONGEST} sentences": str(curse.SOURCES),
        "exact search: fraction of empty texts": curse.evaluate_translations(arm.lost, telegrams, exact)["empty"],
        "greedy search: fraction of correct texts": curse.evaluate_translations(arm.lost, telegrams, greedy)["right"],
        "updates of 32 texts": str(UPDATES), "seconds": f"{history.seconds:.0f}"})
    enter(NAME)


if __name__ == "__main__":
    main()
