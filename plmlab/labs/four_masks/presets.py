"""Sentences of a Small World in which the four masks leave a word differently open."""

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
"""Words of a sentence, at most."""
HALVED = 6
"""Words of a sentence that is cut in two, at least."""
AGREEMENT, FIRST_NAME, IN_SOURCE = "a verb far from its subject", "a first name", "a first name, in the source"
SURNAME, FACTS = "neither side is enough", "told by the facts"
OPEN, KNOWN = 0.55, 0.95
"""A word is open to a reader who gives it at most this probability, and known to one who gives it this."""


@dataclass(frozen=True)
class FourMasksPreset:
    """Something to try in the Four-mask Lab: a sentence, the place of its hidden word (0, 1, …), and how many words are
    the source (None: the lab's choice)."""

    title: str
    text: str
    hidden: int
    cut: int | None = None

    def traits(self) -> dict[str, Any]:
        """The lab's traits that a click on this preset sets, and the title of its button."""
        return asdict(self)


def things_to_try(world: World, split: str) -> list[FourMasksPreset]:
    """A verb, known from its subject; a first name, known from what follows; the same as part of the source; a surname
    that neither side tells; a word that the facts tell. Each where the world has such a sentence."""
    wanted: dict[str, Callable[[Automaton, Sentence], int | None]] = {
        AGREEMENT: distant_verb, FIRST_NAME: first_name, SURNAME: surname, FACTS: told_at_the_end}
    automaton, found = world.automaton(split), dict[str, FourMasksPreset]()
    for sentence in islice(world.sentences(split, seed=3), LOOKED_AT):
        for title, look in wanted.items():
            if title in found or len(sentence.words) > LONGEST:
                continue
            gap = look(automaton, sentence)
            if gap is not None:
                found[title] = FourMasksPreset(title, sentence.text, gap)
    if name := found.get(FIRST_NAME):
        found[IN_SOURCE] = replace(name, title=IN_SOURCE, cut=len(name.text.split()) // 2)
    return [found[title] for title in (AGREEMENT, FIRST_NAME, IN_SOURCE, SURNAME, FACTS) if title in found]


def distant_verb(automaton: Automaton, sentence: Sentence) -> int | None:
    """The place of a verb that has a noun of the other number between its subject and itself, known to who reads from
    the left and open to who reads from the right; None for none."""
    verbs = [link.verb for link in sentence.agreement if link.attractors and link.subject < link.verb]
    return next((verb for verb in verbs if _left(automaton, sentence, verb) > KNOWN
                 and _right(automaton, sentence, verb) < OPEN), None)


def first_name(automaton: Automaton, sentence: Sentence) -> int | None:
    """The place of a person's first name at the beginning, open to who reads from the left, known to who sees the rest
    of the first half; None for none."""
    words, begins = sentence.words, [start for start, end, key in sentence.mentions
                                     if key.startswith("person:") and end == start + 2]
    if 0 not in begins or len(words) < HALVED or _left(automaton, sentence, 0) > OPEN:
        return None
    return 0 if sequence_to_sequence(automaton, words, 0, len(words) // 2)[words[0]] > KNOWN else None


def surname(automaton: Automaton, sentence: Sentence) -> int | None:
    """The place of a person's surname that is known to who sees both sides and to nobody else; None for none."""
    ends = [end - 1 for start, end, key in sentence.mentions if key.startswith("person:") and end == start + 2]
    return next((place for place in ends if _both(automaton, sentence, place) > KNOWN
                 and _left(automaton, sentence, place) < OPEN and _right(automaton, sentence, place) < OPEN), None)


def told_at_the_end(automaton: Automaton, sentence: Sentence) -> int | None:
    """The place of the last word, where it is part of a name and known from the left, and open to who reads from the
    right; None for none."""
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
