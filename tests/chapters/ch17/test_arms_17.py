"""The variants of chapter 17: where gradients go, what the generator's encoder gets, and outcomes by hand."""

from random import Random

import pytest
import torch
from tiny_rag import CORPUS, WORLD, asked, encoder, rag, saying, text

from plmlab.chapters.ch17 import arms
from plmlab.chapters.ch17.arms import Answered, ClosedBook, FixedSequence, FixedToken, LongContext
from plmlab.chapters.ch17.questions import ONE_FACT, TWO_DOCUMENTS, questions
from plmlab.chapters.ch17.training import dense, drawn, hard_negative, with_documents
from plmlab.models.rag import RAGSequence, RAGToken, RetrieveAndGenerate
from plmlab.models.text_retriever import TextCorpus
from plmlab.objectives.answer_generation import AnswerBatch
from plmlab.retrieval import Retrieved
from plmlab.retrieval.blocks import Block

pytestmark = pytest.mark.usefixtures("one_thread")
SOME = drawn(WORLD, 6, Random(1))


def system(kind: type[RetrieveAndGenerate], model: type[RAGSequence] = FixedToken) -> RetrieveAndGenerate:
    return with_documents(rag(model), encoder(5), WORLD, kind)


def batch(whole: RetrieveAndGenerate, found: Retrieved) -> AnswerBatch:
    return whole.batch([*map(asked, SOME)], found, [" ".join(one.answer) for one in SOME])


@pytest.mark.parametrize("fixed, learned", [(FixedSequence, RAGSequence), (FixedToken, RAGToken)])
def test_a_fixed_retriever_gets_no_gradient(fixed: type[RAGSequence], learned: type[RAGSequence]) -> None:
    """It has the same loss; given scores are its logits."""
    losses = []
    for kind in (fixed, learned):
        whole = system(RetrieveAndGenerate, kind)
        losses.append(whole.model.loss(batch(whole, dense(whole, WORLD, SOME))))
        losses[-1].backward()
        gradients = [weight.grad for weight in whole.model.question_encoder.parameters()]
        assert all(gradient is None for gradient in gradients) == (kind is fixed)
        assert kind is fixed or any(gradient.any() for gradient in gradients)
        assert whole.model.generator.token.weight.grad.any()
    torch.testing.assert_close(*losses, atol=1e-3, rtol=1e-3)
    given = Retrieved(numbers := dense(whole, WORLD, SOME).numbers, -numbers / 50)
    torch.testing.assert_close(rag(fixed).retrieved(batch(whole, given)).probs(), given.scores.softmax(1))


@pytest.mark.parametrize("kind, inputs", [(ClosedBook, 0), (LongContext, 3)])
def test_one_input_per_question(kind: type[RetrieveAndGenerate], inputs: int) -> None:
    """The question, without a document or with the three best ones in order; its one document has p(z|x) = 1."""
    found = dense(whole := system(kind), WORLD, SOME)
    made, blocks = batch(whole, found), [[CORPUS.blocks[number] for number in row[:inputs]] for row in found.lists()]
    assert [text(row) for row in made.reader_inputs.source.tokens] == [
        " ".join([asked(one), *(f"{block.title} {block.text}" for block in row)])
        for one, row in zip(SOME, blocks, strict=True)]
    assert whole.model.retrieved(made).probs().tolist() == [[1.0]] * len(SOME)


def test_the_answers_of_a_closed_book_depend_on_no_document() -> None:
    """Those of the other systems do, by the probabilities of the correct ones."""
    for kind in (ClosedBook, LongContext, RetrieveAndGenerate):
        whole, found = system(kind), Retrieved.of([[0, 1, 2, 3]] * len(SOME))
        other = whole.with_corpus(TextCorpus(whole.corpus.retriever, CORPUS.blocks[::-1][:40]))
        first, second = (one.model.answer_logprobs(batch(one, found)).detach() for one in (whole, other))
        assert first.isclose(second, atol=1e-3, rtol=0).all() == (kind is ClosedBook)
        assert kind is not ClosedBook or arms.answers(whole, SOME, found) == arms.answers(other, SOME, found)


def test_outcomes_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first question is answered from its document, the second from no document; the third has its parts in the
    wrong order, the fourth one part from a document that states the other fact."""
    one, other = questions(WORLD)[ONE_FACT][:2]
    third, fourth = [each for each in questions(WORLD)[TWO_DOCUMENTS] if len(each.gold) == 2][:2]
    second, none = (hard_negative(WORLD, each) for each in (other, fourth))
    found = Retrieved.of([[*one.told[0]], [second], [second, *third.gold], [none, *fourth.told[1]]])
    told = {asked(each): " ".join(each.answer) for each in (one, other, fourth)}
    told[asked(third)] = " and ".join(" ".join(part.answer) for part in third.parts[::-1])
    monkeypatch.setattr(arms, "CHUNK", 3)
    saying(monkeypatch, told)
    outcomes = arms.answered(system(RetrieveAndGenerate), WORLD, [one, other, third, fourth], lambda *given: found)
    assert outcomes == [Answered(True, True, True), Answered(True, False, False), Answered(False, True, True),
                        Answered(True, False, False)]
    assert arms.figures(outcomes) == {"exact match": 0.75, "recall": 0.5, "not in the documents": 0.5}
    assert [*arms.figures(outcomes[:3]).values()] == pytest.approx([2 / 3, 2 / 3, 1 / 3])


@pytest.mark.parametrize("numbers, answer, said", [
    ([0], "Alder", True), ([1, 0], "Alder", True), ([1], "Alder", False), ([0], "Ann Lee", True), ([0], "Ald", False),
    ([0], "Lee lives", True), ([0], "Lee in", False), ([0, 1], "Alder and 1950", True), ([0], "Alder and 1950", False),
    ([1], "Alder and 1950", False), ([2], "film", False), ([2], "Alderton", True), ([2], "a town", True)])
def test_each_part_of_a_grounded_answer_is_in_a_document_or_its_title(
        numbers: list[int], answer: str, said: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As whole words: "Ann Lee" is a title, and "Ald" part of a word."""
    made = [Block("Ann Lee", 0, ("Lee lives in Alder .", "she is old .")), Block("Bo", 0, ("he was born in 1950 .",)),
            Block("Alderton", 0, ("it is a town .", "films are made there ."))]
    monkeypatch.setattr(arms, "documents", lambda world: type("Documents", (), {"blocks": made}))
    assert arms.grounded(WORLD, numbers, answer.split()) == said
