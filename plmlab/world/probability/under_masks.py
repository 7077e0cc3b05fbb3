"""Bayes-optimal predictions of one masked word under each of UniLM's four attention masks.

Where the end of the sentence is not visible, the only inference is that the visible positions exist. A network could do
slightly better: a sentence that is cut at a random place tends to be longer if the cut is further to the right.
"""

from collections.abc import Sequence

from plmlab.world.probability.automaton import Automaton
from plmlab.world.probability.posterior import NotInGrammar, posterior, posterior_open

Belief = dict[str, float]
"""Word → its probability at the masked position."""


def both_directions(automaton: Automaton, words: Sequence[str], gap: int) -> Belief:
    """Given all other words and the end of the sentence; raises NotInGrammar if they fit no sentence."""
    return posterior(automaton, words, [gap])[0]


def left_to_right(automaton: Automaton, words: Sequence[str], gap: int) -> Belief:
    """Given only the words before the masked position, and that it holds a word; raises NotInGrammar as above."""
    return posterior_open(automaton, dict(enumerate(words[:gap])), [gap], gap + 1)[0]


def right_to_left(automaton: Automaton, words: Sequence[str], gap: int) -> Belief:
    """Given only the words after the masked position and the end of the sentence. The position id counts the words
    before it, so the length is known. Raises NotInGrammar as above."""
    return posterior(automaton, words, range(gap + 1))[gap]


def sequence_to_sequence(automaton: Automaton, words: Sequence[str], gap: int, cut: int) -> Belief:
    """The first ``cut`` words are the source. A target word is predicted from all words before it; a source word from
    the other words of the source and the fact that at least one word follows them. Raises NotInGrammar as above."""
    if gap >= cut:
        return left_to_right(automaton, words, gap)
    return posterior_open(automaton, {position: words[position] for position in range(cut) if position != gap}, [gap],
                          cut + 1)[0]


def under_masks(automaton: Automaton, words: Sequence[str], gap: int, cut: int) -> dict[str, Belief | None]:
    """The name of each mask → the Bayes-optimal distribution of the masked word at index ``gap`` of ``words``, from 0.

    None if no sentence has the words that are visible under this mask. The word at ``gap`` itself is ignored. Raises
    ValueError if ``gap`` is outside the sentence or ``cut`` leaves no word to the target.
    """
    for name, value in (("gap", gap), ("cut", cut)):
        if value not in range(len(words)):
            raise ValueError(f"{name}={value} is outside the sentence; with {len(words)} words it must be from 0 to "
                             f"{len(words) - 1}")
    def source_and_target(automaton: Automaton, words: Sequence[str], gap: int) -> Belief:
        return sequence_to_sequence(automaton, words, gap, cut)

    readers = {"both directions": both_directions, "sequence to sequence": source_and_target,
               "left to right": left_to_right, "right to left": right_to_left}
    found: dict[str, Belief | None] = {}
    for name, believe in readers.items():
        try:
            found[name] = believe(automaton, words, gap)
        except NotInGrammar:
            found[name] = None
    return found
