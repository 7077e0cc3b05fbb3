"""The Mask Lab: the reader's sentence under any objective, and who may look at whom in it, and why."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field, replace
from random import Random
from typing import Any, ClassVar, Protocol

import traitlets

from plmlab.example import IGNORE, Example
from plmlab.labs.base import Lab
from plmlab.labs.shared.masks import mask_state
from plmlab.labs.shared.notes import empty, joined, left_out, unknown
from plmlab.labs.shared.tokens import names_of
from plmlab.objectives import OBJECTIVES, Objective
from plmlab.text.vocabulary import Vocabulary


class Tokenizes(Protocol):
    """A tokenizer, as far as the Mask Lab needs one."""

    @property
    def vocab(self) -> Vocabulary:
        """Which ids are special, and how many ids there are."""
    def encode(self, text: str) -> Sequence[int]:
        """The ids of a text, without any special token added."""
    def tokens(self, ids: Sequence[int]) -> Sequence[str]:
        """Each id as a label to be shown."""


@dataclass(frozen=True)
class MaskPreset:
    """Something to try in the Mask Lab: an objective, its numbers, and a text; the text stays where none is given."""

    title: str
    objective: str
    choices: Mapping[str, float | int] = field(default_factory=dict)
    text: str | None = None

    def traits(self) -> dict[str, Any]:
        """The lab's traits that a click on this preset sets, and the title of its button."""
        return {name: value for name, value in asdict(self).items() if value is not None}


PRESETS = (
    MaskPreset("read from left to right", "causal"),
    MaskPreset("hide one word", "masked", {"rate": 0.05}),
    MaskPreset("hide half the words", "masked", {"rate": 0.5}),
)


def restores_in_place(example: Example, text: Sequence[int], vocab: Vocabulary) -> bool:
    """Whether each slot must say what stood in that very slot (BERT), and not what comes next (GPT)."""
    tokens, targets = example.tokens.tolist(), example.targets.tolist()
    whole = [token if target == IGNORE else target for token, target in zip(tokens, targets, strict=True)]
    return [id for id in whole if id not in vocab.special] == list(text) and targets[:-1] != tokens[1:]


def marks_of(example: Example, text: Sequence[int], vocab: Vocabulary) -> list[str]:
    """What befell each slot: ``mask``, ``changed``, ``kept`` (to be said, and in sight), ``unknown``,
    ``special``, or ``word``."""
    in_place = restores_in_place(example, text, vocab)

    def mark(token: int, target: int) -> str:
        if token == vocab.mask or token in vocab.sentinels:
            return "mask"
        if in_place and target not in (IGNORE, token):
            return "changed"
        if in_place and target == token and example.query_visible is None:
            return "kept"
        if token == vocab.unk:
            return "unknown"
        return "special" if token in vocab.special else "word"

    return [mark(*pair) for pair in zip(example.tokens.tolist(), example.targets.tolist(), strict=True)]


class MaskLab(Lab):
    """Type a sentence, pick an objective, and see who sees whom, why, and what is to be predicted.

    ``example`` is what is drawn, the reader's edits included, ready to be fed to a model.

    Args:
        tokenizer: turns the sentence into ids, and ids into tokens.
        text: the sentence to begin with.
        objective: a name in ``plmlab.objectives.OBJECTIVES``.
        seed: chooses the draws; "draw again" goes to the next one.
        choices: the objective's numbers, where not the defaults.
        presets: buttons of things to try.
    """

    title = "Mask Lab"
    module = "mask/lab.js"
    inputs: ClassVar = ("text", "objective", "choices", "draws", "max_tokens")

    objective = traitlets.Unicode().tag(sync=True)
    choices = traitlets.Dict().tag(sync=True)
    draws = traitlets.Int(0).tag(sync=True)
    edits: traitlets.List = traitlets.List().tag(sync=True)
    menu = traitlets.Dict().tag(sync=True)

    def __init__(self, tokenizer: Tokenizes, text: str = "", objective: str = "masked", *, seed: int = 0,
                 choices: Mapping[str, float | int] | None = None, presets: Sequence[MaskPreset] = PRESETS,
                 max_tokens: int = 64) -> None:
        self.tokenizer, self.seed = tokenizer, seed
        self._example: Example | None = None
        menu = {
            "objectives": [{"name": o.name, "title": o.title} for o in OBJECTIVES.values()],
            "presets": [preset.traits() for preset in presets if preset.objective in OBJECTIVES],
        }
        find_objective(objective)
        super().__init__(text=text, objective=objective, choices=dict(choices or {}), menu=menu,
                         max_tokens=max_tokens)

    @property
    def example(self) -> Example:
        """The Example that is drawn, with the cells as the reader has set them."""
        if self._example is None:
            raise ValueError(f"there is no Example yet: {self.message}")
        visible, second = self._example.visible, self._example.query_visible
        for which, query, key, look in self.edits:
            if which == 0:
                visible = visible.edited(query, key, look)
            elif second is not None:
                second = second.edited(query, key, look)
        return replace(self._example, visible=visible, query_visible=second)

    def summary(self) -> str:
        """The title of the objective, and the tokens that are drawn."""
        if self._example is None:
            return self.message
        return f"{OBJECTIVES[self.state['objective']].title}: {' '.join(self.state['tokens'])}"

    def compute(self, changed: AbstractSet[str]) -> dict[str, Any]:
        """What the objective makes of the sentence, without any cell set by hand."""
        objective = find_objective(self.objective)
        ids = list(self.tokenizer.encode(self.text))
        if not ids:
            raise empty()
        example, used = self._fitting(objective, ids)
        state = self._describe(objective, example, ids[:used])
        self._example = example
        missing = [id == self.tokenizer.vocab.unk for id in ids[:used]].count(True)
        return {"edits": [], "state": state,
                "message": joined(left_out(len(ids) - used, self.max_tokens), unknown(missing))}

    def _fitting(self, objective: Objective, ids: list[int]) -> tuple[Example, int]:
        """The Example of as many tokens of the text as can be drawn, and how many those are."""
        choices = chosen(objective, self.choices)
        used = min(len(ids), self.max_tokens)
        while used > 0:
            rng = Random(self.seed + self.draws)
            example = objective.make(ids[:used], vocab=self.tokenizer.vocab, rng=rng, **choices)
            if not isinstance(example, Example):
                raise ValueError(f"{objective.title} makes a pair of an encoder's and a decoder's example, "
                                 "which this lab cannot draw yet; pick another objective")
            if len(example.tokens) <= self.max_tokens:
                return example, used
            used -= len(example.tokens) - self.max_tokens
        raise ValueError(f"max_tokens is {self.max_tokens}: too few to draw anything; give at least 8")

    def _describe(self, objective: Objective, example: Example, text: Sequence[int]) -> dict[str, Any]:
        vocab, ids = self.tokenizer.vocab, example.tokens.tolist()
        tokens = list(self.tokenizer.tokens(ids))
        said = [[] if t == IGNORE else self.tokenizer.tokens([t]) for t in example.targets.tolist()]
        second = example.query_visible
        streams = [("content stream", example.visible)] + ([("query stream", second)] if second else [])
        return {
            "objective": objective.name,
            "choices": [{**asdict(choice), "value": self.choices.get(choice.name, choice.default)}
                        for choice in objective.choices],
            "tokens": tokens,
            "names": names_of(tokens),
            "marks": marks_of(example, text, vocab),
            "positions": example.positions.tolist(),
            "segments": example.segments.tolist(),
            "targets": [word[0] if word else None for word in said],
            "masks": [mask_state(title, visible) for title, visible in streams],
            "question": objective.question,
            "answer": objective.answer,
        }


def find_objective(name: str) -> Objective:
    """The objective of that name; a ValueError lists those that are there."""
    if name not in OBJECTIVES:
        raise ValueError(f"there is no objective {name!r}; there are {', '.join(OBJECTIVES)}")
    return OBJECTIVES[name]


def chosen(objective: Objective, values: Mapping[str, float | int]) -> dict[str, float]:
    """The numbers chosen for an objective; a ValueError names one that it does not have."""
    names = [choice.name for choice in objective.choices]
    for name in values:
        if name not in names:
            raise ValueError(f"{objective.title} has no {name!r} to choose; it has {', '.join(names) or 'nothing'}")
    return {name: float(value) for name, value in values.items()}
