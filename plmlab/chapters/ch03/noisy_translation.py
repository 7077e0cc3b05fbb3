"""The curse of the beam (Stahlberg and Byrne 2019): is the empty translation a model's likeliest, and does a narrow
beam hide it? The arms, how one is trained, and how its translations are judged."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from statistics import fmean
from typing import Any

import torch

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.chapters.ch03.telegrams import LONGEST, Telegram, Words, draw, is_right, sentences
from plmlab.decode import ConditionedDecoder, Hypothesis, SearchTooWide, beam_search, exact_search
from plmlab.example import PairBatch, PairExample
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.objectives import sequence_to_sequence
from plmlab.text.tokenizers import Tokenizer
from plmlab.train import History, fit
from plmlab.world.datasets.tokenizer import build_world_tokenizer

SEEDS = (2, 3, 4)
BATCH, WARMUP = 32, 50
SOURCES = 30
"""Of each number of sentences, in the exam of each seed."""
LENGTH = 60
"""The most tokens of a translation; four sentences have at most 53, [END] included."""
JUDGED = 1500
"""The updates after which the rule is asked."""


@dataclass(frozen=True)
class Arm:
    """A way to train: the chance that a word is ``lost``, the share of training targets that is empty (``noise``), and
    the ``smoothing`` of labels."""

    lost: float
    noise: float
    smoothing: float


ARMS = {
    "clean": Arm(0.5, 0.0, 0.0),
    "noise": Arm(0.5, 0.01, 0.0),
    "smoothing": Arm(0.5, 0.0, 0.1),
    "no words lost, noise": Arm(0.0, 0.01, 0.0),
    "no words lost, smoothing": Arm(0.0, 0.0, 0.1),
}
"""Where words are lost a text has many translations, and the likeliest has little probability; noise and smoothing give
the empty text its chance."""


@cache
def tokenizer() -> Tokenizer:
    """One token for each word of the small world's sentences, English and Chinese."""
    return build_world_tokenizer(world.small(), texts=["sentences"])


@cache
def _ids() -> dict[str, int]:
    words = {word for said in sentences() for word in (*said.english, *said.chinese)}
    return {word: tokenizer().encode(word, plain=True)[0] for word in sorted(words)}


def written(text: Hypothesis) -> Words:
    """The words of a translation, [END] left out."""
    return tuple(tokenizer().tokens([token for token in text.tokens if token != tokenizer().vocab.end]))


def example(telegram: Telegram, empty: bool = False) -> PairExample:
    """A telegram as an Example, perhaps with the empty target that noise puts there."""
    source, target = ([_ids()[word] for word in words] for words in (telegram.source, telegram.target))
    return sequence_to_sequence(source, [] if empty else target, vocab=tokenizer().vocab)


def pairs(telegrams: Sequence[Telegram], empty: bool = False) -> PairBatch:
    """The batch of some telegrams."""
    return PairBatch.of([example(telegram, empty) for telegram in telegrams], pad=tokenizer().vocab.need("pad"))


def lessons(arm: Arm, seed: int) -> ExampleBatches:
    """Batches to learn from: one to four sentences each, a share ``arm.noise`` of the targets empty."""
    def drawn(rng: Random) -> list[PairExample]:
        return [example(draw(arm.lost, rng), rng.random() < arm.noise) for _ in range(BATCH)]
    return ExampleBatches(drawn, seed, tokenizer().vocab.need("pad"))


def test_set(lost: float, count: int, seed: int | str, sources: int) -> list[Telegram]:
    """So many new telegrams of ``count`` sentences."""
    rng = Random(f"exam {lost} {count} {seed}")
    return [draw(lost, rng, count) for _ in range(sources)]


def build(arm: Arm, seed: int) -> Transformer:
    """An encoder-decoder of 2 + 2 layers of 64, with random weights of this seed."""
    torch.manual_seed(seed)
    return Transformer(TransformerConfig(len(tokenizer()), dropout=0.0, smoothing=arm.smoothing))


def train(model: Transformer, arm: Arm, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train it for so many updates; the history of the run."""
    return fit(model, lessons(arm, seed), steps=updates, lr=lr, warmup=WARMUP, **options)


def learn(arm: Arm, updates: int, lr: float, seed: int, **options: Any) -> tuple[Transformer, History]:
    """An encoder-decoder after so many updates, and its history."""
    model = build(arm, seed)
    return model, train(model, arm, updates, lr, seed, **options)


def beamed(model: Transformer, telegrams: Sequence[Telegram], beam: int, alpha: float = 0.0) -> list[Hypothesis]:
    """What a beam finds for each telegram; ten are searched side by side."""
    found = []
    for begin in range(0, len(telegrams), 10):
        some = pairs(telegrams[begin:begin + 10]).source
        start = torch.full((len(some.tokens), 1), tokenizer().vocab.need("start"))
        found += [texts[0]
                  for texts in beam_search(ConditionedDecoder(model, some), start, tokenizer().vocab, length=LENGTH,
                                                    beam=beam, alpha=alpha)]
    return found


def likeliest(model: Transformer, telegram: Telegram, *, empty: bool = True, limit: int = 30_000) -> Hypothesis | None:
    """The likeliest translation by exact search, or the likeliest that is not ``empty``; None where more than ``limit``
    prefixes of one length would have to be read."""
    start = torch.tensor([[tokenizer().vocab.need("start")]])
    try:
        found = exact_search(ConditionedDecoder(model, pairs([telegram]).source), start, tokenizer().vocab,
                             length=LENGTH,
                             count=1 if empty else 2, limit=limit).best
    except SearchTooWide:
        return None
    return next(text for text in found if empty or written(text))


def judged(lost: float, telegrams: Sequence[Telegram], texts: Sequence[Hypothesis | None]) -> dict[str, float]:
    """The share of ``empty`` and of ``right`` translations; one that was not found is neither."""
    words = [None if text is None else written(text) for text in texts]
    return {"empty": fmean(text == () for text in words),
            "right": fmean(text is not None and is_right(telegram.source, text, lost)
                           for telegram, text in zip(telegrams, words, strict=True))}


def verdict(arms: dict[str, Any], name: str) -> str:
    """What the rule of the study says of an arm, "noise" or "smoothing", after `JUDGED` updates and for texts of four
    sentences: holds, holds in part or fails. ``arms`` as they are recorded.

    It fails where the likeliest text is empty for less than a tenth of the sources, or no oftener than for one
    sentence, or greedy search writes it too, or "clean" does it for more than a hundredth. It holds where a beam of 5
    writes it for at most a third of those, and else in part.
    """
    def empty(arm: str, way: str, count: int = LONGEST) -> float:
        return arms[arm]["updates"][str(JUDGED)][str(count)][way]["empty"]["mean"]

    exact = empty(name, "exact")
    if exact < 0.1 or exact <= empty(name, "exact", 1) or empty(name, "beam 1") or empty("clean", "exact") > 0.01:
        return "fails"
    return "holds" if empty(name, "beam 5") <= exact / 3 else "holds in part"


def is_models(arms: dict[str, Any], name: str) -> bool:
    """Whether the curse of an arm is the model's own, and not that of what it was to learn: a perfect learner prefers
    the empty text for less than half as many sources."""
    model = arms[name]["updates"][str(JUDGED)][str(LONGEST)]["exact"]["empty"]["mean"]
    return arms[name]["ideal"][str(LONGEST)]["empty"]["mean"] < model / 2
