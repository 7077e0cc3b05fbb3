"""What REALM is measured against in chapter 16."""

from random import Random
from types import SimpleNamespace

import pytest
import torch
from tiny_realm import scattered, tiny

from plmlab.chapters.ch16 import warm_start
from plmlab.chapters.ch16.arms import questions
from plmlab.chapters.ch16.baselines import by_bm25, gold_document
from plmlab.chapters.ch16.corpora import corpus
from plmlab.chapters.ch16.warm_start import Ranking, bert, ict_batches, reader_batches
from plmlab.example import IGNORE
from plmlab.retrieval import Retrieved
from plmlab.world.datasets.fact_documents import TEST_WORLDS, TRAINING
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from studies.ch16 import baselines, converged
from studies.ch16.closed_book import passage, random_masks, salient_mask, salient_spans, stacked

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
        found = gold_document(WORLD, statement)
        (number,), = found.lists()
        assert number in statement.tell and found.probs().tolist() == [[1.0]]


def test_the_results_with_given_documents_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four statements, two have their document first, another one last; one is answered correctly."""
    some = tuple(one for one in questions(WORLD) if len(one.tell) == 1)[:4]
    others = [next([number, number + 1] for number in range(9 * place, 9 * place + 9)
                   if not {number, number + 1} & one.tell) for place, one in enumerate(some)]
    rows = [[*some[0].tell, *others[0]], [*others[1], *some[1].tell], [*some[2].tell, *others[2]], others[3]]
    answers = [*[(9, 9, 9, 9)] * 3, some[3].answer]
    reader = SimpleNamespace(read_with=lambda query, found: SimpleNamespace(
        numbers=found.lists()[0], answers=[answers[rows.index([*found.lists()[0]])]]))
    monkeypatch.setattr(baselines, "with_corpus", lambda model, world: reader)
    monkeypatch.setattr(baselines, "questions", lambda world: some)
    told = baselines.shown(tiny(), lambda world, one: Retrieved.of([rows[some.index(one)]]), [WORLD])
    assert told == {"first": 2 / 4, "among four": 3 / 4, "right": 1 / 4}


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
    assert {*plain(batch.documents.tokens)} <= texts


def plain(rows: torch.Tensor) -> list[tuple[int, ...]]:
    """The tokens of each row without [CLS], [SEP] and [PAD]."""
    special = {world_tokenizer().vocab.need(name) for name in ("cls", "sep", "pad")}
    return [tuple(token for token in row if token not in special) for row in rows.tolist()]


def test_each_label_states_the_fact_of_its_own_statement(two_worlds: tuple[int, ...]) -> None:
    batch, mask = baselines.matched(0)(3), world_tokenizer().vocab.need("mask")
    stating: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for world in two_worlds:
        texts = [tuple(ids([*block.title.split(), *block.text.split()])) for block in corpus(world).blocks]
        for one in corpus(world).statements:
            query = tuple(mask if place in one.salient else token for place, token in enumerate(one.tokens))
            stating.setdefault(query, set()).update(texts[number] for number in one.tell)
    pairs = list(zip(plain(batch.queries.tokens), plain(batch.documents.tokens), strict=True))
    assert all(document in stating[query] for query, document in pairs)
    assert len({document for _, document in pairs}) > 16, "not always the same block"


def test_salient_spans_are_names_years_and_numbers() -> None:
    words = ("Julia", "Grant", "was", "born", "in", "Alder", "in", "1920", "and", "likes", "pies", ".")
    assert salient_spans(WORLD, words) == [(0, 2), (5, 6), (7, 8)], "Julia Grant, Alder and 1920"
    for seed in range(20):
        example = salient_mask(WORLD, Random(seed))
        hidden = world_tokenizer().tokens(example.targets[example.targets != IGNORE].tolist())
        assert salient_spans(WORLD, tuple(hidden)) == [(0, len(hidden))]
        assert (example.tokens[example.targets != IGNORE] == world_tokenizer().vocab.need("mask")).all()


def test_the_rule_and_the_readers_get_the_documents_of_one_retriever(monkeypatch: pytest.MonkeyPatch) -> None:
    some = tuple(one for one in questions(WORLD) if len(one.tell) == 1)[:12]
    monkeypatch.setattr(converged, "questions", lambda world: some)
    monkeypatch.setattr(converged, "TEST_WORLDS", (WORLD,))
    seen: list[list[int]] = []
    monkeypatch.setattr(converged, "rule_baseline", lambda told, one, ranked: seen.append(ranked) or one.answer)
    assert converged.by_the_rule(by_bm25(4)) == 1
    assert seen == [by_bm25(4)(WORLD, one).lists()[0] for one in some] and {*map(len, seen)} == {4}
    own = converged.retrieved_by(scattered(), 4)(WORLD, some[0])
    assert len(own.lists()[0]) == 4 and own.scores[0].tolist() == sorted(own.scores[0].tolist(), reverse=True)


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
        words = " ".join(passage(told, Random(seed)))
        example = random_masks(WORLD, Random(seed))
        shown = torch.where(example.targets == IGNORE, example.tokens, example.targets).tolist()[1:-1]
        assert words == " ".join(world_tokenizer().tokens(shown))
        assert any(words.startswith(block.title) and words.removeprefix(block.title).strip() in block.text
                   for block in told.blocks)


def test_warm_starts_read_training_worlds_alone(two_worlds: tuple[int, ...]) -> None:
    bodies = {tuple(ids(block.text.split())) for world in two_worlds for block in corpus(world).blocks}
    batch = reader_batches(0)(1)
    for tokens, segments in zip(batch.tokens.tolist(), batch.segments.tolist(), strict=True):
        assert tuple(token for token, segment in zip(tokens, segments, strict=True) if segment)[:-1] in bodies
    pairs = ict_batches(0)(1)
    assert pairs.queries.size[0] == pairs.documents.size[0] == 32
