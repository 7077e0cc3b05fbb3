"""Gold alignment links (标准对齐): word pairs of a passage that are certain to be translations of each other."""

from functools import cache

from plmlab import world
from plmlab.world.datasets.passages import Passage

Links = tuple[tuple[int, int], ...]
"""Pairs of word indices (Chinese, English)."""
NAMED = ("person", "country", "town", "year")
NO_WORDS = "·年"


@cache
def name_words() -> dict[str, str]:
    """Map each English word of a name to its Chinese word, for names that are translated word by word (cached)."""
    translation: dict[str, str] = {}
    for entity in world.small().facts.entities.values():
        chinese = [word for word in entity.chinese if word not in NO_WORDS]
        if entity.kind in NAMED and len(chinese) == len(entity.words):
            translation |= dict(zip(entity.words, chinese, strict=True))
    return translation


def names(passage: Passage) -> Links:
    """Links between the words of names. Sentences keep their order in translation, so the first *Quinn* is aligned with
    the first 奎因 and so on, provided that both words occur equally often and no sentence contains two of them."""
    links = []
    for english, chinese in name_words().items():
        source = [index for index, word in enumerate(passage.english) if word == english]
        target = [index for index, word in enumerate(passage.chinese) if word == chinese]
        if len(source) == len(target) and all(words.count(english) <= 1 for words in passage.sentences):
            links += list(zip(target, source, strict=True))
    return tuple(sorted(links))


def gold(passage: Passage) -> Links:
    """All gold links: those of names, and those of content words with a certain translation (`Passage.partners`)."""
    return tuple(sorted({*passage.partners, *names(passage)}))
