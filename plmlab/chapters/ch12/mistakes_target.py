"""Wrong answers to the exercises 12.3 and 12.4, what a UniLM says and what it is asked, under the names of their
mistakes."""

from collections.abc import Callable
from math import ceil, exp, log, prod

from torch import Tensor

from plmlab.exercises.mistakes import Mistakes, by_exp, largest_from_zero

# 12.3, the log-probability of a target

CLS, SEP, MASK = 2, 3, 4
Model = Callable[[list[int], list[int]], Tensor]
Words = list[int]


def reading(source: Words, words: Words, t: int) -> Words:
    """The text that is read to say word t."""
    return [CLS, *source, SEP, *words[:t], MASK]


def sides(source: Words, tokens: Words) -> Words:
    """The segments of a text: 4 up to the source's [SEP], and 5."""
    return [4] * (len(source) + 2) + [5] * (len(tokens) - len(source) - 2)


def without_one(source: Words, tokens: Words) -> Words:
    """The segments where [CLS] or the source's [SEP] is not there, or not counted."""
    return [4] * (len(source) + 1) + [5] * (len(tokens) - len(source) - 1)


def last(table: Tensor, source: Words, t: int) -> Tensor:
    """The log-probabilities of the word at the last slot."""
    return table[-1].log_softmax(0)


def chain(
    *, text: Callable[[Words, Words, int], Words] = reading, segments: Callable[[Words, Words], Words] = sides,
    row: Callable[[Tensor, Words, int], Tensor] = last, said: Callable[[Words], Words] = lambda target: [*target, SEP],
    total: Callable[[list[float]], float] = sum,
) -> Callable[[Model, Words, Words], float]:
    """The exercise's function with another text to read for each word, other segments, another row of numbers taken
    from what the model gives, other words that are said, or something else made of their numbers."""
    def answer(logits: Model, source: Words, target: Words) -> float:
        words, found = said(target), list[float]()
        for t, word in enumerate(words):
            tokens = text(source, words, t)
            found.append(float(row(logits(tokens, segments(source, tokens)), source, t)[word]))
        return float(total(found))
    return answer


def at(slot: Callable[[Words, int], int]) -> Callable[[Tensor, Words, int], Tensor]:
    """The log-probabilities of the word at another slot, from the source and which word it is."""
    return lambda table, source, t: table[slot(source, t)].log_softmax(0)


def interleaved(source: Words, words: Words, t: int) -> Words:
    """Each word that was said, behind the [MASK] that asked for it."""
    return [CLS, *source, SEP, *(token for word in words[:t] for token in (MASK, word)), MASK]


def its_own_words(logits: Model, source: Words, target: Words) -> float:
    """The target's words, each after what the model would have said before."""
    own, found = list[int](), 0.0
    for word in [*target, SEP]:
        tokens = [CLS, *source, SEP, *own, MASK]
        row = last(logits(tokens, sides(source, tokens)), source, 0)
        found += float(row[word])
        own.append(int(row.argmax()))
    return found


def likeliest(table: Tensor, source: Words, t: int) -> Tensor:
    """The log-probability of the likeliest word, for each word."""
    row = last(table, source, t)
    return row.max().expand(len(row))


def whole(source: Words, words: Words, t: int) -> Words:
    """All words in their places, and no [MASK]."""
    return [CLS, *source, SEP, *words]


SAYING: Mistakes = {
    "all the [MASK]s stand in one text: a word is to be said after the words before it, and they are read as [MASK]s":
        chain(text=lambda source, words, t: [CLS, *source, SEP, *[MASK] * (t + 1)]),
    "the slot before the [MASK] is asked for the next word, or no [MASK] is read, as in GPT; here a slot says its own "
    "word": chain(row=at(lambda source, t: -2)),
    "the target's words are read in their own places, so that each slot sees the word that it says":
        chain(text=whole, row=at(lambda source, t: len(source) + 2 + t)),
    "the [SEP] that ends the target is not counted: it has to be said too": chain(said=lambda target: target),
    "only the last word counts, the [SEP]: add up what all say (+= for =, or a `return` that stands too far right)":
        chain(total=lambda found: found[-1]),
    "only the first word counts: the `return` stands inside the loop": chain(total=lambda found: found[0]),
    "the [MASK]s stay in the text: each word stands in the place of its [MASK], not behind it":
        chain(text=interleaved),
    "after a [MASK] comes the likeliest word, not the target's: asked is the target, and its words before are given":
        its_own_words,
    "these are the log-probabilities of the likeliest words, not of the target's": chain(row=likeliest),
    "the slot is counted without [CLS] and [SEP]: the target begins at slot source + 2":
        chain(row=at(lambda source, t: len(source) + t)),
    "the slot is counted from the text's beginning; the target begins at slot source + 2":
        chain(row=at(lambda source, t: t)),
    "all words are taken from the target's first slot; each has its own":
        chain(row=at(lambda source, t: len(source) + 2)),
    "all words are taken from the first slot, [CLS]; the [MASK] is the last": chain(row=at(lambda source, t: 0)),
    "the text does not begin with [CLS]":
        chain(text=lambda source, words, t: reading(source, words, t)[1:], segments=without_one),
    "the text does not begin with [CLS], but the segments are counted with it":
        chain(text=lambda source, words, t: reading(source, words, t)[1:]),
    "there is no [SEP] between source and target":
        chain(text=lambda source, words, t: [CLS, *source, *words[:t], MASK], segments=without_one),
    "there is no [SEP] between source and target, but the segments are counted with it":
        chain(text=lambda source, words, t: [CLS, *source, *words[:t], MASK]),
    "[START] is read before the target; UniLM knows none": chain(
        text=lambda source, words, t: [CLS, *source, SEP, 5, *words[:t], MASK]),
    "everything is of segment 4, so it is read as a source, to both sides": chain(
        segments=lambda source, tokens: [4] * len(tokens)),
    "everything is of segment 5, so the source is read from left to right": chain(
        segments=lambda source, tokens: [5] * len(tokens)),
    "source and target are segments 4 and 5; 0 and 1 are those of both directions": chain(
        segments=lambda source, tokens: [side - 4 for side in sides(source, tokens)]),
    "segments 4 and 5 have changed places": chain(segments=lambda source, tokens: [9 - side for side in sides(
        source, tokens)]),
    "the [MASK] is of segment 4; it stands in the target's place": chain(
        segments=lambda source, tokens: [*sides(source, tokens)[:-1], 4]),
    "the source's [SEP] is of segment 5; it ends the source": chain(segments=without_one),
    "[CLS] and the source's [SEP] are not counted: segment 4 ends two slots too early": chain(
        segments=lambda source, tokens: [4] * len(source) + [5] * (len(tokens) - len(source))),
    "the logits themselves are added up: the softmax is missing": chain(row=lambda table, source, t: table[-1]),
    "the softmax runs over the slots, not over the words (of a table [time vocab], the words are axis 1)":
        chain(row=lambda table, source, t: table.log_softmax(0)[-1]),
    "the softmax is taken twice: cross_entropy wants the logits, and takes the softmax itself":
        chain(row=lambda table, source, t: table[-1].softmax(0).log_softmax(0)),
    "probabilities are added up; they are multiplied, so that their logs are added":
        chain(total=lambda found: sum(map(exp, found))),
    "the logarithm comes after the sum: probabilities are multiplied, so that their logs are added":
        chain(total=lambda found: log(sum(map(exp, found)))),
    "this is the probability; asked is its logarithm": chain(total=lambda found: exp(sum(found))),
    "log-probabilities are multiplied; probabilities are, and their logs are added": chain(total=prod),
    "a probability underflows to 0, and its logarithm is −∞: take .log_softmax of the logits":
        chain(row=lambda table, source, t: table[-1].softmax(0).log()),
    "exp of a large logit is infinite, and of one far below 0 it is 0: take .log_softmax of the logits":
        chain(row=lambda table, source, t: by_exp(table[-1], 0).log()),
    "exp of a large logit is infinite: .logsumexp knows how to add them up":
        chain(row=lambda table, source, t: table[-1] - table[-1].exp().sum().log()),
    "a maximum that starts at 0 stays 0 where all logits are negative: start at −∞, or take .log_softmax": chain(
        row=lambda table, source, t: (
            rest := table[-1] - largest_from_zero(table[-1])) - rest.exp().sum().log()),
    "a probability underflows to 0, which has no logarithm: take .log_softmax of the logits":
        chain(row=lambda table, source, t: table[-1].softmax(0), total=lambda found: sum(map(log, found))),
    "the sign is wrong: this is the loss, minus the log-probability": chain(total=lambda found: -sum(found)),
    "this is the mean over the words; asked is the sum": chain(total=lambda found: sum(found) / len(found)),
    "this is the loss: minus the mean over the words": chain(total=lambda found: -sum(found) / len(found)),
    "the sum is divided by the target's words": chain(
        total=lambda found: sum(found) / max(1, len(found) - 1)),
    "these are bits: nats take the natural logarithm": chain(total=lambda found: sum(found) / log(2)),
    "the word is left out that was said just before the [MASK]": chain(
        text=lambda source, words, t: reading(source, words, max(0, t - 1))),
    "the text holds the very word that is to be said, before its [MASK]": chain(
        text=lambda source, words, t: reading(source, words, t + 1)),
    "only the word said just before is read, not all of them": chain(
        text=lambda source, words, t: [CLS, *source, SEP, *words[max(0, t - 1):t], MASK]),
    "the words said before are not read at all": chain(
        text=lambda source, words, t: [CLS, *source, SEP, MASK]),
    "the source is not read": chain(text=lambda source, words, t: [CLS, SEP, *words[:t], MASK],
                                    segments=lambda source, tokens: sides([], tokens)),
}


# 12.4, what a masked target never asks

Amounts = tuple[float, float]


def asked(slots: int, rate: float) -> int:
    """How many slots a reading asks."""
    return max(1, round(rate * slots))


def counting(count: Callable[[int, float], float]) -> Callable[[int, float, int], Amounts]:
    """The exercise's function with another number of slots that a reading asks."""
    def answer(slots: int, rate: float, readings: int) -> Amounts:
        share = count(slots, rate) / slots
        return share, slots * (1 - share) ** readings
    return answer


def never(left: Callable[[int, float, int], float]) -> Callable[[int, float, int], Amounts]:
    """The exercise's function with another number for the slots that are never asked, from how many there are, the
    share that a reading asks, and how many readings."""
    def answer(slots: int, rate: float, readings: int) -> Amounts:
        share = asked(slots, rate) / slots
        return share, left(slots, share, readings)
    return answer


def giving(give: Callable[[float, float, int], tuple[float, ...]]) -> Callable[[int, float, int], tuple[float, ...]]:
    """The exercise's function with something else made of its two numbers, and of how many slots there are."""
    return lambda slots, rate, readings: give(*counting(asked)(slots, rate, readings), slots)


AMOUNTS: Mistakes = {
    "the rate is taken for the share; a whole number of slots is asked, round(rate · slots)":
        counting(lambda slots, rate: rate * slots),
    "the number is cut, not rounded: int and // leave off what is behind the point":
        counting(lambda slots, rate: max(1, int(rate * slots))),
    "the number is rounded up; it is rounded to the nearest": counting(lambda slots, rate: ceil(rate * slots)),
    "there is one slot at least: round may give 0": counting(lambda slots, rate: round(rate * slots)),
    "the [SEP] is taken off; it is counted, and may be asked too":
        lambda slots, rate, readings: counting(asked)(slots - 1, rate, readings),
    "a [SEP] is added; it is counted among the slots already":
        lambda slots, rate, readings: counting(asked)(slots + 1, rate, readings),
    "the share is of the words without the [SEP]; a causal loss asks the [SEP] too":
        counting(lambda slots, rate: max(1, round(rate * (slots - 1)))),
    "the first number is that of the slots which are asked; it is their share": giving(
        lambda share, left, slots: (share * slots, left)),
    "the first number is the share that is left out; it is the share that is asked": giving(
        lambda share, left, slots: (1 - share, left)),
    "the first number is how many readings ask as often as a causal one; it is 1 over that": giving(
        lambda share, left, slots: (1 / share, left)),
    "the second number is the chance of one slot; times the number of slots it is how many": giving(
        lambda share, left, slots: (share, left / slots)),
    "the second number is that of the slots which are asked at least once; it is those that never are": giving(
        lambda share, left, slots: (share, slots - left)),
    "the second number is the chance that a slot is asked at least once; it is how many never are": giving(
        lambda share, left, slots: (share, 1 - left / slots)),
    "the two numbers have changed places": giving(lambda share, left, slots: (left, share)),
    "the second number is that of the slots which every reading asks: 1 − share is the chance to be left out":
        never(lambda slots, share, readings: slots * share ** readings),
    "the second number is that of one reading alone; each further one leaves out its share of what is left":
        never(lambda slots, share, readings: slots * (1 - share)),
    "the chances are multiplied by the number of readings; they are multiplied with each other (** for *)":
        never(lambda slots, share, readings: slots * (1 - share) * readings),
    "each reading is taken to ask other slots than those before; it is drawn anew, and asks some once more":
        never(lambda slots, share, readings: max(0.0, slots - readings * share * slots)),
    "each reading is taken to ask other slots than those before, until less than none is left":
        never(lambda slots, share, readings: slots - readings * share * slots),
    "one reading is too few: the power is the number of readings":
        never(lambda slots, share, readings: slots * (1 - share) ** (readings - 1)),
    "one reading is too many: the power is the number of readings":
        never(lambda slots, share, readings: slots * (1 - share) ** (readings + 1)),
    "a reading is taken to draw its slots one by one and to put each back; it asks so many different ones":
        never(lambda slots, share, readings: slots * (1 - 1 / slots) ** (round(share * slots) * readings)),
    "the number of slots is raised to the power too; ** binds the chance alone":
        never(lambda slots, share, readings: (slots * (1 - share)) ** readings),
    "1 − share needs parentheses: ** binds before −": never(
        lambda slots, share, readings: slots * 1 - share ** readings),
    "1 − share needs parentheses: ** binds before −, and is taken off from 1": never(
        lambda slots, share, readings: slots * (1 - share ** readings)),
    "e to the power of −share · readings comes near it only where the share is small": never(
        lambda slots, share, readings: slots * exp(-share * readings)),
}
