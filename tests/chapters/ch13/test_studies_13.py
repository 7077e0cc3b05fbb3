"""The studies of chapter 13: what every variant is pretrained on, the verdicts on made-up numbers, and toy runs."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from plmlab import generation
from plmlab.batches import bucketed
from plmlab.example import IGNORE
from plmlab.recipes import Parts, seed_summary
from plmlab.world.datasets import generation_tasks
from plmlab.world.datasets.tokenizer import bilingual_tokenizer
from studies.ch13 import claims, noises, spans, text_to_text, tuning

VOCAB = bilingual_tokenizer().vocab
MASKING, INFILLING, PERMUTATION = noises.NOISES

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """One layer of 16; two updates of pretraining, one of fine-tuning, and tasks of a few short rows."""
    size = dict.fromkeys(("LAYERS", "HELD_OUT", "WARMUP"), 1) | {"WIDTH": 16, "HEADS": 2, "BATCH": 2, "UPDATES": 2}
    module: Any
    for module in (noises, spans):
        for name, number in size.items():
            monkeypatch.setattr(module, name, number)
        monkeypatch.setattr(module, "STUDY", replace(module.STUDY, updates=(2,), pilot_updates=1, nothing=-math.inf,
                                                     seeds=(0,), development=lambda run: -abs(run.lr - 3e-3)))
    for module, name, value in ((tuning, "SEEDS", (0,)), (tuning, "UPDATES", 1), (noises, "ACCUMULATE", 1),
                                (claims, "TIMED", 1), (text_to_text, "BATCH", 2), (generation, "LONGEST", 3)):
        monkeypatch.setattr(module, name, value)
    rows = tuple(((40 + i, 41 + i), (60 + i, 61 + i)) for i in range(4))
    few = generation_tasks.GenerationTask(rows, rows[:2], rows[2:])
    for task, (_, measure) in text_to_text.TASKS.items():
        monkeypatch.setitem(text_to_text.TASKS, task, text_to_text.Task(lambda: few, measure))


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
    found = claims.noise_verdicts({"reading": writing | ({} if reading is None else {MASKING: reading}),
                                   "writing": writing})
    return found["masking or infilling is needed"], found["infilling is better for writing"]


def test_the_verdicts_on_noises() -> None:
    assert noise_verdicts() == ("supported", "supported")
    assert noise_verdicts(reading=LOW) == ("partly supported", "supported")
    assert noise_verdicts(MIDDLE, LOW, HIGH) == ("not supported", "not supported")
    assert noise_verdicts(MIDDLE, WIDE, HIGH)[0] == "not supported", "the opposite for some, and the claim for none"
    assert noise_verdicts(HIGH, HIGH, MIDDLE, reading=LOW)[0] == "mixed"
    assert noise_verdicts(WIDE, WIDE, WIDE) == ("no effect at this size", "no effect at this size")
    assert noise_verdicts(told(0.105, 0.205), told(0.205, 0.209), LOW)[0] == "no effect at this size", "margin"


def span_verdict(scratch: Any = LOW, **others: Any) -> str:
    return claims.span_verdict({spans.SCRATCH: scratch} | {one: others.get(one, MIDDLE) for one in spans.SETTINGS})


def test_the_verdict_on_spans() -> None:
    assert span_verdict() == "supported"
    assert span_verdict(MIDDLE) == span_verdict(WIDE) == "no effect at this size", "pretraining does not help"
    assert span_verdict(**{"50 %, 3": WIDE}) == "supported", "within the spread"
    assert span_verdict(**{"15 %, 1": told(0.515, 0.515, 0.516)}) == "supported", "within two points"
    assert span_verdict(**{"15 %, 10": LOW}) == span_verdict(**{"15 %, 10": HIGH}) == "not supported"


def test_source_and_target_together_are_the_text_which_is_the_same_for_all_variants() -> None:
    tokens = {"15 %, 3": 10, "25 %, 3": 16, "50 %, 3": 32, "15 %, 1": 10, "15 %, 10": 10}
    texts = []
    for variant in spans.SETTINGS:
        batch: Any = spans.batches(variant, "train", 0)(1)
        kept, dropped = ([[token for token in row if token not in VOCAB.special] for row in part.tolist()]
                         for part in (batch.source.tokens, batch.target.targets.clamp(min=0)))
        assert {len(row) for row in dropped} == {tokens[variant]}
        assert {len(row) for row in kept} == {spans.LENGTH - tokens[variant]}
        assert spans.lengths(variant)["target"] > tokens[variant], "sentinels and [END] count"
        texts.append([sorted(one + other) for one, other in zip(kept, dropped, strict=True)])
    assert all(some == texts[0] for some in texts)


def test_permutation_changes_most_documents() -> None:
    """Documents have at least two sentences."""
    one, other = (noises.batches(PERMUTATION, "train", seed)(0) for seed in (0, 1))
    moved = [row for batch in (one, other) for row, text in zip(batch.source.tokens.tolist(), originals(batch),
                                                                strict=True)
             if [token for token in row if token not in VOCAB.special] != text]
    assert len(moved) > 0.4 * 2 * noises.BATCH


@pytest.mark.filterwarnings("ignore:no generated text has four words")
@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("name", ["noises", "spans"])
def test_a_study_records_every_variant(name: str, parts: Parts, monkeypatch: pytest.MonkeyPatch,
                                       best_at: Callable[[float], Callable[..., float]]) -> None:
    module, pilot = tuning.STUDIES[name], tuning.lr_score
    monkeypatch.setattr(tuning, "lr_score", best_at(1e-3))
    for group, tasks in (("READING", ("acceptability",)), ("WRITING", ("translation",))):
        monkeypatch.setattr(claims, group, tasks)
    found = getattr(claims, f"measure_{name}")(parts)
    assert [*found["pretraining"]] == [one for one in module.VARIANTS if one != module.SCRATCH]
    assert all(of["lr"] == 3e-3 and 0 < of["loss"]["mean"] < 20 for of in found["pretraining"].values())
    assert [*found["tasks"]] == (["acceptability", "translation"] if name == "noises" else ["translation"])
    for of in (*found["tasks"].values(), *found["means"].values()):
        assert [*of] == [*module.VARIANTS]
    assert all(row["lr"] == 1e-3 and row["score"]["seeds"] == [0] and 0 <= row["score"]["mean"] <= 1
               for of in found["tasks"].values() for row in of.values())
    if name == "spans":
        assert [*found["lengths"]] == [*found["seconds"]] == [*spans.SETTINGS] and min(found["seconds"].values()) > 0
    assert all(pilot(name, str(parts.folder), variant, "translation", 1e-3, 9) is not None
               for variant in (module.VARIANTS[-2], module.SCRATCH))
