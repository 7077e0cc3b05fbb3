"""Wrong answers to the exercises 05.1 and 05.2, how ELMo reads a word, under the names of their mistakes, and what
holds of any right one."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from plmlab.exercises.mistakes import Mistakes, Properties

# 05.1, a word as codes

BEGIN, END, FILLER = 259, 260, 261

Spell = Callable[[str, int], Tensor]


def shifted(word: str) -> list[int]:
    """The word's bytes, each plus 1."""
    return [byte + 1 for byte in word.encode()]


def spelt(codes: Callable[[str], list[int]] = shifted, begin: Sequence[int] = (BEGIN,), end: Sequence[int] = (END,),
          filler: int = FILLER) -> Spell:
    """The exercise's function with other codes of the word, or other signs around it."""
    def answer(word: str, longest: int) -> Tensor:
        framed = [*begin, *codes(word)[:longest - 2], *end]
        return torch.tensor(framed + [filler] * (longest - len(framed)))
    return answer


def cut(part: Callable[[list[int], int], list[int]]) -> Spell:
    """The exercise's function with another part of the codes that is kept, of (codes, longest)."""
    def answer(word: str, longest: int) -> Tensor:
        framed = [BEGIN, *part(shifted(word), longest), END]
        return torch.tensor(framed + [FILLER] * (longest - len(framed)))
    return answer


def filled(fill: Callable[[list[int], str, int], list[int]]) -> Spell:
    """A word between its begin and end, and something made of that, of the word and of ``longest``."""
    return lambda word, longest: torch.tensor(fill([BEGIN, *shifted(word)[:longest - 2], END], word, longest))


def last_overwritten(word: str, longest: int) -> Tensor:
    """All codes cut to ``longest``, and 260 written over the last of them, whether the word is long or short."""
    codes = cut(lambda codes, _: codes)(word, longest)[:longest]
    return torch.cat([codes[:-1], torch.tensor([END])])


def whole_characters(word: str, longest: int) -> Tensor:
    """As many characters as find room with all of their bytes."""
    return spelt()(word.encode()[:longest - 2].decode(errors="ignore"), longest)


def as_many_characters(word: str, longest: int) -> Tensor:
    """As many characters as there is room for bytes."""
    return cut(lambda codes, _: codes)(word[:longest - 2], longest)


SPELL: Mistakes = {
    "these are characters, by ord, not bytes: in UTF-8 an accented letter has two bytes, a Chinese character three":
        spelt(lambda word: [ord(letter) + 1 for letter in word]),
    "these are characters, by ord, not bytes, and 1 is not added": spelt(lambda word: [*map(ord, word)]),
    "the bytes are those of Latin-1, which has no Chinese; .encode() makes UTF-8": spelt(
        lambda word: [byte + 1 for byte in word.encode("latin-1")]),
    "the bytes are those of UTF-16; .encode() makes UTF-8": spelt(
        lambda word: [byte + 1 for byte in word.encode("utf-16")]),
    "letters are numbered from a = 1; a code is a byte plus 1": spelt(
        lambda word: [ord(letter) - ord("a") + 1 for letter in word]),
    "the bytes are not shifted: a code is a byte plus 1": spelt(lambda word: [*word.encode()]),
    "1 is taken away from each byte; it is added": spelt(lambda word: [byte - 1 for byte in word.encode()]),
    "1 is added to 259, 260 and 261 too; only the bytes are shifted": spelt(
        shifted, [BEGIN + 1], [END + 1], FILLER + 1),
    "258, 259 and 260 are taken for 259, 260 and 261": spelt(shifted, [BEGIN - 1], [END - 1], FILLER - 1),
    "the begin of the word, 259, is missing": spelt(begin=()),
    "the end of the word, 260, is missing": spelt(end=()),
    "begin and end of the word, 259 and 260, are missing": spelt(begin=(), end=()),
    "begin and end of the word have changed places: 259 begins, 260 ends": spelt(begin=(END,), end=(BEGIN,)),
    "the end of a long word is cut off: it is the bytes that are cut, before 260 is put behind them":
        lambda word, longest: cut(lambda codes, _: codes)(word, longest)[:longest],
    "260 is written over the last code of every word; that of a short word is filler": last_overwritten,
    "the bytes of a long word are not cut": cut(lambda codes, _: codes),
    "`longest` bytes are kept, with no room left for 259 and 260": cut(lambda codes, longest: codes[:longest]),
    "one byte too many is kept: there must be room for 259 and for 260": cut(
        lambda codes, longest: codes[:longest - 1]),
    "one byte too few is kept: 259 and 260 need two places": cut(lambda codes, longest: codes[:longest - 3]),
    "the first bytes of a long word are left out; it is the last ones": cut(
        lambda codes, longest: codes[-(longest - 2):]),
    "characters are cut, not bytes: cut after .encode()": as_many_characters,
    "a character that is cut in two is left out; the bytes that find room stay": whole_characters,
    "the word is not filled up: after 260 comes 261, up to `longest` codes": filled(lambda framed, *_: framed),
    "long words are not cut, and short words are not filled up: there are `longest` codes": lambda word, longest:
        torch.tensor([BEGIN, *shifted(word), END]),
    "the word is filled up with 0; the filler is 261": spelt(filler=0),
    "the word is filled up with its end, 260; the filler is 261": spelt(filler=END),
    "the filler stands before the word; it stands behind its end": filled(
        lambda framed, word, longest: [FILLER] * (longest - len(framed)) + framed),
    "the filler stands between the word and its end; 260 comes right after the last byte": filled(
        lambda framed, word, longest: framed[:-1] + [FILLER] * (longest - len(framed)) + [END]),
    "`longest` fillers are put behind each word; all codes together are `longest`": filled(
        lambda framed, word, longest: framed + [FILLER] * longest),
    "two fillers too many: 259 and 260 count too": filled(
        lambda framed, word, longest: framed + [FILLER] * (longest - len(word.encode()))),
    "the fillers are counted by the characters of the word; count its bytes": filled(
        lambda framed, word, longest: framed + [FILLER] * (longest - 2 - len(word))),
}


def nothing_after_the_end(codes: Tensor) -> bool:
    """Whether there is one 260, and only filler behind it."""
    ends = (codes == END).nonzero().flatten().tolist()
    return len(ends) == 1 and bool((codes[ends[0] + 1:] == FILLER).all())


OF_A_WORD: Properties = {
    "the first code is not 259": lambda out, *_: bool(out[0] == BEGIN),
    "there is not one 260 with nothing but 261 behind it": lambda out, *_: nothing_after_the_end(out),
}


# 05.2, what filters find

Find = Callable[[Tensor, Tensor, Tensor], Tensor]


def laid(letters: Tensor, filters: Tensor) -> Tensor:
    """Each filter laid on each place, without bias, [words value places]."""
    return torch.conv1d(letters.mT, filters.mT)


def sums(letters: Tensor, filters: Tensor, bias: Tensor) -> Tensor:
    """Each filter laid on each place, with its bias, [words value places]."""
    return laid(letters, filters) + bias[:, None]


def placed(make: Callable[[Tensor], Any]) -> Callable[[Tensor, Tensor, Tensor], Any]:
    """Something made of the right sums [words value places]."""
    return lambda letters, filters, bias: make(sums(letters, filters, bias))


def best(x: Tensor) -> Tensor:
    """The largest place of each filter, and the positive part."""
    return x.amax(-1).relu()


def then(make: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor, Tensor], Any]:
    """Something made of the right answer."""
    return placed(lambda x: make(best(x)))


def without_the_last(letters: Tensor, filters: Tensor, bias: Tensor) -> Tensor:
    """``range(places - size)``, and then ``torch.stack``, which wants one place at least."""
    places = [*sums(letters, filters, bias).unbind(-1)][:-1]
    return best(torch.stack(places, -1))


def beyond(left: Callable[[int], int], right: Callable[[int], int]) -> Find:
    """Words with so many letters of 0 before and behind them, of the filter's size."""
    def answer(letters: Tensor, filters: Tensor, bias: Tensor) -> Tensor:
        size = filters.shape[1]
        return best(sums(F.pad(letters, (0, 0, left(size), right(size))), filters, bias))
    return answer


def letters_added(letters: Tensor, filters: Tensor, bias: Tensor) -> Tensor:
    """Each letter times all vectors of a filter: the sum over ``size`` is taken before the letters come."""
    return best(laid(letters, filters.sum(1, keepdim=True)) + bias[:, None])


def unfolded_wrongly(letters: Tensor, filters: Tensor, bias: Tensor) -> Tensor:
    """``unfold`` gives [words places width size]; here the last two axes are taken for size and width."""
    windows = letters.unfold(1, filters.shape[1], 1)
    return best((torch.einsum("wpsd, ksd -> wpk", windows, filters) + bias).transpose(1, 2))


def viewed(x: Tensor) -> Tensor:
    """[words places width] as [words width places] by a view, laid back so that ``laid`` can turn it."""
    return x.reshape(len(x), x.shape[2], x.shape[1]).transpose(1, 2)


FOUND: Mistakes = {
    "the ReLU is missing: a negative maximum becomes 0": placed(lambda x: x.amax(-1)),
    "a tanh stands in the place of the ReLU": placed(lambda x: x.amax(-1).tanh()),
    "a sigmoid stands in the place of the ReLU": placed(lambda x: x.amax(-1).sigmoid()),
    "the sign is lost: ReLU makes 0 of a negative number, abs does not": placed(lambda x: x.amax(-1).abs()),
    "the largest absolute value is taken: take the largest sum, and then the ReLU": placed(lambda x: x.abs().amax(-1)),
    "this is the mean over the places; it is the largest": placed(lambda x: x.mean(-1).relu()),
    "the mean is taken over the places, after the ReLU; it is the largest": placed(lambda x: x.relu().mean(-1)),
    "this is the sum over the places; it is the largest": placed(lambda x: x.sum(-1).relu()),
    "this is the smallest place; it is the largest": placed(lambda x: x.amin(-1).relu()),
    "this is the first place; it is the largest": placed(lambda x: x[..., 0].relu()),
    "this is the last place; it is the largest": placed(lambda x: x[..., -1].relu()),
    "the maximum is taken over the filters; it is taken over the places": placed(lambda x: x.amax(1).relu()),
    "the maximum is taken over the words; it is taken over the places": placed(lambda x: x.amax(0).relu()),
    "the maximum is taken of everything; each word and each filter has its own": placed(lambda x: x.amax().relu()),
    "the maximum over the places is missing": placed(torch.relu),
    "the maximum over the places is missing, and filters come last": placed(lambda x: x.relu().transpose(1, 2)),
    ".max(-1) gives two tensors, the numbers and their places: .max(-1).values, or .amax(-1)": placed(
        lambda x: tuple(x.relu().max(-1))),
    "these are the places of the largest sums (argmax); asked are the sums": placed(lambda x: x.argmax(-1)),
    "the filter is turned round: its first vector lies on the first letter": lambda letters, filters, bias: best(
        sums(letters, filters.flip(1), bias)),
    "the last place is left out, so that a word just as long as a filter has none: a word has places − size + 1":
        without_the_last,
    "the last place is left out: a word has places − size + 1": placed(
        lambda x: torch.cat([x[..., :-1], torch.full_like(x[..., :1], -torch.inf)], -1).amax(-1).relu()),
    "the first place is left out: places count from 0": placed(
        lambda x: torch.cat([x[..., 1:], torch.full_like(x[..., :1], -torch.inf)], -1).amax(-1).relu()),
    "the word is padded with 0, padding=\"same\": a filter lies only where it fits": beyond(
        lambda size: (size - 1) // 2, lambda size: size // 2),
    "the word is padded with 0 at both ends, padding=size // 2: a filter lies only where it fits": beyond(
        lambda size: size // 2, lambda size: size // 2),
    "the word is padded with 0 at both ends, padding=size - 1: a filter lies only where it fits": beyond(
        lambda size: size - 1, lambda size: size - 1),
    "a filter jumps from window to window (stride); it moves on by one letter": lambda letters, filters, bias: best(
        sums(letters, filters, bias)[..., ::filters.shape[1]]),
    "the bias is missing": lambda letters, filters, bias: best(laid(letters, filters)),
    "the bias is taken away; it is added": lambda letters, filters, bias: best(sums(letters, filters, -bias)),
    "the bias is added twice": lambda letters, filters, bias: best(sums(letters, filters, 2 * bias)),
    "the bias is added for each letter under the filter; it is added once": lambda letters, filters, bias: best(
        sums(letters, filters, filters.shape[1] * bias)),
    "the bias is added after the ReLU (or after a maximum that starts at 0); it comes before": lambda letters, filters,
        bias: best(laid(letters, filters)) + bias,
    "the maximum starts at 0 before the bias is added: start at −∞, or add the bias first": lambda letters, filters,
        bias: (best(laid(letters, filters)) + bias).relu(),
    "the bias lies along the places; bias[:, None] gives each filter its own": lambda letters, filters, bias: best(
        laid(letters, filters) + bias),
    "the products are averaged; an inner product is their sum": lambda letters, filters, bias: best(
        laid(letters, filters) / filters[0].numel() + bias[:, None]),
    "the products of a window are averaged over its letters; they are added up": lambda letters, filters, bias: best(
        laid(letters, filters) / filters.shape[1] + bias[:, None]),
    "each letter is multiplied with all vectors of a filter, added up: the filter's order is lost": letters_added,
    "letters have been brought to [words width places] by view or reshape, which mixes them: .transpose(1, 2)":
        lambda letters, filters, bias: best(sums(viewed(letters), filters, bias)),
    "filters have been brought to [value width size] by view or reshape, which mixes them: .transpose(1, 2)":
        lambda letters, filters, bias: best(sums(letters, viewed(filters), bias)),
    "letters and filters have been turned by view or reshape, which mixes them: .transpose(1, 2)":
        lambda letters, filters, bias: best(sums(viewed(letters), viewed(filters), bias)),
    "the letters are not turned: conv1d wants [words width places], letters.transpose(1, 2)":
        lambda letters, filters, bias: best(torch.conv1d(letters, filters.transpose(1, 2), bias)),
    "letters and filters are not turned: conv1d wants [words width places] and [value width size]":
        lambda letters, filters, bias: best(torch.conv1d(letters, filters, bias)),
    "the filters are not turned: conv1d wants [value width size], filters.transpose(1, 2)":
        lambda letters, filters, bias: best(torch.conv1d(letters.transpose(1, 2), filters, bias)),
    "the letters of a window come last: unfold gives [words places width size]": unfolded_wrongly,
    ".squeeze() takes away every axis of size 1, that of one word or one filter too: .squeeze(-1)": then(torch.squeeze),
    "an axis of size 1 is left: the answer is [words value]": then(lambda x: x[..., None]),
    "the answer lies on its side: [words value] is asked": then(lambda x: x.T),
}

def within_reach(out: Tensor, letters: Tensor, filters: Tensor, bias: Tensor) -> bool:
    """Whether all numbers lie between 0 and what the filters could make if no number were negative."""
    most = (laid(letters.abs(), filters.abs()) + bias.abs()[:, None]).amax(-1)
    return bool(((out >= -1e-3) & (out <= most + 1e-3)).all())


OF_FOUND: Properties = {
    "a number lies below 0, or above all that its filter could make of the word if no number were negative":
        lambda out, *args: within_reach(out, *args),
}
