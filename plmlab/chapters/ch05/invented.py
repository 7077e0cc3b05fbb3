"""Invented out-of-vocabulary names: recombined from parts of known names, or random characters.

The held-out names of the world are new as a whole, but each of their words occurs elsewhere in training. A test of
character-level input needs new words: each word of a person's name is replaced by an invented word with a similar
spelling (the start of one known word, the end of another), or by as many random letters, capitalized or not.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from random import Random
from string import ascii_lowercase

from plmlab import world
from plmlab.chapters.ch05.labelled import Labelled, new_names
from plmlab.draws import choice, randint

KIND = "person"
"""Category of the names that are replaced; titles are not, because they consist of ordinary words."""
READ = 6000


@cache
def parts() -> dict[bool, list[str]]:
    """Map True to the first words of persons' names in the training text, and False to the other words of these names
    (cached)."""
    words_of: dict[bool, set[str]] = defaultdict(set)
    for sentence in islice(world.full().sentences("train", seed=601), READ):
        for mention in sentence.mentions:
            if mention.entity.split(":")[0] == KIND:
                for index in range(mention.start, mention.end):
                    words_of[index == mention.start].add(sentence.words[index])
    return {first: sorted(words) for first, words in words_of.items()}


def alike(rng: Random, pool: Sequence[str], word: str) -> str:
    """A new word made of the start of one word of the pool and the end of another; it differs from ``word``."""
    known = {*world.full().vocabulary, word}
    while True:
        one, other = choice(rng, pool), choice(rng, pool)
        invented = one[:len(one) // 2 + 1] + other[len(other) // 2:]
        if invented not in known:
            return invented


def small_letters(rng: Random, pool: Sequence[str], word: str) -> str:
    """As many random lower-case letters as ``word`` has; the pool is ignored."""
    return "".join(ascii_lowercase[randint(rng, 26)] for _ in word)


def at_random(rng: Random, pool: Sequence[str], word: str) -> str:
    """As many random letters as ``word`` has, the first one capitalized; the pool is ignored."""
    return small_letters(rng, pool, word).capitalize()


WAYS: dict[str, Callable[[Random, Sequence[str], str], str]] = {
    "alike": alike, "at random": at_random, "small letters": small_letters}


@cache
def renamed(way: str) -> tuple[Labelled, ...]:
    """Test sentences that contain a person's name, with the name replaced according to ``way`` ("as it is" leaves it
    unchanged). A word is replaced in the same way in all names."""
    rng, new = Random(f"renamed:{way}"), dict[tuple[bool, str], str]()
    rows = []
    for sentence in new_names()["test_set"]:
        [mention] = sentence.mentions
        if mention.entity.split(":")[0] != KIND:
            continue
        words = list(sentence.words)
        for index in range(mention.start, mention.end) if way in WAYS else ():
            first, word = index == mention.start, words[index]
            if (first, word) not in new:
                new[first, word] = WAYS[way](rng, parts()[first], word)
            words[index] = new[first, word]
        rows.append(Labelled(words, sentence.bio))
    return tuple(rows)
