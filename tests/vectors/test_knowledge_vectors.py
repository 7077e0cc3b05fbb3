"""Entity vectors by numpy's SVD of matrices that are filled in by hand."""

from math import log, sqrt

import numpy as np
import pytest
import torch

from plmlab.vectors.knowledge import description_vectors, graph_vectors, truncated_svd

TRIPLES = [("ada", "born_in", "rome"), ("bo", "born_in", "rome"), ("ada", "knows", "bo"), ("cy", "born_in", "oslo"),
           ("ada", "likes", "tea"), ("ada", "knows", "bo"), ("bo", "knows", "cy"), ("cy", "knows", "ada")]
PEOPLE = ["ada", "bo", "cy", "rome"]
MATRIX = np.array([[1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0],
                   [0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]], float)
"""Columns: born in Rome; Ada knows Bo, likes tea, is known by Cy; Bo is known by Ada, knows Cy; Cy is born in Oslo,
knows Ada, is known by Bo; Rome is the birthplace of Ada, of Bo. Who knows Cy and whom Cy knows are two columns."""


@pytest.mark.parametrize("width", [1, 2, 4])
def test_the_graph_by_numpy(width: int) -> None:
    """Oslo and tea are no entities here, only neighbours; a fact that is given twice counts once."""
    made = graph_vectors(PEOPLE, TRIPLES, width).numpy()
    left, sizes, _ = np.linalg.svd(MATRIX)
    expected = (left * sizes)[:, :width]
    assert made.shape == (4, width) and made.dtype == np.float32
    np.testing.assert_allclose(made @ made.T, expected @ expected.T, atol=1e-5)
    assert (made[np.abs(made).argmax(0), np.arange(width)] > 0).all()


def test_descriptions_by_hand() -> None:
    made = description_vectors([["a", "red", "red", "bus"], ["a", "bus"], ["a", "sea"], ["a"]], 4)
    red, bus = log(3) * log(4), log(2) * log(2)
    length = sqrt(red ** 2 + bus ** 2)
    expected = torch.tensor([[1, bus / length, 0, 0], [bus / length, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])
    torch.testing.assert_close(made @ made.T, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("width", [0, 4])
def test_more_dimensions_than_entities_are_refused(width: int) -> None:
    with pytest.raises(ValueError, match=rf"width={width}: 3 entities"):
        truncated_svd(3, [], width)
