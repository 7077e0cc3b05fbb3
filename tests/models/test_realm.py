"""REALM's two parts text by text against ``transformers``, its loss by sums over a whole small corpus, and what the
retriever learns from it against the paper's formula."""

import math
from pathlib import Path

import pytest
import torch
from realm_small import (
    BLOCKS,
    QUERIES,
    WORDS,
    hidden,
    ids,
    masked_lm,
    realm,
    same,
    scattered,
    softmax,
    two,
    vector_by_theirs,
)
from torch import Tensor

from plmlab.checkpoints import load, save
from plmlab.models.bert import BERTPretraining
from plmlab.models.dual_encoder import DualEncoder
from plmlab.models.marginals import sequence_marginal
from plmlab.models.realm import REALM, TokenREALM
from plmlab.models.retrieve_and_read import Query, RetrieveAndRead
from plmlab.objectives.retrieval_batches import RetrievedBatch
from plmlab.retrieval import NULL, Retrieved

ALL = [NULL, *range(len(BLOCKS))]
SOME = [[3, NULL], [0, 1, 2, NULL], [4], [1, 4, 0]]


def batch(model: REALM, queries: list[Query] = QUERIES, numbers: list[list[int]] | None = None) -> RetrievedBatch:
    found = Retrieved.of([ALL] * len(queries) if numbers is None else numbers)
    return RetrieveAndRead.of(model, WORDS, BLOCKS).batch(queries, found)


@torch.no_grad()
def scores_by_theirs(model: REALM, query: Query, numbers: list[int]) -> list[float]:
    """The inner products, each text embedded by itself."""
    statement = hidden(query)
    vector = vector_by_theirs(model.embedder, [2, *statement, 3], [0] * (len(statement) + 2))
    texts = [((), ()) if number == NULL else (ids(BLOCKS[number].title), ids(BLOCKS[number].text))
             for number in numbers]
    return [float(vector @ vector_by_theirs(model.embedder, *two(*text))) for text in texts]


@torch.no_grad()
def said_by_theirs(model: REALM, query: Query, number: int) -> list[float]:
    """p(y_j|z,x) of each hidden token, by one reading of ``BertForMaskedLM``."""
    tokens, segments = two(hidden(query), () if number == NULL else ids(BLOCKS[number].text))
    logits = masked_lm(model)(torch.tensor([tokens]), token_type_ids=torch.tensor([segments])).logits[0]
    return [float(logits[place + 1].softmax(0)[query.tokens[place]]) for place in query.hidden]


@pytest.mark.parametrize("numbers", [SOME, [ALL] * 4])
def test_both_parts_are_those_of_transformers(numbers: list[list[int]]) -> None:
    """Statements of four lengths with one to three hidden tokens, and one to six documents, in one batch."""
    model = realm()
    given = batch(model, numbers=numbers)
    priors, likelihoods = model.retrieved(given).logprobs().exp(), model.token_logprobs(given)
    for row, (query, some) in enumerate(zip(QUERIES, numbers, strict=True)):
        expected = softmax(scores_by_theirs(model, query, some))
        assert priors[row].tolist() == pytest.approx([*expected, *[0] * (priors.shape[1] - len(some))], abs=1e-10)
        for place, number in enumerate(some):
            found = likelihoods[row, place]
            assert found[:len(query.hidden)].exp().tolist() == pytest.approx(said_by_theirs(model, query, number),
                                                                             abs=1e-10)
            assert not found[len(query.hidden):].any()
        assert not likelihoods[row, len(some):].any()


def worth(model: REALM, query: Query) -> tuple[list[float], list[list[float]]]:
    """p(z|x) and p(y_j|z,x) over all documents, text by text."""
    return softmax(scores_by_theirs(model, query, ALL)), [said_by_theirs(model, query, number) for number in ALL]


def test_the_loss_over_all_documents() -> None:
    model, losses = realm(), []
    for query in QUERIES:
        priors, said = worth(model, query)
        losses.append(-math.log(math.fsum(p * math.prod(each) for p, each in zip(priors, said, strict=True))))
    assert model.loss(batch(model)).item() == pytest.approx(sum(losses) / len(losses), abs=1e-9)


def test_the_loss_of_each_token_over_all_documents() -> None:
    model, losses = realm(TokenREALM), []
    for query in QUERIES:
        priors, said = worth(model, query)
        losses += [-math.log(math.fsum(p * each[place] for p, each in zip(priors, said, strict=True)))
                   for place in range(len(query.hidden))]
    assert len(losses) == 7
    assert model.loss(batch(model)).item() == pytest.approx(sum(losses) / len(losses), abs=1e-9)


def test_the_two_losses_agree_on_answers_of_one_token_only() -> None:
    one, other = realm(), realm(TokenREALM)
    short = [query for query in QUERIES if len(query.hidden) == 1]
    same(one.loss(batch(one, short)), other.loss(batch(other, short)))
    for long in (query for query in QUERIES if len(query.hidden) > 1):
        together, each = one.loss(batch(one, [long])), other.loss(batch(other, [long])) * len(long.hidden)
        assert abs(float((together - each).detach())) > 1e-3


def test_a_statement_does_not_depend_on_its_batch() -> None:
    model = realm()
    alone = torch.stack([model.loss(batch(model, [query], [some])) for query, some in zip(QUERIES, SOME, strict=True)])
    same(model.loss(batch(model, QUERIES, SOME)), alone.mean())
    same(model.loss(batch(model, QUERIES[::-1], SOME[::-1])), alone.mean())
    turned = [some[::-1] for some in SOME]
    same(model.loss(batch(model, QUERIES, turned)), alone.mean())


def marginals(model: REALM, given: RetrievedBatch, scores: Tensor) -> Tensor:
    return sequence_marginal(scores.log_softmax(1), model.token_logprobs(given), given.target_mask)


@pytest.mark.parametrize("temperature", [1.0, 4.0, 0.25])
@pytest.mark.parametrize("query", QUERIES)
def test_the_pull_on_each_document_is_the_gradient(query: Query, temperature: float) -> None:
    model = realm()
    answer = tuple(query.tokens[place] for place in query.hidden)
    reading, = RetrieveAndRead.of(model, WORDS, BLOCKS).read([query], len(BLOCKS), also=[[answer]],
                                                             temperature=temperature)
    given = batch(model, [query], [reading.numbers])
    same(reading.priors, (reading.scores / temperature).softmax(0))
    scores = (model.retrieved(given).scores.detach() / temperature).requires_grad_()
    marginals(model, given, scores).sum().backward()
    score_gradient = reading.score_gradient(reading.answers.index(answer))
    same(scores.grad[0], score_gradient)
    assert bool((score_gradient > 0).any() and (score_gradient < 0).any())


def stepped(model: REALM, given: RetrievedBatch, rate: float) -> Tensor:
    """By how much each score grows in one step of the embedder, the reader being fixed."""
    before = model.retrieved(given).scores.detach()
    model.reader.requires_grad_(False)
    optimizer = torch.optim.SGD([weight for weight in model.parameters() if weight.requires_grad], rate)
    reader = {name: weight.clone() for name, weight in model.reader.state_dict().items()}
    model.loss(given).backward()
    optimizer.step()
    assert all(torch.equal(weight, reader[name]) for name, weight in model.reader.state_dict().items())
    return (model.retrieved(given).scores.detach() - before)[0]


@pytest.mark.parametrize("pair", [(0, 4), (1, 3), (2, NULL), (3, 0)])
@pytest.mark.parametrize("query", QUERIES)
def test_of_two_documents_the_more_useful_one_gains(query: Query, pair: tuple[int, int]) -> None:
    """Both share all weights, so that both scores may rise or fall; what must grow is the distance."""
    model = realm()
    given = batch(model, [query], [[*pair]])
    useful = int(model.token_logprobs(given).sum(2)[0].argmax())
    grown = stepped(model, given, 1e-5)
    assert float(grown[useful] - grown[1 - useful]) > 0


@pytest.mark.parametrize("query", QUERIES)
def test_a_step_goes_along_the_pull(query: Query) -> None:
    """Σ_z r(z) · growth(z) = rate · ‖gradient‖², up to the rate's square."""
    model = realm()
    answer = tuple(query.tokens[place] for place in query.hidden)
    reading, = RetrieveAndRead.of(model, WORDS, BLOCKS).read([query], len(BLOCKS), also=[[answer]])
    score_gradient = reading.score_gradient(reading.answers.index(answer))
    grown = stepped(model, batch(model, [query], [reading.numbers]), 1e-7)
    length = sum(weight.grad.square().sum() for weight in model.embedder.parameters())
    assert float(score_gradient @ grown) == pytest.approx(1e-7 * float(length), rel=1e-2)


def test_free_scores_rise_where_the_pull_is_positive_and_fall_elsewhere() -> None:
    model = realm()
    given = batch(model)
    scores = model.retrieved(given).scores.detach().requires_grad_()
    whole = marginals(model, given, scores)
    whole.sum().backward()
    useful = model.token_logprobs(given).sum(2).detach() > whole.detach()[:, None]
    assert bool(useful.any(1).all() and (~useful).any(1).all())
    assert torch.equal(scores.grad > 0, useful)


def test_the_best_documents_alone_miss_at_most_the_mass_of_the_others() -> None:
    """p_all = P · p_top + (1 − P) · p_rest, all between 0 and 1, so |p_all − p_top| ≤ 1 − P."""
    model = realm()
    lookup = RetrieveAndRead.of(model, WORDS, BLOCKS)
    missed = []
    for query in QUERIES:
        found = lookup.retrieve([query], len(BLOCKS))
        priors = model.retrieved(lookup.batch([query], found)).logprobs().exp()[0]
        whole = math.exp(-float(model.loss(lookup.batch([query], found)).detach()))
        for most in range(1, len(BLOCKS) + 1):
            best = lookup.retrieve([query], most)
            top = math.exp(-float(model.loss(lookup.batch([query], best)).detach()))
            error, rest = abs(whole - top), float(1 - priors[:most].sum().detach())
            assert error <= rest + 1e-12
            missed.append((most, error))
    assert max(error for most, error in missed if most == len(BLOCKS)) < 1e-12
    assert max(error for most, error in missed if most == 1) > 1e-4


def test_both_parts_learn_from_the_loss() -> None:
    model = realm()
    model.loss(batch(model)).backward()
    untaught = {name for name, weight in model.named_parameters() if weight.grad is None}
    assert untaught == {f"reader.{name}"
                        for name in ("encoder.pooler.weight", "encoder.pooler.bias", "next_sentence.weight",
                                     "next_sentence.bias")}
    assert all(bool(weight.grad.isfinite().all()) for weight in model.parameters() if weight.grad is not None)
    assert bool(model.embedder.projection.weight.grad.any() and model.reader.transform.weight.grad.any())


def test_one_document_teaches_the_retriever_nothing() -> None:
    model = realm()
    model.loss(batch(model, [QUERIES[0]], [[2]])).backward()
    assert all(not weight.grad.any() for weight in model.embedder.parameters() if weight.grad is not None)


@pytest.mark.parametrize("kind", [REALM, TokenREALM])
def test_it_stands_on_copies_and_is_saved_whole(kind: type[REALM], tmp_path: Path) -> None:
    first = realm()
    embedder = scattered(DualEncoder(first.config), 8).float()
    reader = scattered(BERTPretraining(first.config.encoder), 9).float()
    model = kind.from_pretrained(embedder, reader)
    assert type(model) is kind and not model.training
    for ours, theirs in ((model.embedder, embedder), (model.reader, reader)):
        assert all(torch.equal(weight, theirs.state_dict()[name]) for name, weight in ours.state_dict().items())
    save(tmp_path / "it", model, WORDS, command="none", figures={})
    again, _ = load(tmp_path / "it")
    assert type(again) is kind
    given = batch(model)
    same(again.loss(given), model.loss(given))
    with torch.no_grad():
        model.reader.bias.add_(1)
    assert not torch.equal(model.reader.bias, reader.bias)
