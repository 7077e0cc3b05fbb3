"""A REALM among its documents: what it reads against its own loss, and the documents that come and go against a Lookup
made anew."""

from collections.abc import Sequence

import pytest
import torch
from fake_gpu import fake_gpu
from realm_small import BLOCKS, QUERIES, WORDS, ids, realm, same, softmax

from plmlab.models.realm import REALM
from plmlab.models.retrieve_and_read import Query, RetrieveAndRead
from plmlab.retrieval import NULL, Block, Retrieved
from plmlab.retrieval.reading import Reading

MORE = [Block("ada", 2, ("ada and bo saw the red sea",)), Block("paris", 0, ("paris",)),
        Block("oslo", 0, ("in oslo cy was born",))]


@pytest.fixture(scope="module")
def model() -> REALM:
    return realm()


def answer(query: Query) -> tuple[int, ...]:
    return tuple(query.tokens[place] for place in query.hidden)


def alike(one: RetrieveAndRead, other: RetrieveAndRead, renumbered: dict[int, int] | None = None) -> None:
    """Both find the same and say the same, their numbers being others perhaps."""
    for ours, theirs in zip(one.read(QUERIES, 3), other.read(QUERIES, 3), strict=True):
        assert ours.numbers == tuple((renumbered or {}).get(number, number) for number in theirs.numbers)
        assert ours.answers == theirs.answers
        for name in ("scores", "priors", "likelihoods", "marginals"):
            same(getattr(ours, name), getattr(theirs, name))


@pytest.mark.parametrize("null", [True, False])
@pytest.mark.parametrize("most", [1, 3, 5])
def test_what_is_read_is_worth_what_the_loss_says(model: REALM, most: int, null: bool) -> None:
    lookup = RetrieveAndRead.of(model, WORDS, BLOCKS)
    readings = lookup.read(QUERIES, most, null=null, also=[[answer(query)] for query in QUERIES])
    worth = []
    for query, reading in zip(QUERIES, readings, strict=True):
        assert (NULL in reading.numbers) == null and len(reading.numbers) == most + null
        for place, said in enumerate(reading.answers):
            asked = list(query.tokens)
            for where, token in zip(query.hidden, said, strict=True):
                asked[where] = token
            loss = model.loss(lookup.batch([Query(tuple(asked), query.hidden)], reading.retrieved))
            same(reading.marginals[place].log(), -loss)
        worth.append(reading.marginals[reading.answers.index(answer(query))].log())
        assert reading.marginals.tolist() == sorted(reading.marginals.tolist(), reverse=True)
    loss = model.loss(lookup.batch(QUERIES, Retrieved.of([reading.numbers for reading in readings])))
    same(loss, -torch.stack(worth).mean())


@torch.no_grad()
def test_its_answers_are_the_likeliest_with_each_document(model: REALM) -> None:
    lookup = RetrieveAndRead.of(model, WORDS, BLOCKS)
    for query, reading in zip(QUERIES, lookup.read(QUERIES, 5), strict=True):
        best = set()
        for number in reading.numbers:
            batch = lookup.batch([query], Retrieved.of([[number]]))
            logits = model(batch.reader_inputs)[0]
            best.add(tuple(int(logits[place + 1].argmax()) for place in query.hidden))
        assert {*reading.answers} == best


def test_documents_that_come_and_go(model: REALM) -> None:
    lookup = RetrieveAndRead.of(model, WORDS, BLOCKS)
    assert lookup.corpus.add(MORE[:2]) == [5, 6]
    alike(lookup, RetrieveAndRead.of(model, WORDS, [*BLOCKS, *MORE[:2]]))
    lookup.corpus.replace(1, MORE[2])
    alike(lookup, RetrieveAndRead.of(model, WORDS, [BLOCKS[0], MORE[2], *BLOCKS[2:], *MORE[:2]]))
    lookup.corpus.remove(0)
    assert sorted(lookup.corpus.documents) == sorted(lookup.corpus.index.texts) == [1, 2, 3, 4, 5, 6]
    rest = RetrieveAndRead.of(model, WORDS, [MORE[2], *BLOCKS[2:], *MORE[:2]])
    alike(lookup, rest, {number: number + 1 for number in range(6)})
    assert lookup.corpus.add(BLOCKS[:1]) == [7]
    assert RetrieveAndRead.of(model, WORDS).corpus.add([]) == []
    with pytest.raises(ValueError, match="no document has the number 0, which was removed"):
        lookup.corpus.remove(0)
    with pytest.raises(ValueError, match="no document has the number 9, which was never assigned"):
        lookup.corpus.replace(9, BLOCKS[0])
    alike(lookup, RetrieveAndRead.of(model, WORDS, [MORE[2], *BLOCKS[2:], *MORE[:2], BLOCKS[0]]),
          {number: number + 1 for number in range(7)})


def test_refreshing_is_beginning_anew() -> None:
    model = realm()
    lookup = RetrieveAndRead.of(model, WORDS, BLOCKS)
    lookup.corpus.remove(2)
    with torch.no_grad():
        for weight in model.embedder.parameters():
            weight.copy_(weight.flip(0) * 1.3)
    new = RetrieveAndRead.of(model, WORDS, [*BLOCKS[:2], *BLOCKS[3:]])
    stale = lookup.corpus.index.vectors([0, 1, 3, 4])
    assert float((stale - new.corpus.index.vectors([0, 1, 2, 3])).abs().max()) > 0.1
    lookup.corpus.refresh()
    assert torch.equal(lookup.corpus.index.vectors([0, 1, 3, 4]), new.corpus.index.vectors([0, 1, 2, 3]))
    assert lookup.corpus.index.texts == {number: f"{BLOCKS[number].title}: {BLOCKS[number].text}"
                                         for number in (0, 1, 3, 4)}
    alike(lookup, new, {2: 3, 3: 4})
    empty = RetrieveAndRead.of(model, WORDS).corpus
    empty.refresh()
    assert len(empty.index) == 0


@torch.no_grad()
def best_first(model: REALM, lookup: RetrieveAndRead, query: Query) -> list[int]:
    """All documents by the model's own scores."""
    numbers = [*lookup.corpus.documents]
    scores = model.retrieved(lookup.batch([query], Retrieved.of([numbers]))).scores[0].tolist()
    return [number for _, number in sorted(zip(scores, numbers, strict=True), reverse=True)]


@pytest.mark.parametrize("query", QUERIES)
def test_the_excluded_are_passed_over(model: REALM, query: Query) -> None:
    """Also where all of the best are excluded: the next ones come in their place."""
    lookup = RetrieveAndRead.of(model, WORDS, [*BLOCKS, *MORE])
    order = best_first(model, lookup, query)
    assert lookup.retrieve([query], 3).lists() == [(*order[:3],)]
    for excluded in ((order[0],), tuple(order[:3]), (order[1], order[3]), tuple(order[:6]), (99,)):
        expected = [number for number in order if number not in excluded]
        others = [Query(ids("ada saw the sea"), (1,)), query._replace(excluded=excluded)]
        assert lookup.retrieve(others, 3).lists()[1] == (*expected[:3],)
        reading, = lookup.read([query._replace(excluded=excluded)], 3)
        assert reading.numbers == (NULL, *expected[:3])


def test_all_documents_are_excluded(model: REALM) -> None:
    lookup = RetrieveAndRead.of(model, WORDS, BLOCKS)
    reading, = lookup.read([QUERIES[0]._replace(excluded=range(len(BLOCKS)))], 2)
    assert reading.numbers == (NULL,)
    mixed = lookup.read([QUERIES[0]._replace(excluded=range(len(BLOCKS))), QUERIES[1]], 2)
    assert [len(one.numbers) for one in mixed] == [1, 3]
    same(mixed[0].likelihoods, reading.likelihoods)


def test_more_are_asked_for_than_there_are(model: REALM) -> None:
    lookup = RetrieveAndRead.of(model, WORDS, BLOCKS[:2])
    assert [sorted(found) for found in lookup.retrieve(QUERIES, 50).lists()] == [[0, 1]] * len(QUERIES)
    assert {len(reading.numbers) for reading in lookup.read(QUERIES, 50)} == {3}


def test_no_documents_at_all(model: REALM) -> None:
    lookup = RetrieveAndRead.of(model, WORDS)
    assert lookup.retrieve(QUERIES).lists() == [()] * len(QUERIES)
    readings = lookup.read(QUERIES)
    for query, reading in zip(QUERIES, readings, strict=True):
        assert reading.numbers == (NULL,) and reading.priors.tolist() == [1.0] and len(reading.answers) == 1
        assert float(reading.score_gradient()[0]) == pytest.approx(0, abs=1e-12)
        same(reading.marginals, lookup.read([query])[0].marginals)
    with pytest.raises(ValueError, match="at least one document"):
        lookup.read(QUERIES, null=False)
    assert lookup.read([]) == [] and lookup.retrieve([]).lists() == []


@pytest.mark.parametrize("temperature", [0.2, 1.0, 7.0])
def test_temperature_by_hand(model: REALM, temperature: float) -> None:
    lookup = RetrieveAndRead.of(model, WORDS, BLOCKS)
    for plain, reading in zip(lookup.read(QUERIES, 4), lookup.read(QUERIES, 4, temperature=temperature), strict=True):
        same(plain.scores, reading.scores)
        expected = softmax([score / temperature for score in plain.scores.tolist()])
        assert reading.priors.tolist() == pytest.approx(expected, abs=1e-12)
        for said, chance in zip(reading.answers, reading.marginals.tolist(), strict=True):
            column = plain.likelihoods[:, plain.answers.index(said)].tolist()
            assert chance == pytest.approx(sum(p * q for p, q in zip(expected, column, strict=True)), abs=1e-12)


def test_answers_that_are_asked_for(model: REALM) -> None:
    lookup = RetrieveAndRead.of(model, WORDS, BLOCKS)

    def shown(readings: list[Reading]) -> list[Sequence[tuple[int, ...]]]:
        return [reading.answers for reading in readings]

    plain = shown(lookup.read(QUERIES, 2))
    asked = [[tuple([token] * len(query.hidden)) for token in (40, 47)] for query in QUERIES]
    with_more = shown(lookup.read(QUERIES, 2, also=asked))
    for before, after, more in zip(plain, with_more, asked, strict=True):
        assert {*after} == {*before, *more} and len(after) == len({*after})
    assert shown(lookup.read(QUERIES, 2, also=plain)) == plain


def test_one_at_a_time_or_many(model: REALM) -> None:
    """Readings are made in portions; no statement depends on the others of its portion."""
    lookup = RetrieveAndRead.of(model, WORDS, BLOCKS)
    together = lookup.read(QUERIES * 12, 5)
    each = [lookup.read([query], 5)[0] for query in QUERIES]
    for alone, reading in zip(each * 12, together, strict=True):
        assert alone.numbers == reading.numbers and alone.answers == reading.answers
        same(alone.marginals, reading.marginals)
    assert not model.training


def test_a_copy_goes_its_own_way(model: REALM) -> None:
    lookup = RetrieveAndRead.of(model, WORDS, BLOCKS)
    made = lookup.corpus.copied()
    alike(lookup.with_corpus(made), lookup)
    made.remove(0)
    made.replace(1, MORE[0])
    made.add(MORE[1:])
    alike(lookup, RetrieveAndRead.of(model, WORDS, BLOCKS))
    assert made.documents.keys() == {*range(1, len(BLOCKS) + 2)} and made.documents[1] == MORE[0]


def test_reading_and_learning_leave_nothing_on_the_wrong_device() -> None:
    plain = realm().float()
    expected = RetrieveAndRead.of(plain, WORDS, BLOCKS).read(QUERIES, 3, temperature=2.0)
    with fake_gpu():
        lookup = RetrieveAndRead.of(realm().float().to("cuda"), WORDS, BLOCKS)
        for ours, theirs in zip(lookup.read(QUERIES, 3, temperature=2.0), expected, strict=True):
            assert ours.numbers == theirs.numbers and ours.answers == theirs.answers
            same(ours.marginals, theirs.marginals, 1e-5)
        assert lookup.read_with(QUERIES[0], Retrieved.of([[NULL, 2]])).numbers == (NULL, 2)
        lookup.model.loss(lookup.batch(QUERIES, lookup.retrieve(QUERIES).with_null()).to("cuda")).backward()
        assert lookup.model.embedder.projection.weight.grad.any()
