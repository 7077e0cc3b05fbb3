"""The long texts of chapter 10: to train on, to choose by and for the exam; and how far back a model answers rightly.

The texts are `RecallTexts` of the small world: what eight people did is told, and asked again 1 to 128 words later. No
two of these deeds share a kind of thing, so that the verb of a question says which kind of thing the answer is.

A deed waits for its question at most 128 words, and longer only while others are asked. In the texts to train on it
waits at most 8, 16, 32, 64 or 128, a fifth of them each. As the eight take turns, it is even then asked some 60 words
later; but the less they wait, the fewer scenes and the more questions a text has. Where all waited 128 at most, four of
six pilots had hardly learned to answer anything after 1,000 updates. (All fifths are drawn with one seed, so that many
texts of the shorter waits are alike, word for word in large parts.)
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from statistics import fmean
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab import world
from plmlab.example import Batch
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.words import word_tokenizer
from plmlab.world.datasets.recalls import RecallText, RecallTexts

WORDS, FARTHEST = 160, 128
"""How long a text is, and after how many words a deed is asked for at most."""
WITHIN = (8, 16, 32, 64, 128)
"""So many words at most a deed waits for its question in a text to train on, each as often."""
BIN = 16
"""Distances are told in steps of so many words: a segment."""
READ, TEST_SIZE = 4100, 300
"""How many different texts are there to train on, and in the exam."""
AT_ONCE = 50
"""So many texts are read side by side."""


class Question(NamedTuple):
    """A question of one of some texts.

    Attributes:
        row: which text.
        position: the position that must say the answer's last word, its thing.
        seen: the position before it where that word stood last.
        things: what the answer may be, for a reader who knows the verb and remembers nothing.
    """

    row: int
    position: int
    seen: int
    things: frozenset[str]

    @property
    def back(self) -> int:
        """How many positions back the answer was read; 0 would be the very position that must say it."""
        return self.position - self.seen


@cache
def texts(part: str, words: int = WORDS) -> tuple[RecallText, ...]:
    """The texts of a part: "train", "development" or "exam"."""
    def written(seed: int, farthest: int, count: int) -> Iterator[RecallText]:
        return islice(RecallTexts(world.small(), words, (1, farthest)).texts(seed), count)

    if part == "train":
        return tuple(chain.from_iterable(written(0, farthest, READ // len(WITHIN)) for farthest in WITHIN))
    return tuple(written({"development": 1, "test_set": 2}[part], FARTHEST, TEST_SIZE))


@cache
def tokenizer() -> Tokenizer:
    """One token for each word of the texts to train on."""
    return word_tokenizer(sorted({word for text in texts("train") for word in text.words}))


def ids(some: Sequence[RecallText]) -> Int[Tensor, "text word"]:
    """The words of texts of one length."""
    return torch.tensor(tokenizer().encode_all([" ".join(text.words) for text in some], plain=True))


@cache
def read() -> Int[Tensor, "text word"]:
    """The words of all texts to train on."""
    return ids(texts("train"))


def next_words(rows: Int[Tensor, "text word"]) -> Batch:
    """A batch in which each position must say the next word."""
    return replace(Batch.continuing(rows[:, :-1], 0), targets=rows[:, 1:].contiguous())


def drawn(rows: Int[Tensor, "text word"], seed: int, step: int, count: int) -> Batch:
    """The batch of an update: ``count`` of the rows, none of which comes again before the others came, but for those
    that are too few for a batch at the end of a turn."""
    turn, place = divmod(step * count, len(rows) // count * count)
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(1000 * seed + turn))
    return next_words(rows[order[place:place + count]])


def questions(some: Sequence[RecallText]) -> Iterator[Question]:
    """All questions of some texts."""
    for row, text in enumerate(some):
        for recall in text.recalls:
            position = recall.start + len(recall.answer) - 2
            seen = max(at for at in range(position + 1) if text.words[at] == recall.answer[-1])
            yield Question(row, position, seen, frozenset(answer[-1] for answer in recall.options))


def by_distance(asked: Sequence[Question], scores: Sequence[float]) -> dict[str, float]:
    """The mean score of the questions whose answer was read so far back, in steps of `BIN` positions: "16" for 1 to
    16."""
    found = defaultdict(list)
    for question, score in zip(asked, scores, strict=True):
        found[-(-question.back // BIN) * BIN].append(score)
    return {str(most): fmean(found[most]) for most in sorted(found) if most <= FARTHEST}


class Said(NamedTuple):
    """What a model makes of some texts: the share of ``right`` answers by distance, and in nats the mean price of the
    ``answers``' things and of ``all`` words."""

    right: dict[str, float]
    answers: float
    all: float


@torch.no_grad()
def outcomes(logits: Float[Tensor, "text position vocab"], some: Sequence[RecallText],
             ) -> tuple[Float[Tensor, "text position"], Bool[Tensor, "text position"]]:
    """What the next word of each position costs, in nats, and whether it is the likeliest."""
    targets = ids(some)[:, 1:]
    prices = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none").view(targets.shape)
    return prices, logits.argmax(-1) == targets


def said(logits: Float[Tensor, "text position vocab"], some: Sequence[RecallText]) -> Said:
    """What logits of each position's next word come to."""
    asked, (prices, hits) = list(questions(some)), outcomes(logits, some)
    return Said(by_distance(asked, [float(hits[question.row, question.position]) for question in asked]),
                fmean(float(prices[question.row, question.position]) for question in asked), float(prices.mean()))


@torch.no_grad()
def in_order(model: nn.Module, rows: Int[Tensor, "text word"]) -> Float[Tensor, "text position vocab"]:
    """The logits of each position but the last, read as the model reads: segment by segment."""
    return torch.cat([model(next_words(some)) for some in rows.split(AT_ONCE)])
