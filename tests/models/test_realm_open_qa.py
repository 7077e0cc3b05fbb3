"""REALM for open questions: every span of every document scored by itself, and summed in floats."""

import math
from collections import defaultdict
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random

import pytest
import torch
from realm_small import BLOCKS, SIZE, VOCAB, WORDS, encoder, ids, realm, same, scattered, softmax, two, vector_by_theirs
from torch.nn import functional as F

from plmlab.checkpoints import load, save
from plmlab.models.realm_open_qa import OneSoftmaxREALMForOpenQA, REALMForOpenQA, REALMForOpenQAConfig
from plmlab.models.retrieve_and_read import RetrieveAndRead
from plmlab.objectives.open_domain_qa import QuestionBatch, answer_spans
from plmlab.objectives.reader_inputs import query_input
from plmlab.retrieval import Retrieved

Ids = tuple[int, ...]
BOTH = pytest.mark.parametrize("kind", [REALMForOpenQA, OneSoftmaxREALMForOpenQA])
GIVEN = [  # question, documents, answers
    ("ada was born in", ["ada was born in rome", "ada saw rome and rome", "paint"], ["rome"]),  # twice in the second
    ("bo saw the sea of", ["cy saw the sea", "the red sea of oslo and the green sea of paris"],
     ["oslo", "the green sea"]),  # two answers
    ("dee", ["dee saw paris", "paris"], ["rome"]),  # no answer
    ("the", ["the the the"], ["the the"]),  # overlapping
    ("cy saw", ["rome oslo paris rome oslo"], ["rome oslo paris rome oslo"]),  # longer than a span may be
]


def made(kind: type[REALMForOpenQA] = REALMForOpenQA) -> REALMForOpenQA:
    return scattered(kind(REALMForOpenQAConfig(**vars(SIZE), hidden=6, longest=4)))


def vectors(question: str, documents: list[str]) -> torch.Tensor:
    rng = Random(question)
    return torch.tensor([[rng.gauss(0, 0.6) for _ in range(SIZE.width)] for _ in documents], dtype=torch.float64)


def batch(given: list = GIVEN) -> QuestionBatch:
    """Each document has a number of its own."""
    number = count()
    found = Retrieved.of([[next(number) for _ in documents] for _, documents, _ in given])
    readings = [answer_spans(ids(question), ids(document), [ids(answer) for answer in answers], vocab=VOCAB)
                for question, documents, answers in given for document in documents]
    return QuestionBatch.of([query_input(ids(question), (), VOCAB) for question, _, _ in given], found,
                            torch.cat([vectors(*one[:2]) for one in given]), readings, pad=0)


@torch.no_grad()
def spans_by_hand(model: REALMForOpenQA, question: str, document: str) -> dict[tuple[int, int], float]:
    """The score of body[i:j + 1] for each span, from one reading of ``BertModel``."""
    tokens, segments = two(ids(question), ids(document))
    hidden = encoder(model.reader)(torch.tensor([tokens]), token_type_ids=torch.tensor([segments])).last_hidden_state[0]
    before, size, found = len(ids(question)) + 2, len(ids(document)), {}
    weight = torch.cat([model.start.weight, model.end.weight], 1)
    for first in range(size):
        for last in range(first, min(first + model.config.longest, size)):
            x = F.relu(weight @ torch.cat([hidden[before + first], hidden[before + last]])
                       + model.start.bias + model.end.bias)
            x = (x - x.mean()) / (x.var(unbiased=False) + 1e-3).sqrt() * model.norm.weight + model.norm.bias
            found[first, last] = float(model.score.weight[0] @ x + model.score.bias[0])
    return found


@torch.no_grad()
def worth_by_hand(model: REALMForOpenQA, one: tuple[str, list[str], list[str]]) -> dict[Ids, float]:
    """p(y|x) of every answer that stands in some document."""
    question, documents, _ = one
    statement = [2, *ids(question), 3]
    vector = vector_by_theirs(model.embedder, statement, [0] * len(statement))
    scores = [float(vector @ other) for other in vectors(question, documents)]
    spans = [spans_by_hand(model, question, document) for document in documents]
    if isinstance(model, OneSoftmaxREALMForOpenQA):
        each = [(number, span) for number, some in enumerate(spans) for span in some]
        chances = softmax([scores[number] + spans[number][span] for number, span in each])
    else:
        each, chances = [], []
        for number, (prior, some) in enumerate(zip(softmax(scores), spans, strict=True)):
            each += [(number, span) for span in some]
            chances += [prior * chance for chance in softmax([*some.values()])]
    found: dict[Ids, float] = defaultdict(float)
    for (number, (first, last)), chance in zip(each, chances, strict=True):
        found[ids(documents[number])[first:last + 1]] += chance
    return found


@BOTH
def test_every_answer_by_hand(kind: type[REALMForOpenQA]) -> None:
    model = made(kind)
    for found, one in zip(model.best(batch(), 1000), GIVEN, strict=True):
        expected = worth_by_hand(model, one)
        assert {answer.tokens for answer in found} == {*expected}
        for answer in found:
            assert answer.probability == pytest.approx(expected[answer.tokens], abs=1e-10)
        assert sum(expected.values()) == pytest.approx(1, abs=1e-10)
        assert [answer.probability for answer in found] == pytest.approx(sorted(expected.values(), reverse=True))


@BOTH
def test_the_loss_by_hand(kind: type[REALMForOpenQA]) -> None:
    """The right answers together; a question without one among what was retrieved adds nothing."""
    model, losses = made(kind), []
    for one in GIVEN:
        chances = worth_by_hand(model, one)
        right = math.fsum(chances.get(ids(answer), 0.0) for answer in {*one[2]})
        losses.append(-math.log(right) if right else 0.0)
    assert [loss == 0 for loss in losses] == [False, False, True, False, True]
    assert model.loss(batch()).item() == pytest.approx(sum(losses) / 5, abs=1e-10)
    worth = model.answer_logprobs(batch()).tolist()
    assert worth == pytest.approx([-loss or -math.inf for loss in losses], abs=1e-10)


@BOTH
def test_it_sums_to_one(kind: type[REALMForOpenQA]) -> None:
    log_joint = made(kind).log_joint(batch())
    same(log_joint.exp().sum((1, 2)), torch.ones(5, dtype=torch.float64))
    assert bool(log_joint[0, :, :].isfinite().any(1).all()) and not log_joint[3, 1:].isfinite().any()


def test_the_two_differ_where_a_document_has_more_good_spans() -> None:
    """The prior of a document is that of its score in the one, and not in the other; with one document they agree."""
    paper, code = made(), made(OneSoftmaxREALMForOpenQA)
    priors = paper.retrieved(batch()).scores.softmax(1)
    same(paper.log_joint(batch()).exp().sum(2), priors)
    assert float((code.log_joint(batch()).exp().sum(2) - priors).detach().abs().max()) > 0.05
    same(paper.log_joint(batch(GIVEN[3:4])), code.log_joint(batch(GIVEN[3:4])))


@BOTH
def test_a_question_does_not_depend_on_its_batch(kind: type[REALMForOpenQA]) -> None:
    model = made(kind)
    alone = torch.cat([model.answer_logprobs(batch([one])) for one in GIVEN])
    same(model.answer_logprobs(batch()), alone)
    same(model.answer_logprobs(batch(GIVEN[::-1])), alone.flip(0))


@BOTH
def test_what_learns(kind: type[REALMForOpenQA]) -> None:
    """The question's embedder, the reader and the layer for spans; of the documents' vectors nothing."""
    model, given = made(kind), batch()
    model.loss(given).backward()
    assert {name for name, weight in model.named_parameters() if weight.grad is None} == {
        "reader.pooler.weight", "reader.pooler.bias"}
    assert all(bool(weight.grad.isfinite().all()) for weight in model.parameters() if weight.grad is not None)
    for weight in (model.embedder.projection.weight, model.start.weight, model.end.weight, model.score.weight):
        assert bool(weight.grad.any())
    assert not given.documents.requires_grad


@BOTH
def test_the_gradient_for_a_score(kind: type[REALMForOpenQA], monkeypatch: pytest.MonkeyPatch) -> None:
    """Against finite differences: the loss by changed scores of documents."""
    model, given = made(kind), batch()
    scores = model.retrieved(given).scores.detach()

    def loss(changed: torch.Tensor) -> torch.Tensor:
        monkeypatch.setattr(model, "retrieved", lambda _: replace(
            given.retrieved, scores=changed.masked_fill(~given.retrieved.doc_mask, -torch.inf)))
        return model.loss(given)

    assert torch.autograd.gradcheck(loss, (scores.masked_fill(~given.retrieved.doc_mask, 0).requires_grad_(),))


@BOTH
def test_questions_that_no_document_answers(kind: type[REALMForOpenQA]) -> None:
    model = made(kind)
    loss = model.loss(batch([GIVEN[2], GIVEN[4]]))
    loss.backward()
    assert loss.item() == 0 and all(weight.grad is None or not weight.grad.any() for weight in model.parameters())


def test_looking_up() -> None:
    """The documents that the question's embedder finds, with the vectors that they have in the index."""
    pretrained = realm().float()
    corpus, model = RetrieveAndRead.of(pretrained, WORDS,
                                       BLOCKS).corpus, REALMForOpenQA.from_pretrained(pretrained, hidden=6, longest=3)
    with torch.no_grad():
        model.embedder.projection.bias.add_(1)  # it has learned since
    questions = [ids("ada saw the"), ids("dee was born in")]
    given = model.retrieve(corpus, questions, [[ids("sea")], [ids("paris"), ids("rome")]], 2)
    assert torch.equal(given.documents, corpus.index.vectors(given.retrieved.documents.tolist()))
    texts = [ids(one.text) for one in BLOCKS]
    stored = corpus.index.vectors(range(len(BLOCKS)))
    for row, question in enumerate(questions):
        tokens = [2, *question, 3]
        own = vector_by_theirs(model.embedder, tokens, [0] * len(tokens)).detach()
        best = (stored @ own).argsort(descending=True)[:2].tolist()
        assert given.retrieved.lists()[row] == tuple(best)
        for place, number in enumerate(best):
            reading = given.reader_inputs.tokens[2 * row + place]
            assert [token for token in reading.tolist() if token] == two(question, texts[number])[0]
    assert model.best(given) == model.best(model.retrieve(corpus, questions, top_k=2))
    assert float(model.loss(model.retrieve(corpus, questions, top_k=2)).detach()) == 0
    more = model.retrieve(corpus, questions, top_k=50)
    assert more.retrieved.doc_mask.tolist() == [[True] * len(BLOCKS)] * 2
    with pytest.raises(ValueError, match="at least one document"):
        model.retrieve(RetrieveAndRead.of(pretrained, WORDS).corpus, questions)


@BOTH
def test_it_stands_on_copies_and_is_saved_whole(kind: type[REALMForOpenQA], tmp_path: Path) -> None:
    pretrained = realm().float()
    model = kind.from_pretrained(pretrained, hidden=6)
    assert model.config == REALMForOpenQAConfig(**vars(SIZE), hidden=6) and model.config.longest == 10
    for ours, theirs in ((model.embedder, pretrained.embedder), (model.reader, pretrained.reader.encoder)):
        assert all(torch.equal(weight, theirs.state_dict()[name]) for name, weight in ours.state_dict().items())
    save(tmp_path / "it", model, WORDS, command="none", figures={})
    again, _ = load(tmp_path / "it")
    assert type(again) is kind
    with torch.no_grad():
        model.reader.pooler.bias.add_(1)
    assert not torch.equal(model.reader.pooler.bias, pretrained.reader.encoder.pooler.bias)

