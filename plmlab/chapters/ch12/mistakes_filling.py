"""Wrong answers to the exercise 12.6, how a GLM fills blanks, under the names of their mistakes, and what holds of any
right one."""

from collections.abc import Callable

import torch
from torch import Tensor

from plmlab.exercises.mistakes import Mistakes, Properties

MASK, START, END = 4, 5, 6
ENDLESS = 1000
"""More words than any blank has."""
LONGEST = 32
"""Words of the longest blank that is asked for: each lower limit shows."""
Ids = list[int]
Model = Callable[[Ids, list[Ids]], Tensor]
Said = list[tuple[int, Ids]]
"""The blanks that were begun, in the order in which they are filled: the number of each, and its words so far."""
Read = tuple[Ids, Ids, Ids]
"""Tokens, and both positions."""


def masks(text: Ids) -> Ids:
    """The places of the [MASK]s, counted from 1."""
    return [place for place, token in enumerate(text, 1) if token == MASK]


def as_told(text: Ids, said: Said) -> Read:
    """What is read: the text, and of each blank that was begun [START] and its words."""
    places = masks(text)
    return (
        [*text, *(token for _, words in said for token in (START, *words))],
        [*range(1, len(text) + 1), *(places[blank] for blank, words in said for _ in (START, *words))],
        [0] * len(text) + [place for _, words in said for place in range(1, len(words) + 2)],
    )


def likeliest(table: Tensor, text: Ids, said: Said) -> int:
    """The likeliest token of the last slot."""
    return int(table[-1].argmax())


def from_zero_up(first: int) -> Callable[[Tensor, Ids, Said], int]:
    """The likeliest token of the last slot, if its logit is above 0; else the one that it was begun with."""
    return lambda table, text, said: int(table[-1].argmax()) if float(table[-1].max()) > 0 else first


def in_their_places(text: Ids, said: Said) -> Ids:
    """The text with the words of each blank for its [MASK]."""
    words = {masks(text)[blank]: filling for blank, filling in said}
    return [token for place, own in enumerate(text, 1) for token in words.get(place, [own])]


def filling(
    *, order: Callable[[Ids], Ids] = lambda order: order, read: Callable[[Ids, Said], Read] = as_told,
    say: Callable[[Tensor, Ids, Said], int] = likeliest, most: int = ENDLESS,
    put: Callable[[Ids, Said], Ids] = in_their_places,
) -> Callable[[Model, Ids, Ids], Tensor]:
    """The exercise's function with another order, other things that are read or said, so many words in a blank at
    ``most``, or something else made of what was said."""
    def answer(logits: Model, text: Ids, given: Ids) -> Tensor:
        said: Said = []
        for blank in order(given):
            words = list[int]()
            said.append((blank, words))
            while len(words) < most:
                tokens, first, second = read(text, said)
                token = say(logits(tokens, [first, second]), text, said)
                if token == END:
                    break
                words.append(token)
        return torch.tensor(put(text, said))
    return answer


def reading(change: Callable[[Ids, Ids, Ids, int], Read]) -> Callable[[Ids, Said], Read]:
    """What is read, changed: from tokens, both positions, and how many slots the text has."""
    return lambda text, said: change(*as_told(text, said), len(text))


def kept(keep: Callable[[int, int, int], bool]) -> Callable[[Ids, Said], Read]:
    """What is read, without some slots: which are kept is told by slot, token, and how many slots the text has."""
    def read(text: Ids, said: Said) -> Read:
        rows = as_told(text, said)
        slots = [slot for slot, token in enumerate(rows[0]) if keep(slot, token, len(text))]
        tokens, first, second = ([row[slot] for slot in slots] for row in rows)
        return tokens, first, second
    return read


def with_ends(text: Ids, said: Said) -> Read:
    """What is read, with [END] behind each blank that is filled."""
    return as_told(text, [*((blank, [*words, END]) for blank, words in said[:-1]), said[-1]])


def into_the_text(logits: Model, text: Ids, order: Ids) -> Tensor:
    """The words of each blank are put into the text, which is read anew for the next."""
    filled, left = [*text], sorted(order)
    for blank in order:
        turn = left.index(blank)
        words: Said = [(turn, [])]
        while (token := likeliest(logits(*packed(filled, words)), filled, words)) != END:
            words[0][1].append(token)
        filled = in_their_places(filled, words)
        left.remove(blank)
    return torch.tensor(filled)


def packed(text: Ids, said: Said) -> tuple[Ids, list[Ids]]:
    """What is read, as the arguments of the model."""
    tokens, *positions = as_told(text, said)
    return tokens, positions


def at_the_masks(logits: Model, text: Ids, order: Ids) -> Tensor:
    """Each [MASK] is asked for a word of its own."""
    table = logits(*packed(text, []))
    return torch.tensor([int(row.argmax()) if token == MASK else token for row, token in zip(table, text, strict=True)])


def into_moved_places(text: Ids, said: Said) -> Ids:
    """Words are put in blank by blank, where the [MASK]s stood before any was."""
    filled = [*text]
    for blank, words in said:
        place = masks(text)[blank] - 1
        filled[place:place + 1] = words
    return filled


def one_word_at_least(table: Tensor, text: Ids, said: Said) -> int:
    """The likeliest token, which is a word where there is none yet."""
    row = table[-1].clone()
    if not said[-1][1]:
        row[END] = float("-inf")
    return int(row.argmax())


def with_first_mask(tokens: Ids, first: Ids, second: Ids, read: int) -> Read:
    """All blanks have the place of the first [MASK]."""
    return tokens, [*first[:read], *[tokens.index(MASK) + 1] * (len(tokens) - read)], second


def marked(*, start: bool, end: bool) -> Callable[[Ids, Said], Ids]:
    """The text with the words of each blank, between the marks that are not taken off."""
    return lambda text, said: in_their_places(text, [
        (blank, [*[START] * start, *words, *[END] * end]) for blank, words in said])


FILLING: Mistakes = {
    "the blanks are filled in the order of the text, not in that of `order`": filling(order=sorted),
    "the blanks are filled in the order turned round": filling(order=lambda order: order[::-1]),
    "the order is read as if it told of each blank when its turn is; it tells of each turn which blank it is":
        filling(order=lambda order: sorted(range(len(order)), key=order.__getitem__)),
    "the blanks that were filled before are not read: Part B is begun anew for each": filling(
        read=lambda text, said: as_told(text, said[-1:])),
    "the words are put into the text before the next blank is filled; the text is read with all its [MASK]s, and what "
    "was said stands behind it": into_the_text,
    "each [MASK] is asked for its word, as in BERT; a blank is written behind the text, word by word": at_the_masks,
    "a blank has one word, as in BERT; it goes on until [END]": filling(most=1),
    "only the first blank in the order is filled; the others are left as [MASK]": filling(
        order=lambda order: order[:1]),
    "a blank has one word at least; [END] may come at once": filling(say=one_word_at_least),
    "[END] stays in the text; it only says that the blank is done": filling(put=marked(start=False, end=True)),
    "[START] stays in the text; it only begins the blank": filling(put=marked(start=True, end=False)),
    "[START] and [END] stay in the text": filling(put=marked(start=True, end=True)),
    "an empty blank is left as [MASK]; its [MASK] goes": filling(put=lambda text, said: in_their_places(
        text, [(blank, words or [MASK]) for blank, words in said])),
    "[MASK] stays before the words of its blank; they stand in its place": filling(
        put=lambda text, said: in_their_places(text, [(blank, [MASK, *words]) for blank, words in said])),
    "the words are put in in the order of filling, so that a blank gets those of another": filling(
        put=lambda text, said: in_their_places(text, [(turn, words) for turn, (_, words) in enumerate(said)])),
    "the text grows as words are put in, and the places behind them move: put all in at once, or the last first":
        filling(put=into_moved_places),
    "words are put in from the front on, and each blank that is filled moves the places behind it: put all in at once, "
    "or the last first": filling(put=lambda text, said: into_moved_places(text, sorted(said))),
    "the words are given as they were said, behind the text; each blank's stand in the place of its [MASK]": filling(
        put=lambda text, said: [*text, *(token for _, words in said for token in words)]),
    "only the words of the blanks are given; asked is the whole text": filling(
        put=lambda text, said: [token for _, words in said for token in words]),
    "Part A and Part B are given as they were read": filling(put=lambda text, said: as_told(text, said)[0]),
    "[END] is read behind each blank that is filled; it is only said": filling(read=with_ends),
    "[START] is not read: a blank begins with its first word": filling(
        read=kept(lambda slot, token, n: token != START)),
    "[START] is read once, before the first blank; each has its own": filling(
        read=kept(lambda slot, token, n: slot <= n or token != START)),
    "a blank begins with [MASK]; it begins with [START]": filling(read=reading(
        lambda tokens, first, second, n: ([MASK if token == START else token for token in tokens], first, second))),
    "of what was said only the last token is read; all of it is": filling(
        read=lambda text, said: kept(lambda slot, token, n: slot < n or slot == len(as_told(text, said)[0]) - 1)(
            text, said)),
    "the first position goes on counting behind the text; a blank has the place of its [MASK]": filling(read=reading(
        lambda tokens, first, second, n: (tokens, list(range(1, len(tokens) + 1)), second))),
    "the first position is counted from 0; it begins with 1": filling(read=reading(
        lambda tokens, first, second, n: (tokens, [place - 1 for place in first], second))),
    "in the blanks the first position is counted from 0, as .index and enumerate count; the first place is 1": filling(
        read=reading(lambda tokens, first, second, n: (
            tokens, [*first[:n], *(place - 1 for place in first[n:])], second))),
    "in a blank the first position goes on from its [MASK]; all its slots have that of the [MASK]": filling(
        read=reading(lambda tokens, first, second, n: (
            tokens, [a + max(0, b - 1) for a, b in zip(first, second, strict=True)], second))),
    "all blanks have the place of the first [MASK], as .index finds it": filling(read=reading(with_first_mask)),
    "the second position begins with 0 in a blank; it is 1 at [START]": filling(read=reading(
        lambda tokens, first, second, n: (tokens, first, [max(0, place - 1) for place in second]))),
    "the second position goes on from blank to blank; each [START] has 1": filling(read=reading(
        lambda tokens, first, second, n: (tokens, first, [*[0] * n, *range(1, len(tokens) - n + 1)]))),
    "the second position counts in the text too; it is 0 there": filling(read=reading(
        lambda tokens, first, second, n: (tokens, first, [*range(1, n + 1), *second[n:]]))),
    "the second position is always 1 in a blank; it counts its slots": filling(read=reading(
        lambda tokens, first, second, n: (tokens, first, [min(1, place) for place in second]))),
    "the second position is always 0; in a blank it counts its slots": filling(read=reading(
        lambda tokens, first, second, n: (tokens, first, [0] * len(tokens)))),
    "the two rows of positions have changed places": filling(read=reading(
        lambda tokens, first, second, n: (tokens, second, first))),
    "the largest is looked for from 0 up, and all may lie below 0; begin with the first": filling(
        say=from_zero_up(END)),
    "the largest is looked for from 0 up, and where all lie below 0 token 0 is said; begin with the first": filling(
        say=from_zero_up(0)),
    "the slot before the last is asked; the last slot says what comes next": filling(
        say=lambda table, text, said: int(table[-2].argmax())),
    "the first slot is asked, always; the last slot says what comes next": filling(
        say=lambda table, text, said: int(table[0].argmax())),
    "the slot of the [MASK] is asked, as in BERT; the last slot says what comes next": filling(
        say=lambda table, text, said: int(table[masks(text)[said[-1][0]] - 1].argmax())),
    **{f"a blank stops after {most} words; it goes on until [END]": filling(most=most) for most in range(2, LONGEST)},
}

OF_FILLING: Properties = {
    "a token stands there that is no word, [MASK], [START] or [END]": lambda out, logits, text, order: bool(
        ((out > END) & (out < logits.vocab)).all()),
    "what stands before the first blank is not as it was": lambda out, logits, text, order: out[
        :text.index(MASK)].tolist() == text[:text.index(MASK)],
    "what stands behind the last blank is not as it was": lambda out, logits, text, order: out.tolist()[
        len(out) - text[::-1].index(MASK):] == text[len(text) - text[::-1].index(MASK):],
}
