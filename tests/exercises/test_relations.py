"""How a wrong output stands to the right one, where no mistake names it."""

import pytest
import torch

from plmlab.exercises import check
from plmlab.exercises.exercise import find
from plmlab.exercises.relations import relation

INPUTS = [torch.tensor([[0.5, -1.0, 2.0], [3.0, 0.25, -0.5]]), torch.tensor([[1.5, 1.0], [-2.0, 4.0], [0.1, 7.0]])]


def of(make) -> str:
    return relation([(make(right), right) for right in INPUTS])


@pytest.mark.parametrize(("make", "words"), [
    (lambda x: -x, "the negative of"), (lambda x: x.exp(), "yours is exp of"),
    (lambda x: x.softmax(-1), "is the softmax"), (lambda x: x.log_softmax(-1), "is the log-softmax"),
    (lambda x: x.T, "is transposed"),
    (lambda x: x / torch.tensor(2.0).log(), "divided by ln 2"), (lambda x: x.flip(0), "in the wrong places"),
    (lambda x: 3 * x, "times 3: is it a sum"), (lambda x: x / x.shape[0], "divided by 2 and 3 on the inputs"),
    (lambda x: x * x.shape[1], "times 3 and 2 on the inputs, in turn"),
])
def test_what_holds_on_every_input_is_said(make, words: str) -> None:
    assert words in of(make)


@pytest.mark.parametrize("make", [lambda x: x, lambda x: x + 1, lambda x: 1.5 * x, lambda x: x[:1], torch.zeros_like,
                                  lambda x: x * float("nan"), lambda x: x.long(), lambda x: None, lambda x: "text"])
def test_what_holds_not_on_all_is_not_said(make) -> None:
    assert of(make) == ""
    assert relation([(-INPUTS[0], INPUTS[0]), (INPUTS[1], INPUTS[1])]) == ""


def test_single_numbers_and_parts() -> None:
    assert "times 4 and 7" in relation([(8.0, 2.0), (21.0, 3.0)])
    assert "the logarithm" in relation([(torch.tensor(2.0).log().item(), 2.0)])
    assert "reverse order" in relation([((1, INPUTS[0]), (INPUTS[0], 1))])
    assert relation([((1, 2), (1, 2))]) == relation([]) == ""


def test_an_answer_without_a_name_gets_both_numbers_and_its_input() -> None:
    """What stands to the right loss in a simple way is told so; what does not has the first place that differs."""
    solution = find("07.1").solution
    told = repr(check("07.1", lambda logits, tokens: solution(logits, tokens).exp()))
    assert "the perplexity" in told and "yours is" in told.lower() and 'case("07.1", 1)' in told
    told = repr(check("06.1", lambda q, k, v: (q @ k.T * 2).softmax(-1) @ v))
    assert "At [0, 0]: yours is" in told and ", expected " in told
    told = repr(check("06.2", lambda scores, look: scores.softmax(-1)))
    assert "A masked key still gets weight." in told and "At [0, 0]: yours is" in told


def test_nan_says_where_and_why() -> None:
    told = repr(check("06.1", lambda q, k, v: (q @ k.T / k.shape[1] ** 0.5).softmax(-1) @ v * (0 * q).sum() / 0))
    assert "contains NaN" in told and "first at [0, 0]: exp of a large number" in told
