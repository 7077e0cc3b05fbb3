"""The tasks of long memory: what is right about a sequence, by brute force, and what knowing nothing costs."""

import pytest
import torch

from plmlab.chapters.ch01.tasks import TASKS


def drawn(task: str, count: int, steps: int) -> tuple[torch.Tensor, torch.Tensor]:
    return TASKS[task].draw(count, steps, torch.Generator().manual_seed(0))


@pytest.mark.parametrize("steps", [2, 5, 50])
def test_two_numbers_are_marked_one_in_each_half_and_added(steps: int) -> None:
    x, sums = drawn("adding", 200, steps)
    assert x.shape == (200, steps, 2) and sums.shape == (200, 1)
    for row, total in zip(x.tolist(), sums[:, 0].tolist(), strict=True):
        marked = [place for place, (_, mark) in enumerate(row) if mark]
        assert len(marked) == 2 and marked[0] < steps // 2 <= marked[1]
        assert total == pytest.approx(sum(row[place][0] for place in marked), abs=1e-6)
        assert all(0 <= value < 1 for value, _ in row)


def test_every_place_of_a_half_can_be_marked() -> None:
    x, _ = drawn("adding", 2000, 5)
    assert (x[..., 1].sum(0) > 0).all()


def test_who_always_says_one_pays_a_sixth() -> None:
    _, sums = drawn("adding", 100_000, 10)
    task = TASKS["adding"]
    assert float(task.error(torch.ones_like(sums), sums)) == pytest.approx(task.constant, abs=0.003)
    for other in (0.9, 1.1):
        assert float(task.error(torch.full_like(sums, other), sums)) > task.constant


@pytest.mark.parametrize("lag", [1, 30])
def test_the_first_sign_is_one_of_two_and_the_rest_is_noise(lag: int) -> None:
    x, first = drawn("first symbol", 500, lag)
    assert x.shape == (500, lag + 1, TASKS["first symbol"].inputs) and (x.sum(-1) == 1).all()
    assert x[:, 0].argmax(-1).equal(first) and set(first.tolist()) == {0, 1}
    assert (x[:, 1:].argmax(-1) > 1).all()


def test_a_wrong_answer_counts_one_and_a_right_one_none() -> None:
    logits, right = torch.tensor([[2.0, 1.0], [0.0, 3.0], [5.0, 1.0], [1.0, 0.0]]), torch.tensor([0, 1, 1, 0])
    assert float(TASKS["first symbol"].error(logits, right)) == 0.25
