"""The default query position of a text, the last occurrence of its answer, and the "Guess first" question."""

from collections.abc import Sequence

from plmlab.labs.memory.reading import VisibleContext
from plmlab.labs.memory.state import Guess

QUESTION_MARKS = ("?", "？", "؟")
ENDS = (*QUESTION_MARKS, ".", "!", "。", "！")
SENTENCE = 8
"""Positions before a fact that a longer memory should also hold: the sentence that the fact ends."""
SURE, LOST = 0.5, 0.1
"""Probability thresholds: at least the first, the model knows the word; below the second, it does not."""


def default_position(words: Sequence[str]) -> int:
    """The position that predicts the last word of the answer to the last question of the text; without an answered
    question, the last position that has a next word."""
    last = max(0, len(words) - 2)
    for mark in range(last, -1, -1):
        if words[mark] in QUESTION_MARKS:
            end = next((i for i in range(mark + 1, len(words)) if words[i] in ENDS), len(words))
            return max(mark, end - 2)
    return last


def question_start(words: Sequence[str], answer: int) -> int:
    """The first position of the question whose answer starts at ``answer``."""
    return next((i + 1 for i in range(answer - 2, -1, -1) if words[i] in ENDS), 0)


def read_last(ids: Sequence[int], position: int, word: int) -> int | None:
    """The last position up to and including ``position`` at which a word occurs, or None."""
    return next((index for index in range(position, -1, -1) if ids[index] == word), None)


def where(fact: int | None, at: VisibleContext) -> str:
    """The location of a fact relative to the query position: "segment", "memory" or "beyond"; "" without a fact."""
    if fact is None:
        return ""
    return "segment" if fact >= at.segment_start else "memory" if fact >= at.oldest else "beyond"


def other_memory(fact: int | None, at: VisibleContext) -> int:
    """A memory length to compare with: the longest memory that no longer includes a fact in the memory; if the fact is
    beyond the memory, a memory that includes the fact and `SENTENCE` positions before it; 0 without a fact, or if the
    fact is in the segment."""
    place = where(fact, at)
    if fact is None or place == "segment":
        return 0
    return at.segment_start - fact - 1 if place == "memory" else at.segment_start - max(0, fact - SENTENCE)


def question(word: str, fact: int | None, at: VisibleContext, memory: int, other: int, now: float, then: float,
             likeliest: str) -> Guess:
    """The "Guess first" question, and its answer.

    ``now`` and ``then`` are the probabilities of ``word`` with memory lengths ``memory`` and ``other``; ``likeliest``
    is the top prediction with ``other``.
    """
    def steps(count: int) -> str:
        return f"{count} position{'' if count == 1 else 's'}"

    place = where(fact, at)
    if fact is None:
        setting = f"“{word}” did not occur before"
    else:
        setting = f"“{word}” last occurred {steps(at.position + 1 - fact)} before the target, " + {
            "segment": "in the same segment", "memory": f"in the memory, which holds {steps(memory)}",
            "beyond": f"and the memory holds only {steps(memory)} before this segment"}[place]
    if place == "beyond":
        prompt = f"With a memory of {steps(other)}, which holds it, would the model predict “{word}”?"
    else:
        length = "no memory at all" if other == 0 else f"a memory of {steps(other)}, just too short to hold it"
        prompt = f"With {length}, would the model still predict “{word}”? If not, what?"
    answer = f"p(“{word}”) is {now:.2f} with a memory of {steps(memory)} and {then:.2f} with one of {steps(other)}"
    answer += ". " if likeliest == word else f", where the model predicts “{likeliest}”. "
    if place == "memory" and then >= SURE:
        answer += ("The model still predicts the word: other positions in the memory had attended to it, or the "
                   "question is enough.")
    elif place == "memory" and now >= SURE and then < LOST:
        answer += "Without the fact in its memory, the model can only guess."
    elif now >= SURE and likeliest != word:
        answer += "Without the fact in the memory, the prediction is no longer correct."
    elif place == "segment" and then >= SURE:
        answer += "A fact in the current segment needs no memory."
    elif place == "beyond" and now >= SURE:
        answer += ("The model predicted the word anyway: the hidden states in the memory had attended to earlier "
                   "positions.")
    elif place == "beyond" and then >= SURE:
        answer += "The fact was only too far back: with a longer memory, the same weights predict the word."
    elif place == "beyond" and then < SURE:
        answer += "A longer memory alone does not help: the model may not have learned to attend so far back."
    elif now < SURE:
        answer += "The model did not predict the word with its usual memory either."
    else:
        answer += "The memory contributes to the prediction, but does not determine it."
    return {"question": f"{setting}. {prompt}", "answer": answer, "memory": other}
