"""Rules that count what was labelled: no network at all."""

from collections import Counter, defaultdict
from collections.abc import Callable

from plmlab.chapters.ch05.labelled import task_of


def without_a_network(name: str, count: int, seed: int) -> float:
    """The score of rules that count: a name is a run of words with capitals, of the kind whose names have these words
    most often; a part of speech is the word's most frequent, or that of its ending; a sense is the word's most
    frequent."""
    task = task_of(name)
    known, test_set = task.known(count, seed), task.test_set()
    labels: dict[str, Counter[str]] = defaultdict(Counter)
    for words, gold in known:
        for word, label in zip(words, gold, strict=True):
            if label is not None:
                for key in keys_of(word):
                    labels[key][label.removeprefix("B-").removeprefix("I-")] += 1
    usual = Counter(label for counts in labels.values() for label in counts.elements()).most_common(1)[0][0]

    def guess(word: str, of: Callable[[str], bool] = lambda _: True) -> str:
        for key in keys_of(word):
            some = Counter({label: count for label, count in labels[key].items() if of(label)})
            if some:
                return some.most_common(1)[0][0]
        return usual

    if name != "names":
        return task.score([[guess(word) for word in words] for words, _ in test_set], test_set)
    said = []
    for words, _ in test_set:
        tags: list[str] = []
        kind = ""
        for word in words:
            inside = word[0].isupper()
            kind = (kind or guess(word, lambda label: label != "O")) if inside else ""
            tags.append("O" if not inside else f"I-{kind}" if tags and tags[-1] != "O" else f"B-{kind}")
        said.append(tags)
    return task.score(said, test_set)


def keys_of(word: str) -> list[str]:
    """By what a word is counted, the first that is known counts: the word, its last three letters, two, one, none, each
    with whether it begins with a capital."""
    case = "A" if word[0].isupper() else "a"
    return [word, *(f"-{word[len(word) - letters:]}:{case}" for letters in range(min(3, len(word)), -1, -1))]
