"""A retriever of texts with one network and, as in DPR, with two: vectors text by text, and gradients by finite
differences."""

import pytest
import torch
from realm_small import BLOCKS, QUERIES, SIZE, WORDS, hidden, ids, same, scattered, two, vector_by_theirs
from torch import Tensor

from plmlab.models.dual_encoder import DualEncoder
from plmlab.models.text_retriever import TextCorpus, TextRetriever
from plmlab.objectives.reader_inputs import reader_input
from plmlab.objectives.retrieval_batches import RetrievedBatch
from plmlab.retrieval import Retrieved


@pytest.fixture
def networks() -> tuple[DualEncoder, DualEncoder]:
    """Of queries and of documents; no weight is the same."""
    return scattered(DualEncoder(SIZE), 4), scattered(DualEncoder(SIZE), 5)


def of_queries(network: DualEncoder) -> Tensor:
    return torch.stack([vector_by_theirs(network, [2, *hidden(query), 3], [0] * (len(query.tokens) + 2))
                        for query in QUERIES])


def of_documents(network: DualEncoder) -> Tensor:
    return torch.stack([vector_by_theirs(network, *two(ids(block.title), ids(block.text))) for block in BLOCKS])


def test_each_network_makes_the_vectors_of_its_texts(networks: tuple[DualEncoder, DualEncoder]) -> None:
    first, second = networks
    with torch.no_grad():
        dual, single = TextRetriever(WORDS, first, second), TextRetriever(WORDS, first)
        for reads, network in ((dual, second), (single, first)):
            assert reads.width == SIZE.width
            same(reads.queries(QUERIES), of_queries(first))
            same(reads.documents(BLOCKS), of_documents(network))
        same(dual.documents(BLOCKS * 30), of_documents(second).repeat(30, 1))
        scores = of_queries(first) @ of_documents(second).T
        found = TextCorpus(dual, BLOCKS).search(QUERIES, len(BLOCKS))
        assert found.lists() == [tuple(row) for row in scores.argsort(1, descending=True).tolist()]
        same(found.scores.double(), scores.sort(1, descending=True).values, 1e-4)
        other = TextCorpus(single, BLOCKS).search(QUERIES, len(BLOCKS))
        assert other.lists() != found.lists(), "the other network finds others"


def batch(networks: tuple[DualEncoder, DualEncoder]) -> RetrievedBatch:
    """Two statements without a document in common, and two that share one."""
    reads, found = TextRetriever(WORDS, *networks), Retrieved.of([[0, 3], [2], [1, 4, 0], [4]])
    readings = [reader_input(QUERIES[row].tokens, reads.body(BLOCKS[number]), vocab=WORDS.vocab, rng=None,
                             hidden=QUERIES[row].hidden) for row, number in found.pairs.tolist()]
    return RetrievedBatch.of([*map(reads.query, QUERIES)], found,
                             [reads.document(BLOCKS[number]) for number in found.documents.tolist()], readings,
                             pad=WORDS.vocab.need("pad"))


def loss(networks: tuple[DualEncoder, DualEncoder], given: RetrievedBatch) -> Tensor:
    """−log p of the document that comes first for each statement: what DPR learns from."""
    first, second = networks
    return -given.scored(first(given.queries), second(given.documents)).logprobs()[:, 0].sum()


def test_the_loss_over_what_was_found_by_hand(networks: tuple[DualEncoder, DualEncoder]) -> None:
    given, found = batch(networks), [[0, 3], [2], [1, 4, 0], [4]]
    with torch.no_grad():
        scores = of_queries(networks[0]) @ of_documents(networks[1]).T
        expected = -sum(scores[row, some].log_softmax(0)[0] for row, some in enumerate(found))
        same(loss(networks, given), expected, 1e-9)


def test_the_gradient_reaches_both_networks(networks: tuple[DualEncoder, DualEncoder]) -> None:
    """Along a random direction of each network's weights, against a finite difference."""
    given, generator = batch(networks), torch.Generator().manual_seed(0)
    loss(networks, given).backward()
    for network in networks:
        assert network.projection.weight.grad.any() and network.encoder.embeddings.token.weight.grad.any()
        weight = network.norm.weight
        assert weight.grad.abs().min() > 1e-6
        step = 1e-5 * torch.randn(weight.shape, generator=generator, dtype=weight.dtype)
        with torch.no_grad():
            above = loss(networks, given)
            weight.sub_(step)
            below = loss(networks, given)
            weight.add_(step)
            expected = weight.grad @ step
        assert float(above - below) == pytest.approx(float(expected), rel=1e-3)
