"""Training data of chapter 17: hard negatives and BM25 by brute force, and batches read back as text."""

from collections.abc import Sequence
from math import log
from statistics import fmean

import pytest
import torch
from tiny_rag import CORPUS, VOCAB, WORLD, asked, encoder, rag, text

from plmlab.chapters.ch17 import training
from plmlab.chapters.ch17.questions import KINDS, TWO_DOCUMENTS, PhraseQuestion, documents, questions
from plmlab.chapters.ch17.training import AnswerBatches, document_input, hard_negative, lexical, matching_batches
from plmlab.example import IGNORE, Batch
from plmlab.models.rag import RetrieveAndGenerate
from plmlab.retrieval import Retrieved
from plmlab.world.datasets.fact_documents import TRAINING

pytestmark = pytest.mark.usefixtures("one_thread")
TEXTS = [f"{block.title} {block.text}".split() for block in CORPUS.blocks]
MEAN = fmean(map(len, TEXTS))


def bm25(question: Sequence[str]) -> list[float]:
    size, counts = len(TEXTS), [sum(word in words for words in TEXTS) for word in question]
    return [sum(log(1 + (size - count + 0.5) / (count + 0.5)) * (f := words.count(word))
                / (f + 1.5 * (0.25 + 0.75 * len(words) / MEAN)) for word, count in zip(question, counts, strict=True))
            for words in TEXTS]


def states(number: int, one: PhraseQuestion) -> bool:
    facts = {CORPUS.plain(fact) for part in one.parts for fact in part.facts}
    return any(CORPUS.plain(fact) in facts for sentence in CORPUS.sentences(number) for fact in sentence.facts)


@pytest.mark.parametrize("kind", KINDS)
def test_a_hard_negative_is_the_best_by_bm25_that_cannot_answer(kind: str) -> None:
    """The lexical search has the same scores; some documents that state no fact of a question contain an answer."""
    better = 0
    for one in questions(WORLD)[kind][:60]:
        scores, found = bm25(one.words), hard_negative(WORLD, one)
        others = [number for number in range(len(TEXTS)) if not states(number, one)]
        allowed = [number for number in others if not any(
            f" {' '.join(part.answer)} " in f" {CORPUS.blocks[number].text} " for part in one.parts)]
        assert found in allowed and scores[found] == pytest.approx(max(scores[number] for number in allowed), abs=1e-4)
        better += max(scores[number] for number in others) > scores[found] + 1e-3
        best = lexical(None, WORLD, [one])  # type: ignore
        assert best.scores[0].tolist() == pytest.approx(sorted(scores, reverse=True)[:5], abs=1e-4)
        assert best.scores[0].tolist() == pytest.approx([scores[number] for number in best.lists()[0]], abs=1e-4)
    assert better > 5


def test_a_question_is_matched_with_a_document_that_states_a_fact_of_it() -> None:
    batch, numbers = matching_batches(3, (WORLD,))(5), {" ".join(words): number for number, words in enumerate(TEXTS)}
    known = {asked(one): one for kind in KINDS for one in questions(WORLD)[kind]}
    found, some = [numbers[text(row)] for row in batch.documents.tokens], [known[text(x)] for x in batch.queries.tokens]
    assert {one.kind for one in some} == {*KINDS} and len(some) == 32
    for one, positive, negative in zip(some, found[:32], found[32:], strict=True):
        assert states(positive, one) and one.supported([positive]) == (one.kind != TWO_DOCUMENTS)
        assert negative == hard_negative(WORLD, one)
    again = [matching_batches(seed, (WORLD,))(step).queries.tokens for seed, step in ((3, 5), (3, 6), (4, 5))]
    assert [torch.equal(tokens, batch.queries.tokens) for tokens in again] == [True, False, False]


@pytest.mark.parametrize("train", [True, False])
def test_batches_of_answers(train: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The world changes after two updates, the mode of the model never; a step is always the same."""
    monkeypatch.setattr(training, "EVERY", 2)
    searched: list[tuple[int, list[PhraseQuestion], list[tuple[int, ...]]]] = []

    def search(whole: RetrieveAndGenerate, world: int, some: Sequence[PhraseQuestion]) -> Retrieved:
        assert [*whole.corpus.documents.values()] == documents(world).blocks
        searched.append((world, [*some], (found := training.dense(whole, world, some)).lists()))
        return found

    model, fixed = rag().train(train), encoder(5)
    first, second = (AnswerBatches(model, fixed, 0, search=search, worlds=(WORLD, TRAINING[0]), batch=3) for _ in "ab")
    made = [first(step) for step in range(6)]
    assert torch.equal(second(4).reader_inputs.source.tokens, made[4].reader_inputs.source.tokens)
    assert model.training == model.question_encoder.training == model.generator.training == train
    a, b = dict.fromkeys(world for world, *_ in searched)
    assert [world for world, *_ in searched] == [a, a, b, b, a, a, a]
    for batch, (world, some, rows) in zip(made, searched[:6], strict=True):
        inputs = [document_input(world, number) for number in sorted({number for row in rows for number in row})]
        vectors = fixed(Batch.of(inputs, pad=VOCAB.need("pad"))).detach()
        torch.testing.assert_close(batch.documents, vectors, atol=1e-4, rtol=1e-4)
        pairs = [(one, documents(world).blocks[number]) for one, row in zip(some, rows, strict=True) for number in row]
        assert [*map(text, batch.reader_inputs.source.tokens)] == [
            f"{asked(one)} {block.title} {block.text}" for one, block in pairs]
        for (one, _), targets in zip(pairs, batch.reader_inputs.target.targets, strict=True):
            scored = targets[targets != IGNORE]
            assert text(scored[:-1]) == " ".join(one.answer) and scored[-1] == VOCAB.end
