"""Train the bundled translators: ``python -m plmlab.chapters.ch04.bundled`` (20 minutes)."""

from plmlab.chapters.ch04.arms import ARMS, LONGER, SEEDS, UPDATES
from plmlab.chapters.ch04.translation import AIMS, evaluate_translations, learn, loss, test_set, tokenizer, translations
from plmlab.checkpoints import enter, home, save
from plmlab.models.seq2seq import Seq2Seq
from plmlab.recipes import recorded

COMMAND = "python -m plmlab.chapters.ch04.bundled"
BUNDLED = {"fixed-passages": ("fixed", LONGER), "general-passages": ("general", LONGER),
           "two-way-passages": ("two-way", UPDATES)}
"""Checkpoint → configuration of `arms` and number of updates; with the first seed."""
COUNT = 60


def keep(name: str, model: Seq2Seq, lr: float) -> None:
    """Save a trained model with its test results, and add it to the index of checkpoints."""
    kind, updates = BUNDLED[name]
    figures = {f"updates of about 1,000 words, learning rate {lr:g}": f"{updates:,}"}
    for aim in (AIMS[0], AIMS[2], AIMS[-1]):
        some = test_set(aim, SEEDS[0], COUNT)
        scores = evaluate_translations(translations(model, some, ARMS[kind]), some)
        figures |= {f"{aim} words: exact match": f"{scores['exact']:.3f}",
                    f"{aim} words: BLEU": f"{scores['bleu']:.2f}",
                    f"{aim} words: loss, nats per word": f"{loss(model, some, ARMS[kind]):.4f}"}
    save(home() / name, model, tokenizer(), command=COMMAND, figures=figures)
    enter(name)


def main() -> None:
    """Train and save all bundled translators."""
    for name, (kind, updates) in BUNDLED.items():
        lr = recorded("04")["numbers"]["arms"][kind]["lr"]
        model, _ = learn(ARMS[kind], updates, lr, SEEDS[0], show=True)
        assert isinstance(model, Seq2Seq)
        keep(name, model, lr)


if __name__ == "__main__":
    main()
