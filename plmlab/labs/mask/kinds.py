"""The kinds of examples as the Mask Lab draws them: one text, an encoder's and a decoder's, one text from both ends."""

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
"""What can be drawn, by title: one square, or one for each stream of attention."""


@dataclass(frozen=True)
class Side:
    """One of two parts: what stands over its positions, what tells a token that both parts hold, and one that this part
    holds twice, by its ``{position}``."""

    heading: str
    token: str
    again: str


class Drawn(ABC, Generic[Made]):
    """An example of one kind, as it is drawn: its parts in a row, and one square over all their positions.

    A kind says which Examples its ``parts`` are, which blocks of the square have a mask (``masks``, called as in
    ``called``) and which have none and why (``never``), puts a mask back (``with_mask``), and knows what a recurrent
    network carries from position to position (``influence``). ``leak`` is what to know where a position has read what
    it must say.
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
        """The Examples that stand in a row."""

    @abstractmethod
    def masks(self) -> Mapping[Block, Visibility]:
        """The masks of the example itself, by block."""

    @abstractmethod
    def with_mask(self, block: Block, visible: Visibility) -> Made:
        """The example with another mask in that block."""

    @abstractmethod
    def influence(self, carried: LayerStates) -> Visibility:
        """Who can influence whom where a recurrent network reads. A ValueError where none can read the example."""

    @property
    def positions(self) -> int:
        """How many positions are drawn, those of all parts."""
        return sum(len(part.tokens) for part in self.parts)

    @property
    def split(self) -> int:
        """Where the second part begins; 0 where there is one part."""
        return len(self.parts[0].tokens) if len(self.parts) > 1 else 0

    def square(self, masks: Mapping[Block, Visibility]) -> Visibility:
        """The blocks as one square over all positions."""
        return blocks([len(part.tokens) for part in self.parts],
                      {block: (self.called[block], visible) for block, visible in masks.items()}, self.never)

    def streams(self) -> Streams:
        """Who may look at whom: the masks of the example itself."""
        return [("content stream", self.square(self.masks()))]

    def row(self) -> Example:
        """All parts in a row, as one Example that is only drawn."""
        return Example(
            tokens=torch.cat([part.tokens for part in self.parts]),
            position_ids=torch.cat([part.position_ids for part in self.parts], dim=1),
            segments=torch.cat([part.segments for part in self.parts]),
            visible=self.square(self.masks()),
            targets=torch.cat([part.targets for part in self.parts]),
        )

    def edited(self, which: int, query: int, key: int, look: bool) -> Made:
        """The example with one cell of stream ``which`` set by hand. A ValueError for a cell where no path is, and for
        one that is not there."""
        if which or not (0 <= query < self.positions and 0 <= key < self.positions):
            raise ValueError(f"there is no cell ({query}, {key}) in mask {which}: this example has one mask, 0, of "
                             f"{self.positions} queries × {self.positions} keys")
        block = int(query >= self.split > 0), int(key >= self.split > 0)
        if block in self.never:
            raise ValueError(f"cell ({query}, {key}) cannot be opened: {self.never[block]}")
        return self.with_mask(block, self.masks()[block].edited(query - block[0] * self.split,
                                                                key - block[1] * self.split, look))

    def names(self, tokens: list[str]) -> list[str]:
        """What the positions are called: a token that both parts hold is told by its side, one that a part holds twice
        by its position there."""
        halves = tokens[:self.split], tokens[self.split:]

        def name(part: int, position: int, token: str) -> str:
            if tokens.count(token) == 1:
                return token
            side = self.sides[part]
            told = side.token if halves[part].count(token) == 1 else side.again.replace("{position}", str(position))
            return f"{token} ({told})"

        return [name(part, position, token) for part, half in enumerate(halves) for position, token in enumerate(half)]


class OneText(Drawn[Example]):
    """One text, read in one row."""

    leak = "Read from the right too, each position has seen the word that it must say, the next one: such a model learns " \
           "to copy, and nothing else."

    @property
    def parts(self) -> tuple[Example, ...]:
        """The Example itself."""
        return (self.example,)

    def masks(self) -> Mapping[Block, Visibility]:
        """The one mask."""
        return {(0, 0): self.example.visible}

    def with_mask(self, block: Block, visible: Visibility) -> Example:
        """The Example with this mask."""
        return replace(self.example, visible=visible)

    def influence(self, carried: LayerStates) -> Visibility:
        """As the text is read. ValueError: an example with a second stream of attention."""
        if self.example.query_stream_mask is not None:
            raise ValueError("this objective asks with a second stream of attention, which a recurrent network does "
                             "not have: let a Transformer read it")
        return carried.within(self.positions)

    def streams(self) -> Streams:
        """The mask, and that of the second stream of attention, where there is one."""
        second = self.example.query_stream_mask
        return [("content stream", self.example.visible), *([] if second is None else [("query stream", second)])]

    def row(self) -> Example:
        """The Example itself."""
        return self.example

    def edited(self, which: int, query: int, key: int, look: bool) -> Example:
        """The Example with one cell of a stream set by hand; a ValueError for one that is not there."""
        second = self.example.query_stream_mask
        if which == 1 and second is not None:
            return replace(self.example, query_stream_mask=second.edited(query, key, look))
        return super().edited(which, query, key, look)

    def names(self, tokens: list[str]) -> list[str]:
        """What the positions are called: a token that stands there twice is told by its position."""
        return names_of(tokens)


class Pair(Drawn[PairExample]):
    """An encoder's text, then a decoder's."""

    sides = (Side("the encoder reads the source", "source", "source position {position}"),
             Side("the decoder writes the target", "target", "target position {position}"))
    called: ClassVar = {(0, 0): "encoder", (1, 0): "across", (1, 1): "decoder"}
    never: ClassVar = {(0, 1): "the source is read to its end before the target is written: no position of the encoder "
                               "sees the decoder."}

    @property
    def parts(self) -> tuple[Example, ...]:
        """What the encoder reads, and what the decoder reads."""
        return self.example.source, self.example.target

    def masks(self) -> Mapping[Block, Visibility]:
        """The encoder's, the decoder's look across, and the decoder's own."""
        return {(0, 0): self.example.source.visible, (1, 0): self.example.cross, (1, 1): self.example.target.visible}

    def with_mask(self, block: Block, visible: Visibility) -> PairExample:
        """The pair with this mask in that block."""
        if block == (1, 0):
            return replace(self.example, cross=visible)
        if block == (0, 0):
            return replace(self.example, source=replace(self.example.source, visible=visible))
        return replace(self.example, target=replace(self.example.target, visible=visible))

    def influence(self, carried: LayerStates) -> Visibility:
        """The encoder's text as it is read; the decoder goes from left to right, since it cannot read what it has not
        written."""
        source, target = (len(part.tokens) for part in self.parts)
        return self.square({(0, 0): carried.within(source), (1, 0): carried.across(target, source),
                            (1, 1): one_direction(target)})


APART = "the two directions share no state: what one has read, the other never sees."


class TwoWay(Drawn[BidirectionalExample]):
    """One text from the left, then the same from the right."""

    sides = (Side("from the left", "from the left", "position {position} from the left"),
             Side("from the right", "from the right", "position {position} from the right"))
    called: ClassVar = {(0, 0): "from the left", (1, 1): "from the right"}
    never: ClassVar = {(0, 1): APART, (1, 0): APART}
    leak = "Joined below the top, the two directions tell each other what they have read: each position has seen the " \
           "word that it must say. Such a model learns to copy, and nothing else."

    @property
    def parts(self) -> tuple[Example, ...]:
        """The text from the left, and from the right."""
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
        """Each direction in its own order, and what passes between the two."""
        square = self.square({block: one_direction(len(part.tokens))
                              for block, part in zip(self.called, self.parts, strict=True)})
        return replace(square, rules=(*square.rules, *carried.between(self.positions)))


KINDS: dict[type[AnyExample], type[Drawn[Any]]] = {Example: OneText, PairExample: Pair, BidirectionalExample: TwoWay}


def drawn(example: AnyExample) -> Drawn[Any]:
    """An example as it is drawn, by its kind."""
    return KINDS[type(example)](example)
