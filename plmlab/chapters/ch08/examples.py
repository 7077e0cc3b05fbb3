"""One training example of each of the four tasks, as text."""

from plmlab.transfer import training_rows


def of_tasks() -> dict[str, str]:
    """Task → a training example: its input, an arrow, and its label."""
    sentence, pair = training_rows("acceptability", 0)[1], training_rows("paraphrase", 0)[3]
    tagged = next(row for row in training_rows("NER", 0) if row.mentions)
    answered = training_rows("extractive QA", 0)[0]
    return {
        "acceptability": f"{' '.join(sentence.words)} → {'acceptable' if sentence.right else 'unacceptable'}",
        "paraphrase": f"{' '.join(pair.first)} | {' '.join(pair.second)} → "
                      f"{'the same fact' if pair.same else 'different facts'}",
        "NER": " ".join(f"{word}/{tag}" for word, tag in zip(tagged.words, tagged.bio, strict=True)),
        "extractive QA": f"{' '.join(answered.question)} | {' '.join(answered.text)} → "
                         f"{' '.join(answered.text[answered.start:answered.end])}",
    }
