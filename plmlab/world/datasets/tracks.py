"""What a reader's state must know, slot by slot: the number of the subject, being inside a name, how far the end is."""

from collections.abc import Iterator
from typing import NamedTuple

from plmlab.world.grammar.patterns import NUMBER_WORDS
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.world import World

AUXILIARIES = ("is", "was", "has", "does")
NUMBERS = ("sg", "pl")


class Tracks(NamedTuple):
    """A sentence with gold labels, one a slot. Slot t has read the first t words: slot 0 none, the last slot all.

    Attributes:
        words: the sentence's own.
        number: of the first subject that was read and whose verb was not, "sg" or "pl"; None where there is none. The
            last slot of a subject is the one that must say the verb.
        noun: of the common noun that was read last, "sg" or "pl"; None before the first. A reader who takes the
            nearest noun for the subject goes by it.
        inside: whether the word that was read last belongs to a name.
        left: how many words are still to come.
    """

    words: tuple[str, ...]
    number: tuple[str | None, ...]
    noun: tuple[str | None, ...]
    inside: tuple[bool, ...]
    left: tuple[int, ...]


class NumberWords(NamedTuple):
    """The words of a world by what they show of number, each list in the vocabulary's order.

    Attributes:
        singular, plural: what is a verb of one number in some reading, auxiliaries too.
        others: nouns, words such as "this" and "their", and verbs whose present and past look alike.
    """

    singular: tuple[str, ...]
    plural: tuple[str, ...]
    others: tuple[str, ...]


def tracks(world: World, split: str = "train", seed: int = 0) -> Iterator[Tracks]:
    """The sentences of a split with their labels, without end; the same sentences as :meth:`World.sentences` gives."""
    for sentence in world.sentences(split, seed):
        yield tracks_of(world, sentence)


def tracks_of(world: World, sentence: Sentence) -> Tracks:
    """The labels of one sentence of the world."""
    count = len(sentence.words)
    number: list[str | None] = [None] * (count + 1)
    for link in sorted(sentence.agreement, reverse=True):
        if link.subject < link.verb:
            number[link.subject + 1:link.verb + 1] = [link.number] * (link.verb - link.subject)
    nouns: list[str | None] = [None]
    for word, tag in zip(sentence.words, sentence.tags, strict=True):
        nouns.append((_number_of_noun(world, word) if tag == "NOUN" else None) or nouns[-1])
    named = {place for start, end, _ in sentence.mentions for place in range(start, end)}
    return Tracks(sentence.words, tuple(number), tuple(nouns),
                  tuple(slot - 1 in named for slot in range(count + 1)),
                  tuple(count - slot for slot in range(count + 1)))


def number_words(world: World) -> NumberWords:
    """Which words of the world show number. A word that is a noun too, such as "work", counts as a verb."""
    pairs = [NUMBER_WORDS[name] for name in AUXILIARIES]
    groups: dict[str, list[str]] = {"singular": [], "plural": [], "others": []}
    others = {word for name, pair in NUMBER_WORDS.items() if name not in AUXILIARIES for word in pair}
    for word in world.vocabulary:
        verbs = [(reading, form) for reading, form in world.lexicon.readings.get(word, ())
                 if reading.tag == "VERB" and form in ("base", "third")]
        if any(word == one for one, _ in pairs) or any(form == "third" for _, form in verbs):
            groups["singular"].append(word)
        elif any(word == two for _, two in pairs) or any(reading.forms["past"] != word for reading, _ in verbs):
            groups["plural"].append(word)
        elif verbs or word in others or _number_of_noun(world, word):
            groups["others"].append(word)
    return NumberWords(*map(tuple, groups.values()))


def _number_of_noun(world: World, word: str) -> str | None:
    """"sg" or "pl", as the lexicon has the noun; None for what is no noun there, or one without numbers."""
    forms = (form for reading, form in world.lexicon.readings.get(word, ()) if reading.tag == "NOUN")
    return next((form for form in forms if form in NUMBERS), None)
