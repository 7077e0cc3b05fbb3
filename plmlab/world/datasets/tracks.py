"""Gold labels at each position, for probing hidden states: number of the subject, inside a name, distance to the
end."""

from collections.abc import Iterator
from typing import NamedTuple

from plmlab.world.datasets.numbers import number_of_noun
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.world import World


class Tracks(NamedTuple):
    """A sentence with gold labels, one per position. Position t is the state after the first t words, from 0 (no words)
    to the number of words.

    Attributes:
        words: the words of the sentence.
        number: number ("sg" or "pl") of the first subject whose verb is still to come; None if there is none. The last
            position with a subject's number is the one that has to predict the verb.
        noun: number of the most recent common noun, "sg" or "pl"; None before the first. A model that takes the nearest
            noun for the subject follows this label.
        inside: whether the most recent word is part of a name.
        left: the number of words still to come.
    """

    words: tuple[str, ...]
    number: tuple[str | None, ...]
    noun: tuple[str | None, ...]
    inside: tuple[bool, ...]
    left: tuple[int, ...]


def tracks(world: World, split: str = "train", seed: int = 0) -> Iterator[Tracks]:
    """Endless iterator over the sentences of a split with their labels; the same sentences as
    :meth:`World.sentences`."""
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
