"""What REALM is measured against in chapter 16."""

from random import Random

import pytest
import torch

from plmlab.chapters.ch16 import warm_start
from plmlab.chapters.ch16.arms import questions
from plmlab.chapters.ch16.baselines import by_bm25, right_one
from plmlab.chapters.ch16.corpora import TEST_WORLDS, TRAINING, corpus
from plmlab.chapters.ch16.warm_start import Ranking, bert, ict_batches, reader_batches
from plmlab.example import IGNORE
from plmlab.retrieval import Retrieved
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from studies.ch16 import baselines
from studies.ch16.closed_book import passage, stacked

WORLD = TEST_WORLDS[0]


def test_bm25_shows_no_source_and_its_chances_add_up() -> None:
    for statement in corpus(WORLD).quoted[:30]:
        for most in (1, 4):
            found = by_bm25(most, 2.0)(WORLD, statement)
            numbers, priors = found.lists()[0], found.probs()[0].tolist()
            assert len(numbers) == len(priors) == most and statement.source not in numbers
            assert sum(priors) == pytest.approx(1) and sorted(priors, reverse=True) == priors


def test_what_is_hidden_is_not_searched_for() -> None:
    """Else the answer itself would find its document."""
    told = corpus(WORLD)
    index = Ranking(told)._index
    asked = []
    index.search = lambda queries, most: asked.append(queries[0]) or Retrieved.of([[]])  # type: ignore
    ranking = Ranking.__new__(Ranking)
    ranking._index = index
    for statement in told.statements[:50]:
        ranking.best(statement, 3)
        assert len(asked[-1]) == len(statement.tokens) - len(statement.answer)


def test_the_right_document_is_one_that_tells_it() -> None:
    for statement in questions(WORLD)[:30]:
        found = right_one(WORLD, statement)
        (number,), = found.lists()
        assert number in statement.tell and found.probs().tolist() == [[1.0]]


@pytest.fixture
def two_worlds(monkeypatch: pytest.MonkeyPatch) -> tuple[int, ...]:
    """All that is trained on is cut to two worlds."""
    for module in (baselines, warm_start):
        monkeypatch.setattr(module, "TRAINING", TRAINING[:2])
    return TRAINING[:2]


def test_labels_are_documents_that_tell_the_fact(two_worlds: tuple[int, ...]) -> None:
    batch = baselines.matched(0)(3)
    assert batch.queries.size[0] == batch.documents.size[0] == 64
    texts = {tuple(ids([*block.title.split(), *block.text.split()])) for world in two_worlds
             for block in corpus(world).blocks}
    special = {world_tokenizer().vocab.need(name) for name in ("cls", "sep", "pad")}
    assert {tuple(token for token in row if token not in special) for row in batch.documents.tokens.tolist()} <= texts


def test_a_bert_stacked_upon_itself() -> None:
    one, two = bert(), stacked(2)
    assert len(two.encoder.layers) == 2 * len(one.encoder.layers)
    for place, layer in enumerate(two.encoder.layers):
        below = one.encoder.layers[place % len(one.encoder.layers)]
        assert all(torch.equal(a, b) for a, b in zip(layer.parameters(), below.parameters(), strict=True))
    assert torch.equal(two.transform.weight, one.transform.weight)
    same = stacked(1).state_dict()
    assert all(torch.equal(tensor, same[name]) for name, tensor in one.state_dict().items())


def test_passages_are_of_one_block() -> None:
    told = corpus(WORLD)
    for seed in range(20):
        example = passage(told, Random(seed))
        shown = torch.where(example.targets == IGNORE, example.tokens, example.targets).tolist()[1:-1]
        words = " ".join(world_tokenizer().tokens(shown))
        assert any(words.startswith(block.title) and words.removeprefix(block.title).strip() in block.text
                   for block in told.blocks)


def test_warm_starts_read_training_worlds_alone(two_worlds: tuple[int, ...]) -> None:
    bodies = {tuple(ids(block.text.split())) for world in two_worlds for block in corpus(world).blocks}
    batch = reader_batches(0)(1)
    for tokens, segments in zip(batch.tokens.tolist(), batch.segments.tolist(), strict=True):
        assert tuple(token for token, segment in zip(tokens, segments, strict=True) if segment)[:-1] in bodies
    pairs = ict_batches(0)(1)
    assert pairs.queries.size[0] == pairs.documents.size[0] == 32
