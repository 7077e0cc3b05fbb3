"""The solutions of chapter 16 against independent ones; and what is wrong with an answer that no list foresees."""

from collections import Counter
from itertools import product
from math import exp, fsum, inf, log, prod

import faiss
import numpy as np
import pytest
import torch
from scipy.special import logsumexp
from torch.distributions import Categorical

from plmlab.chapters.ch16 import exercises as right
from plmlab.chapters.ch16 import exercises_marginal as marginal
from plmlab.chapters.ch16.exercises_search import retrieved
from plmlab.chapters.ch16.exercises_spans import answer_log_chance
from plmlab.exercises import case, check, hint, solution
from plmlab.exercises.exercise import of_chapter

RNG = torch.Generator()


def drawn(seed: int, *size: int) -> torch.Tensor:
    return torch.randn(*size, generator=RNG.manual_seed(seed))


# The chapter's six

@pytest.mark.parametrize("number", [f"16.{place}" for place in range(1, 7)])
def test_each_is_asked_by_its_number(number: str) -> None:
    told = solution(number)
    assert "return" in repr(told) and number in repr(hint(number)) and isinstance(case(number, 1), tuple)


def test_no_two_mistakes_of_the_chapter_have_one_name() -> None:
    names = Counter(name for exercise in of_chapter("16") for name in exercise.mistakes)
    assert len(names) > 100 and names.most_common(1)[0][1] == 1


# The solutions

def test_chances_are_those_of_the_found_documents_alone() -> None:
    """Row by row, from a list without the missing ones."""
    scores, null = drawn(1, 3, 4), drawn(2, 3)
    numbers = torch.tensor([[5, 0, 3, 1], [2, 0, -1, -1], [-1, -1, -1, -1]])
    told = right.log_chances(scores, numbers, null).tolist()
    for row, found, first, mine in zip(scores.tolist(), numbers.tolist(), null.tolist(), told, strict=True):
        there = [first, *(score for score, number in zip(row, found, strict=True) if number >= 0)]
        logs = [log(exp(score) / fsum(map(exp, there))) for score in there]
        assert mine == pytest.approx([*logs, *[-inf] * (5 - len(logs))], abs=1e-5)


def brute(prior: torch.Tensor, likelihood: torch.Tensor, asked: torch.Tensor) -> list[tuple[float, list[float]]]:
    """For each text, in chances of Python's: p(y|x) as the paper has it, and what each gap has by itself."""
    found = []
    for p, y, gaps in zip(prior.double().exp().tolist(), likelihood.double().exp().tolist(), asked.tolist(),
                          strict=True):
        places = [place for place, gap in enumerate(gaps) if gap]
        whole = fsum(weight * prod(says[place] for place in places) for weight, says in zip(p, y, strict=True))
        found.append((whole, [fsum(weight * says[place] for weight, says in zip(p, y, strict=True))
                              for place in places]))
    return found


@pytest.mark.parametrize("gaps", [[3, 1, 2], [0, 4], [2, 2, 2, 2]])
def test_both_readings_by_chances(gaps: list[int]) -> None:
    prior, likelihood = drawn(3, len(gaps), 3).log_softmax(1), -3 * drawn(4, len(gaps), 3, 4).abs()
    asked = torch.arange(4) < torch.tensor(gaps)[:, None]
    told = brute(prior, likelihood, asked)
    assert marginal.log_marginal(prior, likelihood, asked).exp().tolist() == pytest.approx(
        [whole for whole, _ in told], rel=1e-4)
    every = [-log(chance) for _, some in told for chance in some]
    assert float(marginal.token_loss(prior, likelihood, asked)) == pytest.approx(fsum(every) / len(every), rel=1e-4)


def test_the_two_readings_by_hand() -> None:
    """Each of two documents knows one gap of two: inside the sum ½ · 0.09 + ½ · 0.09, outside ½ · ½."""
    prior, likelihood, asked = case("16.2", 2)
    assert float(marginal.log_marginal(prior, likelihood, asked)) == pytest.approx(log(0.09), abs=1e-5)
    assert float(marginal.token_loss(prior, likelihood, asked)) == pytest.approx(-log(0.25) / 2, abs=1e-5)


def test_both_readings_agree_where_each_text_has_one_gap() -> None:
    prior, likelihood, asked = drawn(5, 6, 4).log_softmax(1), -drawn(6, 6, 4, 3).abs(), torch.zeros(6, 3).bool()
    asked[torch.arange(6), torch.tensor([0, 2, 1, 1, 0, 2])] = True
    torch.testing.assert_close(
        -marginal.log_marginal(prior, likelihood, asked).mean(), marginal.token_loss(prior, likelihood, asked))


def test_chances_that_no_float_can_hold_are_those_of_scipy() -> None:
    prior, likelihood, asked = case("16.2", 10)
    told = marginal.log_marginal(prior, likelihood, asked)
    joint = prior.double().numpy() + np.where(asked[:, None], likelihood.double().numpy(), 0).sum(2)
    assert told.tolist() == pytest.approx(logsumexp(joint, axis=1).tolist(), rel=1e-5) and (told < -1000).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_gradient_is_autograds(seed: int) -> None:
    """By the score of each document, through 16.1 and 16.2; a missing one is not moved."""
    scores, likelihood = drawn(seed, 3, 4).requires_grad_(), -2 * drawn(seed + 9, 3, 5, 2).abs()
    numbers, asked = torch.tensor([[4, 0, 2, 1], [3, -1, -1, -1], [0, 1, 2, -1]]), torch.tensor([[True, True]] * 3)
    null = drawn(seed + 5, 3).requires_grad_()
    prior = right.log_chances(scores, numbers, null)
    marginal.log_marginal(prior, likelihood, asked).sum().backward()
    told = marginal.retriever_gradient(prior.detach(), likelihood.sum(2))
    assert scores.grad is not None and null.grad is not None
    torch.testing.assert_close(told, torch.cat([null.grad[:, None], scores.grad], 1))
    assert not told[:, 1:][numbers < 0].any()


def test_the_gradient_by_hand() -> None:
    """p(y|x) = 0.4: (0.6 / 0.4 − 1) · ½ and (0.2 / 0.4 − 1) · ½; and with 0.18: (0.1 / 0.18 − 1) · 0.8."""
    first, second = (marginal.retriever_gradient(*case("16.4", place)) for place in (1, 2))
    assert first[0].tolist() == pytest.approx([0.25, -0.25])
    assert second[0].tolist() == pytest.approx([-0.8 * 0.08 / 0.18, 0.2 * 0.32 / 0.18])


@pytest.mark.parametrize("seed", range(5))
def test_the_search_is_faiss(seed: int) -> None:
    """Its exact inner-product index, which is told whom to leave out."""
    query, vectors, source, removed = drawn(seed, 6), drawn(seed + 20, 30, 6), seed - 1, [2, 29 - seed]
    theirs = faiss.IndexFlatIP(6)
    theirs.add(vectors.numpy())
    out = np.array([number for number in (source, *removed) if number >= 0])
    left = faiss.SearchParameters(sel=faiss.IDSelectorNot(faiss.IDSelectorBatch(out)))
    _, found = theirs.search(query.numpy()[None], 28, params=left)
    best = [number for number in found[0].tolist() if number >= 0]
    for most in (1, 7, 28):
        assert retrieved(query, vectors, source, removed, most) == best[:most]


def test_equal_scores_are_in_the_order_of_their_numbers() -> None:
    whole = torch.tensor([[float(score)] for score in np.random.default_rng(0).integers(0, 3, 60)])
    best = np.lexsort((np.arange(60), -whole[:, 0].numpy())).tolist()
    assert retrieved(torch.ones(1), whole, -1, [], 60) == best


@pytest.mark.parametrize("seed", range(3))
def test_the_chances_of_all_answers_add_up_to_one(seed: int) -> None:
    """What can be read off a body of few different tokens, each way to spell it once, against drawn spans."""
    body, longest = [7, 8, 7, 7, 8, 9, 7], 2 + seed
    scores = 2 * drawn(seed, 7, 7)
    spans = [(i, j) for i, j in product(range(7), repeat=2) if i <= j < i + longest]
    chances = Categorical(logits=torch.stack([scores[span] for span in spans])).probs.tolist()
    counted: Counter[tuple[int, ...]] = Counter()
    for (i, j), chance in zip(spans, chances, strict=True):
        counted[tuple(body[i:j + 1])] += chance
    mine = {text: float(answer_log_chance(scores, body, [*text], longest).exp()) for text in counted}
    assert mine == pytest.approx(dict(counted), abs=1e-5) and sum(mine.values()) == pytest.approx(1, abs=1e-5)
    assert len(counted) < len(spans)


# Wrong in other words

def other(fn, change):
    return lambda *args: change(fn(*args), *args)


def scores_in_place(query, index, source, removed, most):
    index[source] = -inf
    return retrieved(query, index, source, removed, most)


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("16.1", other(right.log_chances, lambda logs, *_: logs.tolist()), "expected was a tensor [1, 3]"),
    ("16.1", other(right.log_chances, lambda logs, *_: logs.double()), "holds float64 numbers"),
    ("16.1", other(right.log_chances, lambda logs, *_: logs.clamp(min=-1e9)), "−10⁹ will not do"),
    ("16.1", other(right.log_chances, lambda logs, *_: logs + 0.1), "do not add up to 1"),
    ("16.1", other(right.log_chances, lambda logs, *_: logs.roll(1, 1)), "At [0, 0]: yours is"),
    ("16.2", other(marginal.log_marginal, lambda logs, *_: logs[:, None]), "has the shape [1, 1]; expected was [1]"),
    ("16.2", other(marginal.log_marginal, lambda logs, *_: logs + 0.01), "At [0]: yours is"),
    ("16.3", other(marginal.token_loss, lambda loss, *_: float(loss)), "expected was a tensor []"),
    ("16.3", other(marginal.token_loss, lambda loss, *_: loss * 1.01), "ours is"),
    ("16.4", other(marginal.retriever_gradient, lambda pulls, *_: pulls + 0.1), "does not add up to 0"),
    ("16.4", other(marginal.retriever_gradient, lambda pulls, *_: pulls.flip(1)), "is pushed down, or one that"),
    ("16.4", other(marginal.retriever_gradient, lambda pulls, *_: pulls * 2), "At [0, 0]: yours is 0.5, right is 0.25"),
    ("16.5", scores_in_place, "`index` is changed in place"),
    ("16.5", other(retrieved, lambda best, *_: torch.tensor(best)), "expected was a list"),
    ("16.5", other(retrieved, lambda best, *_: best[:1]), "yours is nothing, right is"),
    ("16.5", other(retrieved, lambda best, query, index, source, removed, most: [*best, *[-1] * (most - len(best))]),
     "yours is -1, right is nothing"),
    ("16.6", other(answer_log_chance, lambda chance, *_: chance[None]), "has the shape [1]; expected was []"),
    ("16.6", other(answer_log_chance, lambda chance, *_: chance.clamp(min=-1e9)), "right is -inf"),
    ("16.6", other(answer_log_chance, lambda chance, *_: chance - 0.01), "ours is"),
])
def test_what_is_wrong_is_said(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and not feedback.mistake and words in repr(feedback), feedback
