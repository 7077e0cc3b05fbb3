"""The study of chapter 19: its task, equal sizes, what skipping leaves, and all variants at toy size."""

import pytest
import torch

from plmlab.example import IGNORE
from plmlab.objectives import hybrid_forward_pass
from plmlab.recipes.study import NO_EFFECT
from studies.ch19 import quality as study
from studies.ch19 import translation

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in ((translation, "WORDS", 30), (translation, "WRITTEN", 12), (study, "TESTS", (8,)),
                                (study, "COUNT", 3), (study, "SIZE", study.SIZE | {"model": 16, "inner": 32})):
        monkeypatch.setattr(module, name, value)
    study.at_width.cache_clear()
    yield
    study.at_width.cache_clear()


def test_no_test_sentence_occurs_in_training_batches_and_targets_are_chinese() -> None:
    batch, test = translation.training_batches(3)(0), translation.test_set(10, 0, 5)
    assert max(len(passage.english) for passage in test) <= 10 and len(test) == 5
    assert translation.test_set(10, 1, 5) != test and translation.test_set(10, "development", 5) != test
    chinese = {token for passage in test for token in translation.encoded(passage.chinese)}
    english = {token for passage in test for token in translation.encoded(passage.english)}
    targets = {*translation.pairs(test).targets.flatten().tolist()} - {IGNORE}
    assert targets == chinese | {translation.tokenizer().vocab.end}
    assert len(english & {*batch.targets.flatten().tolist()}) < 0.1 * len(english)


def test_what_is_kept_is_what_the_mask_keeps() -> None:
    """[START] aside; nothing of a translation, everything of a text whose sentences were moved."""
    passage = translation.test_set(10, 0, 1)[0]
    pair = hybrid_forward_pass(*map(translation.encoded, (passage.english, passage.chinese)),
                               vocab=translation.tokenizer().vocab)
    assert int(pair.target.visible.dense().any(1).sum()) == 1 + len(study.kept(passage))
    found = study.skipped(0)
    assert found["kept in the same language"] == 1 and found["kept"] < 0.05 and found["whole"] == 0
    shared = passage.__class__(passage.sentences, passage.chinese[:2], passage.chinese, ())
    assert {*study.kept(shared)} == {*passage.chinese[:2]}


def test_scores_of_a_perfect_translation_and_of_another() -> None:
    some = translation.test_set(10, 0, 4)
    perfect = translation.scores([passage.chinese for passage in some], some)
    assert perfect["exact"] == 1 and perfect["bleu"] == pytest.approx(100)
    assert 0 < study.another(0)["bleu"] < 100


def test_at_has_the_size_of_the_transformer() -> None:
    counts = {name: sum(weight.numel() for weight in study.build(name, 0).parameters()) for name in (
        study.AT_NAME, study.FAT_NAME, study.SPEED, study.TRANSFORMER)}
    other = sum(weight.numel() for weight in study.AT(study.Seq2SeqConfig(len(translation.tokenizer()),
                                                                         model=study.at_width() + 8)).parameters())
    base = counts[study.TRANSFORMER]
    assert abs(counts[study.AT_NAME] - base) <= abs(other - base)
    width = 16 // 4
    assert counts[study.FAT_NAME] - base == 128**2 + 1 + 2 * 2 * 2 * width**2 and counts[study.SPEED] == counts["FAT"]


@pytest.mark.parametrize("name", [study.AT_NAME, study.FAT_NAME, study.SPEED, study.TRANSFORMER])
def test_a_variant_at_toy_size(name: str) -> None:
    run = study.STUDY.learned(name, updates=2, lr=1e-3, seed=0, show=False)
    found = study.test(run)
    assert {"bleu", "loss", "parameters", "8 words: exact"} < {*found}
    assert torch.isfinite(torch.tensor(study.development_score(run)))


def test_verdicts() -> None:
    low, high = ({"bleu": {"low": value, "high": value}} for value in (10.0, 20.0))
    runs = {study.AT_NAME: low, study.FAT_NAME: high, study.SPEED: low, study.TRANSFORMER: high}
    assert study.verdicts(runs) == {"FAT is better than AT": "supported", "skipping is free": "not supported",
                                    "FAT is better than the Transformer": NO_EFFECT}
