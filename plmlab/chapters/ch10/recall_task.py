"""The long texts of chapter 10 (training, development and test sets), and recall accuracy by distance.

The texts are `RecallTexts` of the small world: each text states what eight people did, and asks about each action 1 to
128 words later. No two of these actions involve the same kind of object, so the verb of a question determines the kind
of the answer.

The question about an action follows at most 128 words later, unless other questions have to be asked first. In the
training texts the limit is 8, 16, 32, 64 or 128 words, for a fifth of the texts each. Because the eight people take
turns, a question may still follow about 60 words later even with a low limit; but the lower the limit, the fewer scenes
and the more questions a text has. With a limit of 128 for all texts, four of six pilot runs had hardly learned to
answer any question after 1,000 updates. (All fifths are sampled with the same seed, so that many texts with lower
limits share long identical passages.)
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from math import log
from statistics import fmean
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab import world
from plmlab.example import Batch
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.words import word_tokenizer
from plmlab.world.datasets.recalls import RecallText, RecallTexts

WORDS, MAX_DISTANCE = 160, 128
"""Words per text, and the maximum number of words between an action and its question."""
MAX_DISTANCES = (8, 16, 32, 64, 128)
"""Maximum distances between an action and its question in training texts; each applies to a fifth of them."""
BIN = 16
"""Width of the distance bins, in words: one segment."""
TRAIN_SIZE, TEST_SIZE = 4100, 300
"""Number of different texts for training, and in the test set."""
NEAR = ("32", "48", "64")
"""The distance bins from 17 to 64 positions back."""
EVALUATION_BATCH = 50
"""Batch size of the evaluation."""


class Question(NamedTuple):
    """A question in one of several texts.

    Attributes:
        row: the index of the text.
        position: the position that has to predict the last word of the answer, the object.
        fact: the last position up to ``position`` at which that word is the input.
        candidates: the possible answers for a model that uses the verb but remembers nothing of the text.
    """

    row: int
    position: int
    fact: int
    candidates: frozenset[str]

    @property
    def distance(self) -> int:
        """The distance in positions to the last occurrence of the answer; it would be 0 at the position that has to
        predict the answer.
        """
        return self.position - self.fact


@cache
def texts(part: str, words: int = WORDS) -> tuple[RecallText, ...]:
    """The texts of a part: "train", "development" or "test_set"."""
    def draw(seed: int, farthest: int, count: int) -> Iterator[RecallText]:
        return islice(RecallTexts(world.small(), words, (1, farthest)).texts(seed), count)

    if part == "train":
        each = TRAIN_SIZE // len(MAX_DISTANCES)
        return tuple(chain.from_iterable(draw(0, farthest, each) for farthest in MAX_DISTANCES))
    return tuple(draw({"development": 1, "test_set": 2}[part], MAX_DISTANCE, TEST_SIZE))


@cache
def tokenizer() -> Tokenizer:
    """Word-level tokenizer with one token for each word of the training texts."""
    return word_tokenizer(sorted({word for text in texts("train") for word in text.words}))


def ids(some: Sequence[RecallText]) -> Int[Tensor, "text word"]:
    """Token ids of texts that all have the same length."""
    return torch.tensor(tokenizer().encode_all([" ".join(text.words) for text in some], plain=True))


@cache
def train_ids() -> Int[Tensor, "text word"]:
    """Token ids of all training texts."""
    return ids(texts("train"))


def next_words(rows: Int[Tensor, "text word"]) -> Batch:
    """A batch for next-word prediction."""
    return replace(Batch.continuing(rows[:, :-1], 0), targets=rows[:, 1:].contiguous())


def training_batch(rows: Int[Tensor, "text word"], seed: int, step: int, count: int) -> Batch:
    """The batch of one update: ``count`` rows, sampled without replacement in each epoch. Rows left over at the end of
    an epoch are dropped."""
    turn, place = divmod(step * count, len(rows) // count * count)
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(1000 * seed + turn))
    return next_words(rows[order[place:place + count]])


def questions(some: Sequence[RecallText]) -> Iterator[Question]:
    """All questions in the given texts."""
    for row, text in enumerate(some):
        for recall in text.recalls:
            position = recall.start + len(recall.answer) - 2
            fact = max(at for at in range(position + 1) if text.words[at] == recall.answer[-1])
            yield Question(row, position, fact, frozenset(answer[-1] for answer in recall.options))


def distance_bin(question: Question) -> int:
    """The largest distance of a question's bin of `BIN` positions: 16 for distances 1 to 16."""
    return -(-question.distance // BIN) * BIN


def distance_shares(some: Sequence[RecallText]) -> dict[str, float]:
    """The fraction of the questions in each distance bin up to `MAX_DISTANCE`."""
    bins = Counter(distance_bin(question) for question in questions(some))
    return {str(largest): bins[largest] / bins.total() for largest in range(BIN, MAX_DISTANCE + 1, BIN)}


def guessing_loss(asked: Sequence[Question], mask: Bool[Tensor, "query key"] | None = None) -> float:
    """The mean loss on answers, in nats, of a model that guesses uniformly among the candidates. With an attention
    ``mask``, it knows the answers whose fact the position can attend to."""
    return fmean(0.0 if mask is not None and mask[q.position, q.fact] else log(len(q.candidates)) for q in asked)


def by_distance(asked: Sequence[Question], scores: Sequence[float]) -> dict[str, float]:
    """Mean score by distance to the last occurrence of the answer, in bins of `BIN` positions: the key "16" covers
    distances 1 to 16."""
    bins = defaultdict(list)
    for question, score in zip(asked, scores, strict=True):
        bins[distance_bin(question)].append(score)
    return {str(largest): fmean(bins[largest]) for largest in sorted(bins) if largest <= MAX_DISTANCE}


def near_accuracy(right: Mapping[str, Any]) -> dict[str, Any]:
    """Recorded accuracy by distance → the accuracy 17 to 64 positions back: its mean, lowest and highest seed, and
    ``values`` by seed."""
    values = [fmean(seeds) for seeds in zip(*(right[largest]["values"] for largest in NEAR), strict=True)]
    return {"mean": fmean(values), "low": min(values), "high": max(values), "values": values}


class Evaluation(NamedTuple):
    """Evaluation on a set of texts: the accuracy on answers by distance (``right``), and the mean loss in nats per
    word, on the last words of the ``answers`` and on ``all`` words."""

    right: dict[str, float]
    answers: float
    all: float


@torch.no_grad()
def losses_and_hits(logits: Float[Tensor, "text position vocab"], some: Sequence[RecallText],
             ) -> tuple[Float[Tensor, "text position"], Bool[Tensor, "text position"]]:
    """The loss on the next word at each position, in nats, and whether that word is the most probable one."""
    targets = ids(some)[:, 1:]
    losses = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none").view(targets.shape)
    return losses, logits.argmax(-1) == targets


def evaluate(logits: Float[Tensor, "text position vocab"], some: Sequence[RecallText]) -> Evaluation:
    """Evaluate next-word logits."""
    asked, (losses, hits) = list(questions(some)), losses_and_hits(logits, some)
    return Evaluation(by_distance(asked, [float(hits[question.row, question.position]) for question in asked]),
                      fmean(float(losses[question.row, question.position]) for question in asked), float(losses.mean()))


@torch.no_grad()
def segment_logits(model: nn.Module, rows: Int[Tensor, "text word"]) -> Float[Tensor, "text position vocab"]:
    """Logits at every position except the last, computed segment by segment as in training."""
    return torch.cat([model(next_words(some)) for some in rows.split(EVALUATION_BATCH)])
