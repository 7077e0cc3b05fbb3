"""Mistakes that are edits of a solution: what they do, and which edits are refused."""

import pytest
import torch

from plmlab.exercises.edits import edit


def root_mean_square(x: torch.Tensor) -> torch.Tensor:
    """The root of x.square().mean(): an edit changes the code, not these words."""
    mean = x.square().mean()
    return mean ** 0.5


def of(*texts: str) -> float:
    return float(edit(*texts).of(root_mean_square)(torch.tensor([3.0, -4.0])))


def test_an_edit_changes_the_code_and_nothing_else() -> None:
    before = root_mean_square(torch.tensor([3.0, -4.0]))
    assert of(" ** 0.5", "") == 12.5
    assert of("x.square().mean()", "x.abs().max()", "** 0.5", "+ 1") == 5.0
    assert torch.equal(root_mean_square(torch.tensor([3.0, -4.0])), before)


def test_one_edit_follows_the_other() -> None:
    assert of("mean()", "sum()", "sum()", "amax()") == 4.0


def test_edited_code_may_call_what_mistakes_share() -> None:
    assert of("mean ** 0.5", "by_exp(x)[0]") == pytest.approx(1 / (1 + torch.tensor(-7.0).exp().item()))


@pytest.mark.parametrize(("texts", "words"), [
    (("cube", "x"), "'cube' occurs 0 times in root_mean_square"), (("mean", "sum"), "'mean' occurs 4 times"),
    (("the root of", ""), "occurs 0 times"),
])
def test_what_stands_not_once_is_refused(texts: tuple[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        edit(*texts).of(root_mean_square)


def test_an_edit_that_is_no_python_is_refused() -> None:
    with pytest.raises(SyntaxError):
        edit("** 0.5", "** 0.5)").of(root_mean_square)
    with pytest.raises(ValueError, match="zip"):
        edit("one alone")
