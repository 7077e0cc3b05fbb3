"""RAG: both losses by sums over texts read one by one, its inputs, where its gradients go, and what it generates."""

import math
from dataclasses import replace

import pytest
import torch
from fake_gpu import fake_gpu
from realm_small import BLOCKS, WORDS, ids, same, scattered, softmax

from plmlab.checkpoints import load
from plmlab.decode.rag import fast_decoding
from plmlab.example import IGNORE, Batch, PairBatch
from plmlab.models.bart import BART, BARTConfig
from plmlab.models.dpr import DPR, DPRConfig, QuestionEncoder
from plmlab.models.rag import RAGSequence, RAGToken, RetrieveAndGenerate
from plmlab.models.t5 import T5, T5Config
from plmlab.objectives.answer_generation import AnswerBatch, document_first, question_first
from plmlab.objectives.denoising import restoration
from plmlab.objectives.reader_inputs import query_input
from plmlab.retrieval import Retrieved
from plmlab.text.words import word_tokenizer

DPRS = DPRConfig(len(WORDS), time=32, layers=2, model=12, heads=3, inner=20, dropout=0.0, attention_dropout=0.0)
BARTS = BARTConfig(len(WORDS), time=32, layers=1, model=8, heads=2, inner=12, dropout=0.0)
QUESTIONS = ["ada was born in", "bo saw the green sea of oslo then", "paint"]
ANSWERS = ["rome", "oslo and paris", ""]
SOME = [[3, 0], [0, 1, 4, 2], [4]]
END = WORDS.vocab.end
both = pytest.mark.parametrize("kind", [RAGSequence, RAGToken])


def rag(kind: type[RAGSequence] = RAGSequence, seed: int = 3) -> RetrieveAndGenerate:
    """With a document encoder of its own, and the blocks embedded by it."""
    model = kind.from_pretrained(scattered(QuestionEncoder(DPRS), seed), scattered(BART(BARTS), seed + 1))
    with torch.no_grad():  # so that documents differ, in what they predict too, and answers end
        model.question_encoder.layers[-1].feed_forward_residual.norm.weight.mul_(3)
        model.generator.decoder.layers[0].cross_attention.v.weight.mul_(6)
        model.generator.decoder.layers[0].cross_attention.q.weight.mul_(6)
        model.generator.token.weight.mul_(2)
        model.generator.output_bias[END] += 6
    return RetrieveAndGenerate.of(model, scattered(DPR(DPRS), 7).document_encoder, WORDS, BLOCKS)


def given(whole: RetrieveAndGenerate, numbers: list[list[int]] | None = None, answers: list[str] | None = None,
          ) -> AnswerBatch:
    return whole.batch(QUESTIONS, Retrieved.of(SOME if numbers is None else numbers), answers or ANSWERS)


@torch.no_grad()
def by_hand(whole: RetrieveAndGenerate, question: str, numbers: list[int], answer: str,
            ) -> tuple[list[float], list[list[float]]]:
    """p(z|x), and p(y_i|x,z,y_<i) of the answer's tokens and [END], each text without a batch."""
    model, retriever = whole.model, whole.corpus.retriever
    vector = model.question_encoder(Batch.of([query_input(ids(question), (), WORDS.vocab)], pad=0))[0]
    documents = [retriever.document_network(Batch.of([retriever.document(BLOCKS[number])], pad=0))[0]
                 for number in numbers]
    chances = []
    for number in numbers:
        source = ids(f"{question} {BLOCKS[number].title} {BLOCKS[number].text}")
        pair = PairBatch.of([restoration(source, ids(answer), WORDS.vocab)], pad=0)
        probabilities = model.generator(pair)[0].softmax(1)
        chances.append([float(probabilities[i + 1, token]) for i, token in enumerate([*ids(answer), END])])
    return softmax([float(vector @ document) for document in documents]), chances


@both
def test_the_loss_by_sums_of_products(kind: type[RAGSequence]) -> None:
    """One to four documents, answers of one to four tokens with [END], in one batch."""
    whole, worth = rag(kind), []
    for question, numbers, answer in zip(QUESTIONS, SOME, ANSWERS, strict=True):
        priors, chances = by_hand(whole, question, numbers, answer)
        if kind is RAGSequence:
            worth.append(math.fsum(p * math.prod(some) for p, some in zip(priors, chances, strict=True)))
        else:
            worth.append(math.prod(math.fsum(p * some[i] for p, some in zip(priors, chances, strict=True))
                                   for i in range(len(chances[0]))))
    batch = given(whole)
    assert batch.target_mask.sum(1).tolist() == [2, 4, 1]
    logprobs = whole.model.answer_logprobs(batch).detach()
    assert logprobs.tolist() == pytest.approx([math.log(p) for p in worth], abs=1e-6)  # the index holds float32
    same(whole.model.loss(batch), -logprobs.mean())
    other = rag(RAGToken if kind is RAGSequence else RAGSequence).model.answer_logprobs(batch)
    assert ((logprobs - other).abs() > 1e-3).tolist() == [True, True, False], "equal for one token"


def test_the_inputs_of_both_parts() -> None:
    """[CLS] x [SEP] for the retriever, [START] x title text [END] for the generator; [START] is no target."""
    whole, found = rag(), Retrieved.of([[1], [3]])
    cls, sep, start = (WORDS.vocab.need(name) for name in ("cls", "sep", "start"))
    for combine, first in ((question_first, "ada was born in ada ada saw the sea of oslo then ada saw paris"),
                           (document_first, "ada / ada saw the sea of oslo then ada saw paris // ada was born in")):
        batch = replace(whole, combine=combine).batch(QUESTIONS[:2], found, ANSWERS[:2])
        source, target = batch.reader_inputs.source, batch.reader_inputs.target
        assert [*filter(None, source.tokens[0].tolist())] == [start, *ids(first), END]
        assert target.tokens[1].tolist() == [END, start, *ids("oslo and paris")]
        assert target.targets[1].tolist() == [IGNORE, *ids("oslo and paris"), END]
        assert batch.queries.tokens[0].tolist()[:6] == [cls, *ids("ada was born in"), sep]
    assert not batch.reader_inputs.source.padding_mask[1].all()
    same(batch.documents, whole.corpus.index.vectors([1, 3]).double())


def test_the_parts_may_have_different_tokenizers() -> None:
    words = word_tokenizer(["paint", "ada", "rome", "was", "born", "in"])
    generator = scattered(BART(replace(BARTS, vocab=len(words))), 4)
    whole = replace(rag(), model=RAGSequence.from_pretrained(scattered(QuestionEncoder(DPRS)), generator),
                    tokenizer=words)
    batch = whole.batch(QUESTIONS[:1], Retrieved.of([[0]]), ["rome"])
    assert batch.reader_inputs.target.tokens.tolist() == [[END, 5, *words.encode("rome")]]
    assert batch.queries.tokens.tolist() == [[2, *ids(QUESTIONS[0]), 3]] and words.encode("rome") != [*ids("rome")]


@both
def test_the_question_encoder_learns_through_the_retriever_alone(kind: type[RAGSequence]) -> None:
    """The document encoder takes no gradient, and the index stays as it is. One document teaches no retrieval."""
    whole = rag(kind)
    before = whole.corpus.index.vectors([*range(len(BLOCKS))])
    batch, encoder = given(whole), whole.corpus.retriever.document_network
    whole.model.loss(batch).backward()
    assert whole.corpus.retriever.query_network is whole.model.question_encoder
    assert all(weight.grad is None for weight in encoder.parameters()) and batch.documents.grad is None
    for name, weight in whole.model.named_parameters():
        assert bool(weight.grad.isfinite().all()), name
    assert whole.model.question_encoder.embeddings.token.weight.grad.any()
    assert whole.model.generator.token.weight.grad.any()
    torch.optim.SGD(whole.model.parameters(), 0.1).step()
    same(whole.corpus.index.vectors([*range(len(BLOCKS))]), before, 0)
    whole.model.zero_grad()
    whole.model.loss(given(whole, [[0], [4], [2]])).backward()
    assert all(not weight.grad.any() for weight in whole.model.question_encoder.parameters())
    assert whole.model.generator.token.weight.grad.any()


@both
def test_what_is_generated_has_the_probability_of_the_loss(kind: type[RAGSequence]) -> None:
    """By thorough decoding or by one beam search; answers differ, and are best first."""
    whole = rag(kind)
    found = whole.retrieve(QUESTIONS, 3)
    answers = whole.model.generate(whole.batch(QUESTIONS, found), WORDS.vocab, length=4, beam=3)
    for row, question in enumerate(QUESTIONS):
        ended = [text for text in answers[row] if text.tokens[-1] == END]
        assert ended and answers[row] == sorted(answers[row], key=lambda text: -text.logprob)
        for text in ended:
            batch = whole.batch([question], found[row:row + 1], [WORDS.decode(text.tokens[:-1])])
            assert float(whole.model.answer_logprobs(batch).detach()) == pytest.approx(text.logprob, abs=1e-9)
        assert len({text.tokens for text in answers[row]}) == len(answers[row]) >= 3


@both
def test_no_tensor_is_left_on_another_device(kind: type[RAGSequence]) -> None:
    vocab, how = WORDS.vocab, {"length": 2, "beam": 2}
    expected = rag(kind).model.generate(given(rag(kind)), vocab, **how)
    with fake_gpu():
        whole = rag(kind)
        whole.model.to("cuda")
        batch = given(whole)
        whole.model.loss(batch).backward()
        found = whole.model.generate(batch, vocab, **how)
        [read] = whole.read(QUESTIONS[:1], 2, **how)
        assert read.predictions.device == read.scores.device == torch.device("cpu")
        assert [[text.tokens for text in row] for row in found] == [[text.tokens for text in row] for row in expected]
        if kind is RAGSequence:
            assert fast_decoding(*whole.model.decoding(batch, vocab), vocab, **how)


def test_other_parts_fit() -> None:
    """The bundled BART, and a generator with another input format."""
    bart, tokenizer = load("bart-world", expect="bart")
    question = QuestionEncoder(DPRConfig.tiny(len(tokenizer)))
    t5 = T5(T5Config(len(WORDS), layers=1, model=8, heads=2, inner=12))
    for generator, words in ((bart, tokenizer), (t5, WORDS)):
        model = RAGSequence.from_pretrained(question.eval(), generator)
        whole = RetrieveAndGenerate.of(model, DPR(question.config).document_encoder, words, BLOCKS[:2])
        batch = whole.batch(["ada saw the"], Retrieved.of([[0, 1]]), ["sea"])
        assert bool(model.loss(batch).isfinite()) and len(model.generate(batch, words.vocab, length=3)[0]) > 3
        assert words.vocab.start not in batch.targets


@both
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_what_is_read_of_each_token_by_hand(kind: type[RAGSequence], temperature: float) -> None:
    """Of each answer: p(y_i|x,z,y_<i), the weights by Bayes' rule, and both marginals; and which answers there are."""
    whole = rag(kind)
    own = ids("oslo and paris")
    for question, read in zip(QUESTIONS[:2], whole.read(QUESTIONS[:2], 3, temperature=temperature,
                                                        also=[[own], [own]], excluded=[[0], [0]], beam=3), strict=True):
        assert len(read.numbers) == 3 and 0 not in read.numbers and own in read.answers
        vectors = whole.corpus.index.vectors([*read.numbers]).double()
        scores = vectors @ whole.model.question_encoder(
            Batch.of([query_input(ids(question), (), WORDS.vocab)], pad=0))[0].detach()
        priors = softmax((scores / temperature).tolist())
        for row, answer in enumerate(read.answers):
            _, chances = by_hand(whole, question, list(read.numbers), WORDS.decode(answer))
            assert read.likelihoods[:, row].tolist() == pytest.approx([math.prod(some) for some in chances], rel=1e-6)
            weights, token = list(priors), 1.0
            for i in range(len(answer) + 1):
                now = [some[i] for some in chances]
                assert read.predictions[row, :, i].tolist() == pytest.approx(now, rel=1e-6)
                assert read.posteriors[row, :, i].tolist() == pytest.approx(weights, rel=1e-5)
                parts = [weight * p for weight, p in zip(weights, now, strict=True)]
                token *= math.fsum(p * some for p, some in zip(priors, now, strict=True))
                weights = [part / math.fsum(parts) for part in parts]
            assert not read.predictions[row, :, len(answer) + 1:].any()
            whole_answer = math.fsum(p * math.prod(some) for p, some in zip(priors, chances, strict=True))
            assert float(read.marginals[row]) == pytest.approx(whole_answer, rel=1e-5)
            assert float(read.token_marginals[row]) == pytest.approx(token, rel=1e-5)
        assert read.marginals.tolist() == sorted(read.marginals.tolist(), reverse=True)
        assert read.best == (read.answers[0], read.answers[int(read.token_marginals.argmax())])


def test_only_given_answers_are_read_without_a_beam() -> None:
    [read] = rag().read(QUESTIONS[:1], 2, also=[[ids("oslo")]], beam=0)
    [every] = rag().read(QUESTIONS[:1], 2, also=[[ids("oslo")]])
    assert read.answers == (ids("oslo"),)
    one = every.select([ids("oslo")])
    for name in ("likelihoods", "predictions", "posteriors", "token_marginals"):
        found, wanted = getattr(read, name), getattr(one, name)
        same(found, wanted[..., :2] if wanted.ndim == 3 else wanted)
    with pytest.raises(ValueError, match="there is no answer to 'ada was born in'"):
        rag().read(QUESTIONS[:1], 2, beam=0)


def test_what_is_read_holds_what_both_forms_generate() -> None:
    for kind in (RAGSequence, RAGToken):
        whole = rag(kind)
        found = whole.retrieve(QUESTIONS[:1], 3)
        generated = whole.model.generate(whole.batch(QUESTIONS[:1], found), WORDS.vocab, length=4, beam=3)[0]
        [read] = rag().read(QUESTIONS[:1], 3, length=4, beam=3)
        marginals = read.marginals if kind is RAGSequence else read.token_marginals
        for text in generated:
            if text.tokens[-1] == END:
                row = read.answers.index(text.tokens[:-1])
                assert float(marginals[row].log()) == pytest.approx(text.logprob, abs=1e-9)
