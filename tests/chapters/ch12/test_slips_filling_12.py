"""Slips that people make in the exercise 12.6, written as they write them: each is named as what it is."""

from functools import partial

import pytest
import torch

from plmlab.chapters.ch12.mistakes_filling import LONGEST
from plmlab.exercises import case, check


def substituted(text, masks, words):
    """The text with the words of each blank, put in from the back."""
    out = list(text)
    for n in sorted(words, reverse=True):
        out[masks[n]:masks[n] + 1] = words[n]
    return out


def generated(turns=lambda order: order, begin=(5,), place=lambda masks, n, i, slots: masks[n] + 1,
              inside=lambda i, slots: i + 1, base=1, count_text=False, forget=False, read_end=False, keep_end=False,
              limit=1000, row=-1, pick=lambda logits, words: int(logits.argmax()), put=substituted,
              table=lambda logits: logits):
    """The token is asked, and then joined to three lists."""
    def answer(logits, text, order):
        masks, words = [i for i, token in enumerate(text) if token == 4], {}

        def part_a():
            return list(text), [i + base for i in range(len(text))], [i + 1 if count_text else 0
                                                                      for i in range(len(text))]

        ids, pos1, pos2 = part_a()

        def add(token, n, i):
            pos1.append(place(masks, n, i, len(ids)) + base - 1)
            pos2.append(inside(i, len(ids) - len(text)))
            ids.append(token)

        for n in turns(order):
            words[n] = []
            if forget:
                ids, pos1, pos2 = part_a()
            for i, token in enumerate(begin):
                add(token, n, i)
            while len(words[n]) < limit:
                token = pick(table(logits(ids, [pos1, pos2]))[row], words[n])
                if token == 6:
                    if read_end:
                        add(6, n, len(words[n]) + 1)
                    if keep_end:
                        words[n].append(6)
                    break
                add(token, n, len(words[n]) + len(begin))
                words[n].append(token)
        return torch.tensor(put(text, masks, words))
    return answer


def as_bert(logits, text, order):
    said = logits(text, [list(range(1, len(text) + 1)), [0] * len(text)]).argmax(-1)
    ids = torch.tensor(text)
    return torch.where(ids == 4, said, ids)


def reading_the_filled_text(logits, text, order):
    """What is filled in is read in its place, and the next blank sees it there."""
    out, masks = list(text), [i for i, token in enumerate(text) if token == 4]
    for n in order:
        place = masks[n]
        part_b, words = [5], []
        while True:
            ids = out + part_b
            pos1 = list(range(1, len(out) + 1)) + [place + 1] * len(part_b)
            word = int(logits(ids, [pos1, [0] * len(out) + list(range(1, len(part_b) + 1))])[-1].argmax())
            if word == 6:
                break
            words.append(word)
            part_b.append(word)
        out[place:place + 1] = words
        masks = [m + len(words) - 1 if m > place else m for m in masks]
    return torch.tensor(out)


def put_in_one_by_one(text, masks, words):
    out = list(text)
    for n in words:
        out[masks[n]:masks[n] + 1] = words[n]
    return out


def put_in_front_to_back(text, masks, words):
    out = list(text)
    for n, place in enumerate(masks):
        if n in words:
            out = out[:place] + words[n] + out[place + 1:]
    return out


def put_in_by_turn(text, masks, words):
    left = iter(words.values())
    return [word for token in text for word in (next(left) if token == 4 else [token])]


def put_where_there_are_words(text, masks, words):
    return substituted(text, masks, {n: said for n, said in words.items() if said})


def put_behind(text, masks, words):
    return [*text, *(word for said in words.values() for word in said)]


def put_behind_the_mask(text, masks, words):
    return substituted(text, masks, {n: [4, *said] for n, said in words.items()})


def from_zero_up(logits, words, word=6):
    best = 0
    for token, value in enumerate(logits.tolist()):
        if value > best:
            best, word = value, token
    return word


def a_word_first(logits, words):
    return int(logits.argmax()) if words else 7 + int(logits[7:].argmax())


def until_told_twice(logits, text, order):
    """[END] is asked of the last word, after it was kept."""
    masks, words = [i for i, token in enumerate(text) if token == 4], {}
    ids, pos1, pos2 = list(text), list(range(1, len(text) + 1)), [0] * len(text)
    for n in order:
        ids, pos1, pos2 = [*ids, 5], [*pos1, masks[n] + 1], [*pos2, 1]
        words[n] = [int(logits(ids, [pos1, pos2])[-1].argmax())]
        while words[n][-1] != 6:
            ids, pos1, pos2 = [*ids, words[n][-1]], [*pos1, masks[n] + 1], [*pos2, len(words[n]) + 1]
            words[n].append(int(logits(ids, [pos1, pos2])[-1].argmax()))
    return torch.tensor(substituted(text, masks, words))


def asking_the_mask(logits, text, order):
    masks, words = [i for i, token in enumerate(text) if token == 4], {}
    ids, pos1, pos2 = list(text), list(range(1, len(text) + 1)), [0] * len(text)
    for n in order:
        words[n], token = [], 5
        while token != 6:
            ids, pos1, pos2 = [*ids, token], [*pos1, masks[n] + 1], [*pos2, len(words[n]) + 1]
            token = int(logits(ids, [pos1, pos2])[masks[n]].argmax())
            words[n].append(token)
        words[n].pop()
    return torch.tensor(substituted(text, masks, words))


def only_the_last_token(logits, text, order):
    """As with a cache of keys and values, which there is not."""
    masks, words = [i for i, token in enumerate(text) if token == 4], {}
    for n in order:
        words[n], token = [], 5
        while token != 6:
            positions = [[*range(1, len(text) + 1), masks[n] + 1], [0] * len(text) + [len(words[n]) + 1]]
            token = int(logits([*text, token], positions)[-1].argmax())
            words[n].append(token)
        words[n].pop()
    return torch.tensor(substituted(text, masks, words))


@pytest.mark.parametrize(("answer", "words"), [
    (generated(turns=lambda order: range(len(order))), "in the order of the text, not"),
    (generated(turns=reversed), "in the order turned round"),
    (generated(turns=lambda order: [order.index(n) for n in range(len(order))]), "when its turn is"),
    (generated(pick=from_zero_up), "looked for from 0 up"),
    (generated(pick=partial(from_zero_up, word=0)), "all lie below 0 token 0 is said"),
    (generated(forget=True), "Part B is begun anew for each"),
    (reading_the_filled_text, "put into the text before the next blank"),
    (as_bert, "ach [MASK] is asked for its word, as in BERT"),
    (generated(limit=1), "blank has one word, as in BERT"),
    (generated(limit=3), "stops after 3 words"),
    (generated(limit=8), "stops after 8 words"),
    (generated(limit=31), "stops after 31 words"),
    (generated(turns=lambda order: order[:1]), "nly the first blank in the order"),
    (generated(pick=a_word_first), "one word at least"),
    (generated(keep_end=True), "END] stays in the text"),
    (until_told_twice, "END] stays in the text"),
    (generated(read_end=True), "END] is read behind each blank"),
    (generated(put=put_where_there_are_words), "mpty blank is left as [MASK]"),
    (generated(put=put_behind_the_mask), "MASK] stays before the words"),
    (generated(put=put_in_by_turn), "put in in the order of filling"),
    (generated(put=put_in_one_by_one), "places behind them move"),
    (generated(put=put_in_front_to_back), "put in from the front on"),
    (generated(put=put_behind), "given as they were said, behind the text"),
    (generated(put=lambda text, masks, words: [w for said in words.values() for w in said]), "nly the words of the"),
    (only_the_last_token, "nly the last token is read"),
    (generated(begin=(4,)), "begins with [MASK]; it"),
    (generated(begin=(), inside=lambda i, slots: i + 2), "START] is not read"),
    (generated(place=lambda masks, n, i, slots: slots + 1), "goes on counting behind the text"),
    (generated(base=0), "irst position is counted from 0; it begins"),
    (generated(place=lambda masks, n, i, slots: masks[n]), "as .index and enumerate count"),
    (generated(place=lambda masks, n, i, slots: masks[n] + 1 + i), "goes on from its [MASK]"),
    (generated(place=lambda masks, n, i, slots: masks[0] + 1), "the place of the first [MASK]"),
    (generated(inside=lambda i, slots: i), "begins with 0 in a blank"),
    (generated(inside=lambda i, slots: slots + 1), "goes on from blank to blank"),
    (generated(count_text=True), "counts in the text too"),
    (generated(inside=lambda i, slots: 1), "is always 1 in a blank"),
    (generated(inside=lambda i, slots: 0), "is always 0; in a blank"),
    (generated(row=-2), "slot before the last is asked"),
    (generated(row=0), "first slot is asked"),
    (asking_the_mask, "slot of the [MASK] is asked"),
])
def test_a_slip_is_named(answer, words: str) -> None:
    feedback = check("12.6", answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


def test_positions_that_do_not_grow_with_the_tokens_are_told() -> None:
    def forgotten(logits, text, order):
        ids, positions = [*text, 5], [list(range(1, len(text) + 1)), [0] * len(text)]
        return logits(ids, positions)[-1].argmax()
    feedback = check("12.6", forgotten)
    assert feedback.verdict == "error" and "two lists of positions as long" in repr(feedback)


def never_ending(logits, text, order):
    """What is said is never compared with [END]; all is read."""
    ids, pos1, pos2 = [*text], list(range(1, len(text) + 1)), [0] * len(text)
    said = 5
    while True:
        ids.append(said)
        pos1.append(1)
        pos2.append(len(ids) - len(text))
        said = int(logits(ids, [pos1, pos2])[-1].argmax())


def the_largest_of_the_table(logits, text, order):
    """argmax without a row."""
    ids, positions = [*text, 5], [[*range(1, len(text) + 1), 1], [0] * len(text) + [1]]
    said = int(logits(ids, positions).argmax())
    return logits([*ids, said], [[*positions[0], 1], [*positions[1], 2]])


def reading_nothing_new(logits, text, order):
    """The same is asked again and again."""
    words = []
    while 6 not in words:
        words.append(int(logits([*text, 5], [[*range(1, len(text) + 1), 1], [0] * len(text) + [1]])[-1].argmax()))
    return torch.tensor(words)


@pytest.mark.parametrize(("answer", "words"), [
    (never_ending, "a position is 100: no text is so long here, and no blank. Is the last slot asked"),
    (generated(table=lambda logits: logits.softmax(0)), "do softmax and argmax go over the vocabulary, the last axis"),
    (the_largest_of_the_table, r"is read, and the vocabulary ends with 29. Is the likeliest taken from one row"),
    (reading_nothing_new, "the model was asked 500 times, and no text takes so many. Does it read what it has said"),
])
def test_who_never_ends_is_told_so(answer, words: str) -> None:
    logits, text, order = case("12.6", 1)
    with pytest.raises(ValueError, match=words):
        answer(logits, text, order)
    assert generated()(logits, text, order).tolist() == generated()(*case("12.6", 1)).tolist()


def test_without_a_slip_this_way_is_right() -> None:
    assert check("12.6", generated()).ok, check("12.6", generated())


def test_a_limit_that_no_blank_reaches_is_right() -> None:
    """So each that is wrong bears its name: they go up to the longest blank's words less one."""
    assert check("12.6", generated(limit=LONGEST)).ok
