"""A baseline without a model: the first name of the answer's kind in the retrieved documents."""

from collections.abc import Collection, Iterable, Sequence

from plmlab.world.questions.chains import find_words


def first_name(question: Sequence[str], texts: Iterable[str], names: Collection[tuple[str, ...]]) -> tuple[str, ...]:
    """The words of the first of the ``names`` in the texts that the question does not contain, the longest one if
    several begin at the same word; none if there is none."""
    for text in texts:
        words = tuple(text.split())
        for start in range(len(words)):
            for name in (words[start:end] for end in range(len(words), start, -1)):
                if name in names and find_words(question, name) is None:
                    return name
    return ()
