"""The rows of a GLM Example (two kinds of position ids, and the targets), and common mistakes in filling them in."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeAlias

from plmlab.labs.blank.state import Exercise, Mistake, PartAMistake

Cell: TypeAlias = int | str | None
Span: TypeAlias = Sequence[int]


@dataclass(frozen=True)
class Layout:
    """Part A and Part B of ``words`` with ``spans`` as blanks, filled in ``order``, in the notation of the GLM paper.

    Positions are counted from 1, spans from 0.
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
        """The length of Part A."""
        return len(self.part_a)

    @property
    def blanks(self) -> list[list[str]]:
        """The words of each blank, in the order of filling."""
        return [list(self.words[slice(*self.spans[number])]) for number in self.order]

    @property
    def masks(self) -> list[int]:
        """The position of each span's [MASK] in Part A, from 1, in the order of the text."""
        return [begin + 1 - sum(stop - start - 1 for start, stop in self.spans[:number])
                for number, (begin, _) in enumerate(self.spans)]

    def names(self, slots: Sequence[str]) -> list[str]:
        """Unambiguous names of the tokens; a token that occurs more than once is labelled with its position."""
        begins = list(accumulate((len(blank) + 1 for blank in self.blanks), initial=self.read))
        turns: list[int | None] = [None] * self.read
        turns += [turn for turn, blank in enumerate(self.blanks) for _ in (0, *blank)]
        names = []
        for position, (token, turn) in enumerate(zip(slots, turns, strict=True)):
            alike = [one for one, other in zip(turns, slots, strict=True) if other == token]
            where = f"position {position + 1}" if turn is None else f"Part B, {ordinal(turn + 1)}"
            if turn is not None and alike.count(turn) > 1:
                where += f", position {position - begins[turn] + 1}"
            names.append(token if len(alike) == 1 else f"{token} ({where})")
        return names

    def in_b(self, cells: Callable[[int, int], Cell]) -> list[Any]:
        """A row over Part B: ``cells(turn, place)`` for each token; [START] has place 0."""
        return [cells(turn, place) for turn, blank in enumerate(self.blanks) for place in range(len(blank) + 1)]


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, …"""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def with_masks(words: Sequence[str], spans: Sequence[Span],
               replacement: Callable[[int, int], list[str]]) -> list[str]:
    """Replace each span of the words by ``replacement(number, length)``."""
    tokens, behind = list[str](), 0
    for number, (begin, stop) in enumerate(spans):
        tokens += [*words[behind:begin], *replacement(number, stop - begin)]
        behind = stop
    return [*tokens, *words[behind:]]


def exercise(made: Layout) -> list[Exercise]:
    """The rows to fill in, for JavaScript: ``name``, the correct values (``right``), and ``mistakes``, mistakes in one
    ``part`` ("A" or "B") with feedback (``said``). A mistake that coincides with the solution or with an earlier
    mistake is left out."""
    rows = (("position 1", position_one(made)), ("position 2", position_two(made)), ("target", targets(made)))
    return [{"name": name, "right": [*right_a, *right_b],
             "mistakes": [*_distinct("A", right_a, mistakes_a), *_distinct("B", right_b, mistakes_b)]}
            for name, (right_a, mistakes_a, right_b, mistakes_b) in rows]


Mistakes: TypeAlias = list[tuple[str, list[Any]]]
Row: TypeAlias = tuple[list[Any], Mistakes, list[Any], Mistakes]
"""The solution for Part A and its mistakes; the same for Part B."""


def position_one(made: Layout) -> Row:
    """Position 1: the position in Part A; for a blank, the position of its [MASK]."""
    masks, count, slots = [made.masks[number] for number in made.order], made.read, len(made.in_b(lambda *_: None))
    right = list(range(1, count + 1))
    begins = [made.spans[number][0] + 1 for number in made.order]
    lengths = {place: stop - begin for place, (begin, stop) in zip(made.masks, made.spans, strict=True)}
    wide = list(accumulate((lengths.get(place, 1) for place in right[:-1]), initial=1))
    return (
        right,
        [("Part A counts from 0 here. GLM counts from 1.", [place - 1 for place in right]),
         ("Here a blank takes as many positions as it has words, which would reveal its length. A [MASK] takes one "
          "position, however many words it stands for.", wide)],
        made.in_b(lambda turn, place: masks[turn]),
        [("The positions continue in Part B. Position 1 of a blank is the position of its [MASK] in Part A, the same "
          "for all its tokens.", list(range(count + 1, count + slots + 1))),
         ("This is the position within the blank, which is position 2.", made.in_b(lambda turn, place: place + 1)),
         ("These positions count from 0. The first token of Part A has position 1.",
          made.in_b(lambda turn, place: masks[turn] - 1)),
         ("Each blank has the position of another's [MASK]. Part B lists the blanks in the order of filling, not in "
          "the order of the text.", made.in_b(lambda turn, place: made.masks[turn])),
         ("The positions continue from the [MASK] within a blank. All tokens of a blank have the position of its "
          "[MASK].",
          made.in_b(lambda turn, place: masks[turn] + place)),
         ("These are the positions of the words in the original text. Position 1 is the position of the [MASK] in "
          "Part A.", made.in_b(lambda turn, place: begins[turn] + max(place - 1, 0)))],
    )


def position_two(made: Layout) -> Row:
    """Position 2: the position within the blank; 0 in Part A."""
    count = made.read
    inside = made.in_b(lambda turn, place: place + 1)
    return (
        [0] * count,
        [("Part A is counted here too. Position 2 is the position within a blank, so it is 0 in all of Part A.",
          list(range(1, count + 1))),
         ("Position 2 is 0 in all of Part A, also for the [MASK]s.",
          [int(place in made.masks) for place in range(1, count + 1)]),
         ("All of Part A has 1 here. It is not in a blank, so its position 2 is 0.", [1] * count)],
        inside,
        [("Position 2 starts at 0 in Part B here. It starts at 1 for [START], to distinguish it from Part A, where it "
          "is 0.", [place - 1 for place in inside]),
         ("Position 2 continues from blank to blank here. It restarts with 1 at each [START].",
          list(range(1, len(inside) + 1))),
         ("Position 2 continues from Part A here. It starts with 1 at each [START].",
          list(range(count + 1, count + len(inside) + 1))),
         ("This is the number of the blank. Position 2 is the position within the blank: 1, 2, 3, …",
          made.in_b(lambda turn, place: turn + 1)),
         ("Position 2 is 0 in all of Part B here. Then the model could not distinguish the words of a blank.",
          [0] * len(inside))],
    )


def targets(made: Layout) -> Row:
    """The targets: none in Part A; within a blank, the next word, and at its end [END]."""
    blanks = [["[START]", *blank, "[END]"] for blank in made.blanks]
    places = dict(zip(made.masks, (made.words[slice(*span)] for span in made.spans), strict=True))
    slots = [token for blank in blanks for token in blank[:-1]]
    return (
        [None] * made.read,
        [("A [MASK] in Part A has no target. This is BERT, where each [MASK] predicts one word. The words of a blank "
          "are predicted in Part B.",
          [places[place][0] if place in places else None for place in range(1, made.read + 1)]),
         ("Each token of Part A predicts the next word here. This is GPT. Part A is bidirectional context and has no "
          "targets.", [*made.part_a[1:], None])],
        made.in_b(lambda turn, place: blanks[turn][place + 1]),
        [("The targets are not shifted: each token predicts itself. The target is the next word.", slots),
         ("The targets are shifted twice: each token predicts the word after the next. The targets are already "
          "shifted, and the model must not shift them again.",
          made.in_b(lambda turn, place: (*blanks[turn][place + 2:], None)[0])),
         ("The last token of a blank predicts the [START] of the next one here. Its target is [END], which determines "
          "the length of the blank.", [*slots[1:], "[END]"]),
         ("[END] is missing. Without it the model cannot learn where a blank ends.",
          made.in_b(lambda turn, place: (*made.blanks[turn][place:], None)[0]))],
    )


def part_a_mistakes(made: Layout) -> list[PartAMistake]:
    """Common mistakes in Part A, with feedback; the solution is excluded."""
    joined = {"One [MASK] per word is BERT, and reveals the length of each blank. GLM has one [MASK] per span.":
              with_masks(made.words, made.spans, lambda number, length: ["[MASK]"] * length),
              "The words are removed here without a mark. A [MASK] marks the position of each blank.":
              with_masks(made.words, made.spans, lambda number, length: []),
              "These are T5's sentinels, a different one for each blank. GLM has the same [MASK] for all; position 1 "
              "distinguishes them.": with_masks(made.words, made.spans, lambda number, length: [f"[X{number}]"]),
              "Nothing is masked here: this is the original text.": list(made.words)}
    return [{"said": slip["said"], "text": " ".join(slip["values"])}
            for slip in _distinct("A", made.part_a, list(joined.items()))]


def _distinct(part: str, right: list[Any], mistakes: Mistakes) -> Iterator[Mistake]:
    seen = [right]
    for said, values in mistakes:
        if values not in seen:
            seen.append(values)
            yield {"part": part, "said": said, "values": values}
