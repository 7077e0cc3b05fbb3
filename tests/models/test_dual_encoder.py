"""The embedder: its vectors against ``transformers``, its loss by a loop, and what the inverse cloze task teaches."""

import math
from random import Random

import pytest
import torch
from realm_small import BLOCKS, SIZE, VOCAB, ids, same, scattered, two, vector_by_theirs

from plmlab.draws import randint, shuffled
from plmlab.example import Batch
from plmlab.models.bert import BERT
from plmlab.models.dual_encoder import DualEncoder, DualEncoderConfig
from plmlab.objectives.inverse_cloze import MatchingBatch, inverse_cloze
from plmlab.objectives.reader_inputs import pair_input, query_input
from plmlab.text.vocabulary import Vocabulary


@pytest.fixture
def model() -> DualEncoder:
    return scattered(DualEncoder(SIZE))


@torch.no_grad()
def test_vectors_are_those_of_transformers(model: DualEncoder) -> None:
    documents = [(ids(one.title), ids(one.text)) for one in BLOCKS] + [((), ())]
    ours = model(Batch.of([pair_input(*one, VOCAB) for one in documents], pad=0))
    for row, one in enumerate(documents):
        same(ours[row], vector_by_theirs(model, *two(*one)))
    statements = [ids(text) for text in ("ada", "ada was born in rome and then in oslo", "bo saw the sea")]
    ours = model(Batch.of([query_input(one, [0], VOCAB) for one in statements], pad=0))
    for row, one in enumerate(statements):
        tokens = [2, 4, *one[1:], 3]
        same(ours[row], vector_by_theirs(model, tokens, [0] * len(tokens)))


@torch.no_grad()
def test_a_batch_is_its_texts_one_by_one(model: DualEncoder) -> None:
    examples = [pair_input(ids(one.title), ids(one.text), VOCAB) for one in BLOCKS]
    alone = torch.cat([model(Batch.of([one], pad=0)) for one in examples])
    same(model(Batch.of(examples, pad=0)), alone)
    same(model(Batch.of(examples[::-1], pad=0)), alone.flip(0))


def test_the_loss_by_a_loop(model: DualEncoder) -> None:
    rng = Random(0)
    pairs = [inverse_cloze(ids(one.title), [ids(sentence) for sentence in (*one.sentences, "ada saw paris")],
                           vocab=VOCAB, rng=rng) for one in BLOCKS]
    batch = MatchingBatch.of(pairs, pad=0)
    queries, documents = model(batch.queries).tolist(), model(batch.documents).tolist()
    losses = []
    for row, query in enumerate(queries):
        scores = [sum(a * b for a, b in zip(query, document, strict=True)) for document in documents]
        losses.append(math.log(math.fsum(map(math.exp, scores))) - scores[row])
    loss = model.loss(batch)
    assert loss.item() == pytest.approx(sum(losses) / len(losses), abs=1e-10)
    loss.backward()
    assert all(bool(weight.grad.isfinite().all()) for weight in model.parameters())
    assert bool(model.encoder.embeddings.token.weight.grad.any() and model.projection.weight.grad.any())


def test_it_stands_on_a_copy() -> None:
    bert = scattered(BERT(SIZE.encoder))
    model = DualEncoder.from_pretrained(bert, width=7)
    assert model.config == DualEncoderConfig(**vars(SIZE.encoder), width=7) and model.config.encoder == SIZE.encoder
    batch = Batch.of([pair_input((), ids("ada"), VOCAB)], pad=0)
    same(model.encoder(batch), bert(batch))
    with torch.no_grad():
        model.encoder.embeddings.token.weight.zero_()
    assert bool(bert.embeddings.token.weight.any())


NAMES, FILLERS = range(40, 56), range(56, 90)


def pairs(seed: int, removed: float = 1.0) -> MatchingBatch:
    """Blocks about 16 names, each said in every sentence among words that tell nothing; a sentence of each."""
    rng, vocab = Random(seed), Vocabulary(90)

    def sentence(name: int) -> list[int]:
        return shuffled(rng, [name, *(FILLERS[randint(rng, len(FILLERS))] for _ in range(4))])

    return MatchingBatch.of([inverse_cloze([], [sentence(name) for _ in range(3)], vocab=vocab, rng=rng,
                                           removed=removed) for name in NAMES], pad=0)


def recall(model: DualEncoder, seeds: range) -> float:
    """How often a sentence's own block is the best of its batch."""
    with torch.no_grad():
        found = [(model(batch.queries) @ model(batch.documents).T).argmax(1) for batch in map(pairs, seeds)]
    return float(torch.cat([one == torch.arange(len(one)) for one in found]).double().mean())


def test_a_toy_inverse_cloze_task_is_learned() -> None:
    """The query is not in its block, so what is learned is what both speak of; the texts of the test are new ones."""
    torch.manual_seed(0)
    model = DualEncoder(DualEncoderConfig(90, time=24, layers=1, model=32, heads=2, inner=64, dropout=0.0,
                                          attention_dropout=0.0, width=16))
    before = recall(model, range(1000, 1004))
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    for step in range(300):
        if step % 20 == 0 and recall(model, range(1000, 1004)) > 0.8:
            break
        optimizer.zero_grad()
        model.loss(pairs(step)).backward()
        optimizer.step()
    assert before < 0.3 and recall(model, range(1000, 1004)) > 0.8
