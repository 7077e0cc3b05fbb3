"""The studies of chapter 13: what every variant is pretrained on, the verdicts on made-up numbers, and toy runs."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from plmlab.batches import bucketed
from plmlab.chapters.ch13 import text_to_text
from plmlab.example import IGNORE
from plmlab.recipes import Parts, seed_summary
from plmlab.world.datasets import generation_tasks
from plmlab.world.datasets.tokenizer import bilingual_tokenizer
from studies.ch13 import noises, spans, tuning

VOCAB = bilingual_tokenizer().vocab
MASKING, INFILLING, PERMUTATION = noises.NOISES

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """One layer of 16; two updates of pretraining, one of fine-tuning, and tasks of a few short rows."""
    size = dict.fromkeys(("LAYERS", "HELD_OUT", "TUNED", "TUNED_PILOT", "WARMUP"), 1) | {
        "WIDTH": 16, "HEADS": 2, "BATCH": 2, "UPDATES": 2}
    module: Any
    for module in (noises, spans):
        for name, number in size.items():
            monkeypatch.setattr(module, name, number)
        monkeypatch.setattr(module, "STUDY", replace(module.STUDY, updates=(2,), pilot_updates=1, nothing=-math.inf,
                                                     seeds=(0,), development=lambda run: -abs(run.lr - 3e-3)))
    for module, name, value in ((noises, "SEEDS", (0,)), (tuning, "SEEDS", (0,)), (noises, "ACCUMULATE", 1),
                                (spans, "TIMED", 1), (text_to_text, "BATCH", 2), (text_to_text, "LONGEST", 3)):
        monkeypatch.setattr(module, name, value)
    rows = tuple(((40 + i, 41 + i), (60 + i, 61 + i)) for i in range(4))
    few = generation_tasks.GenerationTask(rows, rows[:2], rows[2:])
    for task, (_, measure) in text_to_text.TASKS.items():
        monkeypatch.setitem(text_to_text.TASKS, task, text_to_text.Task(lambda: few, measure))
    spans.held_out.cache_clear()


def originals(batch: Any) -> list[list[int]]:
    """The texts of a batch before corruption, without special tokens."""
    tokens = batch.target.tokens if hasattr(batch, "target") else torch.where(batch.targets == IGNORE, batch.tokens,
                                                                             batch.targets)
    return [[token for token in row if token not in VOCAB.special] for row in tokens.tolist()]


def test_all_noises_and_unilm_are_pretrained_on_the_same_documents() -> None:
    of = {arm: noises.batches(arm, "train", 3) for arm in (*noises.NOISES, noises.UNILM)}
    for step in range(2):
        texts = [originals(batches(step)) for batches in of.values()]
        assert all(some == texts[0] for some in texts) and len(texts[0]) == noises.BATCH
    assert originals(of[MASKING](0)) != originals(noises.batches(MASKING, "train", 4)(0)), "another seed"
    drawn = {arm: [bucketed(batches, noises.ACCUMULATE)(step) for step in range(noises.ACCUMULATE)]
             for arm, batches in of.items()}
    one, *others = ([sorted(text for batch in some for text in originals(batch))] for some in drawn.values())
    assert all(other == one for other in others), "whatever the lengths by which an update is split"


def test_noises_differ_in_the_source_only() -> None:
    mask = VOCAB.need("mask")
    for arm in noises.NOISES:
        batch = noises.batches(arm, "train", 3)(0)
        sources = [[token for token in row if token == mask or token not in VOCAB.special]
                   for row in batch.source.tokens.tolist()]
        for source, text in zip(sources, originals(batch), strict=True):
            if arm == PERMUTATION:
                assert sorted(source) == sorted(text)
            else:
                kept, masks = Counter(token for token in source if token != mask), source.count(mask)
                assert kept <= Counter(text) and kept.total() == len(text) - math.ceil(0.3 * len(text))
                assert arm == INFILLING or masks == math.ceil(0.3 * len(text))


def told(*scores: float) -> dict[str, Any]:
    return seed_summary(dict(enumerate(scores)))


LOW, MIDDLE, HIGH, WIDE = told(0.1, 0.2, 0.1), told(0.4, 0.5, 0.4), told(0.8, 0.9, 0.8), told(0.05, 0.95, 0.5)


def noise_verdicts(masking: Any = MIDDLE, infilling: Any = HIGH, permutation: Any = LOW, reading: Any = None,
                   ) -> tuple[str, str]:
    """The two verdicts; ``reading``: the score of masking in reading, if it differs from that in writing."""
    writing = {MASKING: masking, INFILLING: infilling, PERMUTATION: permutation}
    found = noises.verdicts({"reading": writing | ({} if reading is None else {MASKING: reading}), "writing": writing})
    return found["masking or infilling is needed"], found["infilling is better for writing"]


def test_the_verdicts_on_noises() -> None:
    assert noise_verdicts() == ("supported", "supported")
    assert noise_verdicts(reading=LOW) == ("partly supported", "supported")
    assert noise_verdicts(MIDDLE, LOW, HIGH) == ("not supported", "not supported")
    assert noise_verdicts(WIDE, WIDE, WIDE) == ("no effect at this size", "no effect at this size")
    assert noise_verdicts(told(0.105, 0.205), told(0.205, 0.209), LOW)[0] == "no effect at this size", "margin"


def spans_verdict(**others: Any) -> str:
    return spans.verdict({variant: others.get(variant, MIDDLE) for variant in spans.VARIANTS})


def test_the_verdict_on_spans() -> None:
    assert spans_verdict() == "supported"
    assert spans_verdict(**{"50 %, 3": WIDE}) == "supported", "within the spread"
    assert spans_verdict(**{"15 %, 1": told(0.515, 0.515, 0.516)}) == "supported", "within two points"
    assert spans_verdict(**{"15 %, 10": LOW}) == spans_verdict(**{"15 %, 10": HIGH}) == "not supported"


def test_source_and_target_together_are_the_text_which_is_the_same_for_all_variants() -> None:
    tokens = {"15 %, 3": 10, "25 %, 3": 16, "50 %, 3": 32, "15 %, 1": 10, "15 %, 10": 10}
    texts = []
    for variant in spans.VARIANTS:
        batch: Any = spans.batches(variant, "train", 0)(1)
        kept, dropped = ([[token for token in row if token not in VOCAB.special] for row in part.tolist()]
                         for part in (batch.source.tokens, batch.target.targets.clamp(min=0)))
        assert {len(row) for row in dropped} == {tokens[variant]}
        assert {len(row) for row in kept} == {spans.LENGTH - tokens[variant]}
        assert spans.lengths(variant)["target"] > tokens[variant], "sentinels and [END] count"
        texts.append([sorted(one + other) for one, other in zip(kept, dropped, strict=True)])
    assert all(some == texts[0] for some in texts)


@pytest.mark.filterwarnings("ignore:no generated text has four words")
@pytest.mark.usefixtures("toy")
def test_the_study_of_noises_records_every_variant(parts: Parts, monkeypatch: pytest.MonkeyPatch,
                                                   best_at: Callable[[float], Callable[..., float]]) -> None:
    pilot = noises.lr_score
    monkeypatch.setattr(noises, "lr_score", best_at(1e-3))
    for name, value in (("TASKS", {task: text_to_text.TASKS[task] for task in ("acceptability", "translation")}),
                        ("READING", ("acceptability",)), ("WRITING", ("translation",))):
        monkeypatch.setattr(noises, name, value)
    found = noises.measure(parts)
    assert [*found["pretraining"]] == [*noises.NOISES, noises.UNILM]
    assert all(of["lr"] == 3e-3 and 0 < of["loss"]["mean"] < 20 for of in found["pretraining"].values())
    assert [*found["tasks"]] == ["acceptability", "translation"]
    for of in found["tasks"].values():
        assert [*of] == [*noises.VARIANTS]
        assert all(row["lr"] == 1e-3 and row["score"]["seeds"] == [0] and 0 <= row["score"]["mean"] <= 1
                   for row in of.values())
    assert {*found["means"]} == {"reading", "writing"} and [*found["means"]["writing"]] == [*noises.VARIANTS]
    assert all(pilot(str(parts.folder), arm, "translation", 1e-3, 9) is not None
               for arm in (noises.UNILM, noises.SCRATCH))


@pytest.mark.filterwarnings("ignore:no generated text has four words")
@pytest.mark.usefixtures("toy")
def test_the_study_of_spans_records_every_variant(parts: Parts, monkeypatch: pytest.MonkeyPatch,
                                                  best_at: Callable[[float], Callable[..., float]]) -> None:
    monkeypatch.setattr(spans, "lr_score", best_at(1e-3))
    found = spans.measure(parts)
    assert [*found["pretraining"]] == [*found["lengths"]] == [*found["seconds"]] == [*spans.VARIANTS]
    assert all(of["lr"] == 3e-3 and 0 < of["loss"]["mean"] < 20 for of in found["pretraining"].values())
    assert [*found["tasks"]] == ["extractive QA", "translation"] and all(x > 0 for x in found["seconds"].values())
    assert [*found["means"]["both"]] == [*spans.VARIANTS, spans.SCRATCH]
