"""Bayes-optimal predictions of one masked word under each of UniLM's four attention masks.

Where the end of the sentence is not visible, only the existence of the visible positions is used. A network could do
slightly better: a sentence that is cut at a random place tends to be longer if the cut is further to the right.
"""

from collections.abc import Sequence

from plmlab.world.probability.automaton import Automaton
from plmlab.world.probability.posterior import NotInGrammar, posterior, posterior_open

Belief = dict[str, float]
"""Word → its probability at the masked position."""


def both_directions(automaton: Automaton, words: Sequence[str], position: int) -> Belief:
    """The distribution given all other words and the end of the sentence. Raises NotInGrammar if no sentence has
    them."""
    return posterior(automaton, words, [position])[0]


def left_to_right(automaton: Automaton, words: Sequence[str], position: int) -> Belief:
    """The distribution given only the words before the masked position, and that this position holds a word. Raises
    NotInGrammar if no sentence has them."""
    return posterior_open(automaton, dict(enumerate(words[:position])), [position], position + 1)[0]


def right_to_left(automaton: Automaton, words: Sequence[str], position: int) -> Belief:
    """The distribution given only the words after the masked position and the end of the sentence. The position id
    counts the words before it, so the length is known. Raises NotInGrammar if no sentence has them."""
    return posterior(automaton, words, range(position + 1))[position]


def sequence_to_sequence(automaton: Automaton, words: Sequence[str], position: int, source_length: int) -> Belief:
    """The distribution if the first ``source_length`` words are the source. A target word is predicted from all words
    before it; a source word from the other words of the source, and from the fact that at least one word follows the
    source. Raises NotInGrammar if no sentence has them."""
    if position >= source_length:
        return left_to_right(automaton, words, position)
    source = {index: words[index] for index in range(source_length) if index != position}
    return posterior_open(automaton, source, [position], source_length + 1)[0]


def posterior_under_masks(
    automaton: Automaton, words: Sequence[str], position: int, source_length: int,
) -> dict[str, Belief | None]:
    """Map the name of each mask to the Bayes-optimal distribution of the masked word at index ``position`` (from 0).

    None if no sentence has the words that are visible under this mask. The word at ``position`` itself is ignored.
    Raises ValueError if ``position`` is outside the sentence or ``source_length`` leaves no word to the target.
    """
    for name, value in (("position", position), ("source_length", source_length)):
        if value not in range(len(words)):
            raise ValueError(f"{name}={value} is outside the sentence; with {len(words)} words it must be from 0 to "
                             f"{len(words) - 1}")
    def source_and_target(automaton: Automaton, words: Sequence[str], position: int) -> Belief:
        return sequence_to_sequence(automaton, words, position, source_length)

    readers = {"both directions": both_directions, "sequence to sequence": source_and_target,
               "left to right": left_to_right, "right to left": right_to_left}
    found: dict[str, Belief | None] = {}
    for name, believe in readers.items():
        try:
            found[name] = believe(automaton, words, position)
        except NotInGrammar:
            found[name] = None
    return found
