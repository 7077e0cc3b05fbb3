"""Which position of a text is asked, where its answer was read last, and the question put to the reader before
looking."""

from collections.abc import Sequence

from plmlab.labs.memory.reading import Sight
from plmlab.labs.memory.state import Guess

QUESTION_MARKS = ("?", "？", "؟")
ENDS = (*QUESTION_MARKS, ".", "!", "。", "！")
SENTENCE = 8
"""So many positions before a fact are remembered with it: the sentence that it ends."""
SURE, LOST = 0.5, 0.1
"""From the first on a model knows a word; below the second it does not."""


def asked(words: Sequence[str]) -> int:
    """The position that must say the last word of the answer to the last question of a text; where nothing is asked and
    answered, the last position that is followed by a word."""
    last = max(0, len(words) - 2)
    for mark in range(last, -1, -1):
        if words[mark] in QUESTION_MARKS:
            end = next((i for i in range(mark + 1, len(words)) if words[i] in ENDS), len(words))
            return max(mark, end - 2)
    return last


def asks_from(words: Sequence[str], answer: int) -> int:
    """The position where the question begins whose answer begins at ``answer``."""
    return next((i + 1 for i in range(answer - 2, -1, -1) if words[i] in ENDS), 0)


def read_last(ids: Sequence[int], position: int, word: int) -> int | None:
    """The last position up to ``position`` where a word stood; None if it did not."""
    return next((place for place in range(position, -1, -1) if ids[place] == word), None)


def where(fact: int | None, at: Sight) -> str:
    """"segment", "memory" or "beyond" for where a fact stands when a position is asked; "" where there is none."""
    if fact is None:
        return ""
    return "segment" if fact >= at.begin else "memory" if fact >= at.oldest else "beyond"


def other_memory(fact: int | None, at: Sight) -> int:
    """Another length of the memory that decides: one that just loses the fact, or, where it is lost, one that would
    still hold it; 0 where the fact stands in the segment, or nowhere."""
    place = where(fact, at)
    if fact is None or place == "segment":
        return 0
    return at.begin - fact - 1 if place == "memory" else at.begin - max(0, fact - SENTENCE)


def question(word: str, fact: int | None, at: Sight, memory: int, other: int, now: float, then: float,
             likeliest: str) -> Guess:
    """What to guess, and the answer: ``now`` and ``then`` are the probabilities of ``word`` with the memory as it is
    and with the ``other`` length, where ``likeliest`` comes first."""
    def positions(count: int) -> str:
        return f"{count} position{'' if count == 1 else 's'}"

    place = where(fact, at)
    if fact is None:
        stands = f"“{word}” was not read before"
    else:
        stands = f"“{word}” was read {positions(at.position + 1 - fact)} before the word that is asked for, " + {
            "segment": "in the same segment", "memory": f"in the memory, which holds {positions(memory)}",
            "beyond": f"and the memory holds only {positions(memory)} before this segment"}[place]
    if place == "beyond":
        asks = f"With a memory of {positions(other)}, which holds it, would the model say “{word}”?"
    else:
        length = "no memory at all" if other == 0 else f"a memory of {positions(other)}, which just loses it"
        asks = f"With {length}, would the model still say “{word}”? If not, what?"
    told = f"“{word}” has {now:.2f} with the memory of {positions(memory)} and {then:.2f} with one of {positions(other)}"
    told += ". " if likeliest == word else f", where the model says “{likeliest}” first. "
    if place == "memory" and then >= SURE:
        told += "It still knows: other positions that it remembers had read the word, or its question tells enough."
    elif place == "memory" and now >= SURE and then < LOST:
        told += "Without it the model can only guess."
    elif now >= SURE and likeliest != word:
        told += "Without it the answer fails."
    elif place == "segment" and then >= SURE:
        told += "A fact in the own segment needs no memory."
    elif place == "beyond" and now >= SURE:
        told += "It knew the word all the same: what is remembered had read further back."
    elif place == "beyond" and then >= SURE:
        told += "The fact was only too far away: the same weights find it where the memory is longer."
    elif place == "beyond" and then < SURE:
        told += "A longer memory alone does not help: the model may never have learned to look so far back."
    elif now < SURE:
        told += "It did not know the word before either."
    else:
        told += "The memory has a say, and does not decide."
    return {"question": f"{stands}. {asks}", "answer": told, "memory": other}
