"""Wrong answers to the exercise 12.5, what a GLM reads and where, under the names of their mistakes, and what holds of
any right one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from plmlab.example import IGNORE
from plmlab.exercises.mistakes import Mistakes, Properties

MASK, START, END, SENTINEL = 4, 5, 6, 7
Ids = list[int]
Spans = list[list[int]]
Made = tuple[Tensor, Tensor, Tensor]


@dataclass(frozen=True)
class Blank:
    """A span: its number and words, where it begins in the text, and where its [MASK] stands in Part A, from 1."""

    number: int
    words: Ids
    begin: int
    place: int

    @property
    def end(self) -> int:
        """The place of its last word in the text, from 1."""
        return self.begin + len(self.words)

    def here(self, slots: int) -> Ids:
        """The place of its [MASK], for so many slots."""
        return [self.place] * slots


@dataclass(frozen=True)
class Slots:
    """Part A and Part B in lists: how many slots Part A has, the tokens, both positions, and the targets."""

    read: int
    tokens: Ids
    first: Ids
    second: Ids
    targets: Ids

    @property
    def rows(self) -> tuple[Ids, Ids, Ids, Ids]:
        """Tokens, both positions, and targets."""
        return self.tokens, self.first, self.second, self.targets


def making(
    *, cut: Callable[[Spans], Spans] = lambda spans: spans,
    mask: Callable[[int, Ids], Ids] = lambda number, words: [MASK],
    order: Callable[[Ids], Ids] = lambda order: order,
    reads: Callable[[Blank], Ids] = lambda blank: [START, *blank.words],
    says: Callable[[Ids], Ids] = lambda words: [*words, END],
    first: Callable[[Blank, int], Ids] = Blank.here,
    second: Callable[[int], Ids] = lambda slots: list(range(1, slots + 1)),
    then: Callable[[Slots], Sequence[Ids]] = lambda made: made.rows,
) -> Callable[[Ids, Spans, Ids], Made]:
    """The exercise's function with spans cut elsewhere, something else in the place of a span, another order, with
    other things read and said of a span, other positions of its slots, or something else made of it all."""
    def answer(tokens: Ids, spans: Spans, filled: Ids) -> Made:
        read, blanks, behind = list[int](), list[Blank](), 0
        for number, (begin, end) in enumerate(cut(spans)):
            words = tokens[begin:end]
            read += tokens[behind:begin]
            blanks.append(Blank(number, words, begin, len(read) + 1))
            read += mask(number, words)
            behind = end
        read += tokens[behind:]
        chosen = [blanks[number] for number in order(filled)]
        slots = [len(reads(blank)) for blank in chosen]
        *rows, targets = then(Slots(
            len(read),
            [*read, *(token for blank in chosen for token in reads(blank))],
            [*range(1, len(read) + 1), *(place for b, n in zip(chosen, slots, strict=True) for place in first(b, n))],
            [0] * len(read) + [place for n in slots for place in second(n)],
            [IGNORE] * len(read) + [token for blank in chosen for token in says(blank.words)],
        ))
        return torch.tensor(rows[0]), torch.tensor(rows[1:]), torch.tensor(targets)
    return answer


def numbered(first: Callable[[Slots], Ids] = lambda made: made.first,
             second: Callable[[Slots], Ids] = lambda made: made.second) -> Callable[[Ids, Spans, Ids], Made]:
    """The exercise's function with other positions."""
    return making(then=lambda made: (made.tokens, first(made), second(made), made.targets))


def asking(targets: Callable[[Slots], Ids]) -> Callable[[Ids, Spans, Ids], Made]:
    """The exercise's function with other targets."""
    return making(then=lambda made: (made.tokens, made.first, made.second, targets(made)))


def of_part_b(made: Slots, row: Ids) -> Ids:
    """What stands in Part B of a row."""
    return row[made.read:]


def begun(made: Slots) -> Ids:
    """Of each slot of Part B, how many blanks were begun before its own."""
    return [n - 1 for n in accumulate(int(place == 1) for place in of_part_b(made, made.second))]


def places_in_text_order(made: Slots) -> Ids:
    """The first position where the places of the [MASK]s are handed out in the order of the text."""
    masks = [place for place, token in enumerate(made.tokens[:made.read], 1) if token == MASK]
    return [*made.first[:made.read], *(masks[turn] for turn in begun(made))]


def at_the_last_word(tokens: Ids, spans: Spans, order: Ids) -> Made:
    """The first position is a place in the text before anything was hidden: of a span that of its last word."""
    read, positions, targets = making(first=lambda blank, slots: [blank.end] * slots)(tokens, spans, order)
    hidden = {place for begin, end in spans for place in range(begin, end - 1)}
    kept = [place + 1 for place in range(len(tokens)) if place not in hidden]
    return read, torch.cat([torch.tensor([kept, [0] * len(kept)]), positions[:, len(kept):]], 1), targets


def in_the_text(tokens: Ids, spans: Spans, order: Ids, *, goes_on: bool) -> Made:
    """The first position is a place in the text before anything was hidden: of a span that of its first word, or of
    each word its own, which [START] shares with the first."""
    read, positions, targets = making(first=lambda blank, slots: (
        [blank.begin + 1, *range(blank.begin + 1, blank.begin + slots)] if goes_on else [blank.begin + 1] * slots
    ))(tokens, spans, order)
    hidden = {place for begin, end in spans for place in range(begin + 1, end)}
    kept = [place + 1 for place in range(len(tokens)) if place not in hidden]
    return read, torch.cat([torch.tensor([kept, [0] * len(kept)]), positions[:, len(kept):]], 1), targets


def cut_one_by_one(tokens: Ids, spans: Spans, order: Ids) -> Made:
    """Spans are cut out from left to right, each where it stood before the text grew shorter."""
    _, positions, targets = making(first=lambda blank, slots: [blank.begin + 1] * slots)(tokens, spans, order)
    read = [*tokens]
    for begin, end in spans:
        read[begin:end] = [MASK]
    part_b = [token for span in order for token in (START, *tokens[slice(*spans[span])])]
    first = [*range(1, len(read) + 1), *positions[0, -len(part_b):].tolist()]
    second = [*[0] * len(read), *positions[1, -len(part_b):].tolist()]
    return torch.tensor([*read, *part_b]), torch.tensor([first, second]), torch.cat([
        torch.full((len(read),), IGNORE), targets[-len(part_b):]])


def merged(tokens: Ids, spans: Spans, order: Ids) -> Made:
    """Spans that touch share the [MASK] of the first."""
    touching = [number for number in range(1, len(spans)) if spans[number - 1][1] == spans[number][0]]
    return making(mask=lambda number, words: [] if number in touching else [MASK],
                  first=lambda blank, slots: [blank.place - (blank.number in touching)] * slots)(tokens, spans, order)


def without_the_end(made: Slots) -> list[Ids]:
    """Part A stops at its last [MASK]."""
    behind = made.read - made.tokens[:made.read][::-1].index(MASK)
    return [[*row[:behind], *row[made.read:]] for row in made.rows]


def run_on(made: Slots) -> Ids:
    """Targets where each slot of Part B says what is read next, the [START] of the next blank too."""
    return [*made.targets[:made.read], *made.tokens[made.read + 1:], END]


MAKING: Mistakes = {
    "the first position goes on counting in Part B; all slots of a span have the place of its [MASK]":
        numbered(first=lambda made: list(range(1, len(made.tokens) + 1))),
    "the first position is counted from 0; it begins with 1": numbered(first=lambda made: [p - 1 for p in made.first]),
    "in Part B the first position is counted from 0, as .index and enumerate count; the first place is 1":
        making(first=lambda blank, slots: [blank.place - 1] * slots),
    "in Part A the first position is counted from 0, in Part B from 1": numbered(
        first=lambda made: [*range(made.read), *of_part_b(made, made.first)]),
    "the first position is the place of the words in the text before anything was hidden: it tells how long each blank "
    "is": lambda tokens, spans, order: in_the_text(tokens, spans, order, goes_on=True),
    "the first position is a place in the text before anything was hidden. What stands behind a blank tells by it how "
    "long the blank is; count the places in Part A":
        lambda tokens, spans, order: in_the_text(tokens, spans, order, goes_on=False),
    "in Part B the first position is where the span begins in the text; it is where its [MASK] stands in Part A":
        making(first=lambda blank, slots: [blank.begin + 1] * slots),
    "in Part B the first position is where the span ends in the text; it is where its [MASK] stands in Part A":
        making(first=lambda blank, slots: [blank.end] * slots),
    "the first position of a span is the place of its last word in the text before anything was hidden; count the "
    "places in Part A": at_the_last_word,
    "in Part B the first position goes on from the [MASK], word by word; all slots of a span have that of its [MASK]":
        making(first=lambda blank, slots: list(range(blank.place, blank.place + slots))),
    "all spans have the place of the first [MASK], as .index finds it; each has its own": numbered(
        first=lambda made: [*made.first[:made.read], *[made.tokens.index(MASK) + 1] * (len(made.tokens) - made.read)]),
    "the places of the [MASK]s are given out in the order of the text; a span has that of its own [MASK], whenever it "
    "is filled": numbered(first=places_in_text_order),
    "the first position is 0 in Part B; it is the place of the [MASK]": making(first=lambda blank, slots: [0] * slots),
    "the first position begins again with 1 in Part B": numbered(
        first=lambda made: [*made.first[:made.read], *range(1, len(made.tokens) - made.read + 1)]),
    "the second position begins with 0 in Part B; it is 1 at [START], for 0 is that of Part A":
        making(second=lambda slots: list(range(slots))),
    "the second position goes on from span to span; each [START] has 1": numbered(
        second=lambda made: [*[0] * made.read, *range(1, len(made.tokens) - made.read + 1)]),
    "the second position counts in Part A too; it is 0 there": numbered(
        second=lambda made: [*range(1, made.read + 1), *of_part_b(made, made.second)]),
    "the second position is 1 in all of Part B; it counts the slots of each span":
        making(second=lambda slots: [1] * slots),
    "the second position tells which blank it is; it counts the slots of each span": numbered(
        second=lambda made: [*[0] * made.read, *(turn + 1 for turn in begun(made))]),
    "the two rows of positions have changed places": making(
        then=lambda made: (made.tokens, made.second, made.first, made.targets)),
    "there is a [MASK] for each word, as in BERT, which tells how long a blank is; there is one for each span":
        making(mask=lambda number, words: [MASK] * len(words)),
    "there is a [MASK] for each word, and each word has the place of its own": making(
        mask=lambda number, words: [MASK] * len(words),
        first=lambda blank, slots: [blank.place, *range(blank.place, blank.place + slots - 1)]),
    "there is a [MASK] for each word, and the span has the place of the last; there is one for each span": making(
        mask=lambda number, words: [MASK] * len(words),
        first=lambda blank, slots: [blank.place + len(blank.words) - 1] * slots),
    "the words behind the last span are forgotten; Part A goes on to the end of the text":
        making(then=without_the_end),
    "spans that touch share a [MASK]; each has its own": merged,
    "there is no [MASK] in Part A; the spans are only cut out": making(mask=lambda number, words: []),
    "the words of the spans still stand in Part A, where they can be read off":
        making(mask=lambda number, words: words),
    "each span has a sentinel of its own, as in T5; in a GLM all blanks have the same [MASK]":
        making(mask=lambda number, words: [SENTINEL + number]),
    "each span has a sentinel of its own, in Part A and for [START], as in T5; a GLM has [MASK] and [START]": making(
        mask=lambda number, words: [SENTINEL + number],
        reads=lambda blank: [SENTINEL + blank.number, *blank.words]),
    "each span begins with [MASK] in Part B too; it begins with [START]":
        making(reads=lambda blank: [MASK, *blank.words]),
    "in Part A [START] stands for a span; there it is [MASK]": making(mask=lambda number, words: [START]),
    "the order is not kept: the spans stand in the order of the text": making(order=sorted),
    "the order is turned round: the last to be filled stands first": making(order=lambda order: order[::-1]),
    "the order is read as if it told of each span when its turn is; it tells of each turn which span it is":
        making(order=lambda order: sorted(range(len(order)), key=order.__getitem__)),
    "the words of a span are turned round; shuffled are the spans, and in a span the words keep their order": making(
        reads=lambda blank: [START, *blank.words[::-1]], says=lambda words: [*words[::-1], END]),
    "the targets are not shifted: a slot must say the next word, not the one that it reads":
        making(says=lambda words: [IGNORE, *words]),
    "the targets are not shifted, and [START] is said: a slot must say the next word, not the one that it reads":
        making(says=lambda words: [START, *words]),
    "the targets are shifted twice: [START] must say the first word of its span":
        making(says=lambda words: [*words[1:], END, IGNORE]),
    "the targets are shifted twice, over the whole row, so that the last slot of Part A has one": asking(
        lambda made: [*made.targets[1:], IGNORE]),
    "[END] is forgotten: the last slot of a span has no target, and how should the model know when to stop?":
        making(says=lambda words: [*words, IGNORE]),
    "[END] is forgotten, and so the last word of a span is not read: without it none is told to stop": making(
        reads=lambda blank: [START, *blank.words[:-1]], says=lambda words: words),
    "the last slot of a span says the [START] of the next; it says [END], each span of its own": asking(run_on),
    "[END] is read too; it is only said": making(
        reads=lambda blank: [START, *blank.words, END], says=lambda words: [*words, END, IGNORE]),
    "[END] is read too, and the targets are not shifted, as labels of Hugging Face's; here a slot says the next word":
        making(reads=lambda blank: [START, *blank.words, END], says=lambda words: [START, *words, END]),
    "[START] is forgotten: the first word of a span is said of nobody": making(
        reads=lambda blank: blank.words, says=lambda words: [*words[1:], END]),
    "[START] stands once, before the first span; each span has its own": making(
        then=lambda made: [[x for slot, x in enumerate(row) if slot <= made.read or made.tokens[slot] != START]
                           for row in made.rows]),
    "[START] and [END] have changed places: [START] is 5, [END] is 6": making(
        reads=lambda blank: [END, *blank.words], says=lambda words: [*words, START]),
    "Part A has targets too; it is only read": asking(
        lambda made: [*made.tokens[:made.read], *of_part_b(made, made.targets)]),
    "Part A is asked for its next words, as in GPT; it is only read": asking(
        lambda made: [*made.tokens[1:made.read], IGNORE, *of_part_b(made, made.targets)]),
    "the target is 0 in Part A, which is a token like others; −100 says that there is none": asking(
        lambda made: [*[0] * made.read, *of_part_b(made, made.targets)]),
    "the target is −1 in Part A; cross_entropy leaves out −100": asking(
        lambda made: [*[-1] * made.read, *of_part_b(made, made.targets)]),
    "the targets of Part A are left out, so that slots and targets no longer agree; they are −100": asking(
        lambda made: of_part_b(made, made.targets)),
    "Part B stands before Part A; it stands behind": making(
        then=lambda made: [[*row[made.read:], *row[:made.read]] for row in made.rows]),
    "the spans are cut out one by one, and the text grows shorter: those behind no longer stand where they did":
        cut_one_by_one,
    "a span ends one word too late: its end is that of a slice, and is no longer in it":
        making(cut=lambda spans: [[begin, end + 1] for begin, end in spans]),
    "a span begins one word too late: words count from 0": making(
        cut=lambda spans: [[begin + 1, end + 1] for begin, end in spans]),
    "tokens and targets have changed places": making(then=lambda made: (
        made.targets, made.first, made.second, made.tokens)),
}


def read_slots(tokens: Ids, spans: Spans) -> int:
    """How many slots Part A has."""
    return len(tokens) - sum(end - begin - 1 for begin, end in spans)


def places_are_masks(out: Made, tokens: Ids, spans: Spans, order: Ids) -> bool:
    """Whether each slot of Part B has the place of a [MASK] for its first position."""
    read = read_slots(tokens, spans)
    return bool(torch.isin(out[1][0, read:], (out[0][:read] == MASK).nonzero() + 1).all())


def counts_up(out: Made, tokens: Ids, spans: Spans, order: Ids) -> bool:
    """Whether the first position counts the places of Part A, from 1."""
    read = read_slots(tokens, spans)
    return torch.equal(out[1][0, :read], torch.arange(1, read + 1))


OF_MAKING: Properties = {
    "Part A has not as many [MASK]s as there are spans": lambda out, tokens, spans, order: int(
        (out[0][:read_slots(tokens, spans)] == MASK).sum()) == len(spans),
    "Part B has not as many [START]s as there are spans": lambda out, tokens, spans, order: int(
        (out[0][read_slots(tokens, spans):] == START).sum()) == len(spans),
    "the words of the text do not all stand there, each once": lambda out, tokens, spans, order: sorted(
        token for token in out[0].tolist() if token not in (MASK, START)) == sorted(tokens),
    "the first position does not count 1, 2, 3, … in Part A": counts_up,
    "in Part B a first position is not the place of a [MASK]": places_are_masks,
    "the second position is not 0 in Part A": lambda out, tokens, spans, order: not bool(
        out[1][1, :read_slots(tokens, spans)].any()),
    "the second position is not 1 once in each span": lambda out, tokens, spans, order: int(
        (out[1][1] == 1).sum()) == len(spans),
    "a slot of Part A has a target": lambda out, tokens, spans, order: bool(
        (out[2][:read_slots(tokens, spans)] == IGNORE).all()),
    "[END] is not said once of each span": lambda out, tokens, spans, order: int((out[2] == END).sum()) == len(spans),
}
