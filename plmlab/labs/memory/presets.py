"""Presets of the Memory Lab, and the model's accuracy over many questions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plmlab.labs.memory.quiz import question_start, where
from plmlab.labs.memory.reading import RememberingModel, VisibleContext, read, recompute
from plmlab.text.tokenizers import Tokenizer
from plmlab.world.datasets.recalls import RecallText

PLACES = ("segment", "memory", "beyond")
TITLES = {"memory": "fact in the memory", "segment": "fact in the segment", "beyond": "fact beyond the memory"}
CUTS = 100
"""Number of facts in the memory for which the tally also masks out the answer word."""


@dataclass(frozen=True)
class MemoryPreset:
    """A preset of the Memory Lab: a text that ends with the answer to a question, the lengths of ``segment`` and
    ``memory`` (None for the model's lengths), and ``cuts``, half-open ranges of positions to mask out."""

    title: str
    text: str
    segment: int | None = None
    memory: int | None = None
    cuts: tuple[tuple[int, int], ...] = ()

    def traits(self) -> dict[str, Any]:
        """The trait values that clicking this preset sets."""
        return {"text": self.text, "segment": self.segment, "memory": self.memory, "position": None, "without": "",
                "cuts": [list(cut) for cut in self.cuts]}


@dataclass(frozen=True)
class AnsweredQuestion:
    """One question of a text, and whether the model answers it.

    Attributes:
        words: the text up to the answer.
        fact: the position of the fact.
        place: the location of the fact: "segment", "memory" or "beyond".
        forgets: whether part of the text is no longer in the memory.
        once: whether the answer word occurs only once before the answer.
        whole: whether the question begins in the same segment as its answer. Otherwise part of the question is in the
            memory and may already have attended to the fact.
        right: whether the answer's last word is the top prediction.
        cut_right: the same as ``right``, but with all positions of that word masked out; None if it was not computed.
    """

    words: tuple[str, ...]
    fact: int
    place: str
    forgets: bool
    once: bool
    whole: bool
    right: bool
    cut_right: bool | None


def answer_all(model: RememberingModel, tokenizer: Tokenizer, texts: Sequence[RecallText],
               ) -> Iterator[AnsweredQuestion]:
    """Answer all questions of ``texts``. Raises ValueError if a word is not exactly one token."""
    cuts = 0
    for text in texts:
        ids = tokenizer.encode(" ".join(text.words))
        if len(ids) != len(text.words):
            raise ValueError(f"the tokenizer splits {len(text.words)} words into {len(ids)} tokens; `texts` need a "
                             "word-level tokenizer, one token per word")
        whole_text = read(model, ids)
        for recall in text.recalls:
            end = recall.start + len(recall.answer)
            at = VisibleContext.before(end - 2, model.config.segment, model.config.memory)
            place = where(recall.fact_position, at)
            right = _first(model, whole_text.hidden[:, at.position]) == ids[end - 1]
            once, cut_right = ids[:end - 1].count(ids[end - 1]) == 1, None
            whole = question_start(text.words, recall.start) >= at.segment_start
            if place == "memory" and whole and cuts < CUTS:
                cuts += 1
                cut = at.mask([(position, position + 1) for position, id in enumerate(ids) if id == ids[end - 1]])[None]
                cut_right = _first(model, recompute(model, ids, at, whole_text.inputs, cut)) == ids[end - 1]
            yield AnsweredQuestion(text.words[:end], recall.fact_position, place, at.oldest > 0, once, whole, right,
                                   cut_right)


def default_presets(questions: Sequence[AnsweredQuestion]) -> list[MemoryPreset]:
    """One preset per location of the fact; a second preset for the fact in the memory, with the fact and everything
    before it masked out; and, if there is one, a text for which the model predicts the answer although the word is
    masked out.

    Preferred texts have a question about a fact in the memory that the model answers correctly, but no longer if the
    answer word is masked out; the question lies in one segment, the answer word occurs only once before it, and part of
    the text is no longer in the memory.
    """
    def preference(item: AnsweredQuestion) -> tuple[bool | int, ...]:
        wrong = not item.right and item.place != "beyond"
        return wrong, item.cut_right is not False, not item.whole, not item.once, not item.forgets, len(item.words)

    best = {place: min((item for item in questions if item.place == place), default=None, key=preference)
            for place in TITLES}
    presets = [MemoryPreset(TITLES[place], " ".join(item.words)) for place, item in best.items() if item is not None]
    remembered = best["memory"]
    if remembered is not None:
        presets.append(MemoryPreset("memory masked up to the fact", " ".join(remembered.words),
                                    cuts=((0, remembered.fact + 1),)))
    known = min((item for item in questions if item.right and item.cut_right and item.once), default=None,
                key=preference)
    if known is not None:
        position = known.words.index(known.words[-1])
        presets.append(MemoryPreset("masked out, yet known", " ".join(known.words), cuts=((position, position + 1),)))
    return presets


def tally(questions: Sequence[AnsweredQuestion]) -> dict[str, Any]:
    """Number of correct answers by location of the fact, as [correct, total]. ``cut`` covers the questions that lie in
    one segment and whose answer word was masked out, as [correct before, correct after, total]. Returns {} if there are
    no questions."""
    if not questions:
        return {}
    cut = [item for item in questions if item.cut_right is not None]
    return {"places": {place: [sum(item.right for item in questions if item.place == place),
                               sum(item.place == place for item in questions)] for place in PLACES},
            "cut": [sum(item.right for item in cut), sum(bool(item.cut_right) for item in cut), len(cut)]}


def _first(model: RememberingModel, hidden: Any) -> int:
    return int(model.token_logits(hidden)[0].argmax())
