"""What kind of thing each word of a world is, and sentences of its grammar without any kept apart."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from random import Random

from plmlab.world.world import World

NAMED = ("town", "country", "river")


def word_kinds(world: World) -> dict[str, frozenset[str]]:
    """Word → its kinds, of all words that sentences say and whose kind is known: "craft sg" (a class of the lexicon and
    a form), "given name", "family name", "town", "country", "river", "year". In alphabetical order."""
    said = set(world.automaton().vocabulary)
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
    return {word: frozenset(kinds) for word, kinds in sorted(found.items()) if kinds and word in said}


def kind_groups(world: World, titles: Mapping[str, str]) -> dict[str, list[str]]:
    """Title → the words of that kind, for title → kind; a word of several of these kinds stands with the first."""
    kinds = word_kinds(world)
    first = {word: next((title for title, kind in titles.items() if kind in found), None)
             for word, found in kinds.items()}
    return {title: [word for word in kinds if first[word] == title] for title in titles}


def free_sentences(world: World, seed: int = 0) -> Iterator[list[str]]:
    """Sentences of the training grammar as lists of words, without end, none kept apart for a test: the text that the
    exact figures of the automaton are about."""
    automaton, rng = world.automaton(), Random(seed)
    while True:
        yield [arc.word for arc in automaton.walk(automaton.draw_start(rng), rng)]
