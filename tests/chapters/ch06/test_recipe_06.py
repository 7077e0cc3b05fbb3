"""Chapter 06's recipe: its sentences, its measure against oracles that are known, its record."""

from collections import Counter

import pytest
import torch
from torch import nn

from plmlab.chapters.ch06 import recipe
from plmlab.chapters.ch06.recipe import FAR, KINDS, NEAR, PILOT, RATES, SEEDS, agreement, material
from plmlab.example import IGNORE, Batch
from plmlab.recipes import recorded


class Says(nn.Module):
    """A reader whose favourite at every slot is a function of the batch."""

    def __init__(self, favourite) -> None:
        super().__init__()
        self.favourite = favourite

    def forward(self, batch: Batch) -> torch.Tensor:
        _, _, ids = material()
        return nn.functional.one_hot(self.favourite(batch), max(ids.values()) + 1).float()


def test_each_sentence_joins_a_noun_to_its_verb_over_a_chain_of_places() -> None:
    learn, test, _ = material()
    assert not {s.text for s in learn} & {s.text for s in test}
    for sentence in learn + test:
        (link,) = sentence.agreement
        assert (link.subject, link.verb) == (1, len(sentence.words) - 3)
        assert ("is" if link.number == "sg" else "are") == sentence.words[link.verb]
    between = Counter(len(sentence.words) - 5 for sentence in test)
    assert all(any(between[d] for d in reach) for reach in (NEAR, FAR))


def test_agreement_is_one_for_who_knows_and_the_share_of_is_for_who_always_says_it() -> None:
    _, test, ids = material()
    knows = Says(lambda batch: batch.targets.clamp(min=0))
    assert set(agreement(knows).values()) == {1.0}
    wrong = {ids["is"]: ids["are"], ids["are"]: ids["is"]}
    contrary = Says(lambda batch: batch.targets.clamp(min=0).apply_(lambda id: wrong.get(id, id)))
    assert set(agreement(contrary).values()) == {0.0}
    told = agreement(Says(lambda batch: torch.full_like(batch.tokens, ids["is"])))
    for distance, share in told.items():
        here = [s.words[-3] == "is" for s in test if len(s.words) - 5 == distance]
        assert share == pytest.approx(sum(here) / len(here)) and 0.2 < share < 0.8


def test_letters_come_out_backwards() -> None:
    batch = recipe.reversals(batch=9)(3)
    for source, target in zip(batch.source.tokens.tolist(), batch.target.targets.tolist(), strict=True):
        letters = [id for id in source if id in range(39, 65)]
        assert [id for id in target if id != IGNORE][:-1] == letters[::-1] and 4 <= len(letters) <= 12


def test_what_is_recorded_is_what_the_recipe_measures() -> None:
    numbers = recorded("06")["numbers"]
    assert PILOT not in SEEDS
    for kind in KINDS:
        told = numbers["agreement"][kind]
        assert told["lr"] in RATES and told["parameters"] == pytest.approx(122_000, rel=0.02)
        assert all(point["seeds"] == list(SEEDS) for reach in ("near", "far") for point in told[reach])
        assert len(told["near"]) == len(told["far"]) == len(numbers["steps"])
