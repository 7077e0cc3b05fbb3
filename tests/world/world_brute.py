"""Small automata by the dozen, and every sentence of an automaton written out: the independent oracle."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from random import Random

from plmlab.draws import randint
from plmlab.world.probability.automaton import END, FINAL, Arc, Automaton, Builder, Start

Language = Mapping[tuple[str, ...], float]
"""Every sentence and its probability."""


def derivations(automaton: Automaton) -> Iterator[tuple[tuple[str, ...], float]]:
    """Every derivation's words and probability, by walking all arcs."""
    total = sum(start.weight for start in automaton.starts)

    def walk(state: int, words: tuple[str, ...], p: float) -> Iterator[tuple[tuple[str, ...], float]]:
        if state == FINAL:
            yield words, p
        for arc in automaton.arcs[state]:
            weight = arc.weight / sum(other.weight for other in automaton.arcs[state])
            yield from walk(arc.target, (*words, arc.word), p * weight)

    for start in automaton.starts:
        yield from walk(start.state, (), start.weight / total)


def language(automaton: Automaton) -> dict[tuple[str, ...], float]:
    """Every sentence and its probability."""
    found: dict[tuple[str, ...], float] = defaultdict(float)
    for words, p in derivations(automaton):
        found[words] += p
    return dict(found)


def fitting(sentences: Language, visible: Mapping[int, str], at_least: int) -> dict[tuple[str, ...], float]:
    """The sentences that have the visible words, and that many words."""
    return {words: p for words, p in sentences.items() if len(words) >= max(at_least, *(i + 1 for i in visible), 0)
            and all(words[position] == word for position, word in visible.items())}


def chance(sentences: Language, visible: Mapping[int, str], at_least: int) -> float:
    """The probability that a sentence has the visible words, and that many words."""
    return sum(fitting(sentences, visible, at_least).values())


def by_hand(sentences: Language, visible: Mapping[int, str], position: int, at_least: int) -> dict[str, float]:
    """What stands in the position, or END, among the sentences that reach it."""
    masses: dict[str, float] = defaultdict(float)
    for words, p in fitting(sentences, visible, max(at_least, position)).items():
        masses[(*words, END)[position]] += p
    return {word: mass / sum(masses.values()) for word, mass in masses.items()}


def random_automaton(seed: int, *, words: str = "abcd", states: int = 7, labels: int = 1) -> Automaton:
    """A small automaton with several starts, some arcs of one word from one state, and prefixes of sentences."""
    rng = Random(seed)
    builder = Builder()
    made = [FINAL]
    for _ in range(states):
        arcs = {Arc(words[randint(rng, len(words))], randint(rng, labels), made[randint(rng, len(made))], 1
                    + randint(rng, 4))
                for _ in range(1 + randint(rng, 4))}
        distinct = {(arc.word, arc.label, arc.target): arc for arc in sorted(arcs)}
        state = builder.state(distinct.values())
        if state not in made:
            made.append(state)
    return builder.automaton([Start(f"p{i}", made[-1 - i % 3], 1 + i) for i in range(1 + randint(rng, 3))])
