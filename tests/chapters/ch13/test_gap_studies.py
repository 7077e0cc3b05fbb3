"""The studies of gap sentences: what every variant reads, the verdicts on made-up numbers, and a toy run."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from plmlab import generation, world
from plmlab.recipes import Parts, seed_summary
from plmlab.world.datasets.generation_tasks import summarization, summarization_entities
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch13 import few_labels, gap_selection

VOCAB = world_tokenizer().vocab
ROUGE, RANDOM, LEAD = gap_selection.SELECTIONS

pytestmark = pytest.mark.usefixtures("one_thread")


def test_all_variants_read_the_same_articles_and_select_as_many_sentences() -> None:
    texts, counts = {}, {}
    for variant in gap_selection.SELECTIONS:
        batch: Any = gap_selection.batches(variant, "development", 0)(0)
        rows = zip(batch.source.tokens.tolist(), batch.target.targets.clamp(min=0).tolist(), strict=True)
        texts[variant] = [sorted(token for token in (*source, *target) if token not in VOCAB.special)
                          for source, target in rows]
        counts[variant] = (batch.source.tokens == VOCAB.need("mask")).sum(1).tolist()
    assert texts[ROUGE] == texts[RANDOM] == texts[LEAD] and counts[ROUGE] == counts[RANDOM] == counts[LEAD]
    assert len(texts[LEAD]) == gap_selection.BATCH and min(counts[LEAD]) >= 1


def test_no_article_of_the_task_is_read_in_pretraining() -> None:
    """The worlds are different ones; nearly all of their words are known."""
    entities = summarization_entities()
    assert not {*entities.train} & {*entities.development, *entities.test_set}
    assert len(world.full().corpora.articles("facts")) == sum(map(len, entities))
    train, development = gap_selection.WORLDS["train"], gap_selection.WORLDS["development"]
    assert world.full().seed not in {*train, *development} and not {*train} & {*development}
    facts = {*world.full().facts.triples}
    for seed in (train[0], *development):
        stated = {fact for article in world.World("full", seed).articles() for one in article.sentences
                  for fact in one.facts}
        assert len(stated & facts) < 0.05 * len(stated) and len(stated) > 1000
    read = gap_selection.articles("development")
    tokens = [token for text in read for token in text]
    assert tokens.count(VOCAB.need("unk")) < 0.005 * len(tokens) and len(read) > 400


def test_labelled_rows_are_about_different_entities() -> None:
    rows = summarization().train
    for count in few_labels.FEW:
        some = few_labels.labelled(count, 0)
        assert len(some) == count == len({*some}) and {*some} <= {*rows}
        assert {*few_labels.labelled(8, 0)} <= {*some} and few_labels.labelled(count, 1) != some
    assert few_labels.labelled(len(rows), 0) == rows


def scores(**of: float) -> dict[tuple[str, int], Any]:
    """Summaries of two seeds: 0.5 and 0.51, or the given score and 0.01 more for a variant."""
    return {(variant, labels): seed_summary({0: value, 1: value + 0.01})
            for variant in (*gap_selection.SELECTIONS, few_labels.SCRATCH)
            for labels in (*few_labels.FEW, len(summarization().train))
            for value in [of.get(f"{variant.split()[0]}{labels}", of.get(variant.split()[0], 0.5))]}


def test_the_verdict_on_selection() -> None:
    verdict = few_labels.selection_verdict
    assert verdict(scores(highest=0.6)) == "supported"
    assert verdict(scores(highest=0.6, lead32=0.6)) == "partly supported"
    assert verdict(scores(highest=0.6, lead32=0.7)) == "mixed"
    assert verdict(scores(lead=0.6)) == verdict(scores(random8=0.6)) == "not supported"
    assert verdict(scores()) == verdict(scores(highest=0.515)) == "no effect at this size"


def test_the_verdict_on_few_labels() -> None:
    verdict, every = few_labels.labels_verdict, len(summarization().train)
    assert verdict(scores()) == verdict(scores(highest=0.6)) == "supported"
    assert verdict(scores(**{f"not{every}": 0.6})) == "not supported"
    assert verdict(scores(**{f"not{every}": 0.6, "highest128": 0.585})) == "supported", "within a point"
    assert verdict(scores(not128=0.6)) == "supported", "the comparison is with all labels"


def test_a_study_records_every_variant(parts: Parts, monkeypatch: pytest.MonkeyPatch,
                                       best_at: Callable[[float], Callable[..., float]]) -> None:
    for name, value in {"LAYERS": 1, "HELD_OUT": 1, "WARMUP": 1, "WIDTH": 16, "HEADS": 2, "BATCH": 2, "UPDATES": 2,
                        "WORLDS": {part: [22] for part in gap_selection.WORLDS}}.items():
        monkeypatch.setattr(gap_selection, name, value)
    gap_selection.articles.cache_clear()
    study = replace(gap_selection.STUDY, updates=(2,), pilot_updates=1, nothing=-math.inf, seeds=(0,),
                    development=lambda run: -abs(run.lr - 1e-2))
    monkeypatch.setattr(gap_selection, "STUDY", study)
    for module, name, value in ((few_labels, "SEEDS", (0,)), (few_labels, "UPDATES", 1), (few_labels, "EVERY", 1),
                                (few_labels, "WARMUP", 0), (few_labels, "BATCH", 2), (generation, "LONGEST", 3)):
        monkeypatch.setattr(module, name, value)
    pilot = few_labels.lr_score
    monkeypatch.setattr(few_labels, "lr_score", best_at(1e-3))
    found = few_labels.measure(parts)
    assert {name: [*of] for name, of in found["runs"].items()} == {
        **{name: ["8", "32", "128"] for name in (ROUGE, RANDOM, LEAD, few_labels.BART_WORLD)},
        few_labels.SCRATCH: ["8", "32", "128", "2664"]}
    for of in found["runs"].values():
        assert all(row["lr"] == 1e-3 and row["score"]["seeds"] == [0] and 0 <= row["score"]["mean"] < 1
                   and 0 <= row["high and false"]["mean"] <= row["false"]["mean"] <= 1 for row in of.values())
    assert {*found["pretraining"]} == {*gap_selection.SELECTIONS}
    assert {*found["verdicts"]} == {"selection", "few labels"}
    assert pilot(str(parts.folder), LEAD, 8, 1e-3, 9) is not None
    gap_selection.articles.cache_clear()
