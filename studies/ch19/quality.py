"""Is FAT better than the models that it combines, and what does skipping cost?

The study note reports no numbers. Its claims are that FAT combines the advantages of recurrent sequence-to-sequence
models and of AT (§1, §2.3), and that positions whose token does not occur in the source can be skipped (§3.2, §3.5).
AT, FAT, Speed Transformer and the Transformer of chapter 06 are trained on chapter 04's translation task with the same
batches and the same number of updates; each has its own learning rate, chosen on development passages after
`PILOT_UPDATES` updates. FAT, Speed Transformer and Transformer have the same widths and numbers of layers; AT has the
width with which its number of parameters is closest to the Transformer's.

Rules, fixed before any run. The score is the mean BLEU of translations of 10 and of 30 English words. A comparison is
decided by every seed of one above every seed of the other by more than `MARGIN` BLEU.

- *FAT is better than AT*, and *FAT is better than the Transformer*: one comparison each.
- *Skipping is free*: not supported if FAT is better than Speed Transformer, supported if Speed Transformer is better
  than FAT, and otherwise "no effect at this size", which agrees with the claim.

Without a network: the BLEU of the reference of `another` passage of the same length, and the share of the target
tokens that occur in the source, which is what is left of a translation after the others are `skipped`.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from math import log
from statistics import fmean
from typing import Any

import torch
from torch import nn

from plmlab.chapters.ch19.cost import parameters
from plmlab.models.autoregressive_transformer import AT
from plmlab.models.fat import FAT, FATConfig
from plmlab.models.seq2seq import Seq2SeqConfig
from plmlab.models.speed_transformer import SpeedTransformer
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study, verdict
from plmlab.train import History, fit
from plmlab.world.datasets.passages import Passage, Words
from studies.ch19.translation import (
    encoded,
    loss,
    scores,
    test_set,
    tokenizer,
    training_batches,
    translations,
)

AT_NAME, FAT_NAME, SPEED, TRANSFORMER = "AT", "FAT", "Speed Transformer", "Transformer"
SIZE: dict[str, Any] = {"layers": 2, "model": 128, "heads": 4, "inner": 512, "dropout": 0.0, "smoothing": 0.0}
RATES, AT_RATES = (1e-3, 3e-3, 1e-2), (3e-3, 1e-2, 3e-2)
UPDATES, PILOT_UPDATES, WARMUP = 2000, 500, 50
TESTS, COUNT = (10, 30), 60
"""Lengths of test passages in English words, and passages per length."""
MARGIN = 1.0


def config(name: str) -> Any:
    """The configuration of a variant."""
    if name == AT_NAME:
        return Seq2SeqConfig(len(tokenizer()), model=at_width())
    plain = name == TRANSFORMER
    return TransformerConfig(len(tokenizer()), **SIZE) if plain else FATConfig(len(tokenizer()), time=128, **SIZE)


@cache
def at_width() -> int:
    """The width with which AT's number of parameters is closest to the Transformer's (cached)."""
    target = parameters(lambda: Transformer(config(TRANSFORMER)))
    return min(range(8, 513, 8), key=lambda width: abs(
        parameters(lambda: AT(Seq2SeqConfig(len(tokenizer()), model=width))) - target))


def build(name: str, seed: int) -> nn.Module:
    """A variant with random weights."""
    torch.manual_seed(seed)
    kinds: dict[str, Any] = {AT_NAME: AT, FAT_NAME: FAT, SPEED: SpeedTransformer, TRANSFORMER: Transformer}
    model: nn.Module = kinds[name](config(name))
    return model


def learn(model: nn.Module, name: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a variant."""
    return fit(model, training_batches(seed), steps=updates, lr=lr, warmup=min(WARMUP, updates), **options)


def development_score(run: Run) -> float:
    """Negative loss on development passages of the test lengths, in nats per token."""
    return -fmean(loss(run.model, test_set(length, "development", COUNT)) for length in TESTS)


def test(run: Run) -> dict[str, float]:
    """BLEU and exact match at each length, mean ``bleu``, ``loss`` in nats per token, and ``parameters``."""
    return figures(run.model, run.seed) | {"parameters": sum(weight.numel() for weight in run.model.parameters())}


def figures(model: nn.Module, seed: int) -> dict[str, float]:
    """The scores of a model on the test passages."""
    tests = {length: test_set(length, seed, COUNT) for length in TESTS}
    return summary({length: translations(model, some) for length, some in tests.items()}, tests) | {
        "loss": fmean(loss(model, some) for some in tests.values())}


def summary(written: Mapping[int, Sequence[Words]], tests: Mapping[int, Sequence[Passage]]) -> dict[str, float]:
    """The scores of translations at each length, and their mean ``bleu``."""
    found = {length: scores(written[length], some) for length, some in tests.items()}
    return {f"{length} words: {name}": value for length, one in found.items() for name, value in one.items()} | {
        "bleu": fmean(one["bleu"] for one in found.values())}


STUDY: Study[nn.Module] = Study(
    name="quality", arms={(AT_NAME,): AT_RATES} | {(name,): RATES for name in (FAT_NAME, SPEED, TRANSFORMER)},
    build=build, train=learn, development=development_score, test=test, nothing=-log(len(tokenizer())), pilots=(9,),
    updates=(UPDATES,), pilot_updates=PILOT_UPDATES)


def kept(passage: Passage) -> Words:
    """The Chinese words of a passage that occur in its English source."""
    source = {*encoded(passage.english)}
    return tuple(word for word, token in zip(passage.chinese, encoded(passage.chinese), strict=True)
                 if token in source)


def skipped(seed: int) -> dict[str, float]:
    """Of the test passages: the share of target tokens that occur in the source (``kept``); the fraction of references
    of which nothing is skipped (``whole``); and, as a control, ``kept in the same language``: the share if the target
    is the source with its last sentence first."""
    every = [passage for length in TESTS for passage in test_set(length, seed, COUNT)]
    moved = [passage.last_sentence_first().english for passage in every]
    return {"kept": fmean(len(kept(passage)) / len(passage.chinese) for passage in every),
            "whole": fmean(kept(passage) == passage.chinese for passage in every),
            "kept in the same language": fmean(fmean(word in passage.english for word in words)
                                               for words, passage in zip(moved, every, strict=True))}


def another(seed: int) -> dict[str, float]:
    """The scores of the reference of another passage of the same length."""
    tests = {length: test_set(length, seed, COUNT) for length in TESTS}
    return summary({length: [some[i - 1].chinese for i in range(len(some))] for length, some in tests.items()}, tests)


def measure(parts: Parts) -> dict[str, Any]:
    """``runs``: variant → ``lr``, ``rates`` and the numbers of `test` with spread; the ``verdicts``; and seed → numbers
    of ``skipped`` and ``another``."""
    runs = {name: one.as_record() for (name, _), one in STUDY.measure(parts).items()}
    baselines = {one.__name__: {str(seed): found for (seed,), found in
                                parts(one, [(seed,) for seed in STUDY.seeds]).items()} for one in (skipped, another)}
    return {"runs": runs, "verdicts": verdicts(runs), **baselines}


def verdicts(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The verdict on each claim of the module's docstring."""
    def between(one: str, other: str) -> str:
        return verdict(runs[one]["bleu"], runs[other]["bleu"], MARGIN)
    return {"FAT is better than AT": between(FAT_NAME, AT_NAME),
            "FAT is better than the Transformer": between(FAT_NAME, TRANSFORMER),
            "skipping is free": between(SPEED, FAT_NAME)}
