"""Presets of the Four-mask Lab: sentences with a word that is predictable under some masks only."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any

from plmlab.world import World
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.probability.automaton import Automaton
from plmlab.world.probability.under_masks import both_directions, left_to_right, right_to_left, sequence_to_sequence

LOOKED_AT = 300
LONGEST = 10
"""The maximum number of words of a sentence."""
HALVED = 6
"""The minimum number of words of a sentence that is split into source and target."""
AGREEMENT, FIRST_NAME, IN_SOURCE = "a verb far from its subject", "a first name", "a first name in the source"
SURNAME, FACTS = "both sides needed", "determined by the facts"
OPEN, KNOWN = 0.55, 0.95
"""A word is uncertain if its exact probability is below the first, and known if it is above the second."""


@dataclass(frozen=True)
class FourMasksPreset:
    """A preset of the Four-mask Lab: a sentence, the index of its masked word, and the number of source words (None for
    the lab's default)."""

    title: str
    text: str
    hidden: int
    cut: int | None = None

    def traits(self) -> dict[str, Any]:
        """The trait values that clicking this preset sets, and the title of its button."""
        return asdict(self)


def default_presets(world: World, split: str) -> list[FourMasksPreset]:
    """Presets for words that are predictable from different contexts, as far as the world has such sentences: a verb,
    from its subject; a first name, from the right context; the same within the source; a surname, from both sides only;
    and a word that is determined by the facts."""
    wanted: dict[str, Callable[[Automaton, Sentence], int | None]] = {
        AGREEMENT: distant_verb, FIRST_NAME: first_name, SURNAME: surname, FACTS: told_at_the_end}
    automaton, found = world.automaton(split), dict[str, FourMasksPreset]()
    for sentence in islice(world.sentences(split, seed=3), LOOKED_AT):
        for title, find in wanted.items():
            if title in found or len(sentence.words) > LONGEST:
                continue
            gap = find(automaton, sentence)
            if gap is not None:
                found[title] = FourMasksPreset(title, sentence.text, gap)
    if name := found.get(FIRST_NAME):
        found[IN_SOURCE] = replace(name, title=IN_SOURCE, cut=len(name.text.split()) // 2)
    return [found[title] for title in (AGREEMENT, FIRST_NAME, IN_SOURCE, SURNAME, FACTS) if title in found]


def distant_verb(automaton: Automaton, sentence: Sentence) -> int | None:
    """The index of a verb with an attractor (a noun of the other number) after its subject that is certain given the
    left context and uncertain given the right context; None if there is none."""
    verbs = [link.verb for link in sentence.agreement if link.attractors and link.subject < link.verb]
    return next((verb for verb in verbs if _left(automaton, sentence, verb) > KNOWN
                 and _right(automaton, sentence, verb) < OPEN), None)


def first_name(automaton: Automaton, sentence: Sentence) -> int | None:
    """The index of a person's first name at the start of the sentence that is uncertain given the left context and
    certain given the rest of the first half; None if there is none."""
    words, begins = sentence.words, [start for start, end, key in sentence.mentions
                                     if key.startswith("person:") and end == start + 2]
    if 0 not in begins or len(words) < HALVED or _left(automaton, sentence, 0) > OPEN:
        return None
    return 0 if sequence_to_sequence(automaton, words, 0, len(words) // 2)[words[0]] > KNOWN else None


def surname(automaton: Automaton, sentence: Sentence) -> int | None:
    """The index of a person's surname that is certain only given both sides; None if there is none."""
    ends = [end - 1 for start, end, key in sentence.mentions if key.startswith("person:") and end == start + 2]
    return next((place for place in ends if _both(automaton, sentence, place) > KNOWN
                 and _left(automaton, sentence, place) < OPEN and _right(automaton, sentence, place) < OPEN), None)


def told_at_the_end(automaton: Automaton, sentence: Sentence) -> int | None:
    """The index of the last word if it is part of a name, certain given the left context and uncertain given the right
    context; otherwise None."""
    place = len(sentence.words) - 2
    named = len(sentence.mentions) > 1 and sentence.mentions[-1][0] == place
    return place if named and _left(automaton, sentence, place) > KNOWN \
        and _right(automaton, sentence, place) < OPEN else None


def _both(automaton: Automaton, sentence: Sentence, place: int) -> float:
    return both_directions(automaton, sentence.words, place)[sentence.words[place]]


def _left(automaton: Automaton, sentence: Sentence, place: int) -> float:
    return left_to_right(automaton, sentence.words, place)[sentence.words[place]]


def _right(automaton: Automaton, sentence: Sentence, place: int) -> float:
    return right_to_left(automaton, sentence.words, place)[sentence.words[place]]
