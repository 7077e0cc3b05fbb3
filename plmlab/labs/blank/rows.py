"""What is written over the positions of a GLM's Example, two positions and what is to be said, and the slips that
people make there, each by name."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeAlias

from plmlab.labs.blank.state import Exercise, PartASlip, Slip

Cell: TypeAlias = int | str | None
Span: TypeAlias = Sequence[int]


@dataclass(frozen=True)
class Layout:
    """Part A and Part B of ``words``, of which ``spans`` are hidden and filled in ``order``, as GLM's paper writes
    them.

    Positions and places count from 1, spans and their order from 0.
    """

    words: Sequence[str]
    spans: Sequence[Span]
    order: Sequence[int]

    @property
    def part_a(self) -> list[str]:
        """The text with one [MASK] for each span."""
        return with_masks(self.words, self.spans, lambda number, length: ["[MASK]"])

    @property
    def read(self) -> int:
        """How many positions Part A has."""
        return len(self.part_a)

    @property
    def blanks(self) -> list[list[str]]:
        """The words of each blank, in the order of filling."""
        return [list(self.words[slice(*self.spans[number])]) for number in self.order]

    @property
    def masks(self) -> list[int]:
        """The place in Part A of each span's [MASK], from 1, in the order of the text."""
        return [begin + 1 - sum(stop - start - 1 for start, stop in self.spans[:number])
                for number, (begin, _) in enumerate(self.spans)]

    def names(self, slots: Sequence[str]) -> list[str]:
        """What the positions are called in a sentence: those that stand there more than once are told by their
        place."""
        begins = list(accumulate((len(blank) + 1 for blank in self.blanks), initial=self.read))
        turns: list[int | None] = [None] * self.read
        turns += [turn for turn, blank in enumerate(self.blanks) for _ in (0, *blank)]
        found = []
        for position, (token, turn) in enumerate(zip(slots, turns, strict=True)):
            alike = [one for one, other in zip(turns, slots, strict=True) if other == token]
            where = f"place {position + 1}" if turn is None else f"Part B, {ordinal(turn + 1)}"
            if turn is not None and alike.count(turn) > 1:
                where += f", position {position - begins[turn] + 1}"
            found.append(token if len(alike) == 1 else f"{token} ({where})")
        return found

    def in_b(self, cells: Callable[[int, int], Cell]) -> list[Any]:
        """A row over Part B: what ``cells(turn, place)`` says of each position, [START] being place 0."""
        return [cells(turn, place) for turn, blank in enumerate(self.blanks) for place in range(len(blank) + 1)]


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, …"""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def with_masks(words: Sequence[str], spans: Sequence[Span],
               stands: Callable[[int, int], list[str]]) -> list[str]:
    """The words, with ``stands(number, length)`` in the place of each span."""
    found, behind = list[str](), 0
    for number, (begin, stop) in enumerate(spans):
        found += [*words[behind:begin], *stands(number, stop - begin)]
        behind = stop
    return [*found, *words[behind:]]


def exercise(made: Layout) -> list[Exercise]:
    """The rows to be filled in, for JavaScript: the ``name`` of each, what is ``right``, and ``slips``, what people
    write in one ``part`` ("A" or "B") of it, with what is ``said`` of that. A slip that comes to what is right here, or
    to one before it, is left out."""
    rows = (("position 1", position_one(made)), ("position 2", position_two(made)), ("must say", targets(made)))
    return [{"name": name, "right": [*right_a, *right_b],
             "slips": [*_distinct("A", right_a, slips_a), *_distinct("B", right_b, slips_b)]}
            for name, (right_a, slips_a, right_b, slips_b) in rows]


Slips: TypeAlias = list[tuple[str, list[Any]]]
Row: TypeAlias = tuple[list[Any], Slips, list[Any], Slips]
"""What is right in Part A, its slips; the same of Part B."""


def position_one(made: Layout) -> Row:
    """Where a position stands in Part A; a blank stands at its [MASK]."""
    masks, count, slots = [made.masks[number] for number in made.order], made.read, len(made.in_b(lambda *_: None))
    right = list(range(1, count + 1))
    begins = [made.spans[number][0] + 1 for number in made.order]
    stands_for = {place: stop - begin for place, (begin, stop) in zip(made.masks, made.spans, strict=True)}
    wide = list(accumulate((stands_for.get(place, 1) for place in right[:-1]), initial=1))
    return (
        right,
        [("Part A counts from 0 here. GLM counts from 1.", [place - 1 for place in right]),
         ("The hidden words are counted here: a blank takes as many numbers as it has words. That would tell how long "
          "it is. A [MASK] is one position, whatever it stands for.", wide)],
        made.in_b(lambda turn, place: masks[turn]),
        [("The positions go on counting in Part B. Position 1 of a blank is the place of its [MASK] in Part A, the "
          "same for all its positions.", list(range(count + 1, count + slots + 1))),
         ("Each position has its place in the blank here. That is position 2.",
          made.in_b(lambda turn, place: place + 1)),
         ("The places are counted from 0 here. The first position of Part A is 1.",
          made.in_b(lambda turn, place: masks[turn] - 1)),
         ("Each blank has the place of another's [MASK]. The blanks stand in the order in which they are filled, not "
          "in that of the text.", made.in_b(lambda turn, place: made.masks[turn])),
         ("The place goes on counting from the [MASK] within a blank. All positions of a blank have the place of its "
          "[MASK].",
          made.in_b(lambda turn, place: masks[turn] + place)),
         ("These are the places of the words in the text before it was hidden. Position 1 is the place of the [MASK] "
          "in Part A.", made.in_b(lambda turn, place: begins[turn] + max(place - 1, 0)))],
    )


def position_two(made: Layout) -> Row:
    """Where a position stands in its blank: 0 in Part A."""
    count = made.read
    inside = made.in_b(lambda turn, place: place + 1)
    return (
        [0] * count,
        [("Part A is counted here too. Position 2 is the place in a blank, and no position of Part A stands in one: 0.",
          list(range(1, count + 1))),
         ("Position 2 is 0 in Part A, for its [MASK]s too.",
          [int(place in made.masks) for place in range(1, count + 1)]),
         ("All of Part A has 1 here. It stands in no blank: 0.", [1] * count)],
        inside,
        [("The second position starts at 0 in Part B. [START] is 1 there, so that it is told apart from Part A, which "
          "is 0.", [place - 1 for place in inside]),
         ("The second position goes on counting from blank to blank. It begins anew at each [START], with 1.",
          list(range(1, len(inside) + 1))),
         ("The second position goes on counting from Part A. It begins at each [START], with 1.",
          list(range(count + 1, count + len(inside) + 1))),
         ("The number of the blank stands here. Position 2 is the place in the blank: 1, 2, 3, …",
          made.in_b(lambda turn, place: turn + 1)),
         ("The second position is 0 in all of Part B. Then nobody knows which word of a blank comes first.",
          [0] * len(inside))],
    )


def targets(made: Layout) -> Row:
    """What each position must say: in Part A nothing, in a blank the next word, and [END]."""
    blanks = [["[START]", *blank, "[END]"] for blank in made.blanks]
    places = dict(zip(made.masks, (made.words[slice(*span)] for span in made.spans), strict=True))
    slots = [token for blank in blanks for token in blank[:-1]]
    return (
        [None] * made.read,
        [("A [MASK] of Part A says nothing. That is BERT, where each [MASK] says one word. The words of a blank are "
          "said in Part B.", [places[place][0] if place in places else None for place in range(1, made.read + 1)]),
         ("Each position of Part A says the next word here. That is GPT. Part A is read to both sides, and nothing is "
          "said "
          "there.", [*made.part_a[1:], None])],
        made.in_b(lambda turn, place: blanks[turn][place + 1]),
        [("The labels are not shifted: each position says what stands in it. A position must say the next word.",
          slots),
         ("The labels are shifted twice: each position says the word after the next. The targets are shifted already, "
          "and "
          "the model must not shift them again.", made.in_b(lambda turn, place: (*blanks[turn][place + 2:], None)[0])),
         ("The last position of a blank says [START] of the next one here. It says [END]: that is how a blank tells "
          "its "
          "length.", [*slots[1:], "[END]"]),
         ("[END] is missing. Without it nobody learns where a blank ends.",
          made.in_b(lambda turn, place: (*made.blanks[turn][place:], None)[0]))],
    )


def part_a_slips(made: Layout) -> list[PartASlip]:
    """What people write for Part A, and what is said of it; the right text is none of them."""
    joined = {"One [MASK] a word is BERT, and tells how long each blank is. GLM has one [MASK] a span.":
              with_masks(made.words, made.spans, lambda number, length: ["[MASK]"] * length),
              "The hidden words are cut out here, and nothing says where. A [MASK] marks the place of each blank.":
              with_masks(made.words, made.spans, lambda number, length: []),
              "These are T5's sentinels, a name for each blank. GLM has the same [MASK] for all: position 1 tells them "
              "apart.": with_masks(made.words, made.spans, lambda number, length: [f"[X{number}]"]),
              "Nothing is hidden here: this is the text.": list(made.words)}
    return [{"said": slip["said"], "text": " ".join(slip["values"])}
            for slip in _distinct("A", made.part_a, list(joined.items()))]


def _distinct(part: str, right: list[Any], slips: Slips) -> Iterator[Slip]:
    seen = [right]
    for said, values in slips:
        if values not in seen:
            seen.append(values)
            yield {"part": part, "said": said, "values": values}
