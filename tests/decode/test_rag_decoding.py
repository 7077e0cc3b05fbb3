"""Decoding from several documents, against all answers of a small vocabulary written out; and small worlds in which the
two forms of RAG, thorough and fast decoding, and a beam per document and the best answer differ."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor
from writing import every_text, seeded

from plmlab.decode import Hypothesis, beam_search, exact_search, greedy
from plmlab.decode.rag import (
    SequenceMixture,
    TokenMixture,
    beams_per_document,
    fast_decoding,
    text_logprobs,
    thorough_decoding,
)
from plmlab.text.vocabulary import Vocabulary

SIZE, END, LENGTH = 5, 4, 3
VOCAB = Vocabulary(SIZE, None, None, None, None, None, None, end=END, sentinels=())
EVERY = every_text(SIZE, END, LENGTH)
MIXTURES = {"sequence": SequenceMixture, "token": TokenMixture}
both = pytest.mark.parametrize("form", MIXTURES)
Text = tuple[int, ...]


@dataclass
class Rows:
    """Which document each row has, and what it has been given so far."""

    documents: Tensor
    texts: Tensor

    def select(self, rows: Tensor) -> None:
        self.documents, self.texts = self.documents[rows], self.texts[rows]


class Whims:
    """A decoder whose distributions are arbitrary, but the same for the same document and text; one row per document.
    The prompt is a single token, which counts too."""

    training = False

    def __init__(self, documents: list[int], seed: int = 0, sharp: float = 1.5) -> None:
        self.documents, self.seed, self.sharp = documents, seed, sharp

    def start(self) -> Rows:
        return Rows(torch.tensor(self.documents), torch.empty(len(self.documents), 0, dtype=torch.long))

    def step(self, tokens: Tensor, state: Rows) -> Tensor:
        state.texts = torch.cat([state.texts, tokens], 1)
        return torch.stack([self.logits(document, tuple(text))
                            for document, text in zip(state.documents.tolist(), state.texts.tolist(), strict=True)])

    def logits(self, document: int, text: Text) -> Tensor:
        return self.sharp * torch.randn(SIZE, dtype=torch.float64,
                                        generator=seeded(hash((self.seed, document, *text)) % 2**31))

    def chances(self, document: int, text: Text, prompt: int = 0) -> list[float]:
        """p(y_i|x,z,y_<i) of each token of an answer."""
        return [float(self.logits(document, (prompt, *text[:i])).softmax(0)[token]) for i, token in enumerate(text)]


class Answers(Whims):
    """A decoder that is given the probabilities of whole answers, without [END]; other answers are nearly impossible,
    and after a text that begins no answer the next token is [END]."""

    def __init__(self, *tables: Mapping[Text, float]) -> None:
        super().__init__([*range(len(tables))])
        self.tables = [{(*text, END): p for text, p in table.items()} for table in tables]

    def logits(self, document: int, text: Text) -> Tensor:
        after, weights = text[1:], torch.full((SIZE,), 1e-12, dtype=torch.float64)
        for answer, p in self.tables[document].items():
            if answer[:len(after)] == after and len(answer) > len(after):
                weights[answer[len(after)]] += p
        return weights.log() if weights.max() > 1e-9 else torch.eye(SIZE, dtype=torch.float64)[END] * 50


def priors(*rows: list[float]) -> Tensor:
    """log p(z|x), [query doc]; 0 is a missing document."""
    return torch.tensor(rows, dtype=torch.float64).log()


def prompt(rows: int = 1) -> Tensor:
    return torch.zeros(rows, 1, dtype=torch.long)


def worth(model: Whims, prior: list[float], text: Text, form: str) -> float:
    """p(y|x), by sums and products of floats."""
    chances = [model.chances(document, text) for document in range(len(prior))]
    if form == "sequence":
        return math.fsum(p * math.prod(some) for p, some in zip(prior, chances, strict=True))
    return math.prod(math.fsum(p * some[i] for p, some in zip(prior, chances, strict=True)) for i in range(len(text)))


def ranking(model: Whims, prior: list[float], form: str, texts: list[Text] = EVERY) -> list[tuple[float, Text]]:
    return sorted(((math.log(worth(model, prior, text, form)), text) for text in texts), reverse=True)


def same(found: list[Hypothesis], expected: list[tuple[float, Text]]) -> None:
    assert [text.tokens for text in found] == [text for _, text in expected]
    assert [text.logprob for text in found] == pytest.approx([logprob for logprob, _ in expected], abs=1e-9)


PRIOR = [0.5, 0.2, 0.3]


@both
@pytest.mark.parametrize("seed", range(3))
def test_a_mixture_is_a_language_model_whose_answers_are_worth_the_sum(form: str, seed: int) -> None:
    """All 85 answers of four words and [END]; their probabilities sum to 1 in both forms."""
    model = Whims([0, 1, 2], seed)
    assert len(EVERY) == 85 and sum(worth(model, PRIOR, text, form) for text in EVERY) == pytest.approx(1, abs=1e-12)
    mixture = MIXTURES[form](model, priors(PRIOR))
    found = text_logprobs(mixture, prompt(), [0] * len(EVERY), EVERY)
    assert found.tolist() == pytest.approx([math.log(worth(model, PRIOR, text, form)) for text in EVERY], abs=1e-9)
    expected = ranking(model, PRIOR, form)
    exact = exact_search(mixture, prompt(), VOCAB, length=LENGTH, count=5, banned=())
    same(exact.best, expected[:5])
    same(beam_search(mixture, prompt(), VOCAB, length=LENGTH, beam=len(EVERY), banned=())[0], expected)


def test_the_two_forms_give_different_distributions() -> None:
    model = Whims([0, 1, 2], 1)
    gaps = [math.log(worth(model, PRIOR, text, "sequence") / worth(model, PRIOR, text, "token")) for text in EVERY]
    ones = [gap for text, gap in zip(EVERY, gaps, strict=True) if len(text) == 1]
    assert len(ones) == 1 and ones[0] == pytest.approx(0, abs=1e-12)
    assert min(gaps) < -0.5 and max(gaps) > 0.5


@pytest.mark.parametrize("seed", range(3))
def test_thorough_and_fast_decoding_by_hand(seed: int) -> None:
    """Two questions, with three documents and two; each of the five documents has a distribution of its own."""
    model, found = Whims([3, 4, 5, 6, 7], seed), priors([0.5, 0.2, 0.3], [0.25, 0.0, 0.75])
    thorough = thorough_decoding(model, found, prompt(2), VOCAB, length=LENGTH, beam=2, banned=())
    fast = fast_decoding(model, found, prompt(2), VOCAB, length=LENGTH, beam=2, banned=())
    for question, (documents, prior) in enumerate([([3, 4, 5], PRIOR), ([6, 7], [0.25, 0.75])]):
        beams = [{text.tokens for text in beam_search(Whims([document], seed), prompt(), VOCAB, length=LENGTH, beam=2,
                                                      banned=())[0]} for document in documents]
        each = list(zip(prior, documents, beams, strict=True))
        union = {text for beam in beams for text in beam}
        for result, counts in ((thorough, lambda text, beam: True), (fast, lambda text, beam: text in beam)):
            expected = sorted(((math.log(math.fsum(p * math.prod(model.chances(document, text)) * counts(text, beam)
                                                   for p, document, beam in each)), text) for text in union),
                              reverse=True)
            same(result[question], expected)


def test_a_beam_of_all_answers_is_brute_force() -> None:
    model = Whims([0, 1, 2], 4)
    given = {"length": LENGTH, "beam": len(EVERY), "banned": ()}
    expected = ranking(model, PRIOR, "sequence")
    same(thorough_decoding(model, priors(PRIOR), prompt(), VOCAB, **given)[0], expected)
    same(fast_decoding(model, priors(PRIOR), prompt(), VOCAB, **given)[0], expected)


@both
def test_questions_with_different_numbers_of_documents(form: str) -> None:
    """In one batch, missing documents anywhere, and one by one; a document's weight does not change the others'."""
    model, rows = Whims([0, 1, 2, 3, 4, 5], 2), priors([0.0, 0.6, 0.4], [1.0, 0.0, 0.0], [0.2, 0.5, 0.3])
    together = beam_search(MIXTURES[form](model, rows), prompt(3), VOCAB, length=LENGTH, beam=3, banned=())
    for found, documents, prior in zip(together, ([0, 1], [2], [3, 4, 5]), ([0.6, 0.4], [1.0], [0.2, 0.5, 0.3]),
                                       strict=True):
        alone = MIXTURES[form](Whims(documents, 2), priors(prior))
        same(found, [(text.logprob, text.tokens)
                     for text in beam_search(alone, prompt(), VOCAB, length=LENGTH, beam=3, banned=())[0]])
    assert len({text.tokens for found in together for text in found}) > 3


def test_the_weights_of_a_sequence_follow_bayes_and_those_of_tokens_stay() -> None:
    model, text = Whims([0, 1, 2], 5), (2, 0, 3)
    for form, mixture in ((name, kind(model, priors(PRIOR))) for name, kind in MIXTURES.items()):
        state = mixture.start()
        mixture.step(prompt(), state)
        for i, token in enumerate(text):
            before = [p * math.prod(model.chances(document, text)[:i] if form == "sequence" else [])
                      for document, p in enumerate(PRIOR)]
            assert state.weights[0].exp().tolist() == pytest.approx([p / sum(before) for p in before], abs=1e-12)
            assert state.predictions[0, :, token].exp().tolist() == pytest.approx(
                [model.chances(document, text)[i] for document in range(3)], abs=1e-12)
            mixture.step(torch.tensor([[token]]), state)


A, B, C, D = range(4)


def test_sequence_and_token_choose_different_answers() -> None:
    """Document 2 would seldom begin with A; but once A is written, it alone is sure what follows, and RAG-Token still
    gives it half of the weight. RAG-Sequence has learned from A that it is the other document's answer."""
    model, half = Answers({(A, B): 0.6, (A, C): 0.4}, {(A, C): 0.1, (D, B): 0.45, (D, C): 0.45}), [0.5, 0.5]
    sequence, token = (exact_search(kind(model, priors(half)), prompt(), VOCAB, length=LENGTH, banned=()).best[0]
                       for kind in MIXTURES.values())
    assert sequence.tokens == (A, B, END) and math.exp(sequence.logprob) == pytest.approx(0.5 * 0.6, abs=1e-6)
    assert token.tokens == (A, C, END) and math.exp(token.logprob) == pytest.approx(0.55 * 0.7, abs=1e-6)
    for form, best in (("sequence", sequence), ("token", token)):
        assert ranking(model, half, form)[0][1] == best.tokens


def test_fast_decoding_chooses_another_answer_than_thorough_decoding() -> None:
    """With a beam of 1, each document has found one answer. The first document nearly agrees with the other's answer,
    which only thorough decoding counts."""
    model = Answers({(A,): 0.4, (B,): 0.35, (C,): 0.25}, {(B,): 0.45, (A,): 0.1, (D,): 0.449})
    given = model, priors([0.55, 0.45]), prompt(), VOCAB
    thorough = thorough_decoding(*given, length=2, beam=1, banned=())[0]
    fast = fast_decoding(*given, length=2, beam=1, banned=())[0]
    assert [text.tokens for text in thorough] == [(B, END), (A, END)] == [text.tokens for text in fast][::-1]
    assert [math.exp(text.logprob) for text in thorough] == pytest.approx([0.395, 0.265], abs=1e-3)
    assert [math.exp(text.logprob) for text in fast] == pytest.approx([0.22, 0.2025], abs=1e-3)


def test_a_beam_per_document_misses_the_answer_on_which_all_agree() -> None:
    """B is the second answer of each document. One search over the mixture finds it with the same beam of 1."""
    model, half = Answers({(A,): 0.5, (B,): 0.45, (D,): 0.05}, {(C,): 0.5, (B,): 0.45, (D,): 0.05}), priors([0.5, 0.5])
    given = {"length": 2, "beam": 1, "banned": ()}
    assert [*map(list, beams_per_document(model, half, prompt(), VOCAB, **given)[0])] == [[(A, END)], [(C, END)]]
    thorough = thorough_decoding(model, half, prompt(), VOCAB, **given)[0]
    assert {text.tokens for text in thorough} == {(A, END), (C, END)}
    assert ranking(model, [0.5, 0.5], "sequence", every_text(SIZE, END, 2))[0][1] == (B, END)
    mixture = SequenceMixture(model, half)
    same(beam_search(mixture, prompt(), VOCAB, **given)[0], [(math.log(0.45), (B, END))])
    assert greedy(mixture, prompt(), VOCAB, length=2, banned=())[0].tokens == (B, END)
    wider = thorough_decoding(model, half, prompt(), VOCAB, length=2, beam=2, banned=())[0]
    same(wider[:1], [(math.log(0.45), (B, END))])


@pytest.mark.parametrize("decode", [thorough_decoding, fast_decoding])
def test_what_decoding_is_told(decode: Callable[..., list[list[Hypothesis]]]) -> None:
    """Banned tokens are in no answer, and a decoder in training mode is refused."""
    model = Whims([0, 1, 2], 3)
    given = priors(PRIOR), prompt(), VOCAB
    found = decode(model, *given, length=LENGTH, beam=3, banned=(1, 2))
    assert found[0] and not {token for text in found[0] for token in text.tokens} & {1, 2}
    model.training = True
    for call in (lambda: decode(model, *given, length=2),
                 lambda: greedy(TokenMixture(model, given[0]), *given[1:], length=2)):
        with pytest.raises(ValueError, match="training mode"):
            call()
