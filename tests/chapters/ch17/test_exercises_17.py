"""The exercises of chapter 17: solutions against plmlab's RAG, DPR and BM25, other correct answers, and mistakes."""

from collections import Counter
from functools import partial
from math import exp, fsum, inf, log
from random import Random

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from plmlab.chapters.ch17 import exercises as rag
from plmlab.chapters.ch17 import exercises_dpr as dpr
from plmlab.draws import choice, randint
from plmlab.exercises import case, check
from plmlab.exercises.exercise import of_chapter
from plmlab.models.dual_encoder import in_batch_loss
from plmlab.models.marginals import sequence_marginal, sequence_posterior, token_marginal
from plmlab.retrieval import BM25


def drawn(seed: int, *size: int) -> Tensor:
    return torch.randn(*size, generator=torch.Generator().manual_seed(seed))


def answers(seed: int, lengths: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Prior, likelihood and mask for four documents, of which the last question misses one."""
    prior = drawn(seed, len(lengths), 4)
    prior[-1, 2] = -inf
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return prior.log_softmax(1), -drawn(seed + 50, len(lengths), 4, max(lengths)).abs(), mask


def test_no_two_mistakes_have_the_same_name() -> None:
    names = Counter(name for exercise in of_chapter("17") for name in exercise.mistakes)
    assert max(names.values()) == 1


@pytest.mark.parametrize("lengths", [[3, 1, 2], [1, 5], [4]])
def test_both_forms_are_those_of_plmlab(lengths: list[int]) -> None:
    prior, likelihood, mask = answers(len(lengths), lengths)
    sequence, token = rag.rag_log_probs(prior, likelihood, mask)
    torch.testing.assert_close(sequence, sequence_marginal(prior, likelihood, mask))
    torch.testing.assert_close(token, token_marginal(prior, likelihood, mask).sum(1))


def test_both_forms_by_hand() -> None:
    """½ · 0.09 + ½ · 0.09, and (½ · 0.9 + ½ · 0.1)²."""
    sequence, token = rag.rag_log_probs(*case("17.1", 2))
    assert (float(sequence.exp()), float(token.exp())) == pytest.approx((0.09, 0.25), abs=1e-6)


@pytest.mark.parametrize("questions", [1, 2, 5])
def test_the_loss_is_that_of_plmlab(questions: int) -> None:
    vectors, documents = drawn(questions, questions, 3), drawn(9, 2 * questions, 3)
    torch.testing.assert_close(dpr.dpr_loss(vectors, documents), in_batch_loss(vectors, documents))


def test_the_loss_by_hand() -> None:
    """Scores 2, 0, 1, −1 and 2, 2, 2, 1."""
    losses = [log(fsum(map(exp, (0, -2, -1, -3)))), log(3 + exp(-1))]
    assert float(dpr.dpr_loss(*case("17.2", 2))) == pytest.approx(fsum(losses) / 2, abs=1e-6)


@pytest.mark.parametrize("length", [1, 2, 6])
def test_posteriors_are_those_of_plmlab(length: int) -> None:
    """Their likelihoods multiply to RAG-Sequence's p(y|x)."""
    prior, likelihood, mask = answers(length, [length] * 3)
    found = rag.document_posteriors(prior, likelihood)
    torch.testing.assert_close(found, sequence_posterior(prior, likelihood, mask))
    torch.testing.assert_close((found + likelihood).logsumexp(1).sum(1), sequence_marginal(prior, likelihood, mask))


def contains(words: list[str], answer: list[str]) -> bool:
    """With spaces around both, a string is contained if and only if the words are."""
    return f" {' '.join(answer)} " in f" {' '.join(words)} "


def test_the_hard_negative_is_the_best_by_bm25_without_the_answer() -> None:
    rng, size, none = Random(0), 4, 0
    for _ in range(60):
        documents = [[choice(rng, ["a", "b", "ab", "c"]) for _ in range(1 + randint(rng, 7))] for _ in range(size)]
        answer, query = ([choice(rng, ["a", "b", "ab"]) for _ in range(words)] for words in (1 + randint(rng, 2), 3))
        ranked = BM25(documents).search([query], size)
        scores = dict(zip(ranked.numbers[0].tolist(), ranked.scores[0].tolist(), strict=True))
        gold = [randint(rng, size)]
        excluded = {*gold, *(i for i, words in enumerate(documents) if contains(words, answer))}
        best, found = ranked.without([excluded], 1), dpr.hard_negative(
            [scores[i] for i in range(size)], documents, answer, gold)
        assert scores.get(found, -inf) == float(best.scores) and found not in excluded
        none += found == -1 == int(best.numbers)
        assert found == min((i for i in range(size) if i not in excluded and scores[i] == scores[found]), default=-1)
    assert 0 < none < 30


# Other correct answers, and mistakes, as people write them

def in_loops(prior, likelihood, mask, outside=torch.logsumexp, masked=lambda values, mask: values[mask]):
    """Question by question, document by document, and token by token."""
    sequence, token = [], []
    for p, values, real in zip(prior, likelihood, mask, strict=True):
        rows = torch.stack([masked(row, real) for row in values])
        sequence.append(outside(torch.stack([p[z] + row.sum() for z, row in enumerate(rows)]), 0))
        token.append(sum(outside(p + column, 0) for column in rows.T))
    return torch.stack(sequence), torch.stack(token)


def in_probabilities(prior, likelihood, mask):
    probs = torch.where(mask[:, None], likelihood.exp(), torch.tensor(1.0))
    return (prior.exp() * probs.prod(2)).sum(1).log(), (prior.exp()[..., None] * probs).sum(1).prod(1).log()


def by_cross_entropy(questions, documents, target=lambda n: torch.arange(n), reduction="mean", scale=lambda x: x):
    return F.cross_entropy(scale(questions) @ scale(documents).T, target(len(questions)), reduction=reduction)


def question_by_question(questions, documents, negatives=lambda i, n: [j for j in range(2 * n) if j != i]):
    losses = [F.softplus(torch.logsumexp(documents[negatives(i, len(questions))] @ x, 0) - documents[i] @ x)
              for i, x in enumerate(questions)]
    return sum(losses) / len(losses)


def bayes(prior, likelihood, first=lambda weights, update: weights, again=lambda prior, weights: weights,
          normalized=lambda weights: weights - weights.logsumexp(1, keepdim=True)):
    """A loop over the tokens, as in decoding."""
    weights, found = prior, []
    for update in likelihood.unbind(2):
        found.append(normalized(first(weights, update)))
        weights = again(prior, weights) + update
    return torch.stack(found, 2)


def from_the_top(scores, documents, answer, gold, found=contains, rank=lambda scores, i: (-scores[i], i)):
    ranked = sorted(range(len(scores)), key=partial(rank, scores))
    return next((i for i in ranked if i not in gold and not found(documents[i], answer)), -1)


def as_they_come(scores, documents, answer, gold, best=-inf):
    number = -1
    for i, score in enumerate(scores):
        if i not in gold and not contains(documents[i], answer) and score > best:
            best, number = score, i
    return number


def left_out(words: list[str], answer: list[str]) -> bool:
    """Whether the answer's words occur in this order, with or without others between them."""
    rest = iter(words)
    return all(word in rest for word in answer)


@pytest.mark.parametrize(("number", "answer"), [
    ("17.1", in_loops), ("17.2", by_cross_entropy), ("17.2", question_by_question), ("17.3", bayes),
    ("17.4", from_the_top), ("17.4", as_they_come)])
def test_another_correct_answer_is_accepted(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


@pytest.mark.parametrize(("number", "answer", "named"), [
    ("17.1", in_probabilities, "logsumexp avoids"), ("17.1", partial(in_loops, outside=torch.amax), "only the best"),
    ("17.1", partial(in_loops, masked=lambda values, mask: values), "padding counts"),
    ("17.2", partial(by_cross_entropy, reduction="sum"), "are summed"),
    ("17.2", partial(by_cross_entropy, scale=partial(F.normalize, dim=1)), "cosine"),
    ("17.2", partial(question_by_question, negatives=lambda i, n: [n + i]), "own hard negative"),
    ("17.3", partial(bayes, first=torch.add), "oken i itself"),
    ("17.3", partial(bayes, again=lambda prior, weights: prior), "nly the last token"),
    ("17.3", partial(bayes, normalized=lambda weights: weights), "normalize over z"),
    ("17.4", partial(from_the_top, found=lambda words, answer: set(answer) <= set(words)), "next to each other"),
    ("17.4", partial(from_the_top, found=lambda words, answer: " ".join(answer) in " ".join(words)), "as a string"),
    ("17.4", partial(as_they_come, best=0.0), "starts at 0"),
])
def test_a_mistake_is_named(number: str, answer, named: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and named in feedback.mistake, feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("17.1", lambda prior, y, mask: in_loops(prior, y, mask)[:1] * 2),
    ("17.1", lambda prior, y, mask: in_loops(prior, y.clamp(min=-50), mask)),
    ("17.2", lambda questions, documents: by_cross_entropy(questions / questions.shape[1] ** 0.5, documents)),
    ("17.2", lambda questions, documents: by_cross_entropy(questions, documents).clamp(max=100)),
    ("17.3", lambda prior, y: bayes(prior, y).clamp(min=-1e9)), ("17.3", lambda prior, y: bayes(prior, y).exp()),
    ("17.4", partial(from_the_top, rank=lambda scores, i: (-scores[i], -i))),
    ("17.4", partial(from_the_top, found=left_out)),
    ("17.4", partial(from_the_top, found=lambda words, answer: words[-len(answer):] == answer)),
    ("17.4", lambda *given: max(from_the_top(*given), 0)),
])
def test_no_wrong_answer_passes(number: str, answer) -> None:
    """One form twice, values cut off, scores divided by √width, another tie rule, words that are
    not adjacent, answers at the end alone, and no −1."""
    assert not check(number, answer).ok


def test_what_must_hold_is_checked_for_an_answer_that_no_list_foresees() -> None:
    feedback = check("17.3", lambda prior, likelihood: bayes(prior, likelihood) - 0.1)
    assert not feedback.mistake and "do not sum to 1" in repr(feedback)
