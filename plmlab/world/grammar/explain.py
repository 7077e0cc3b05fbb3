"""Where a sentence leaves the grammar, and what could have come there."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from plmlab.world.probability.automaton import END, Automaton


@dataclass(frozen=True)
class Explanation:
    """Whether the words are a sentence; if not, how many of them begin one, and what could come next."""

    words: tuple[str, ...]
    valid: bool
    prefix: int                       # so many words begin some sentence of the grammar
    expected: dict[str, float]        # what could come after them, likeliest first; END stands for the end
    message: str                      # in the reader's words


def explain(automaton: Automaton, words: Sequence[str], lexicon: Collection[str]) -> Explanation:
    """How far the words follow the grammar, and what could come there.

    ``lexicon`` holds all words of the world; the message tells a word out of place from an unknown one.
    """
    states = automaton.initial()
    prefix = 0
    for word in words:
        following = automaton.advance(states, word)
        if not following:
            break
        states, prefix = following, prefix + 1
    expected = automaton.next_words(words[:prefix])
    valid = prefix == len(words) and END in expected
    return Explanation(tuple(words), valid, prefix, expected, _message(words, prefix, valid, expected, lexicon))


def _message(words: Sequence[str], prefix: int, valid: bool, expected: dict[str, float],
             lexicon: Collection[str]) -> str:
    if not words:
        return "There is no word yet. Type a sentence, with spaces between the words."
    if valid:
        return "This is a sentence of the Small World."
    likely = ", ".join(f"'{word}'" for word in list(expected)[:5])
    said = " ".join(words[:prefix])
    if prefix == len(words):
        return f"So far so good, but no sentence ends after '{said}'. It could go on with {likely}."
    word = words[prefix]
    known = f"'{word}' cannot stand here" if word in lexicon else f"the Small World does not know the word '{word}'"
    where = f"after '{said}'" if prefix else "at the beginning"
    return f"Word {prefix + 1}: {known}. The grammar has {likely} {where}."
