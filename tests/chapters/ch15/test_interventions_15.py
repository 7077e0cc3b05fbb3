"""The study of interventions at toy size, and its levels by hand."""

from dataclasses import replace
from itertools import islice
from statistics import fmean

import pytest

from plmlab.chapters.ch15.answering import Outcome
from plmlab.models import cogltx_training
from plmlab.models.bert import BERT, BERTConfig
from plmlab.world.datasets.long_documents import long_documents
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch15 import interventions, selection
from studies.ch15.selection import BM25, INTERVENTIONS

pytestmark = pytest.mark.usefixtures("one_thread")
LONGEST = 23


@pytest.fixture(autouse=True)
def documents(full, monkeypatch: pytest.MonkeyPatch):
    chosen = tuple(islice(long_documents(full, "test", 1, lengths=(500, 700)), 4))
    monkeypatch.setattr(interventions, "training_documents", lambda worlds, number: chosen)
    return chosen


@pytest.mark.parametrize("variant", [BM25, INTERVENTIONS])
def test_levels_change_by_interventions_from_the_third_epoch_on(variant: str, documents, monkeypatch) -> None:
    """Every intervention on a block of the first supporting sentence raises the loss, on every other block lowers it:
    in the end the levels are the true ones, except that a block that no intervention reaches keeps its own."""
    encoder = BERT(BERTConfig(len(world_tokenizer()), 192, layers=1, model=16, heads=2, inner=16, dropout=0.0,
                              attention_dropout=0.0)).eval()
    monkeypatch.setattr(selection, "pretrained", lambda: encoder)
    asked, pairs = [], interventions.texts(LONGEST)
    wanted = {text.query: {*one.supports[0]} for one, text in pairs}

    def rises(model, window, answer):
        asked.append(window)
        return {place: 0.3 if place in wanted[window.query] else -0.1 for place in window.positions
                if place != answer.position}

    monkeypatch.setattr(cogltx_training, "interventions", rises)
    monkeypatch.setattr(interventions, "evaluation_documents", lambda split, number, lengths: documents[:2])
    run = interventions.STUDY.learned(variant, updates=4, lr=1e-3, seed=0, show=False)
    found = interventions.test(run)
    if variant == BM25:
        assert not asked and [text.levels for text in run.history] == [text.levels for _, text in pairs]
    else:
        assert len(asked) == 8, "two epochs of four texts"
        assert found["labels: first"] == 1 and found["labels: second"] == 1
    assert found["both"] <= min(found["first"], found["second"]) and interventions.development_score(run) <= 1


def test_levels_by_hand() -> None:
    """Level 1 is relevant, level 0 is not; the block with the answer always is."""
    pairs = interventions.texts(LONGEST)

    def of(relevant):
        levels = [[int(place in relevant(one)) for place in range(len(text.blocks))] for one, text in pairs]
        return interventions.levels(LONGEST, [replace(text, levels=some)
                                              for (_, text), some in zip(pairs, levels, strict=True)])

    nothing, everything = of(lambda one: ()), of(lambda one: range(len(one.blocks)))
    assert nothing["labels: first"] == 0 and nothing["labels: per text"] == 1
    assert everything["labels: first"] == everything["labels: second"] == 1
    assert everything["labels: per text"] == fmean(len(text.blocks) for _, text in pairs)


def test_what_is_recalled(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Outcome(True, True, True, 0, 0), Outcome(False, True, False, 0, 0), Outcome(True, False, True, 0, 0),
             Outcome(False, False, True, 0, 0)]
    monkeypatch.setattr(interventions, "outcomes", lambda model, documents: found)
    assert interventions.recalled(None, "test", 4) == {"exact match": 0.5, "first": 0.5, "second": 0.75, "both": 0.25}
