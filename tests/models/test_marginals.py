"""What a text is worth that may come from several documents: by sums of products, against RAG of ``transformers``, at
the edges of floats, and its gradients."""

import math
from random import Random
from types import SimpleNamespace

import pytest
import torch
from realm_small import same, softmax
from torch import Tensor
from transformers import RagSequenceForGeneration, RagTokenForGeneration

from plmlab.models.marginals import sequence_marginal, sequence_posterior, token_marginal, token_posterior

PAD, BOS = 0, 1


def drawn(seed: int, rows: int = 4, docs: int = 3, tokens: int = 5) -> tuple[Tensor, Tensor, Tensor]:
    """log p(z|x), some documents missing; log p(y_j|z,x); and which tokens there are, one at least."""
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(rows, docs, generator=generator, dtype=torch.float64) * 3
    missing = torch.rand(rows, docs, generator=generator) < 0.3
    missing[:, 0] = False
    logs = -torch.rand(rows, docs, tokens, generator=generator, dtype=torch.float64) * 6
    asked = torch.arange(tokens) < torch.randint(1, tokens + 1, (rows, 1), generator=generator)
    return scores.masked_fill(missing, -torch.inf).log_softmax(1), logs, asked


@pytest.mark.parametrize("seed", range(10))
def test_by_sums_of_products(seed: int) -> None:
    documents, tokens, asked = drawn(seed)
    whole, each = sequence_marginal(documents, tokens, asked), token_marginal(documents, tokens, asked)
    for row in range(len(documents)):
        priors, size = documents[row].exp().tolist(), int(asked[row].sum())
        chances = tokens[row].exp().tolist()
        together = sum(prior * math.prod(said[:size]) for prior, said in zip(priors, chances, strict=True))
        assert float(whole[row]) == pytest.approx(math.log(together), abs=1e-10)
        for place in range(asked.shape[1]):
            alone = sum(prior * said[place] for prior, said in zip(priors, chances, strict=True))
            assert float(each[row, place]) == pytest.approx(math.log(alone) if place < size else 0, abs=1e-10)


def test_they_agree_on_one_token_and_differ_on_two() -> None:
    documents, tokens, asked = drawn(1)
    one = torch.zeros_like(asked)
    one[:, 0] = True
    same(sequence_marginal(documents, tokens, one), token_marginal(documents, tokens, one).sum(1))
    two = torch.zeros_like(asked)
    two[:, :2] = True
    # 1/2 · 1 · 0.1 + 1/2 · 0.1 · 1 = 0.1, and (1/2 · 1 + 1/2 · 0.1)² = 0.3025
    priors, said = torch.full((1, 2), 0.5).log(), torch.tensor([[[1.0, 0.1], [0.1, 1.0]]]).log()
    both = torch.ones(1, 2, dtype=torch.bool)
    assert float(sequence_marginal(priors, said, both).exp()) == pytest.approx(0.1)
    assert float(token_marginal(priors, said, both).sum().exp()) == pytest.approx(0.3025)
    gap = sequence_marginal(documents, tokens, two) - token_marginal(documents, tokens, two).sum(1)
    assert float(gap.abs().max()) > 0.1


def ragged(seed: int, sizes: list[int]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Logits [rows · docs, time, vocab] and scores as RAG has them, labels that begin with [START] and are padded, and
    which labels there are behind it."""
    rng = Random(seed)
    generator = torch.Generator().manual_seed(seed)
    time = max(sizes) + 1
    logits = torch.randn(len(sizes) * 3, time, 11, generator=generator, dtype=torch.float64)
    labels = torch.tensor([[BOS, *(rng.randrange(2, 11) for _ in range(size)), *[PAD] * (time - 1 - size)]
                           for size in sizes])
    asked = torch.arange(time - 1) < torch.tensor(sizes)[:, None]
    return logits, torch.randn(len(sizes), 3, generator=generator, dtype=torch.float64) * 2, labels, asked


def said_by(logits: Tensor, labels: Tensor) -> Tensor:
    """log p of each label with each document, [rows docs time − 1]."""
    logs = logits.log_softmax(2).unflatten(0, (len(labels), 3))[:, :, :-1]
    return logs.gather(3, labels[:, None, 1:, None].expand(-1, 3, -1, -1))[..., 0]


@pytest.mark.parametrize("sizes", [[4, 4], [2, 5, 3], [3]])
def test_against_rag(sizes: list[int]) -> None:
    """Theirs take labels that begin with [START], move them to the left by one, and give −log p of each row."""
    logits, scores, labels, asked = ragged(7, sizes)
    config = SimpleNamespace(n_docs=3, bos_token_id=BOS, generator=SimpleNamespace(pad_token_id=PAD, bos_token_id=BOS))
    model = SimpleNamespace(config=config)
    theirs = RagSequenceForGeneration.get_nll(model, logits, scores, labels, n_docs=3)
    same(-sequence_marginal(scores.log_softmax(1), said_by(logits, labels), asked), theirs)
    marginal = RagTokenForGeneration.marginalize(model, logits, scores, n_docs=3)
    each = marginal[:, :-1].gather(2, labels[:, 1:, None])[..., 0].masked_fill(~asked, 0)
    same(token_marginal(scores.log_softmax(1), said_by(logits, labels), asked), each)
    model.marginalize = lambda *given: RagTokenForGeneration.marginalize(model, *given)
    same(-each.sum(1), RagTokenForGeneration.get_nll(model, logits, scores, labels, n_docs=3))


def test_rag_loses_the_documents_of_a_text_of_one_token() -> None:
    """They add log p(z|x) to the second token, which such a text has not: their sum is over documents without weights,
    and is more than 1 where two documents are sure."""
    logits, scores, labels, asked = ragged(7, [1, 3])
    config = SimpleNamespace(n_docs=3, bos_token_id=BOS, generator=SimpleNamespace(pad_token_id=PAD, bos_token_id=BOS))
    theirs = RagSequenceForGeneration.get_nll(SimpleNamespace(config=config), logits, scores, labels, n_docs=3)
    logs = said_by(logits, labels)
    ours = sequence_marginal(scores.log_softmax(1), logs, asked)
    same(-theirs[0], logs[0, :, 0].logsumexp(0))
    same(-theirs[1], ours[1])
    assert float(-theirs[0] - ours[0]) > 0.5


def test_values_far_from_zero() -> None:
    """None of these chances is a float: all are 0 when the logarithm is taken back."""
    documents = torch.tensor([[-1000.0, 0.0], [-0.7, -1000.0], [-1000.0, -1000.5]], dtype=torch.float64)
    tokens = torch.tensor([[[-1000.0, -3.0], [-2000.0, -1.0]]] * 3, dtype=torch.float64)
    asked = torch.ones(3, 2, dtype=torch.bool)
    whole, each = sequence_marginal(documents, tokens, asked), token_marginal(documents, tokens, asked)
    # the first row: −1000 − 1003 and 0 − 2001; its tokens: −2000 and −2000, −1003 and −1
    assert whole.tolist() == pytest.approx([-2001 + math.log1p(math.exp(-2)), -1003.7, -2003.0], rel=0, abs=1e-9)
    assert each[0].tolist() == pytest.approx([-2000 + math.log(2), -1.0], rel=0, abs=1e-9)


def test_a_document_that_is_not_there_counts_for_nothing() -> None:
    documents, tokens, asked = drawn(3)
    more = torch.cat([documents, torch.full((4, 2), -torch.inf, dtype=torch.float64)], 1)
    padded = torch.cat([tokens, torch.zeros(4, 2, 5, dtype=torch.float64)], 1)
    same(sequence_marginal(more, padded, asked), sequence_marginal(documents, tokens, asked))
    same(token_marginal(more, padded, asked), token_marginal(documents, tokens, asked))
    scores = torch.tensor([[1.0, -torch.inf]], dtype=torch.float64, requires_grad=True)
    logs = torch.tensor([[[-1.0], [0.0]]], dtype=torch.float64, requires_grad=True)
    (sequence_marginal(scores.log_softmax(1), logs, torch.ones(1, 1, dtype=torch.bool))).sum().backward()
    assert scores.grad.tolist() == [[0, 0]] and logs.grad.tolist() == [[[1], [0]]]


@pytest.mark.parametrize("seed", range(5))
def test_what_each_token_tells_of_the_documents(seed: int) -> None:
    """By Bayes' rule in floats: before each token for a text from one document, and of each token by itself."""
    documents, tokens, asked = drawn(seed)
    before, after = sequence_posterior(documents, tokens, asked).exp(), token_posterior(documents, tokens).exp()
    for row, place in torch.cartesian_prod(torch.arange(4), torch.arange(5)).tolist():
        priors, chances = documents[row].exp().tolist(), tokens[row].exp().tolist()
        size = min(place, int(asked[row].sum()))
        for found, worth in ((before, [p * math.prod(c[:size]) for p, c in zip(priors, chances, strict=True)]),
                             (after, [p * c[place] for p, c in zip(priors, chances, strict=True)])):
            assert found[row, :, place].tolist() == pytest.approx([one / sum(worth) for one in worth], abs=1e-12)
    each = torch.logsumexp(before.log() + tokens, 1).masked_fill(~asked, 0)
    same(each.sum(1), sequence_marginal(documents, tokens, asked))


@pytest.mark.parametrize("worth", [sequence_marginal, token_marginal])
def test_gradients(worth: object) -> None:
    _, tokens, asked = drawn(5)
    scores = torch.randn(4, 3, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    torch.autograd.gradcheck(lambda s, t: worth(s.log_softmax(1), t, asked),
                             (scores.requires_grad_(), tokens.requires_grad_()))


def test_the_gradient_for_a_score_is_that_of_the_paper() -> None:
    """r(z) = [p(y|z,x) / p(y|x) − 1] p(z|x) (§3.3), in floats."""
    _, tokens, asked = drawn(6)
    scores = torch.randn(4, 3, generator=torch.Generator().manual_seed(6), dtype=torch.float64).requires_grad_()
    sequence_marginal(scores.log_softmax(1), tokens, asked).sum().backward()
    for row in range(4):
        priors = softmax(scores[row].tolist())
        likelihoods = [math.exp(float(one[asked[row]].sum())) for one in tokens[row]]
        marginal = sum(prior * one for prior, one in zip(priors, likelihoods, strict=True))
        expected = [(one / marginal - 1) * prior for prior, one in zip(priors, likelihoods, strict=True)]
        assert scores.grad[row].tolist() == pytest.approx(expected, abs=1e-12)
        assert sum(expected) == pytest.approx(0, abs=1e-12)
