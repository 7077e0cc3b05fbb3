"""The beam search curse (Stahlberg and Byrne 2019): is the empty translation the most probable one under the model, and
does a narrow beam hide this? Configurations, training, and evaluation of the translations."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from statistics import fmean
from typing import Any

import torch

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.chapters.ch03.telegrams import LONGEST, Telegram, Words, draw, is_correct, sentences
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
"""Test sources per number of sentences and seed."""
LENGTH = 60
"""Maximum number of tokens in a translation; four sentences have at most 53, [END] included."""
VERDICT_UPDATES = 1500
"""Number of updates after which the verdict is taken."""


@dataclass(frozen=True)
class Arm:
    """A training configuration: the probability that a source word is ``lost``, the fraction of empty training targets
    (``noise``), and the label ``smoothing``."""

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
"""With word loss a text has many translations, so the most likely one has low probability; noise and smoothing give the
empty text some probability."""


@cache
def tokenizer() -> Tokenizer:
    """Tokenizer with one token per word of the small world's sentences, English and Chinese (cached)."""
    return build_world_tokenizer(world.small(), texts=["sentences"])


@cache
def _ids() -> dict[str, int]:
    words = {word for sentence in sentences() for word in (*sentence.english, *sentence.chinese)}
    return {word: tokenizer().encode(word, plain=True)[0] for word in sorted(words)}


def written(text: Hypothesis) -> Words:
    """The words of a translation, without [END]."""
    return tuple(tokenizer().tokens([token for token in text.tokens if token != tokenizer().vocab.end]))


def example(telegram: Telegram, empty: bool = False) -> PairExample:
    """Convert a telegram to an Example; with ``empty``, the target is the empty text (noise)."""
    source, target = ([_ids()[word] for word in words] for words in (telegram.source, telegram.target))
    return sequence_to_sequence(source, [] if empty else target, vocab=tokenizer().vocab)


def pairs(telegrams: Sequence[Telegram], empty: bool = False) -> PairBatch:
    """Collate telegrams into a batch; with ``empty``, all targets are empty."""
    return PairBatch.of([example(telegram, empty) for telegram in telegrams], pad=tokenizer().vocab.need("pad"))


def lessons(arm: Arm, seed: int) -> ExampleBatches:
    """Training batches: texts of one to four sentences; a fraction ``arm.noise`` of the targets is empty."""
    def drawn(rng: Random) -> list[PairExample]:
        return [example(draw(arm.lost, rng), rng.random() < arm.noise) for _ in range(BATCH)]
    return ExampleBatches(drawn, seed, tokenizer().vocab.need("pad"))


def test_set(lost: float, count: int, seed: int | str, sources: int) -> list[Telegram]:
    """Test set of ``sources`` new telegrams, each with ``count`` sentences."""
    rng = Random(f"exam {lost} {count} {seed}")
    return [draw(lost, rng, count) for _ in range(sources)]


def build(arm: Arm, seed: int) -> Transformer:
    """Return an untrained encoder–decoder with 2 + 2 layers of width 64, initialized with ``seed``."""
    torch.manual_seed(seed)
    return Transformer(TransformerConfig(len(tokenizer()), dropout=0.0, smoothing=arm.smoothing))


def train(model: Transformer, arm: Arm, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train the model for ``updates`` steps and return the run's history."""
    return fit(model, lessons(arm, seed), steps=updates, lr=lr, warmup=WARMUP, **options)


def learn(arm: Arm, updates: int, lr: float, seed: int, **options: Any) -> tuple[Transformer, History]:
    """Build and train an encoder–decoder; return it with the history of the run."""
    model = build(arm, seed)
    return model, train(model, arm, updates, lr, seed, **options)


def beamed(model: Transformer, telegrams: Sequence[Telegram], beam: int, alpha: float = 0.0) -> list[Hypothesis]:
    """The best hypothesis of beam search for each telegram, decoded in batches of ten."""
    best = []
    for begin in range(0, len(telegrams), 10):
        sources = pairs(telegrams[begin:begin + 10]).source
        start = torch.full((len(sources.tokens), 1), tokenizer().vocab.need("start"))
        best += [texts[0]
                 for texts in beam_search(ConditionedDecoder(model, sources), start, tokenizer().vocab, length=LENGTH,
                                          beam=beam, alpha=alpha)]
    return best


def likeliest(model: Transformer, telegram: Telegram, *, empty: bool = True, limit: int = 30_000) -> Hypothesis | None:
    """The most probable translation, found by exact search; with ``empty=False``, the most probable non-empty one. None
    if more than ``limit`` prefixes of one length would have to be expanded."""
    start = torch.tensor([[tokenizer().vocab.need("start")]])
    try:
        ranked = exact_search(ConditionedDecoder(model, pairs([telegram]).source), start, tokenizer().vocab,
                              length=LENGTH, count=1 if empty else 2, limit=limit).best
    except SearchTooWide:
        return None
    return next(text for text in ranked if empty or written(text))


def evaluate_translations(lost: float, telegrams: Sequence[Telegram],
                          texts: Sequence[Hypothesis | None]) -> dict[str, float]:
    """Fractions of ``empty`` and of correct (``right``) translations; None (search given up) counts as neither."""
    words = [None if text is None else written(text) for text in texts]
    return {"empty": fmean(text == () for text in words),
            "right": fmean(text is not None and is_correct(telegram.source, text, lost)
                           for telegram, text in zip(telegrams, words, strict=True))}


def verdict(arms: dict[str, Any], name: str) -> str:
    """Apply the study's rule to a configuration ("noise" or "smoothing") after `VERDICT_UPDATES` updates, for texts of
    four sentences: "supported", "partly supported" or "not supported". ``arms`` is the stored record.

    The claim is not supported if the most probable text is empty for less than 10 % of the sources, or for no more than
    with one sentence, or if greedy search finds an empty text, or if "clean" prefers it for more than 1 %. It is
    supported if a beam of 5 finds the empty text for at most a third of those sources, otherwise partly supported."""
    def empty(arm: str, way: str, count: int = LONGEST) -> float:
        return arms[arm]["updates"][str(VERDICT_UPDATES)][str(count)][way]["empty"]["mean"]

    exact = empty(name, "exact")
    if exact < 0.1 or exact <= empty(name, "exact", 1) or empty(name, "beam 1") or empty("clean", "exact") > 0.01:
        return "not supported"
    return "supported" if empty(name, "beam 5") <= exact / 3 else "partly supported"


def is_model_error(arms: dict[str, Any], name: str) -> bool:
    """Return whether the curse is due to the model rather than to its training objective: the objective's optimum
    prefers the empty text for less than half as many sources as the model does."""
    model = arms[name]["updates"][str(VERDICT_UPDATES)][str(LONGEST)]["exact"]["empty"]["mean"]
    return arms[name]["ideal"][str(LONGEST)]["empty"]["mean"] < model / 2
