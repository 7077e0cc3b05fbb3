"""The Mask Lab: the reader's sentence under any objective, and who may look at whom in it, and why."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field, replace
from math import ceil
from random import Random
from typing import Any, ClassVar, Protocol

import traitlets

from plmlab.example import IGNORE, Example, PairExample
from plmlab.labs.base import Lab
from plmlab.labs.mask.influence import NETWORKS
from plmlab.labs.mask.pair import edited, names_of_pair, side_by_side
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
    """Something to try in the Mask Lab: an objective, its numbers, a text, who reads it; what is not given, stays."""

    title: str
    objective: str
    choices: Mapping[str, float | int] = field(default_factory=dict)
    text: str | None = None
    network: str | None = None

    def traits(self) -> dict[str, Any]:
        """The lab's traits that a click on this preset sets, and the title of its button."""
        return {name: value for name, value in asdict(self).items() if value is not None}


PRESETS = (
    MaskPreset("read from left to right", "causal"),
    MaskPreset("hide one word", "masked", {"rate": 0.05}),
    MaskPreset("hide half the words", "masked", {"rate": 0.5}),
)


def says_next(example: Example) -> bool:
    """Whether each slot must say what stands in the next one (GPT)."""
    return example.targets.tolist()[:-1] == example.tokens.tolist()[1:]


def restores_in_place(example: Example, text: Sequence[int], vocab: Vocabulary) -> bool:
    """Whether each slot must say what stood in that very slot (BERT), and not what comes next (GPT)."""
    tokens, targets = example.tokens.tolist(), example.targets.tolist()
    whole = [token if target == IGNORE else target for token, target in zip(tokens, targets, strict=True)]
    return [id for id in whole if id not in vocab.special] == list(text) and not says_next(example)


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

    ``example`` is what is drawn, the reader's edits included, ready to be fed to a model. An encoder-decoder's pair is
    drawn as one square: the encoder's slots, then the decoder's.

    Args:
        tokenizer: turns the sentence into ids, and ids into tokens.
        text: the sentence to begin with.
        objective: a name in ``plmlab.objectives.OBJECTIVES``.
        second: what the decoder writes, where the objective takes two texts; the sentence itself if "".
        network: who reads: "attention", "recurrent", or "bidirectional". A recurrent network has no mask; there it is
            drawn who can influence whom.
        seed: chooses the draws; "draw again" goes to the next one.
        choices: the objective's numbers, where not the defaults.
        presets: buttons of things to try.
    """

    title = "Mask Lab"
    module = "mask/lab.js"
    inputs: ClassVar = ("text", "second", "objective", "choices", "network", "draws", "max_tokens")

    objective = traitlets.Unicode().tag(sync=True)
    second = traitlets.Unicode().tag(sync=True)
    network = traitlets.Enum(tuple(NETWORKS), "attention").tag(sync=True)
    choices = traitlets.Dict().tag(sync=True)
    draws = traitlets.Int(0).tag(sync=True)
    edits: traitlets.List = traitlets.List().tag(sync=True)
    menu = traitlets.Dict().tag(sync=True)

    def __init__(self, tokenizer: Tokenizes, text: str = "", objective: str = "masked", *, second: str = "",
                 network: str = "attention", seed: int = 0, choices: Mapping[str, float | int] | None = None,
                 presets: Sequence[MaskPreset] = PRESETS, max_tokens: int = 64) -> None:
        self.tokenizer, self.seed = tokenizer, seed
        self._example: Example | PairExample | None = None
        menu = {
            "objectives": [{"name": o.name, "title": o.title} for o in OBJECTIVES.values()],
            "networks": [{"name": name, "title": network.title} for name, network in NETWORKS.items()],
            "presets": [preset.traits() for preset in presets if preset.objective in OBJECTIVES],
        }
        find_objective(objective)
        super().__init__(text=text, second=second, objective=objective, network=network, choices=dict(choices or {}),
                         menu=menu, max_tokens=max_tokens)

    @property
    def example(self) -> Example | PairExample:
        """The Example that is drawn, with the cells as the reader has set them; ValueError for a cell that no edit can
        open."""
        example = self._example
        if example is None:
            raise ValueError(f"there is no Example yet: {self.message}")
        for which, query, key, look in self.edits:
            if isinstance(example, PairExample):
                example = edited(example, query, key, look)
            elif which == 0:
                example = replace(example, visible=example.visible.edited(query, key, look))
            elif example.query_visible is not None:
                example = replace(example, query_visible=example.query_visible.edited(query, key, look))
        return example

    def summary(self) -> str:
        """The title of the objective, and the tokens that are drawn."""
        if self._example is None:
            return self.message
        return f"{OBJECTIVES[self.state['objective']].title}: {' '.join(self.state['tokens'])}"

    def compute(self, changed: AbstractSet[str]) -> dict[str, Any]:
        """What the objective makes of the sentence, without any cell set by hand."""
        objective = find_objective(self.objective)
        typed = [self.text, self.second or self.text][:objective.texts]
        texts = [list(self.tokenizer.encode(text)) for text in typed]
        if not all(texts):
            raise empty()
        made, used = self._fitting(objective, texts)
        if self.network != "attention" and isinstance(made, Example) and made.query_visible is not None:
            raise ValueError(f"{objective.title} asks with a second stream of attention, which a recurrent network "
                             "does not have: let attention read it")
        example = NETWORKS[self.network].reads(made)
        state = self._describe(objective, example, used)
        self._example = example
        missing = [id == self.tokenizer.vocab.unk for text in used for id in text].count(True)
        message = joined(left_out(sum(map(len, texts)) - sum(map(len, used)), self.max_tokens),
                         unknown(missing), self._leak(example))
        return {"edits": [], "state": state, "message": message}

    def _fitting(self, objective: Objective, texts: list[list[int]]) -> tuple[Example | PairExample, list[list[int]]]:
        """The Example of as many tokens of the texts as can be drawn, and those tokens; the longer is cut first."""
        choices = chosen(objective, self.choices)
        used = [text[:self.max_tokens] for text in texts]
        while all(used):
            rng = Random(self.seed + self.draws)
            example = objective.make(*used, vocab=self.tokenizer.vocab, rng=rng, **choices)
            over = slots_of(example) - self.max_tokens
            if over <= 0:
                return example, used
            longest, shortest = max(used, key=len), min(used, key=len)
            del longest[-min(over, max(len(longest) - len(shortest), ceil(over / len(used)))):]
        raise ValueError(f"max_tokens is {self.max_tokens}: too few to draw anything; give at least 8")

    def _leak(self, example: Example | PairExample) -> str:
        """What to know of a network that reads what it must say."""
        if self.network != "bidirectional" or isinstance(example, PairExample) or not says_next(example):
            return ""
        return "Read from the right too, each slot has seen the word that it must say, the next one: such a model " \
               "learns to copy, and nothing else."

    def _describe(self, objective: Objective, made: Example | PairExample, texts: list[list[int]]) -> dict[str, Any]:
        halves = [made.source, made.target] if isinstance(made, PairExample) else [made]
        example = side_by_side(made) if isinstance(made, PairExample) else made
        vocab, tokens = self.tokenizer.vocab, list(self.tokenizer.tokens(example.tokens.tolist()))
        said = [[] if t == IGNORE else self.tokenizer.tokens([t]) for t in example.targets.tolist()]
        second = example.query_visible
        streams = [("content stream", example.visible)] + ([("query stream", second)] if second else [])
        split, network = len(halves[0].tokens) if len(halves) > 1 else 0, NETWORKS[self.network]
        return {
            "objective": objective.name,
            "choices": [{**asdict(choice), "value": self.choices.get(choice.name, choice.default)}
                        for choice in objective.choices],
            "texts": objective.texts,
            "verbs": network.verbs,
            "axes": network.axes,
            "tokens": tokens,
            "split": split,
            "names": names_of_pair(tokens, split) if split else names_of(tokens),
            "marks": [mark for half, text in zip(halves, texts if split else texts[:1], strict=False)
                      for mark in marks_of(half, text, vocab)],
            "positions": example.positions.tolist(),
            "segments": example.segments.tolist(),
            "targets": [word[0] if word else None for word in said],
            "masks": [mask_state(title, visible) for title, visible in streams],
            "question": network.question or objective.question,
            "answer": network.answer or objective.answer,
        }


def slots_of(example: Example | PairExample) -> int:
    """How many slots an Example has, both halves of a pair together."""
    if isinstance(example, PairExample):
        return len(example.source.tokens) + len(example.target.tokens)
    return len(example.tokens)


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
