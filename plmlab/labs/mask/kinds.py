"""The kinds of Examples that the Mask Lab draws: a single text, an encoder–decoder pair, and a text in both
directions."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import torch

from plmlab.example import AnyExample, BidirectionalExample, Example, PairExample
from plmlab.labs.mask.influence import LayerStates, one_direction
from plmlab.labs.mask.square import Block, blocks
from plmlab.labs.shared.tokens import names_of
from plmlab.visibility import Visibility

Made = TypeVar("Made", bound=AnyExample)
Streams: TypeAlias = list[tuple[str, Visibility]]
"""The masks that can be drawn, by title: one, or one for each attention stream."""


@dataclass(frozen=True)
class Side:
    """One of two parts of an example: its heading, and the suffixes that distinguish a token occurring in both parts
    (``token``), or more than once in this part (``again``, which contains ``{position}``)."""

    heading: str
    token: str
    again: str


class Drawn(ABC, Generic[Made]):
    """Base class for one kind of example, drawn as a row of parts with one square mask over all positions.

    A subclass defines the Examples it consists of (``parts``), the blocks of the square that have a mask (``masks``,
    with names in ``called``), the blocks without connections and the reason for each (``never``), how a mask is
    replaced (``with_mask``), and the information flow in a recurrent network (``influence``). ``leak`` is the warning
    for target leakage.
    """

    sides: ClassVar[tuple[Side, ...]] = ()
    called: ClassVar[Mapping[Block, str]] = {}
    never: ClassVar[Mapping[Block, str]] = {}
    leak: ClassVar[str] = ""

    def __init__(self, example: Made) -> None:
        self.example = example

    @property
    @abstractmethod
    def parts(self) -> tuple[Example, ...]:
        """The Examples, in the order in which they are drawn."""

    @abstractmethod
    def masks(self) -> Mapping[Block, Visibility]:
        """The masks of the example itself, by block."""

    @abstractmethod
    def with_mask(self, block: Block, visible: Visibility) -> Made:
        """The example with another mask in the given block."""

    @abstractmethod
    def influence(self, carried: LayerStates) -> Visibility:
        """Information flow if a recurrent network processes the example. Raises ValueError if no recurrent network
        can."""

    @property
    def positions(self) -> int:
        """The number of positions drawn, over all parts."""
        return sum(len(part.tokens) for part in self.parts)

    @property
    def split(self) -> int:
        """The index at which the second part begins; 0 if there is only one part."""
        return len(self.parts[0].tokens) if len(self.parts) > 1 else 0

    def square(self, masks: Mapping[Block, Visibility]) -> Visibility:
        """The blocks as one square mask over all positions."""
        return blocks([len(part.tokens) for part in self.parts],
                      {block: (self.called[block], visible) for block, visible in masks.items()}, self.never)

    def streams(self) -> Streams:
        """The attention masks of the example itself."""
        return [("content stream", self.square(self.masks()))]

    def row(self) -> Example:
        """All parts concatenated into one Example, for drawing only."""
        return Example(
            tokens=torch.cat([part.tokens for part in self.parts]),
            position_ids=torch.cat([part.position_ids for part in self.parts], dim=1),
            segments=torch.cat([part.segments for part in self.parts]),
            visible=self.square(self.masks()),
            targets=torch.cat([part.targets for part in self.parts]),
        )

    def edited(self, which: int, query: int, key: int, look: bool) -> Made:
        """The example with one cell of stream ``which`` set by hand. Raises ValueError if the cell does not exist, or
        if it is in a block without connections."""
        if which or not (0 <= query < self.positions and 0 <= key < self.positions):
            raise ValueError(f"there is no cell ({query}, {key}) in mask {which}: this example has one mask, 0, of "
                             f"{self.positions} queries × {self.positions} keys")
        block = int(query >= self.split > 0), int(key >= self.split > 0)
        if block in self.never:
            raise ValueError(f"cell ({query}, {key}) cannot be allowed: {self.never[block]}")
        return self.with_mask(block, self.masks()[block].edited(query - block[0] * self.split,
                                                                key - block[1] * self.split, look))

    def names(self, tokens: list[str]) -> list[str]:
        """Unambiguous names of the positions: a token that occurs in both parts is labelled with the part, and a token
        that is repeated within a part with its position there."""
        halves = tokens[:self.split], tokens[self.split:]

        def name(part: int, position: int, token: str) -> str:
            if tokens.count(token) == 1:
                return token
            side = self.sides[part]
            suffix = side.token if halves[part].count(token) == 1 else side.again.replace("{position}", str(position))
            return f"{token} ({suffix})"

        return [name(part, position, token) for part, half in enumerate(halves) for position, token in enumerate(half)]


class OneText(Drawn[Example]):
    """A single text."""

    leak = "Target leakage: read in both directions, each position has already seen its target, the next word. Such " \
           "a model only learns to copy."

    @property
    def parts(self) -> tuple[Example, ...]:
        """The Example itself."""
        return (self.example,)

    def masks(self) -> Mapping[Block, Visibility]:
        """The mask of the Example, which is the only block."""
        return {(0, 0): self.example.visible}

    def with_mask(self, block: Block, visible: Visibility) -> Example:
        """The Example with this mask."""
        return replace(self.example, visible=visible)

    def influence(self, carried: LayerStates) -> Visibility:
        """Information flow within the text. Raises ValueError for an example with a query stream."""
        if self.example.query_stream_mask is not None:
            raise ValueError("this objective needs a second attention stream, which a recurrent network does not "
                             "have: choose the Transformer")
        return carried.within(self.positions)

    def streams(self) -> Streams:
        """The mask of the content stream, and of the query stream if there is one."""
        second = self.example.query_stream_mask
        return [("content stream", self.example.visible), *([] if second is None else [("query stream", second)])]

    def row(self) -> Example:
        """The Example itself."""
        return self.example

    def edited(self, which: int, query: int, key: int, look: bool) -> Example:
        """The Example with one cell of a stream set by hand. Raises ValueError if the cell does not exist."""
        second = self.example.query_stream_mask
        if which == 1 and second is not None:
            return replace(self.example, query_stream_mask=second.edited(query, key, look))
        return super().edited(which, query, key, look)

    def names(self, tokens: list[str]) -> list[str]:
        """Unambiguous names: a token that occurs more than once is labelled with its position."""
        return names_of(tokens)


class Pair(Drawn[PairExample]):
    """An encoder–decoder pair."""

    sides = (Side("encoder (source)", "source", "source position {position}"),
             Side("decoder (target)", "target", "target position {position}"))
    called: ClassVar = {(0, 0): "encoder", (1, 0): "cross-attention", (1, 1): "decoder"}
    never: ClassVar = {(0, 1): "the source is encoded before the target is generated: no position of the encoder "
                       "attends to the decoder."}

    @property
    def parts(self) -> tuple[Example, ...]:
        """The encoder's input and the decoder's input."""
        return self.example.source, self.example.target

    def masks(self) -> Mapping[Block, Visibility]:
        """The masks of the encoder's self-attention, of the cross-attention, and of the decoder's self-attention."""
        return {(0, 0): self.example.source.visible, (1, 0): self.example.cross, (1, 1): self.example.target.visible}

    def with_mask(self, block: Block, visible: Visibility) -> PairExample:
        """The pair with this mask in the given block."""
        if block == (1, 0):
            return replace(self.example, cross=visible)
        if block == (0, 0):
            return replace(self.example, source=replace(self.example.source, visible=visible))
        return replace(self.example, target=replace(self.example.target, visible=visible))

    def influence(self, carried: LayerStates) -> Visibility:
        """Information flow within the encoder, in its own direction; within the decoder, always left to right, because
        it generates in that order; and from the encoder to the decoder."""
        source, target = (len(part.tokens) for part in self.parts)
        return self.square({(0, 0): carried.within(source), (1, 0): carried.across(target, source),
                            (1, 1): one_direction(target)})


APART = "the two directions share no state, so neither depends on what the other has read."


class Bidirectional(Drawn[BidirectionalExample]):
    """One text in both directions: left to right, then right to left."""

    sides = (Side("forward (left to right)", "forward", "forward, position {position}"),
             Side("backward (right to left)", "backward", "backward, position {position}"))
    called: ClassVar = {(0, 0): "forward", (1, 1): "backward"}
    never: ClassVar = {(0, 1): APART, (1, 0): APART}
    leak = "Target leakage: if the two directions are concatenated below the top layer, each position has access to " \
           "its target. Such a model only learns to copy."

    @property
    def parts(self) -> tuple[Example, ...]:
        """The forward and the backward Example."""
        return self.example.forwards, self.example.backwards

    def masks(self) -> Mapping[Block, Visibility]:
        """A mask for each direction."""
        return {(0, 0): self.example.forwards.visible, (1, 1): self.example.backwards.visible}

    def with_mask(self, block: Block, visible: Visibility) -> BidirectionalExample:
        """The example with this mask for one direction."""
        if block == (0, 0):
            return replace(self.example, forwards=replace(self.example.forwards, visible=visible))
        return replace(self.example, backwards=replace(self.example.backwards, visible=visible))

    def influence(self, carried: LayerStates) -> Visibility:
        """Information flow within each direction, in its own order, and between the two directions."""
        square = self.square({block: one_direction(len(part.tokens))
                              for block, part in zip(self.called, self.parts, strict=True)})
        return replace(square, rules=(*square.rules, *carried.between(self.positions)))


KINDS: dict[type[AnyExample], type[Drawn[Any]]] = {Example: OneText, PairExample: Pair,
                                                   BidirectionalExample: Bidirectional}


def drawn(example: AnyExample) -> Drawn[Any]:
    """Wrap an example in the class that draws its kind."""
    return KINDS[type(example)](example)
