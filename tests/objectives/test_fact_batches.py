"""Batches of FaE: the masked mentions and their correct facts, by distant supervision, against loops."""

from dataclasses import replace

import torch
from entity_small import examples

from plmlab.example import IGNORE
from plmlab.mentions import Mentions
from plmlab.objectives.fact_batches import FactBatch
from plmlab.retrieval.facts import Fact

FACTS = [Fact(3, 0, (6,)), Fact(1, 2, (4, 6)), Fact(6, 0, (6,)), Fact(2, 1, (6,)), Fact(3, 1, (2, 5)), Fact(3, 2, (5,))]
BATCH = FactBatch.of(examples(), FACTS, pad=0)


def test_masked_linked_mentions() -> None:
    mentions = Mentions.of(BATCH.inputs.labels["mentions"])
    chosen = mentions[BATCH.masked(mentions)]
    assert [*zip(chosen.rows.tolist(), chosen.first.tolist(), strict=True)] == [(0, 5), (1, 2), (3, 1), (3, 9)]
    unlinked = replace(BATCH, inputs=replace(BATCH.inputs, labels={
        **BATCH.inputs.labels, "entities": torch.full_like(BATCH.targets, IGNORE)}))
    assert not unlinked.masked(mentions).any()
    assert FactBatch.of(examples(), [], pad=0).positives(mentions).tolist() == [[True]] * 8, "only the null fact"


def test_the_correct_facts_by_hand() -> None:
    """Entity 6 is masked beside 3 and 1: both facts that lead to it are correct; not that of the masked 6 itself, nor
    that of a subject in another text. Beside 3, entity 5 is masked: two facts. For 0 and 2 there is none: null."""
    mentions = Mentions.of(BATCH.inputs.labels["mentions"])
    rows = BATCH.positives(mentions[BATCH.masked(mentions)]).int().tolist()
    assert rows == [[0, 1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 1], [1, 0, 0, 0, 0, 0, 0]]
