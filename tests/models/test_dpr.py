"""DPR: its loss by a loop, its two encoders in a search, and hard negatives."""

import math

import pytest
import torch
from realm_small import BLOCKS, QUERIES, SIZE, VOCAB, WORDS, ids, same, scattered

from plmlab.example import Batch
from plmlab.models.bert import BERT
from plmlab.models.dpr import DPR, DocumentEncoder, DPRConfig, QuestionEncoder, SharedDPR
from plmlab.models.text_retriever import TextCorpus, TextRetriever
from plmlab.objectives.inverse_cloze import MatchingBatch
from plmlab.objectives.reader_inputs import pair_input, query_input
from plmlab.retrieval import BM25

CONFIG = DPRConfig(**vars(SIZE.encoder))
QUESTIONS = [query_input(query.tokens, (), VOCAB) for query in QUERIES]
DOCUMENTS = [pair_input(ids(block.title), ids(block.text), VOCAB) for block in BLOCKS]
both = pytest.mark.parametrize("kind", [DPR, SharedDPR])


@both
@pytest.mark.parametrize("negatives", [0, 1, 3])
def test_the_loss_by_a_loop(kind: type[DPR], negatives: int) -> None:
    """Two questions; a hard negative counts for both of them, not only for its own."""
    model, some = scattered(kind(CONFIG)), DOCUMENTS[:2 + negatives]
    batch = MatchingBatch.of([*zip(QUESTIONS[:2], some, strict=False)], some[2:], pad=0)
    questions, documents = ([network(Batch.of([one], pad=0))[0].tolist() for one in texts]
                            for network, texts in ((model.question_encoder, QUESTIONS[:2]),
                                                   (model.document_encoder, some)))
    scores = [[math.fsum(a * b for a, b in zip(question, document, strict=True)) for document in documents]
              for question in questions]
    expected = [math.log(math.fsum(math.exp(score - row[i]) for score in row)) for i, row in enumerate(scores)]
    loss = model.loss(batch)
    assert float(loss.detach()) == pytest.approx(sum(expected) / 2, abs=1e-9)
    loss.backward()
    assert all(bool(weight.grad.isfinite().all()) for weight in model.parameters())
    assert all(encoder.embeddings.token.weight.grad.any() for encoder in (model.question_encoder,
                                                                           model.document_encoder))


@both
def test_both_start_from_a_copy_of_a_bert_without_its_pooler(kind: type[DPR]) -> None:
    bert = scattered(BERT(CONFIG))
    model, batch = kind.from_pretrained(bert), Batch.of(DOCUMENTS, pad=0)
    for encoder in (model, model.question_encoder, model.document_encoder):
        same(encoder(batch), bert(batch)[:, 0])
    assert not any("pooler" in name for name, _ in model.named_parameters()) and not model.training
    with torch.no_grad():
        model.question_encoder.embeddings.token.weight.zero_()
    assert bert.embeddings.token.weight.any()
    assert bool(model.document_encoder.embeddings.token.weight.any()) == (kind is DPR)
    assert type(model.document_encoder) is (DocumentEncoder if kind is DPR else QuestionEncoder)


def test_a_corpus_searches_with_both_encoders() -> None:
    model = scattered(DPR(CONFIG))
    with torch.no_grad():
        corpus = TextCorpus(TextRetriever(WORDS, model.question_encoder, model.document_encoder), BLOCKS)
        scores = torch.cat([model.question_encoder(Batch.of([one], pad=0)) for one in QUESTIONS]) @ torch.cat(
            [model.document_encoder(Batch.of([one], pad=0)) for one in DOCUMENTS]).T
        found = corpus.search([query._replace(hidden=()) for query in QUERIES], 3)
    assert corpus.index.width == CONFIG.width == CONFIG.model
    assert found.lists() == [tuple(row[:3]) for row in scores.argsort(1, descending=True).tolist()]
    same(found.scores.double(), scores.sort(1, descending=True).values[:, :3], 1e-4)


def test_the_hard_negative_is_the_best_document_without_the_answer() -> None:
    """Three documents have "sea"; the best one has the answer."""
    texts = [block.text.split() for block in BLOCKS]
    found = BM25(texts).search([["the", "red", "sea"]], len(texts))
    assert found.lists()[0][:2] == (4, 1)
    assert found.without([[i for i, text in enumerate(texts) if "red" in text]], 1).lists() == [(1,)]
