"""The semantic kinds of a world's words, and sentences of its grammar with no test set held out."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from random import Random

from plmlab.world.world import World

NAMED = ("town", "country", "river")


def word_kinds(world: World) -> dict[str, frozenset[str]]:
    """Word → its kinds, for all words that occur in sentences and have a known kind; words in alphabetical order.

    A kind is "craft sg" (a class of the lexicon and a form), "given name", "family name", "town", "country", "river" or
    "year".
    """
    vocabulary = set(world.automaton().vocabulary)
    found: dict[str, set[str]] = defaultdict(set)
    for word in world.lexicon:
        for form, surface in word.forms.items():
            found[surface] |= {f"{name} {form}" for name in word.classes}
    for entity in world.facts.entities.values():
        if entity.kind == "person":
            found[entity.words[0]].add("given name")
            found[entity.words[-1]].add("family name")
        elif entity.kind in NAMED:
            found[entity.words[-1]].add(entity.kind)
        elif entity.kind == "year":
            found[entity.words[0]].add("year")
    return {word: frozenset(kinds) for word, kinds in sorted(found.items()) if kinds and word in vocabulary}


def kind_groups(world: World, titles: Mapping[str, str]) -> dict[str, list[str]]:
    """Group words by kind: ``titles`` maps a title to a kind, the result maps it to the words of that kind. A word of
    several of these kinds belongs to the first."""
    kinds = word_kinds(world)
    first = {word: next((title for title, kind in titles.items() if kind in found), None)
             for word, found in kinds.items()}
    return {title: [word for word in kinds if first[word] == title] for title in titles}


def free_sentences(world: World, seed: int = 0) -> Iterator[list[str]]:
    """Endless iterator over sentences of the training grammar as lists of words, without holding out any test sentence:
    the text that the automaton's exact probabilities describe."""
    automaton, rng = world.automaton(), Random(seed)
    while True:
        yield [arc.word for arc in automaton.walk(automaton.draw_start(rng), rng)]
