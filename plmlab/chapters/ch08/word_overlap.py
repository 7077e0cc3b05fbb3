"""Word-overlap baseline for paraphrase detection, without a language model: two sentences that share many words are
predicted to be paraphrases."""

from collections.abc import Sequence

from plmlab.transfer import test_set, training_rows


def overlap(one: Sequence[str], other: Sequence[str]) -> float:
    """Jaccard similarity of the word sets of two sentences, from 0 to 1."""
    return len({*one} & {*other}) / len({*one} | {*other})


def overlap_score() -> float:
    """Test accuracy on paraphrase of predicting "same" if the overlap is at least a threshold, the one with the best
    accuracy on the training rows."""
    def score(rows: Sequence, threshold: float) -> float:
        return sum((overlap(row.first, row.second) >= threshold) == row.same for row in rows) / len(rows)
    train_rows = training_rows("paraphrase", 0)
    best = max((step / 40 for step in range(41)), key=lambda threshold: score(train_rows, threshold))
    return score(test_set("paraphrase"), best)
