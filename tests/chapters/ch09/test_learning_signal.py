"""The pretraining tasks between BERT and ELECTRA, by hand; the compute of an update, by hand; and the study's criteria
on numbers made up for each verdict."""

from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest
import torch
from parity.alike import same, shaken
from torch import Tensor
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.models.electra import ELECTRAGenerator, ELECTRAPretraining, ELECTRAPretrainingConfig, replace_tokens
from plmlab.objectives import electra_85_15, masked
from plmlab.recipes import Parts, seed_summary
from plmlab.text.vocabulary import Vocabulary
from studies.ch09 import learning_signal as study
from studies.ch09 import pretraining_tasks as tasks
from studies.ch09.pretraining_tasks import AllTokensMLM, CopyMaskedLM, ReplaceMLM, SelectedELECTRA

VOCAB = Vocabulary(90)
SMALL = ELECTRAPretrainingConfig(90, time=24, layers=2, model=16, heads=2, inner=32, dropout=0.0, attention_dropout=0.0)

pytestmark = pytest.mark.usefixtures("one_thread")


def read(rate: float = 0.4) -> Batch:
    """Two texts of different length."""
    return Batch.of([masked(range(40, 40 + n), vocab=VOCAB, rng=Random(n), rate=rate, corrupt=electra_85_15)
                     for n in (14, 9)], pad=VOCAB.need("pad"))


def corrupted_by(model: ELECTRAPretraining, batch: Batch, monkeypatch: pytest.MonkeyPatch) -> tuple[Batch, Tensor]:
    """The input of the second network, where every other sample is wrong."""
    wanted = batch.targets[batch.targets != IGNORE]
    samples = (wanted + torch.arange(len(wanted)) % 2).clamp(max=89)
    monkeypatch.setattr("plmlab.models.electra.sample", lambda logits: samples)
    return replace_tokens(batch, samples)


def test_electra_15_counts_the_selected_positions_only(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = shaken(SelectedELECTRA(SMALL)), read()
    corrupted, replaced = corrupted_by(model, batch, monkeypatch)
    by_hand = F.softplus(torch.where(replaced, -1.0, 1.0) * model(corrupted))[batch.targets != IGNORE]
    same(model.loss(batch), model.generator.loss(batch) + 50 * by_hand.mean())


def test_replace_mlm_recovers_the_tokens_from_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = shaken(ReplaceMLM(replace(SMALL, weight=1.0))), read()
    corrupted, _ = corrupted_by(model, batch, monkeypatch)
    assert VOCAB.need("mask") not in corrupted.tokens, "the second network sees no [MASK]"
    logits, is_target = model.discriminator(corrupted), batch.targets != IGNORE
    same(model.loss(batch), model.generator.loss(batch) + F.cross_entropy(logits[is_target], batch.targets[is_target]))


def test_all_tokens_mlm_predicts_every_real_token(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = shaken(AllTokensMLM(replace(SMALL, weight=1.0))), read()
    corrupted, _ = corrupted_by(model, batch, monkeypatch)
    network: CopyMaskedLM = model.discriminator
    hidden = network.encoder(corrupted)
    copy, softmax = network.copy(hidden).sigmoid(), network.token_logits(hidden).softmax(-1)
    probabilities = copy * F.one_hot(corrupted.tokens, 90) + (1 - copy) * softmax
    same(probabilities.sum(-1), torch.ones_like(probabilities[..., 0]))
    originals = torch.where(batch.targets == IGNORE, batch.tokens, batch.targets)
    losses = [-probabilities[row, t, originals[row, t]].log() for row, n in enumerate((16, 11)) for t in range(n)]
    same(model.loss(batch), model.generator.loss(batch) + torch.stack(losses).mean())


def test_tasks_with_the_same_rate_select_the_same_positions() -> None:
    bert, electra = (tasks.batches(*arm, 5)(1) for arm in (("BERT", 0.15), ("ELECTRA", 0.25)))
    assert torch.equal(bert.targets, electra.targets) and not torch.equal(bert.tokens, electra.tokens)
    assert (tasks.batches("BERT", 0.5, 5)(1).targets != IGNORE).sum() > 2 * (bert.targets != IGNORE).sum()


def by_hand(config: ELECTRAPretrainingConfig, batch: Batch, positions: int, outputs: int) -> int:
    """Operations of the matrix products of an encoder and a head with ``outputs`` classes at some positions: twice the
    multiplications, forward once and backward twice."""
    rows, time = batch.tokens.shape
    d, inner, width = config.model, config.inner, config.embedding or config.model
    project = 0 if width == d else rows * time * width * d
    layer = rows * time * (4 * d * d + 2 * d * inner) + 2 * rows * time * time * d
    head = positions * (d * width + width * outputs)
    return 3 * 2 * (project + config.layers * layer + head)


def test_compute_is_that_of_all_matrix_products() -> None:
    batch = read()
    selected, everywhere = int((batch.targets != IGNORE).sum()), batch.tokens.numel()
    mlm = ELECTRAGenerator(SMALL.discriminator)
    assert tasks.flops_of_update(mlm, batch) == by_hand(SMALL.discriminator, batch, selected, SMALL.vocab)
    both = by_hand(SMALL.generator, batch, selected, SMALL.vocab) + by_hand(SMALL.discriminator, batch, everywhere, 1)
    assert tasks.flops_of_update(ELECTRAPretraining(SMALL), batch) == both, "the generator counts"
    assert all(weight.grad is None for weight in mlm.parameters())


def test_budgets_are_equal_in_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "BATCH", 4)
    base = tasks.flops_per_update("BERT", 0.15)
    for arm in (("BERT", 0.5), ("ELECTRA", 0.25), ("All-Tokens MLM", 0.25)):
        updates = tasks.updates_at(*arm, budget=1000)
        assert updates < 1000 and updates * tasks.flops_per_update(*arm) == pytest.approx(1000 * base, rel=1e-2)
    tasks.flops_per_update.cache_clear()


def told(*accuracies: float) -> dict[str, object]:
    return seed_summary(dict(enumerate(accuracies)))


LOW, MIDDLE, HIGH, WIDE = told(0.1, 0.2, 0.1), told(0.4, 0.5, 0.4), told(0.8, 0.9, 0.8), told(0.2, 0.8, 0.5)


def verdicts(electra: object = HIGH, bert: object = LOW, best: object = MIDDLE, others: object = LOW,
             all_tokens: object = HIGH, ner: object = None) -> dict[str, str]:
    results = {"ELECTRA": electra, "BERT 15%": bert, "BERT, best rate": best, "Replace MLM": others,
               "ELECTRA 15%": others, "All-Tokens MLM": all_tokens}
    return study.criteria({name: {"acceptability": row, "NER": row if ner is None else ner}
                           for name, row in results.items()})


def test_the_verdict_needs_separation_from_both_berts_on_both_scores() -> None:
    assert verdicts()["verdict"] == "supported"
    assert verdicts(best=HIGH)["verdict"] == "partly supported", "better than BERT with 15 % only"
    assert verdicts(ner=LOW)["verdict"] == "partly supported", "on acceptability only"
    assert verdicts(bert=HIGH, best=HIGH)["verdict"] == "no effect at this size"
    assert verdicts(electra=LOW, bert=MIDDLE)["verdict"] == "not supported"
    assert verdicts(electra=MIDDLE, bert=MIDDLE, best=WIDE)["verdict"] == "no effect at this size", "within the spread"


def test_all_positions_needs_four_separated_pairs() -> None:
    assert verdicts()["all positions"] == "supported"
    assert verdicts(ner=LOW)["all positions"] == "partly supported"
    assert verdicts(all_tokens=LOW)["all positions"] == "not supported"
    assert verdicts(others=HIGH)["all positions"] == "no effect at this size"


def untrained(seed: int) -> dict[str, dict[str, float]]:
    return {name: {"test": 0.1, "development": 0.1} for name in study.SCORES}


def test_the_study_records_every_variant_at_equal_compute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    widths: list[int] = []

    def trained(model: object, *arm: object, updates: int, lr: float, seed: int, **options: object) -> SimpleNamespace:
        widths.append(updates)
        model.rate = lr
        return SimpleNamespace()

    def score(encoder: torch.nn.Module, name: str, seed: int) -> dict[str, float]:
        return {"test": 0.5 + seed / 100, "development": 0.5}

    monkeypatch.setattr(tasks, "BATCH", 4)
    monkeypatch.setattr(study, "untrained", untrained)
    monkeypatch.setattr(study, "score", score)
    monkeypatch.setattr(study, "train", trained)
    found = study.measure(Parts(tmp_path / "parts.jsonl", processes=0), budgets=(6, 12))
    assert [*found["variants"]] == ["BERT 15%", "BERT, best rate", "Replace MLM", "ELECTRA 15%", "All-Tokens MLM",
                                    "ELECTRA"]
    assert found["masking rates"] == {"0.3": 0.5, "0.5": 0.5} and found["generators"] == {"0.25": 0.5, "1.0": 0.5}
    bert, electra = found["variants"]["BERT 15%"], found["variants"]["ELECTRA"]
    assert [row["updates"] for row in bert["budgets"].values()] == [6, 12]
    assert electra["flops"] > bert["flops"] and electra["budgets"]["12"]["updates"] < 12
    assert electra["budgets"]["6"]["lr"] == 3e-3 and electra["budgets"]["12"]["NER"]["test"]["high"] == 0.52
    assert found["criteria"]["verdict"] == "no effect at this size" and set(widths) > {6, 12}
    tasks.flops_per_update.cache_clear()
