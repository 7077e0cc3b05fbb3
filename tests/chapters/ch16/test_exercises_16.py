"""The solutions of chapter 16 against independent ones; other right ways are not refused, and slips are named."""

from collections import Counter
from itertools import product
from math import exp, fsum, inf, log, prod

import faiss
import numpy as np
import pytest
import torch
from scipy.special import logsumexp
from torch.distributions import Categorical
from torch.nn import functional as F

from plmlab.chapters.ch16 import exercises as right
from plmlab.chapters.ch16.exercises_open_domain import answer_log_prob, retrieved
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
    assert names.most_common(1)[0][1] == 1


# The solutions

def test_chances_are_those_of_the_found_documents_alone() -> None:
    """Row by row, from a list without the missing ones."""
    scores, null = drawn(1, 3, 4), drawn(2, 3)
    numbers = torch.tensor([[5, 0, 3, 1], [2, 0, -1, -1], [-1, -1, -1, -1]])
    told = right.retrieval_log_probs(scores, numbers, null).tolist()
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
    assert right.log_marginal(prior, likelihood, asked).exp().tolist() == pytest.approx(
        [whole for whole, _ in told], rel=1e-4)
    every = [-log(chance) for _, some in told for chance in some]
    assert float(right.token_loss(prior, likelihood, asked)) == pytest.approx(fsum(every) / len(every), rel=1e-4)


def test_the_two_readings_by_hand() -> None:
    """Each of two documents knows one gap of two: inside the sum ½ · 0.09 + ½ · 0.09, outside ½ · ½."""
    prior, likelihood, asked = case("16.2", 2)
    assert float(right.log_marginal(prior, likelihood, asked)) == pytest.approx(log(0.09), abs=1e-5)
    assert float(right.token_loss(prior, likelihood, asked)) == pytest.approx(-log(0.25) / 2, abs=1e-5)


def test_both_readings_agree_where_each_text_has_one_gap() -> None:
    prior, likelihood, asked = drawn(5, 6, 4).log_softmax(1), -drawn(6, 6, 4, 3).abs(), torch.zeros(6, 3).bool()
    asked[torch.arange(6), torch.tensor([0, 2, 1, 1, 0, 2])] = True
    torch.testing.assert_close(
        -right.log_marginal(prior, likelihood, asked).mean(), right.token_loss(prior, likelihood, asked))


def test_chances_that_no_float_can_hold_are_those_of_scipy() -> None:
    prior, likelihood, asked = case("16.2", 10)
    told = right.log_marginal(prior, likelihood, asked)
    joint = prior.double().numpy() + np.where(asked[:, None], likelihood.double().numpy(), 0).sum(2)
    assert told.tolist() == pytest.approx(logsumexp(joint, axis=1).tolist(), rel=1e-5) and (told < -1000).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_gradient_is_autograds(seed: int) -> None:
    """By the score of each document, through 16.1 and 16.2; a missing one is not moved."""
    scores, likelihood = drawn(seed, 3, 4).requires_grad_(), -2 * drawn(seed + 9, 3, 5, 2).abs()
    numbers, asked = torch.tensor([[4, 0, 2, 1], [3, -1, -1, -1], [0, 1, 2, -1]]), torch.tensor([[True, True]] * 3)
    null = drawn(seed + 5, 3).requires_grad_()
    prior = right.retrieval_log_probs(scores, numbers, null)
    right.log_marginal(prior, likelihood, asked).sum().backward()
    told = right.retriever_gradient(prior.detach(), likelihood.sum(2))
    assert scores.grad is not None and null.grad is not None
    torch.testing.assert_close(told, torch.cat([null.grad[:, None], scores.grad], 1))
    assert not told[:, 1:][numbers < 0].any()


def test_the_gradient_by_hand() -> None:
    """p(y|x) = 0.4: (0.6 / 0.4 − 1) · ½ and (0.2 / 0.4 − 1) · ½; and with 0.18: (0.1 / 0.18 − 1) · 0.8."""
    first, second = (right.retriever_gradient(*case("16.4", place)) for place in (1, 2))
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
    mine = {text: float(answer_log_prob(scores, body, [*text], longest).exp()) for text in counted}
    assert mine == pytest.approx(dict(counted), abs=1e-5) and sum(mine.values()) == pytest.approx(1, abs=1e-5)
    assert len(counted) < len(spans)


# Other right ways, and slips, as people write them

def masked(gone=lambda numbers: numbers == -1, low=-inf, finish=F.log_softmax):
    """A mask, torch.where, and a softmax."""
    def answer(scores, numbers, null):
        scores = torch.where(gone(numbers), torch.tensor(low), scores)
        return finish(torch.cat([null.unsqueeze(-1), scores], dim=-1), dim=-1)
    return answer


def row_by_row(scores, numbers, null):
    """The softmax of what is there."""
    table = torch.full((len(scores), scores.shape[1] + 1), -inf)
    for i, row in enumerate(torch.cat([null[:, None], scores], 1)):
        there = [0, *(z + 1 for z, number in enumerate(numbers[i]) if number >= 0)]
        table[i, there] = row[there] - row[there].logsumexp(0)
    return table


def summed(mask=lambda y, asked: torch.where(asked[:, None, :], y, torch.tensor(0.0)), join=lambda prior, y: prior + y,
           over=lambda joint: torch.logsumexp(joint, dim=1)):
    """Gaps, then documents."""
    return lambda prior, y, asked: over(join(prior, mask(y, asked).sum(-1)))


def by_loops(prior, likelihood, asked):
    """Text by text, document by document, gap by gap."""
    found = []
    for i, gaps in enumerate(asked):
        values = [prior[i, z] + likelihood[i, z, gaps].sum() for z in range(prior.shape[1])]
        found.append(torch.stack(values).logsumexp(0))
    return torch.stack(found)


def in_chances(prior, likelihood, asked):
    each = torch.where(asked[:, None], likelihood.exp(), torch.tensor(1.0)).prod(2)
    return (prior.exp() * each).sum(1).log()


def outside(prior, likelihood, asked):
    each = (prior.unsqueeze(-1) + likelihood).logsumexp(1)
    return torch.stack([row[gaps].sum() for row, gaps in zip(each, asked, strict=True)])


def picked(prior, y, asked):
    """The gaps that are asked, in a row."""
    some = (prior.unsqueeze(2) + y).logsumexp(dim=1)[asked]
    return -some.mean() if len(some) else torch.tensor(0.0)


def each_text(prior, y, asked):
    each = (prior[..., None] + y).logsumexp(1)
    means = [each[i][asked[i]].mean() if asked[i].any() else torch.tensor(0.0) for i in range(len(each))]
    return -torch.stack(means).mean()


def multiplied(prior, y, asked):
    return -((prior[..., None] + y).logsumexp(1) * asked.float()).sum() / asked.sum().clamp(min=1)


def never_divided_by_0(prior, y, asked):
    return -(prior[..., None] + y).logsumexp(1)[asked].mean()


def as_it_stands(p=torch.exp, brackets=True):
    """The formula, the ratio in logarithms."""
    def answer(prior, y):
        times = (y - (prior + y).logsumexp(1, keepdim=True)).exp()
        return (times - 1) * p(prior) if brackets else times - 1 * p(prior)
    return answer


def through_autograd(prior, y):
    """The prior as scores: a softmax of a log-softmax is the same."""
    with torch.enable_grad():
        scores = prior.clone().requires_grad_()
        (scores.log_softmax(1) + y).logsumexp(1).sum().backward()
    return scores.grad


def into_the_prior(prior, y):
    with torch.enable_grad():
        logs = prior.clone().requires_grad_()
        (logs + y).logsumexp(1).sum().backward()
    return logs.grad


def marked(out=lambda source, removed: {source, *removed} - {-1}, real=True):
    """The scores of those that may not be found become −∞."""
    def answer(query, index, source, removed, most):
        scores = index @ query
        for number in out(source, removed):
            scores[number] = -inf
        best = scores.argsort(descending=True, stable=True)[:most]
        return [number for number in best.tolist() if not real or scores[number] > -inf]
    return answer


def listed(query, index, source, removed, most):
    """Pairs, sorted by Python."""
    best = sorted((-float((row * query).sum()), number) for number, row in enumerate(index))
    return [number for _, number in best if number not in (source, *removed)][:most]


def of_the_rest(query, index, source, removed, most):
    keep = torch.ones(len(index), dtype=torch.bool)
    keep[[number for number in (source, *removed) if number >= 0]] = False
    return (index[keep] @ query).argsort(descending=True, stable=True)[:most].tolist()


def scores_in_place(query, index, source, removed, most):
    index[source] = -inf
    return retrieved(query, index, source, removed, most)


def tabled(keep=lambda i, j, longest: (j >= i) & (j < i + longest), softmax=lambda x: x - x.flatten().logsumexp(0)):
    """The whole table, −∞ where there is no span."""
    def answer(scores, body, wanted, longest):
        place = torch.arange(len(body))
        there = keep(place[:, None], place, longest)
        table = softmax(scores.masked_fill(~there, -inf))
        some = [table[i, j] for i, j in there.nonzero() if body[i:j + 1] == wanted]
        return torch.stack(some).logsumexp(0) if some else torch.tensor(-inf)
    return answer


def by_starts(find=lambda starts: starts):
    """The places where the answer begins; the spans diagonal by diagonal."""
    def answer(scores, body, wanted, longest):
        n = len(wanted)
        starts = find([i for i in range(len(body) - n + 1) if body[i:i + n] == wanted])
        every = torch.cat([scores.diagonal(k) for k in range(min(longest, len(scores)))])
        some = [scores[i, i + n - 1] for i in starts if n <= longest]
        return torch.stack(some).logsumexp(0) - every.logsumexp(0) if some else torch.tensor(-inf)
    return answer


def never_empty(scores, body, answer, longest):
    spans = [(i, j) for i in range(len(body)) for j in range(i, min(i + longest, len(body)))]
    some = torch.stack([scores[i, j] for i, j in spans if body[i:j + 1] == answer])
    return some.logsumexp(0) - torch.stack([scores[span] for span in spans]).logsumexp(0)


@pytest.mark.parametrize(("number", "answer"), [
    ("16.1", masked()), ("16.1", row_by_row), ("16.2", summed()), ("16.2", by_loops), ("16.3", picked),
    ("16.4", as_it_stands()), ("16.4", through_autograd), ("16.5", marked()), ("16.5", listed),
    ("16.6", tabled()), ("16.6", by_starts()),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("16.1", masked(low=0.0), "e⁰ is 1"), ("16.1", masked(gone=lambda numbers: ~numbers.bool()), "−1 counts as True"),
    ("16.1", masked(finish=lambda x, dim: x.softmax(dim).log()), "og after softmax"),
    ("16.2", outside, "product is outside the sum"), ("16.2", in_chances, "too small for a float become 0"),
    ("16.2", summed(mask=lambda y, asked: y * asked[:, None]), "−∞ times 0 is NaN"),
    ("16.3", multiplied, "instead of multiplying by"), ("16.3", never_divided_by_0, "ithout masks, 0 is divided"),
    ("16.3", each_text, "mean over texts of each text's mean"),
    ("16.4", as_it_stands(brackets=False), "only the 1 is multiplied"), ("16.4", into_the_prior, "he −1 is missing"),
    ("16.4", as_it_stands(p=lambda prior: prior), "he factor is log p(z|x)"),
    ("16.5", marked(out=lambda source, removed: [source, *removed]), "1 is used as an index: it selects"),
    ("16.5", of_the_rest, "ndices are those among the remaining"),
    ("16.5", scores_in_place, "`index` is changed in place"),
    ("16.6", by_starts(find=lambda starts: starts[:1]), "nly the first span"),
    ("16.6", never_empty, "nothing to stack"),
    ("16.6", tabled(softmax=lambda x: x.log_softmax(1)), "ach start has its own softmax"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


def other(fn, change):
    return lambda *args: change(fn(*args), *args)


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("16.1", other(right.retrieval_log_probs, lambda logs, *_: logs.clamp(min=-1e9)), "−10⁹ is not enough"),
    ("16.1", other(right.retrieval_log_probs, lambda logs, *_: logs + 0.1), "do not sum to 1"),
    ("16.4", other(right.retriever_gradient, lambda pulls, *_: pulls + 0.1), "do not sum to 0"),
    ("16.4", other(right.retriever_gradient, lambda pulls, *_: pulls.flip(1)), "is negative for a document that"),
    ("16.5", other(retrieved, lambda best, *_: best[:1]), "yours is nothing, expected"),
    ("16.6", other(answer_log_prob, lambda chance, *_: chance.clamp(min=-1e9)), "expected -inf"),
])
def test_what_must_hold_is_said_of_an_answer_that_no_list_foresees(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and not feedback.mistake and words in repr(feedback), feedback
