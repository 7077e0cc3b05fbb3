"""What a reader's state must know, position by position: the number of the subject, being inside a name, how far the
end is."""

from collections.abc import Iterator
from typing import NamedTuple

from plmlab.world.datasets.numbers import number_of_noun
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.world import World


class Tracks(NamedTuple):
    """A sentence with gold labels, one a position. Position t has read the first t words: position 0 none, the last
    position all.

    Attributes:
        words: the sentence's own.
        number: of the first subject that was read and whose verb was not, "sg" or "pl"; None where there is none. The
            last position of a subject is the one that must say the verb.
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
        nouns.append((number_of_noun(world, word) if tag == "NOUN" else None) or nouns[-1])
    named = {place for start, end, _ in sentence.mentions for place in range(start, end)}
    return Tracks(sentence.words, tuple(number), tuple(nouns),
                  tuple(position - 1 in named for position in range(count + 1)),
                  tuple(count - position for position in range(count + 1)))
