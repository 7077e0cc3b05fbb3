"""Documents that were retrieved, by loops over the numbers and scores of each query, and by a softmax written out."""

import math
from itertools import pairwise
from random import Random

import pytest
import torch
from torch import Tensor

from plmlab.retrieval import NULL, Retrieved

Rows = list[list[tuple[int, float]]]
"""(number, score) of each query's documents, the best first."""


def drawn(seed: int, least: int = 0) -> Rows:
    rng = Random(seed)
    sizes = [rng.randrange(least, 6) for _ in range(rng.randrange(1, 6))]
    return [[*zip(rng.sample(range(20), size), sorted((rng.gauss(0, 3) for _ in range(size)), reverse=True),
                  strict=True)] for size in sizes]


def given(rows: Rows) -> Retrieved:
    wide = max(map(len, rows))
    return Retrieved(torch.tensor([[number for number, _ in row] + [-1] * (wide - len(row)) for row in rows]).long(),
                     torch.tensor([[score for _, score in row] + [-math.inf] * (wide - len(row)) for row in rows],
                                  dtype=torch.float64))


def softmax(scores: list[float], temperature: float) -> list[float]:
    each = [math.exp((score - max(scores)) / temperature) for score in scores]
    return [one / math.fsum(each) for one in each]


@pytest.mark.parametrize("temperature", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("seed", range(10))
def test_probabilities_are_a_softmax_over_what_is_there(seed: int, temperature: float) -> None:
    rows = drawn(seed)
    found = given(rows)
    logs, chances = found.logprobs(temperature), found.probs(temperature)
    for row, some in enumerate(rows):
        expected = softmax([score for _, score in some], temperature) if some else []
        assert chances[row].tolist() == pytest.approx([*expected, *[0] * (logs.shape[1] - len(some))], abs=1e-12)
        assert logs[row, :len(some)].exp().tolist() == pytest.approx(expected, abs=1e-12)
        assert logs[row, len(some):].isneginf().all(), "also where a query has no document at all"


def test_probabilities_too_small_for_a_float_keep_their_logarithm() -> None:
    found = Retrieved(torch.tensor([[4, 7, -1]]), torch.tensor([[2000.0, 0.0, -torch.inf]]))
    assert found.logprobs().tolist() == [[0, -2000, -math.inf]] and found.probs().tolist() == [[1, 0, 0]]
    assert found.logprobs(2000.0)[0, :2].tolist() == pytest.approx([-math.log(1 + math.exp(-1)),
                                                                    -1 - math.log(1 + math.exp(-1))])


@pytest.mark.parametrize("seed", range(10))
def test_the_gradient_reaches_what_is_there_alone(seed: int) -> None:
    """The derivative of Σ w log p is w − p Σ w."""
    rows = drawn(seed, least=1)
    found = given(rows)
    scores = found.scores.clone().requires_grad_()
    weights = torch.randn(scores.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    (Retrieved(found.numbers, scores).logprobs().masked_fill(~found.doc_mask, 0) * weights).sum().backward()
    for row, some in enumerate(rows):
        mine = weights[row, :len(some)].tolist()
        expected = [weight - chance * math.fsum(mine)
                    for weight, chance in zip(mine, softmax([score for _, score in some], 1), strict=True)]
        assert scores.grad[row].tolist() == pytest.approx([*expected, *[0] * (scores.shape[1] - len(some))], abs=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_flat_pairs_and_back(seed: int) -> None:
    rows = drawn(seed)
    found = given(rows)
    pairs = [(query, number) for query, some in enumerate(rows) for number, _ in some]
    assert [tuple(pair) for pair in found.pairs.tolist()] == pairs
    assert found.lists() == [tuple(number for number, _ in some) for some in rows]
    assert found.documents.tolist() == sorted({number for _, number in pairs})
    assert found.doc_mask.tolist() == [[place < len(some) for place in range(found.doc_mask.shape[1])] for some in rows]
    for shape in ((), (3,), (2, 4)):
        flat = torch.randn(len(pairs), *shape, generator=torch.Generator().manual_seed(seed))
        table, place = found.unflatten(flat, -torch.inf), iter(flat)
        for query, some in enumerate(rows):
            assert all(torch.equal(table[query, doc], next(place)) for doc in range(len(some)))
            assert table[query, len(some):].isneginf().all()
        assert table.shape == (*found.doc_mask.shape, *shape) and torch.equal(table[found.doc_mask], flat)


def test_flags_and_counts_are_laid_out_too() -> None:
    found = Retrieved.of([[5], [2, NULL]])
    assert found.unflatten(torch.tensor([True, False, True]), False).tolist() == [[True, False], [False, True]]
    assert found.unflatten(torch.tensor([3, 4, 5]), 0).tolist() == [[3, 0], [4, 5]]


@pytest.mark.parametrize("seed", range(10))
def test_some_are_excluded(seed: int) -> None:
    rows, rng = drawn(seed), Random(seed)
    excluded = [{*rng.sample(range(20), 8)} for _ in rows]
    for top_k in (1, 3, 9):
        found = given(rows).without(excluded, top_k)
        for query, (some, out) in enumerate(zip(rows, excluded, strict=True)):
            left = [(number, score) for number, score in some if number not in out][:top_k]
            empty = min(top_k, found.numbers.shape[1]) - len(left)
            assert found.numbers[query].tolist() == [number for number, _ in left] + [-1] * empty
            assert found.scores[query].tolist() == [score for _, score in left] + [-math.inf] * empty


def test_the_null_document_comes_first_and_is_not_missing() -> None:
    found = Retrieved.of([[3, 8], [], [5]]).with_null()
    assert found.lists() == [(NULL, 3, 8), (NULL,), (NULL, 5)] and found.documents.tolist() == [NULL, 3, 5, 8]
    assert found.scores.tolist() == [[0, 0, 0], [0, -math.inf, -math.inf], [0, 0, -math.inf]]


def test_some_queries_without_the_columns_that_they_do_not_need() -> None:
    found = Retrieved.of([[3, 8, 2], [], [5], [1, 4]])
    assert found[1:3].numbers.tolist() == [[-1], [5]] and found[3:].lists() == [(1, 4)] and len(found[:2]) == 2
    assert found[1:2].numbers.shape == (1, 0) and found[:].numbers.shape == (4, 3)


def vectors(seed: int, *shape: int) -> Tensor:
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=draw, dtype=torch.float64, requires_grad=True)


def test_scores_that_learn_are_inner_products() -> None:
    found = Retrieved.of([[3, 0], [2]])
    queries, table = vectors(1, 2, 4), vectors(2, 5, 4)
    scored = found.scored(queries, table[found.numbers])
    assert scored.scores[found.doc_mask].tolist() == pytest.approx([
        float(queries[query].detach() @ table[number].detach()) for query, number in found.pairs.tolist()])
    assert scored.scores[1, 1] == -math.inf and torch.equal(scored.numbers, found.numbers)
    scored.logprobs()[:, 0].sum().backward()
    assert queries.grad[0].any() and not queries.grad[1].any(), "one document has the probability 1 whatever it scores"
    assert table.grad.any(1).tolist() == [True, False, False, True, False]


def test_moving_keeps_everything() -> None:
    found = Retrieved.of([[3, 0], [2]])
    moved = found.to("meta")
    assert moved.numbers.device.type == moved.scores.device.type == "meta" and moved.numbers.shape == (2, 2)
    assert torch.equal(found.to("cpu").scores, found.scores)


def test_nothing_at_all() -> None:
    for found in (Retrieved.of([]), Retrieved.of([[], []])):
        assert found.lists() == [()] * len(found) and found.pairs.shape == (0, 2) and not len(found.documents)
        assert found.probs().shape == found.logprobs().shape == found.numbers.shape == (len(found), 0)


def test_what_is_refused() -> None:
    for temperature in (0.0, -1.0):
        with pytest.raises(ValueError, match="give a number above 0"):
            Retrieved.of([[1]]).logprobs(temperature)
    with pytest.raises(ValueError, match="given for 1 queries, but there are 2"):
        Retrieved.of([[1], [2]]).without([{1}], 1)


def test_a_higher_temperature_is_flatter() -> None:
    found = Retrieved(torch.tensor([[1, 2, 3]]), torch.tensor([[2.0, 1.0, -1.0]]))
    best = [float(found.probs(temperature)[0, 0]) for temperature in (0.2, 1.0, 5.0, 1e6)]
    assert all(one > other for one, other in pairwise(best)) and best[-1] == pytest.approx(1 / 3, abs=1e-5)
