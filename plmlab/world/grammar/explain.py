"""Explanations of invalid sentences: where a word sequence leaves the grammar, and which words are possible there."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from plmlab.world.probability.automaton import END, Automaton


@dataclass(frozen=True)
class Explanation:
    """Whether the words are a sentence; if not, the length of the longest valid prefix, and the words that are possible
    next."""

    words: tuple[str, ...]
    valid: bool
    prefix: int                       # length of the longest prefix that begins a sentence of the grammar
    expected: dict[str, float]        # what could follow the prefix, most likely first; END is the end
    message: str                      # for the user


def explain(automaton: Automaton, words: Sequence[str], lexicon: Collection[str]) -> Explanation:
    """Find the longest valid prefix of the words, and the words that are possible next.

    ``lexicon`` holds all words of the world; with it, the message distinguishes a misplaced word from an unknown
    one.
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
    begun = " ".join(words[:prefix])
    if prefix == len(words):
        return f"Correct so far, but no sentence ends after '{begun}'. It could continue with {likely}."
    word = words[prefix]
    known = f"'{word}' cannot occur here" if word in lexicon else f"the Small World does not know the word '{word}'"
    where = f"after '{begun}'" if prefix else "at the beginning"
    return f"Word {prefix + 1}: {known}. The grammar allows {likely} {where}."
