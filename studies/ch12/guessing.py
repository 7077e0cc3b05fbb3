"""Ways in which BERT can fill blanks: given the number of words of each blank, or searching over the lengths.

BERT needs one [MASK] for each word it predicts. Given the lengths, it fills all masks at once, or one at a time, the
most certain first, with a new forward pass each time. Otherwise it fills every combination of lengths that keeps the
text within the maximum sentence length, and selects the combination with the most probable words: by the
log-probabilities at the time of filling, or by the pseudo-log-likelihood (Salazar et al. 2020), which masks each word
in turn given all others. A sum of these values favours short fillings, a mean long ones. The frequency of masked spans
of each length, given the number of visible tokens, can be added as a weighted prior. (Du et al. 2022 say in §2.4 that
BERT must enumerate all lengths; these are the ways to do so that we know of.)
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.example import IGNORE, Batch
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import AttentionMask

TOGETHER = 256
"""Batch size, in texts."""
CHOSEN: Mapping[str, Callable[[Tensor], Sequence[int]]] = {
    "all at once": lambda certain: range(len(certain)),
    "the most certain first": lambda certain: [int(certain.argmax())],
}
"""Way to fill → which of the [MASK]s are filled after a forward pass, by the certainty of each word (log p)."""
FILLS = tuple(CHOSEN)
MEASURES = ("as filled, sum", "as filled, mean", "blanks, sum", "blanks, mean", "text, sum", "text, mean")
"""Scores that rank lengths: the log-probability at the time of filling; or the pseudo-log-likelihood of the words in
the blanks, or of all words of the text."""
Says = Callable[[Int[Tensor, "batch time"]], Float[Tensor, "batch time vocab"]]
"""Texts of one length, some of their words [MASK] → log p of each word at each position, special tokens at −inf."""


class Guess(NamedTuple):
    """A combination of lengths, the words of each blank, and the score of the filling by each of the `MEASURES`."""

    lengths: tuple[int, ...]
    fillings: tuple[tuple[int, ...], ...]
    scores: Mapping[str, float]


def bert_says(model: nn.Module, vocab: Vocabulary) -> Says:
    """Return a function that computes a BERT's log-probabilities for [CLS] text [SEP]."""
    never = torch.tensor(sorted(vocab.special))

    @torch.no_grad()
    def says(texts: Tensor) -> Tensor:
        edge = torch.ones(len(texts), 1, dtype=torch.long)
        tokens = torch.cat([edge * vocab.need("cls"), texts, edge * vocab.need("sep")], 1)
        logits = model(Batch(tokens, torch.arange(tokens.shape[1])[None, None], torch.zeros_like(tokens),
                             AttentionMask(), torch.full_like(tokens, IGNORE)))[:, 1:-1]
        return logits.index_fill(-1, never, float("-inf")).log_softmax(-1)
    return says


def said_of(says: Says, texts: Sequence[Sequence[int]]) -> Iterator[tuple[int, Tensor]]:
    """The index of each text with its log-probabilities; texts of the same length are batched."""
    same = defaultdict(list)
    for number, text in enumerate(texts):
        same[len(text)].append(number)
    for numbers in same.values():
        for begin in range(0, len(numbers), TOGETHER):
            some = numbers[begin:begin + TOGETHER]
            yield from zip(some, says(torch.tensor([list(texts[number]) for number in some])), strict=True)


def lengths_tried(text: Sequence[int], mask: int, longest: int) -> list[tuple[int, ...]]:
    """Every combination of lengths for the blanks of a text, with at least one word per blank and at most ``longest``
    words in the text."""
    blanks = list(text).count(mask)
    found: list[tuple[int, ...]] = [()]
    for left in reversed(range(blanks)):
        room = longest - (len(text) - blanks) - left
        found = [(*lengths, length) for lengths in found for length in range(1, room - sum(lengths) + 1)]
    return found


def with_masks(text: Sequence[int], lengths: Sequence[int], mask: int) -> list[int]:
    """The text with one [MASK] for each word of each blank."""
    left = iter(lengths)
    return [token for word in text for token in ([mask] * next(left) if word == mask else [word])]


def filled(says: Says, texts: Sequence[Sequence[int]], mask: int, way: str) -> list[tuple[list[int], float]]:
    """Each text with all its [MASK]s filled in one of the ways of `FILLS`, and the sum of the log-probabilities at the
    time of filling."""
    whole, sums = [list(text) for text in texts], [0.0] * len(texts)
    open = [number for number, text in enumerate(whole) if mask in text]
    while open:
        for place, table in said_of(says, [whole[number] for number in open]):
            text, number = whole[open[place]], open[place]
            positions = [position for position, token in enumerate(text) if token == mask]
            certain, words = table[positions].max(-1)
            for i in CHOSEN[way](certain):
                text[positions[i]] = int(words[i])
                sums[number] += float(certain[i])
        open = [number for number in open if mask in whole[number]]
    return list(zip(whole, sums, strict=True))


def pseudo_logprobs(says: Says, texts: Sequence[Sequence[int]], mask: int) -> list[list[float]]:
    """For each text, log p of each word if only that word is masked."""
    hidden = [(number, position) for number, text in enumerate(texts) for position in range(len(text))]
    asked = [[*texts[number][:position], mask, *texts[number][position + 1:]] for number, position in hidden]
    found = [[0.0] * len(text) for text in texts]
    for place, table in said_of(says, asked):
        number, position = hidden[place]
        found[number][position] = float(table[position, texts[number][position]])
    return found


def cut(text: Sequence[int], words: Sequence[int], lengths: Sequence[int], mask: int) -> tuple[tuple[int, ...], ...]:
    """The words in the blanks of ``text`` if the filled text is ``words``."""
    found, place, left = [], 0, iter(lengths)
    for token in text:
        length = next(left) if token == mask else 1
        if token == mask:
            found.append(tuple(words[place:place + length]))
        place += length
    return tuple(found)


def told(says: Says, texts: Sequence[Sequence[int]], lengths: Sequence[Sequence[int]], mask: int, way: str,
         ) -> list[tuple[tuple[int, ...], ...]]:
    """The words in the blanks of texts, given the lengths of the blanks; each text has one [MASK] per blank."""
    asked = [with_masks(text, of, mask) for text, of in zip(texts, lengths, strict=True)]
    return [cut(text, words, of, mask) for text, of, (words, _) in
            zip(texts, lengths, filled(says, asked, mask, way), strict=True)]


def guesses(says: Says, texts: Sequence[Sequence[int]], mask: int, longest: int, way: str) -> list[list[Guess]]:
    """For each text, all combinations of lengths, each with its filling and scores."""
    found = []
    for text in texts:
        tried = lengths_tried(text, mask, longest)
        whole = filled(says, [with_masks(text, lengths, mask) for lengths in tried], mask, way)
        alone = pseudo_logprobs(says, [words for words, _ in whole], mask)
        found.append([Guess(lengths, cut(text, words, lengths, mask), _scores(text, lengths, mask, total, pseudo))
                      for lengths, (words, total), pseudo in zip(tried, whole, alone, strict=True)])
    return found


def _scores(text: Sequence[int], lengths: Sequence[int], mask: int, total: float, pseudo: Sequence[float],
            ) -> dict[str, float]:
    places = with_masks(text, lengths, mask)
    blanks = sum(nats for nats, token in zip(pseudo, places, strict=True) if token == mask)
    sums = {"as filled": (total, sum(lengths)), "blanks": (blanks, sum(lengths)), "text": (sum(pseudo), len(pseudo))}
    return {f"{name}, {how}": value / (count if how == "mean" else 1)
            for name, (value, count) in sums.items() for how in ("sum", "mean")}


def length_prior(lengths: Sequence[int], longest: int, weight: float = 1.0) -> dict[int, float]:
    """Map each number of words to the weighted log frequency of blanks with this length, with add-one smoothing, given
    the lengths of blanks of training texts."""
    counts = Counter(lengths)
    total = len(lengths) + longest
    return {length: weight * log((counts[length] + 1) / total) for length in range(1, longest + 1)}


def best(tried: Sequence[Guess], measure: str, prior: Mapping[int, float] | None = None) -> Guess:
    """The guess with the highest score by a measure, plus the log ``prior`` of the length of each blank if given."""
    return max(tried, key=lambda guess: guess.scores[measure] + sum(prior[length] for length in guess.lengths)
               if prior else guess.scores[measure])
