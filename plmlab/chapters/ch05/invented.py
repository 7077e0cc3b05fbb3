"""Names that no model has read: made of the parts of known ones, or of any letters.

The world's own held-out names are new as wholes, but each of their words was read elsewhere. So an exam for characters
needs new words: here each word of a person's name is exchanged for one that is spelled like others of its kind (the
beginning of one, the end of another), or for as many letters drawn at random, with a capital or without.
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
"""The names that are exchanged: those whose words are names, where titles are made of words of the language."""
READ = 6000


@cache
def parts() -> dict[bool, list[str]]:
    """Whether it is a name's first word → the words of training text that stand there."""
    found: dict[bool, set[str]] = defaultdict(set)
    for sentence in islice(world.full().sentences("train", seed=601), READ):
        for mention in sentence.mentions:
            if mention.entity.split(":")[0] == KIND:
                for place in range(mention.start, mention.end):
                    found[place == mention.start].add(sentence.words[place])
    return {first: sorted(words) for first, words in found.items()}


def alike(rng: Random, pool: Sequence[str], word: str) -> str:
    """A new word that is spelled like others of the pool, whatever the old one: the beginning of one and the end of
    another."""
    known = {*world.full().vocabulary, word}
    while True:
        one, other = choice(rng, pool), choice(rng, pool)
        made = one[:len(one) // 2 + 1] + other[len(other) // 2:]
        if made not in known:
            return made


def small_letters(rng: Random, pool: Sequence[str], word: str) -> str:
    """A new word of as many letters as the old one; it owes the pool nothing."""
    return "".join(ascii_lowercase[randint(rng, 26)] for _ in word)


def at_random(rng: Random, pool: Sequence[str], word: str) -> str:
    """The same, the first a capital."""
    return small_letters(rng, pool, word).capitalize()


WAYS: dict[str, Callable[[Random, Sequence[str], str], str]] = {
    "alike": alike, "at random": at_random, "small letters": small_letters}


@cache
def renamed(way: str) -> tuple[Labelled, ...]:
    """The sentences of the exam with a person, whose name is exchanged, or, ``way`` "as it is", is not; a word is
    exchanged alike wherever it stands in a name."""
    rng, new = Random(f"renamed:{way}"), dict[tuple[bool, str], str]()
    told = []
    for sentence in new_names()["test_set"]:
        [mention] = sentence.mentions
        if mention.entity.split(":")[0] != KIND:
            continue
        words = list(sentence.words)
        for place in range(mention.start, mention.end) if way in WAYS else ():
            first, word = place == mention.start, words[place]
            if (first, word) not in new:
                new[first, word] = WAYS[way](rng, parts()[first], word)
            words[place] = new[first, word]
        told.append(Labelled(words, sentence.bio))
    return tuple(told)
