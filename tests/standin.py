"""A tokenizer small enough to know by heart: one id a word, in the order in which words come; and random numbers that
are given."""

from collections.abc import Sequence
from random import Random

from plmlab.text.text import Text
from plmlab.text.vocabulary import SENTINELS, SPECIALS, Vocabulary

SENTENCES = {
    6: "the cat sat down",
    12: "the quick brown fox jumps over the lazy dog .",
    30: "when the old baker of the town had closed his shop , he walked along the river and told "
        "the ferryman an extraordinarily long story about the bear .",
    64: " ".join(["the old baker told the ferryman a long story about the bear and the spring ."] * 4),
}
CHINESE = {6: "我 喜欢 红 苹果", 12: "小镇 上 的 面包师 每天 早上 沿着 河 散步 。",
           64: " ".join(["小镇 上 的 面包师 每天 早上 沿着 河 散步 ， 遇见 了 摆渡人 。"] * 5)}
PEOPLE = ("baker", "ferryman")


class Scripted(Random):
    """Returns the given numbers in turn."""

    def __init__(self, *numbers: float) -> None:
        super().__init__(0)
        self.numbers = list(numbers)

    def random(self) -> float:
        return self.numbers.pop(0)


class Words:
    """Words between spaces."""

    def __init__(self, lines: Sequence[str]) -> None:
        words = dict.fromkeys(word for line in lines for word in line.split())
        self.names = [*SPECIALS, *SENTINELS, *words]
        self.ids = {name: i for i, name in enumerate(self.names)}

    @property
    def vocab(self) -> Vocabulary:
        return Vocabulary(len(self.names))

    def encode(self, text: str) -> list[int]:
        return [self.ids.get(word, 1) for word in text.split()]

    def text(self, text: str) -> Text:
        """With its words, its sentences, which end with a full stop, and its entities, which are the people."""
        words, start = text.split(), 0
        sentences, entities = list[tuple[int, int]](), list[tuple[int, int]]()
        for end, word in enumerate(words, 1):
            if word in (".", "。") or end == len(words):
                sentences.append((start, end))
                start = end
            if word in PEOPLE:
                entities.append((end - (end > 1 and words[end - 2] == "old") - 1, end))
        return Text(self.encode(text), words=[(i, i + 1) for i in range(len(words))], sentences=sentences,
                    entities=entities)

    def tokens(self, ids: Sequence[int]) -> list[str]:
        return [self.names[i] for i in ids]


def annotated(ids: Sequence[int]) -> Text:
    """A text of these ids that knows its words (of one and two tokens in turn), two sentences, and an entity of two
    words. Raises ValueError for fewer than six tokens."""
    if len(ids) < 6:
        raise ValueError("give at least six tokens")
    starts = [i for i in range(len(ids)) if i % 3 < 2]
    half = starts[len(starts) // 2]
    return Text(ids, words=zip(starts, [*starts[1:], len(ids)], strict=True),
                sentences=[(0, half), (half, len(ids))], entities=[(1, 4)])


HOSTILE = {
    "script": "<img src=x onerror=alert(1)> </script><script>alert(2)</script> sat",
    "emoji": "🦊 👩‍👩‍👧 sat 🇨🇳",
    "right to left": "שלום مرحبا sat",
    "Chinese": "我 喜欢 苹果",
    "long": "the cat " * 1250,
    "braces": "{key} {query} ${1} `x` sat",
}


def words(*more: str) -> Words:
    """A tokenizer that knows the English sentences above, and more if given."""
    return Words([*SENTENCES.values(), *more])
