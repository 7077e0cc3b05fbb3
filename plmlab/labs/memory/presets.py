"""Texts to try in the Memory Lab, and how often its model knows what it is asked, over many questions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plmlab.labs.memory.asking import asks_from, where
from plmlab.labs.memory.reading import RememberingModel, Sight, read, read_again
from plmlab.text.tokenizers import Tokenizer
from plmlab.world.datasets.recalls import RecallText

PLACES = ("segment", "memory", "beyond")
TITLES = {"memory": "fact in the memory", "segment": "fact in the segment", "beyond": "fact beyond the memory"}
CUTS = 100
"""Of so many facts in the memory the word is cut out, for the tally."""


@dataclass(frozen=True)
class MemoryPreset:
    """Something to try in the Memory Lab: a text that ends with the answer to a question, the lengths of ``segment``
    and ``memory`` (None: the model's own), and ``cuts``, each from a position up to another one."""

    title: str
    text: str
    segment: int | None = None
    memory: int | None = None
    cuts: tuple[tuple[int, int], ...] = ()

    def traits(self) -> dict[str, Any]:
        """The lab's traits that a click on this preset sets, with their values."""
        return {"text": self.text, "segment": self.segment, "memory": self.memory, "position": None, "without": "",
                "cuts": [list(cut) for cut in self.cuts]}


@dataclass(frozen=True)
class Asked:
    """One question of a text, and what the model says to it.

    Attributes:
        words: the text up to the answer.
        place: where the fact stands: "segment", "memory" or "beyond".
        forgets: whether some of the text is in the memory no more.
        once: whether the word that is asked for was read once only.
        whole: whether the question began in the segment of its answer: what was read of it in a segment before may
            have found the fact there already, and is remembered.
        right: whether the answer's last word comes first.
        cut_right: whether it still does with all positions of that word cut out; None where they were not cut.
    """

    words: tuple[str, ...]
    fact: int
    place: str
    forgets: bool
    once: bool
    whole: bool
    right: bool
    cut_right: bool | None


def ask_all(model: RememberingModel, tokenizer: Tokenizer, texts: Sequence[RecallText]) -> Iterator[Asked]:
    """All questions of some texts. A ValueError where a word is not one token."""
    cuts = 0
    for text in texts:
        ids = tokenizer.encode(" ".join(text.words))
        if len(ids) != len(text.words):
            raise ValueError(f"the tokenizer makes {len(ids)} tokens of {len(text.words)} words; texts with questions "
                             "are shown for models that read one token a word")
        found = read(model, ids)
        for recall in text.recalls:
            end = recall.start + len(recall.answer)
            at = Sight.before(end - 2, model.config.segment, model.config.memory)
            place, right = where(recall.told, at), _first(model, found.hidden[:, at.position]) == ids[end - 1]
            once, cut_right = ids[:end - 1].count(ids[end - 1]) == 1, None
            whole = asks_from(text.words, recall.start) >= at.begin
            if place == "memory" and whole and cuts < CUTS:
                cuts += 1
                cut = at.mask([(position, position + 1) for position, id in enumerate(ids) if id == ids[end - 1]])[None]
                cut_right = _first(model, read_again(model, ids, at, found.inputs, cut)) == ids[end - 1]
            yield Asked(text.words[:end], recall.told, place, at.oldest > 0, once, whole, right, cut_right)


def texts_to_try(asked: Sequence[Asked]) -> list[MemoryPreset]:
    """A text for each place that a fact can have; the one with the fact in the memory once more, with the memory cut
    behind it; and one whose word is cut out and known all the same, where there is such a text.

    Where there is a choice, the model knows a fact that is not beyond the memory, and does not know it once its word is
    cut out; the question stands in one segment, the word was read once, and something of the text is forgotten.
    """
    def clear(one: Asked) -> tuple[bool | int, ...]:
        wrong = not one.right and one.place != "beyond"
        return wrong, one.cut_right is not False, not one.whole, not one.once, not one.forgets, len(one.words)

    found = {place: min((one for one in asked if one.place == place), default=None, key=clear) for place in TITLES}
    made = [MemoryPreset(TITLES[place], " ".join(one.words)) for place, one in found.items() if one is not None]
    remembered = found["memory"]
    if remembered is not None:
        made.append(MemoryPreset("the memory cut behind it", " ".join(remembered.words),
                                 cuts=((0, remembered.fact + 1),)))
    known = min((one for one in asked if one.right and one.cut_right and one.once), default=None, key=clear)
    if known is not None:
        position = known.words.index(known.words[-1])
        made.append(MemoryPreset("cut out, and still known", " ".join(known.words), cuts=((position, position + 1),)))
    return made


def tally(asked: Sequence[Asked]) -> dict[str, Any]:
    """How many answers were right, by the place of the fact, as [right, of]; ``cut``: of those whose question stands in
    one segment and whose word was cut out of the memory, [right before, right then, of]. {} where nothing was asked."""
    if not asked:
        return {}
    cut = [one for one in asked if one.cut_right is not None]
    return {"places": {place: [sum(one.right for one in asked if one.place == place),
                               sum(one.place == place for one in asked)] for place in PLACES},
            "cut": [sum(one.right for one in cut), sum(bool(one.cut_right) for one in cut), len(cut)]}


def _first(model: RememberingModel, hidden: Any) -> int:
    return int(model.token_logits(hidden)[0].argmax())
