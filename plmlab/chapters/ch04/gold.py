"""Gold links (标准对齐): pairs of words of a passage of which it is sure that one translates the other."""

from functools import cache

from plmlab import world
from plmlab.world.datasets.passages import Passage

Links = tuple[tuple[int, int], ...]
"""Pairs of positions (Chinese, English)."""
NAMED = ("person", "country", "town", "year")
NO_WORDS = "·年"


@cache
def name_words() -> dict[str, str]:
    """English word of a name → its Chinese one, for names whose words translate one by one."""
    found: dict[str, str] = {}
    for entity in world.small().facts.entities.values():
        chinese = [word for word in entity.chinese if word not in NO_WORDS]
        if entity.kind in NAMED and len(chinese) == len(entity.words):
            found |= dict(zip(entity.words, chinese, strict=True))
    return found


def names(passage: Passage) -> Links:
    """The links of words of names. A passage keeps its sentences in order, so that the first *Quinn* is the first 奎因
    and so on, if there are as many of both and no sentence has two."""
    links = []
    for english, chinese in name_words().items():
        positions = [position for position, word in enumerate(passage.english) if word == english]
        written = [position for position, word in enumerate(passage.chinese) if word == chinese]
        if len(positions) == len(written) and all(words.count(english) <= 1 for words in passage.sentences):
            links += list(zip(written, positions, strict=True))
    return tuple(sorted(links))


def gold(passage: Passage) -> Links:
    """The links of names, and those of content words that the world is sure of (`Passage.partners`)."""
    return tuple(sorted({*passage.partners, *names(passage)}))
