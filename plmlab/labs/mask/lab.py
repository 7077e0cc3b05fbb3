"""The Mask Lab: a sentence under any objective, its attention mask, and the reason for each cell."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import cycle
from math import ceil
from random import Random
from typing import Any, ClassVar, Protocol

import traitlets

from plmlab.example import IGNORE, AnyExample
from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.mask.kinds import Drawn, drawn
from plmlab.labs.mask.marks import marks_of
from plmlab.labs.mask.networks import NETWORKS, Network
from plmlab.labs.mask.state import State
from plmlab.labs.shared.masks import mask_state
from plmlab.labs.shared.notes import empty, joined, left_out, unknown
from plmlab.objectives import OBJECTIVES, Objective
from plmlab.text.printable import printable
from plmlab.text.text import Text
from plmlab.text.vocabulary import Vocabulary


class Tokenizes(Protocol):
    """The tokenizer interface that the Mask Lab needs."""

    @property
    def vocab(self) -> Vocabulary:
        """The vocabulary: its size and its special ids."""
    def text(self, text: str) -> Text:
        """The token ids of a text, without special tokens, and its annotations."""
    def tokens(self, ids: Sequence[int]) -> Sequence[str]:
        """A display label for each id."""


@dataclass(frozen=True)
class MaskPreset:
    """A preset of the Mask Lab: objective, parameters, text and architecture. Values that are not given stay
    unchanged."""

    title: str
    objective: str
    choices: Mapping[str, float | int] = field(default_factory=dict)
    text: str | None = None
    network: str | None = None

    def traits(self) -> dict[str, Any]:
        """The trait values that clicking this preset sets, and the title of its button."""
        return {name: value for name, value in asdict(self).items() if value is not None}


PRESETS = (
    MaskPreset("left to right", "causal"),
    MaskPreset("mask one word", "masked", {"rate": 0.05}),
    MaskPreset("mask half of the words", "masked", {"rate": 0.5}),
)


class MaskLab(Lab):
    """Apply an objective to a sentence and show the attention mask, the reason for each cell, and the targets.

    ``example`` is the objective's Example with the reader's edits, ready to be fed to a model. An encoder–decoder pair
    is drawn as one square mask, with the encoder's positions followed by the decoder's; a bidirectional example, with
    the forward positions followed by the backward positions. A subclass may offer other ``objectives`` and
    ``networks``.

    Args:
        tokenizer: encodes the sentence as ids, and decodes ids to tokens.
        text: the initial sentence.
        objective: a name in ``plmlab.objectives.OBJECTIVES``.
        second: the second text of an objective that takes two (such as a decoder input or a document); if "", the
            sentence itself is used.
        network: the architecture: "transformer", or an architecture without an attention mask: "recurrent",
            "bidirectional" (the two directions are concatenated below the top layer), or "attention" (recurrent encoder
            and decoder with attention). For the latter, the lab draws which inputs can influence which positions, and
            cells cannot be set by hand.
        seed: the random seed; "draw again" uses the next one.
        choices: the objective's parameters where they differ from the defaults.
        presets: the preset buttons of the lab.
    """

    title = "Mask Lab"
    module = "mask/lab.js"
    inputs: ClassVar = ("text", "second", "objective", "choices", "network", "draws", "max_tokens")
    objectives: Mapping[str, Objective] = OBJECTIVES
    networks: ClassVar[Mapping[str, Network]] = NETWORKS

    objective = traitlets.Unicode().tag(sync=True)
    second = traitlets.Unicode().tag(sync=True)
    network = traitlets.Enum(tuple(NETWORKS), "transformer").tag(sync=True)
    choices = traitlets.Dict().tag(sync=True)
    draws = traitlets.Int(0).tag(sync=True)
    edits: traitlets.List = traitlets.List().tag(sync=True)
    menu = traitlets.Dict().tag(sync=True)

    def __init__(self, tokenizer: Tokenizes, text: str = "", objective: str = "masked", *, second: str = "",
                 network: str = "transformer", seed: int = 0, choices: Mapping[str, float | int] | None = None,
                 presets: Sequence[MaskPreset] = PRESETS, max_tokens: int = 64) -> None:
        self.tokenizer, self.seed = tokenizer, seed
        self._example: AnyExample | None = None
        menu = {
            "objectives": [{"name": o.name, "title": o.title} for o in self.objectives.values()],
            "networks": [{"name": name, "title": network.title} for name, network in self.networks.items()],
            "presets": [preset.traits() for preset in presets if preset.objective in self.objectives],
        }
        self.find_objective(objective)
        super().__init__(text=text, second=second, objective=objective, network=network, choices=dict(choices or {}),
                         menu=menu, max_tokens=max_tokens)

    @property
    def example(self) -> AnyExample:
        """The objective's Example, with the cells that were set by hand. Raises ValueError for a cell that cannot be
        allowed."""
        example = self._example
        if example is None:
            raise ValueError(f"there is no Example yet: {self.message}")
        if self.edits and not self.networks[self.network].by_hand:
            raise ValueError("information flow in a recurrent network is not a mask: its cells cannot be set by hand")
        for which, query, key, look in self.edits:
            example = drawn(example).edited(which, query, key, look)
        return example

    def summary(self) -> str:
        """The objective's title, and the tokens drawn."""
        if self._example is None:
            return self.message
        return f"{self.objectives[self.state['objective']].title}: {' '.join(self.state['tokens'])}"

    def find_objective(self, name: str) -> Objective:
        """The objective with this name. Raises ValueError, listing the available names, if there is none."""
        if name not in self.objectives:
            raise ValueError(f"there is no objective {name!r}; choose one of {', '.join(self.objectives)}")
        return self.objectives[name]

    def compute(self, change: Change) -> Computed:
        """Apply the objective to the sentence; edits made by hand are dropped."""
        objective, network = self.find_objective(self.objective), self.networks[self.network]
        typed = [self.text, self.second or self.text][:objective.texts]
        texts = [self.tokenizer.text(text) for text in typed]
        if not all(texts):
            raise empty()
        made, used = self._fitting(objective, texts)
        missing = [id == self.tokenizer.vocab.unk for text in used for id in text].count(True)
        message = joined(left_out(sum(map(len, texts)) - sum(map(len, used)), self.max_tokens), unknown(missing),
                         network.warning(made))
        state = self._describe(objective, network, made, used)
        return Computed({"edits": [], "state": state, "message": message}, {"_example": made.example})

    def _fitting(self, objective: Objective, texts: list[Text]) -> tuple[Drawn[Any], list[Text]]:
        """The Example that fits into ``max_tokens``, and its texts; if there are two texts, the longer one is truncated
        first."""
        choices = chosen(objective, self.choices)
        used = [text[:self.max_tokens] for text in texts]
        while all(used):
            rng = Random(self.seed + self.draws)
            made = drawn(objective.make(*used, vocab=self.tokenizer.vocab, rng=rng, **choices))
            over = made.positions - self.max_tokens
            if over <= 0:
                return made, used
            lengths = [*map(len, used)]
            longest = lengths.index(max(lengths))
            used[longest] = used[longest][:-min(over, max(max(lengths) - min(lengths), ceil(over / len(made.parts))))]
        raise ValueError(f"max_tokens is {self.max_tokens}, too few to draw an example; give at least 8")

    def _describe(self, objective: Objective, network: Network, made: Drawn[Any],
                  texts: list[Text]) -> State:
        question, answer = network.asks.get(type(made), (objective.question, objective.answer))
        example = made.row()
        vocab, tokens = self.tokenizer.vocab, [printable(t) for t in self.tokenizer.tokens(example.tokens.tolist())]
        targets = [[] if t == IGNORE else self.tokenizer.tokens([t]) for t in example.targets.tolist()]
        return {
            "objective": objective.name,
            "choices": [{**asdict(choice), "value": self.choices.get(choice.name, choice.default)}
                        for choice in objective.choices],
            "texts": objective.texts,
            "second": objective.second,
            "verbs": network.verbs,
            "axes": network.axes,
            "by_hand": network.by_hand,
            "tokens": tokens,
            "split": made.split,
            "headings": [side.heading for side in made.sides],
            "never": [list(block) for block in made.never],
            "names": made.names(tokens),
            "marks": [mark for part, text in zip(made.parts, cycle(texts), strict=False)
                      for mark in marks_of(part, text, vocab)],
            "position_ids": example.position_ids.tolist(),
            "segments": example.segments.tolist(),
            "targets": [printable(word[0]) if word else None for word in targets],
            "masks": [mask_state(title, visible) for title, visible in network.streams(made)],
            "question": question,
            "answer": answer,
        }


def chosen(objective: Objective, values: Mapping[str, float | int]) -> dict[str, float]:
    """The selected parameters of an objective. Raises ValueError for a parameter that the objective does not have."""
    names = [choice.name for choice in objective.choices]
    for name in values:
        if name not in names:
            raise ValueError(f"{objective.title} has no parameter {name!r}; it has {', '.join(names) or 'none'}")
    return {name: float(value) for name, value in values.items()}
