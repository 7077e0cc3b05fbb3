"""Smoothing undone gives back what was smoothed; places of [END]; the experiment on the smallest of scales."""

from dataclasses import replace

import pytest
import torch

from plmlab.chapters.ch03 import empty_translations as empty_translations_of_one_model
from plmlab.chapters.ch03 import noisy_translation
from plmlab.chapters.ch03.empty_translations import Unsmoothed, show_translations, taken_back, translate
from plmlab.chapters.ch03.noisy_translation import ARMS, learn, pairs, tokenizer
from plmlab.chapters.ch03.noisy_translation import test_set as evaluation_set
from plmlab.decode import Hypothesis
from plmlab.models.transformer import Transformer
from studies.ch03 import empty_translations, ideal_reader
from studies.ch03.empty_translations import causes, ranks
from studies.ch03.noisy_translation import empty_chances

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def hasty() -> Transformer:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("BATCH", 8), ("WARMUP", 5)):
            patch.setattr(noisy_translation, name, value)
        return learn(ARMS["noise"], 15, 1e-2, 0, show=False)[0].eval()


def test_smoothing_taken_back_is_what_was_smoothed() -> None:
    p = torch.randn(3, 4, 7).softmax(-1)
    assert torch.allclose(taken_back((0.9 * p + 0.1 / 7).log() + 5, 0.1).exp(), p, atol=1e-6)
    told = taken_back(torch.tensor([0.6, 0.39, 0.01]).log(), 0.3)
    assert told[2] == float("-inf") and told[:2].exp().tolist() == pytest.approx([0.5 / 0.79, 0.29 / 0.79])


def test_a_model_that_takes_it_back_reads_as_the_model_did(hasty: Transformer) -> None:
    telegrams, end = evaluation_set(0.5, 2, 0, 3), tokenizer().vocab.need("end")
    batch = pairs(telegrams)
    with torch.no_grad():
        assert torch.allclose(Unsmoothed.of(hasty)(batch), hasty(batch).log_softmax(-1), atol=1e-4)
        smoothed = Transformer(replace(hasty.config, smoothing=0.1))
        smoothed.load_state_dict(hasty.state_dict())
        undone = Unsmoothed.of(smoothed)
        first = undone.step(torch.full((3, 1), tokenizer().vocab.need("start")), undone.start(batch.source))
        assert torch.allclose(first.exp(), undone(batch)[:, 0].exp(), atol=1e-5)
        told = undone(batch)[:, 0].exp()
        expected = (hasty(batch)[:, 0].softmax(-1) - 0.1 / len(tokenizer())).clamp(min=0)
    assert torch.allclose(told, expected / expected.sum(-1, keepdim=True), atol=1e-5)
    assert empty_chances(undone, telegrams) == pytest.approx(told[:, end].tolist(), abs=1e-6)


def test_the_place_of_the_end_by_sorting(hasty: Transformer) -> None:
    telegrams = evaluation_set(0.5, 1, 0, 4)
    chances, end = empty_chances(hasty, telegrams), tokenizer().vocab.end
    with torch.no_grad():
        order = hasty(pairs(telegrams, empty=True))[:, 0].argsort(descending=True).tolist()
    assert ranks(hasty, telegrams) == [row.index(end) + 1 for row in order] and max(chances) < 1


def test_causes_are_shares_of_the_telegrams(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (empty_translations, ideal_reader):
        monkeypatch.setattr(module, "SOURCES", 3)
    for name, value in (("LENGTH", 5), ("BATCH", 4)):
        monkeypatch.setattr(noisy_translation, name, value)
    monkeypatch.setitem(ARMS, "smoothing", replace(ARMS["smoothing"], lost=0.4))
    told, noise = (causes(learn(ARMS[name], 3, 1e-2, 0, show=False)[0].eval(), name, 0)
                   for name in ("smoothing", "noise"))
    assert 0 <= told["both"] <= min(told["model"], told["perfect"]) and told["best rank"] <= told["rank"]
    assert set(told["undone"]) >= {"exact", "beam 5"} and "undone" not in noise


def test_an_exhaustive_search_finds_nothing_less_probable(hasty: Transformer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noisy_translation, "LENGTH", 3)
    told = translate(hasty, evaluation_set(0.5, 1, 0, 2))
    assert list(told) == ["greedy", "beam search, width 5", "beam search, width 20", "exact search",
                          "label smoothing undone: greedy", "label smoothing undone: exact search"]
    for greedy, exact in (("greedy", "exact search"), tuple(list(told)[4:])):
        assert all(best.logprob >= one.logprob - 1e-4 for one, best in zip(told[greedy], told[exact], strict=True))
    monkeypatch.setattr(empty_translations_of_one_model, "likeliest", lambda model, telegram: None)
    with pytest.raises(ValueError, match="was given up"):
        translate(hasty, evaluation_set(0.5, 1, 0, 2))


def test_the_table_of_translations_counts_empty_and_correct_ones(capsys: pytest.CaptureFixture[str]) -> None:
    telegrams, end = evaluation_set(0.5, 1, 0, 2), tokenizer().vocab.need("end")
    original = tokenizer().encode(" ".join(telegrams[0].target), plain=True)
    show_translations(telegrams, {"by hand": [Hypothesis((*original, end), -3.0), Hypothesis((end,), -4.0)]}, 0.5)
    assert capsys.readouterr().out.split()[-5:] == ["hand", "3.50", f"{len(original):.1f}", "1", "1"]
