"""What the best possible reader can know of one hidden word under each of UniLM's four masks.

Who sees no end of the sentence takes from what it sees that the sentence has these positions, and no more. A network
could guess a little better: a sentence that is cut at a random place is longer the further on the cut stands.
"""

from collections.abc import Sequence

from plmlab.world.probability.automaton import Automaton
from plmlab.world.probability.posterior import NotInGrammar, posterior, posterior_open

Belief = dict[str, float]
"""Word → its probability in the gap."""


def both_directions(automaton: Automaton, words: Sequence[str], gap: int) -> Belief:
    """All other words are in sight, and where the sentence ends; NotInGrammar where these fit no sentence."""
    return posterior(automaton, words, [gap])[0]


def left_to_right(automaton: Automaton, words: Sequence[str], gap: int) -> Belief:
    """The words before the gap are in sight, and that a word stands in it; NotInGrammar as above."""
    return posterior_open(automaton, dict(enumerate(words[:gap])), [gap], gap + 1)[0]


def right_to_left(automaton: Automaton, words: Sequence[str], gap: int) -> Belief:
    """The words behind the gap are in sight, and the end; the gap's own position counts the words before it, so that
    the length is known. NotInGrammar as above."""
    return posterior(automaton, words, range(gap + 1))[gap]


def sequence_to_sequence(automaton: Automaton, words: Sequence[str], gap: int, cut: int) -> Belief:
    """The first ``cut`` words are the source. A gap in the target is told from all words before it; one in the source
    from the other words of the source, and that a word at least follows them. NotInGrammar as above."""
    if gap >= cut:
        return left_to_right(automaton, words, gap)
    return posterior_open(automaton, {position: words[position] for position in range(cut) if position != gap}, [gap],
                          cut + 1)[0]


def under_masks(automaton: Automaton, words: Sequence[str], gap: int, cut: int) -> dict[str, Belief | None]:
    """The name of each mask → what the best possible reader believes stands at the place ``gap`` of ``words``, counted
    from 0; None where no sentence has the words that this mask leaves in sight. What ``words`` holds there is not
    looked at.

    ValueError: a gap that is no place of the sentence, or a ``cut`` that leaves no word to the target.
    """
    for name, value in (("gap", gap), ("cut", cut)):
        if value not in range(len(words)):
            raise ValueError(f"{name} is {value}; a sentence of {len(words)} words takes one from 0 to "
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
