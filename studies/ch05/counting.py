"""Frequency baselines that use the labelled words and no network."""

from collections import Counter, defaultdict
from collections.abc import Callable

from plmlab.chapters.ch05.labelled import task_of


def without_a_network(name: str, count: int, seed: int) -> float:
    """Test score of a frequency baseline.

    Names: a sequence of capitalized words is a name of the category in which these words are most frequent. Parts of
    speech: the most frequent tag of the word, or of its ending. Senses: the most frequent sense of the word.
    """
    task = task_of(name)
    known, test_set = task.known(count, seed), task.test_set()
    labels: dict[str, Counter[str]] = defaultdict(Counter)
    for words, gold in known:
        for word, label in zip(words, gold, strict=True):
            if label is not None:
                for key in keys_of(word):
                    labels[key][label.removeprefix("B-").removeprefix("I-")] += 1
    majority = Counter(label for counts in labels.values() for label in counts.elements()).most_common(1)[0][0]

    def guess(word: str, of: Callable[[str], bool] = lambda _: True) -> str:
        for key in keys_of(word):
            counts = Counter({label: count for label, count in labels[key].items() if of(label)})
            if counts:
                return counts.most_common(1)[0][0]
        return majority

    if name != "names":
        return task.score([[guess(word) for word in words] for words, _ in test_set], test_set)
    predicted = []
    for words, _ in test_set:
        tags: list[str] = []
        kind = ""
        for word in words:
            inside = word[0].isupper()
            kind = (kind or guess(word, lambda label: label != "O")) if inside else ""
            tags.append("O" if not inside else f"I-{kind}" if tags and tags[-1] != "O" else f"B-{kind}")
        predicted.append(tags)
    return task.score(predicted, test_set)


def keys_of(word: str) -> list[str]:
    """Back-off keys of a word, most specific first: the word, its last three, two, one and zero characters, each
    combined with whether the word is capitalized."""
    case = "A" if word[0].isupper() else "a"
    return [word, *(f"-{word[len(word) - size:]}:{case}" for size in range(min(3, len(word)), -1, -1))]
