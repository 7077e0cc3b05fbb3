"""The mutual information of two masked words, against another way to compute it."""

from math import log

import pytest
import torch

from plmlab.chapters.ch08.exercises import independent_prediction
from plmlab.chapters.ch08.independence import mutual_information, of_random_positions
from plmlab.world import World

KEYS = ["the", "keys", "near", "the", "table", "are", "lost", "."]


def test_subject_and_verb_share_one_bit() -> None:
    assert mutual_information(KEYS, 1, 5) == pytest.approx(log(2), abs=0.01)
    assert mutual_information(KEYS, 5, 1) == pytest.approx(mutual_information(KEYS, 1, 5))


def test_it_is_the_divergence_from_the_product_of_the_marginals(full: World) -> None:
    joint = full.joint(KEYS, [1, 6])
    rows, columns = ([*dict.fromkeys(pair[i] for pair in joint)] for i in (0, 1))
    table = torch.tensor([[joint.get((a, b), 0.0) for b in columns] for a in rows])
    assert mutual_information(KEYS, 1, 6) == pytest.approx(float(independent_prediction(table)[1]), abs=1e-4)


def test_of_random_positions_there_is_one_value_per_sentence_and_none_is_negative() -> None:
    values = of_random_positions(10)
    assert len(values) == 10 and min(values) > -1e-9
