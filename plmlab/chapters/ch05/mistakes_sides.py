"""Wrong answers to the exercises 05.3 and 05.6, a text from both sides and a language model from the right, under the
names of their mistakes, and what holds of any right one."""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor

from plmlab.exercises.mistakes import Mistakes, Properties

# 05.3, a text from both sides

Rows = tuple[Tensor, Tensor, Tensor, Tensor]
Lists = tuple[list[int], list[int], list[int], list[int]]


def rows(make: Callable[[list[int], list[int], int, int], Lists]) -> Callable[[Tensor, int, int], Rows]:
    """Four rows made of (the text, the text turned round, start, end)."""
    def answer(tokens: Tensor, start: int, end: int) -> Rows:
        one, two, three, four = make(tokens.tolist(), tokens.tolist()[::-1], start, end)
        return (tokens.new_tensor(one), tokens.new_tensor(two), tokens.new_tensor(three), tokens.new_tensor(four))
    return answer


def rolled(by: int) -> Callable[[Tensor, int, int], Rows]:
    """What is said is what is read, rolled."""
    def answer(tokens: Tensor, start: int, end: int) -> Rows:
        left, right = tokens.new_tensor([start, *tokens]), tokens.new_tensor([end, *tokens.flip(0)])
        return left, left.roll(by), right, right.roll(by)
    return answer


TWO_WAY: Mistakes = {
    "each slot says the token that it has just read, so that it only copies; what is said is one token further": rows(
        lambda x, r, s, e: ([s, *x], [s, *x], [e, *r], [e, *r])),
    "from the left each slot says the token that it has just read; it says the next one": rows(
        lambda x, r, s, e: ([s, *x], [s, *x], [e, *r], [*r, s])),
    "from the right each slot says the token that it has just read; it says the next one": rows(
        lambda x, r, s, e: ([s, *x], [*x, e], [e, *r], [e, *r])),
    "the ends are not read, so that each slot reads the very token that it says": rows(
        lambda x, r, s, e: ([*x, e], [*x, e], [*r, s], [*r, s])),
    "both ends are read and both are said: the last token is not read, and the first is not said": rows(
        lambda x, r, s, e: ([s, *x, e], [s, *x, e], [e, *r, s], [e, *r, s])),
    "both ends are read: the last token of a side is only said": rows(
        lambda x, r, s, e: ([s, *x, e], [*x, e], [e, *r, s], [*r, s])),
    "both ends are said: the first token of a side is only read": rows(
        lambda x, r, s, e: ([s, *x], [s, *x, e], [e, *r], [e, *r, s])),
    "what is said comes round the end: a side that begins with one end says the other one last": rolled(-1),
    "what is said is shifted to the wrong side: each slot says the token before the one that it reads": rolled(1),
    "the text is not turned round for the side from the right": rows(
        lambda x, r, s, e: ([s, *x], [*x, e], [e, *x], [*x, s])),
    "both sides are the same: the one from the right is not turned round": rows(
        lambda x, r, s, e: ([s, *x], [*x, e], [s, *x], [*x, e])),
    "the rows from the right stand in the order of the text; they stand in the order of reading, from [END] on": rows(
        lambda x, r, s, e: ([s, *x], [*x, e], [*x, e], [s, *x])),
    "from the right the text is turned round where it is read, but not where it is said": rows(
        lambda x, r, s, e: ([s, *x], [*x, e], [e, *r], [*x, s])),
    "from the right the text is turned round where it is said, but not where it is read": rows(
        lambda x, r, s, e: ([s, *x], [*x, e], [e, *x], [*r, s])),
    "the side from the right reads [START] first and says [END] last; it begins at [END]": rows(
        lambda x, r, s, e: ([s, *x], [*x, e], [s, *r], [*r, e])),
    "the side from the right reads [START] first; it begins at [END]": rows(
        lambda x, r, s, e: ([s, *x], [*x, e], [s, *r], [*r, s])),
    "the side from the right says [END] last; it ends at [START]": rows(
        lambda x, r, s, e: ([s, *x], [*x, e], [e, *r], [*r, e])),
    "[START] and [END] have changed places": rows(lambda x, r, s, e: ([e, *x], [*x, s], [s, *r], [*r, e])),
    "from the right, what is read and what is said have changed places: this is each row from the left, turned round":
        rows(lambda x, r, s, e: ([s, *x], [*x, e], [*r, s], [e, *r])),
    "on both sides, what is read and what is said have changed places": rows(
        lambda x, r, s, e: ([*x, e], [s, *x], [*r, s], [e, *r])),
    "the two sides have changed places: the rows from the left come first": rows(
        lambda x, r, s, e: ([e, *r], [*r, s], [s, *x], [*x, e])),
    "both rows that are read come first; the order is: reads left, says left, reads right, says right": rows(
        lambda x, r, s, e: ([s, *x], [e, *r], [*x, e], [*r, s])),
    "the ends are missing: [START] is read first from the left, and [END] is said last": rows(
        lambda x, r, s, e: (x[:-1], x[1:], r[:-1], r[1:])),
    "the last token of a side is not said: from the left [END], from the right [START]": rows(
        lambda x, r, s, e: ([s, *x[:-1]], x, [e, *r[:-1]], r)),
}

OF_TWO_SIDES: Properties = {
    "from the left, a slot does not say what the next slot reads": lambda out, *_: torch.equal(out[1][:-1], out[0][1:]),
    "from the right, a slot does not say what the next slot reads":
        lambda out, *_: torch.equal(out[3][:-1], out[2][1:]),
    "a side does not begin at its end of the text": lambda out, tokens, start, end: bool(
        out[0][0] == start and out[2][0] == end),
}


# 05.6, a language model from the right, by counting

Words = list[int]
Before = Callable[[list[Words], list[float], Words, int], Tensor]
Found = Callable[[Words, Words], list[int]]


def at_the_end(words: Words, suffix: Words) -> list[int]:
    """The word before the suffix, where it ends a sentence, 0 before the whole sentence; none elsewhere."""
    read = [0, *words]
    place = len(read) - len(suffix)
    return [read[place - 1]] if read[place:] == suffix else []


def added(find: Found, counted: Callable[[float], float] = lambda chance: chance) -> Before:
    """Chances added up for each word that is found, of (a sentence, the suffix); ``counted`` changes them."""
    def answer(sentences: list[Words], chances: list[float], suffix: Words, size: int) -> Tensor:
        out = torch.zeros(size)
        for words, chance in zip(sentences, chances, strict=True):
            for word in find(words, suffix):
                out[word] += counted(chance)
        return out
    return answer


def found(find: Found = at_the_end, counted: Callable[[float], float] = lambda chance: chance) -> Before:
    """The exercise's function with other words that are found, or other numbers that are added."""
    return lambda *args: added(find, counted)(*args) / added(find, counted)(*args).sum()


def ended(make: Callable[[Tensor], Tensor]) -> Before:
    """Something made of the chances that are added up, before they are divided."""
    return lambda *args: make(added(at_the_end)(*args))


def anywhere(words: Words, suffix: Words) -> list[int]:
    """The word before each place where the suffix stands."""
    read = [0, *words]
    return [read[i - 1] for i in range(1, len(read) - len(suffix) + 1) if read[i:i + len(suffix)] == suffix]


def after_a_beginning(words: Words, suffix: Words) -> list[int]:
    """The word after a beginning of a sentence, 0 after the whole sentence."""
    return [[*words, 0][len(suffix)]] if words[:len(suffix)] == suffix else []


def if_longer(words: Words, suffix: Words) -> list[int]:
    """The word before the suffix; nothing where it is the whole sentence."""
    return at_the_end(words, suffix) if len(words) > len(suffix) else []


def by_place(words: Words, suffix: Words) -> list[int]:
    """``words[-len(suffix) - 1]``, IndexError where there is no such word."""
    return [words[-len(suffix) - 1]] if words[len(words) - len(suffix):] == suffix else []


def round_the_start(words: Words, suffix: Words) -> list[int]:
    """``words[place - 1]``, which is the last word where the place is 0."""
    place = len(words) - len(suffix)
    return [words[place - 1]] if words[place:] == suffix else []


def never_if_empty(words: Words, suffix: Words) -> list[int]:
    """``words[-len(suffix):] == suffix``, which is never so of an empty suffix."""
    return at_the_end(words, suffix) if suffix else []


def by_length(words: Words, suffix: Words) -> list[int]:
    """The word before so many last words as the suffix has, whatever they are."""
    return [[0, *words][-len(suffix) - 1]] if len(words) >= len(suffix) else []


def by_some(words: Words, suffix: Words, place: int) -> list[int]:
    """The word before so many words, if one of them, and not all, is that of the suffix."""
    same = not suffix or words[-len(suffix):][place] == suffix[place]
    return by_length(words, suffix) if same else []


def all_before(words: Words, suffix: Words) -> list[int]:
    """All words before the suffix, and 0 for the whole sentence."""
    before = words[:len(words) - len(suffix)]
    return (before or [0]) if at_the_end(words, suffix) else []


def bigrams(words: Words, suffix: Words) -> list[int]:
    """The word before each place where the first word of the suffix stands; of an empty one, the last word."""
    if not suffix:
        return at_the_end(words, suffix)
    return [word for word, other in pairwise([0, *words]) if other == suffix[0]]


def written_over(sentences: list[Words], chances: list[float], suffix: Words, size: int) -> Tensor:
    """``out[word] = chance``, so that only the last sentence with a word counts."""
    out = torch.zeros(size)
    for words, chance in zip(sentences, chances, strict=True):
        for word in at_the_end(words, suffix):
            out[word] = chance
    return out / out.sum()


def by_their_number(sentences: list[Words], chances: list[float], suffix: Words, size: int) -> Tensor:
    """The chances divided by the number of sentences that end in the suffix."""
    count = sum(len(at_the_end(words, suffix)) for words in sentences)
    return added(at_the_end)(sentences, chances, suffix, size) / count


BEFORE: Mistakes = {
    "the suffix may stand anywhere in a sentence; it ends it": found(anywhere),
    "the last words are taken for the first: this is the word after a sentence's beginning": found(after_a_beginning),
    "the chances are not divided by their sum": ended(lambda sums: sums),
    "the chances are divided by the number of sentences that fit; divide by the sum of their chances": by_their_number,
    "the chances are divided by the largest; divide by their sum": ended(lambda sums: sums / sums.max()),
    "a softmax is taken; chances are divided by their sum": ended(lambda sums: sums.softmax(0)),
    "these are logarithms": ended(lambda sums: (sums / sums.sum()).log()),
    "sentences are counted; add up their chances": found(counted=lambda chance: 1.0),
    "sentences are counted, and the counts are not divided: add up chances, and divide by their sum": added(
        at_the_end, lambda chance: 1.0),
    "no sentence fits, and 0 / 0 is NaN: compare the last words, a list, with the suffix, a list": found(
        lambda words, suffix: []),
    "a chance is written over where two sentences have the same word before the suffix: += adds, = does not":
        written_over,
    "[START] is left out: a sentence that is the suffix and nothing more counts for number 0": found(if_longer),
    "a sentence that is the suffix and nothing more has no word before it: put 0, [START], before each sentence": found(
        by_place),
    "before the first word stands 0, [START]; words[-1] is the last word": found(round_the_start),
    "the share of [START] is set to 0": ended(
        lambda sums: torch.cat([torch.zeros(1), sums[1:]]) / sums.sum()),
    "[START] gets its chance only after the others are divided": ended(
        lambda sums: torch.cat([sums[:1], sums[1:] / sums[1:].sum()])),
    "an empty suffix fits nowhere: words[-0:] is the whole sentence; take words[len(words) - len(suffix):]": found(
        never_if_empty),
    "the suffix is read from the right; it stands in the order of the text": found(
        lambda words, suffix: at_the_end(words, suffix[::-1])),
    "only the first word of the suffix is compared, at its place; all of its words are": found(
        lambda words, suffix: by_some(words, suffix, 0)),
    "only the last word of the suffix is compared; all of its words are": found(
        lambda words, suffix: by_some(words, suffix, -1)),
    "only the first word of the suffix is looked for, and anywhere (a bigram): all words at the end": found(bigrams),
    "all words before the suffix count; it is the one right before it": found(all_before),
    "this is the first word of the sentences that fit; it is the one right before the suffix": found(
        lambda words, suffix: all_before(words, suffix)[:1]),
    "all sentences count, whether they end in the suffix or not": found(by_length),
    "this is the first word of the suffix itself: one place too far to the right": found(
        lambda words, suffix: [[*words, 0][len(words) - len(suffix)]] if at_the_end(words, suffix) else []),
}

OF_CHANCES: Properties = {
    "a chance lies beyond 0 and 1": lambda out, *_: bool(((out >= -1e-4) & (out <= 1 + 1e-4)).all()),
    "the chances do not add up to 1": lambda out, *_: bool((out.sum() - 1).abs() < 1e-3),
}
