"""RAG, retrieval-augmented generation (Lewis et al. 2020): a retriever assigns each document a probability p(z|x), and
a generator predicts the answer from the question and one document, p(y|x,z). The answer is marginalized over the
documents per sequence, Σ_z p(z|x) Π_i p(y_i|x,z,y_<i), or per token, Π_i Σ_z p(z|x) p(y_i|x,z,y_<i). The two are equal
for an answer of one token.

The retriever is DPR, the generator BART. The document encoder is frozen and the index is not refreshed (§2.4), so this
model scores precomputed document vectors; the gradient reaches the question encoder through p(z|x) only.

Differences from the paper: the loss is the mean over questions instead of the sum; the decoder's input begins with
[END] [START], as in BART's pretraining, and [START] is not scored. ``transformers`` adds log p(z|x) to the second
target, so that its RAG-Sequence ignores the retriever for an answer with a single target.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from plmlab.decode.autoregressive import ConditionedDecoder
from plmlab.decode.beam import beam_search
from plmlab.decode.hypothesis import Hypothesis
from plmlab.decode.rag import TokenMixture, beams_per_document, thorough_decoding
from plmlab.example import IGNORE, PairBatch
from plmlab.models.bart import BART, BART_ENCODER_DECODER, BARTConfig
from plmlab.models.dpr import DPRConfig, QuestionEncoder
from plmlab.models.marginals import sequence_marginal, sequence_posterior, token_marginal
from plmlab.models.registry import ModelSpec, architecture_of, model
from plmlab.models.text_retriever import TextCorpus, TextRetriever
from plmlab.objectives.answer_generation import AnswerBatch, Combine, question_first, without_start_target
from plmlab.objectives.retrieval_batches import Ids, Query
from plmlab.retrieval.blocks import Block
from plmlab.retrieval.reading import GeneratedAnswers
from plmlab.retrieval.retrieved import Retrieved
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.weights import with_pretrained

TOP_K = 5
"""Default number of documents to retrieve; 5 or 10 in the paper's training (§3)."""
LENGTH = 8
"""Default maximum number of tokens of an answer that is read, with [END]."""


@dataclass(frozen=True)
class RAGConfig:
    """Class and configuration of the question encoder and of the generator."""

    question: ModelSpec
    generator: ModelSpec

    @classmethod
    def tiny(cls, vocab: int, time: int = 128) -> Self:
        """A model that trains in seconds on two CPU cores, with one vocabulary for both parts."""
        return cls(ModelSpec(QuestionEncoder, DPRConfig.tiny(vocab, time)),
                   ModelSpec(BART, BARTConfig.tiny(vocab, time)))

    @classmethod
    def base(cls) -> Self:
        """The paper's model: BERT-base and BART-large, 515 million parameters. The paper's 626 million (appendix G)
        include the document encoder."""
        return cls(ModelSpec(QuestionEncoder, DPRConfig.base()), ModelSpec(BART, BARTConfig.large()))

    @property
    def width(self) -> int:
        """The dimension of question and document vectors."""
        return self.question.config.width

    @property
    def time(self) -> int:
        """The maximum length of a question and a document together; that of a question if the generator has none."""
        return getattr(self.generator.config, "time", self.question.config.time)


@model("rag-sequence", RAGConfig, BART_ENCODER_DECODER)
class RAGSequence(nn.Module):
    """RAG-Sequence: the whole answer is generated from one document."""

    config: RAGConfig

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.question_encoder = config.question.build()
        self.generator = config.generator.build()

    @classmethod
    def from_pretrained(cls, question_encoder: nn.Module, generator: nn.Module) -> Self:
        """Build a RAG from copies of a question encoder and of a generator, which may have different vocabularies."""
        made = cls(RAGConfig(ModelSpec.of(question_encoder), ModelSpec.of(generator)))
        return with_pretrained(question_encoder, with_pretrained(generator, made, "generator"), "question_encoder")

    def forward(self, batch: PairBatch) -> Float[Tensor, "batch time vocab"]:
        """The generator's next-token logits at every position of the answer, for pairs of a question and a document."""
        return self.generator(batch)

    def retrieved(self, batch: AnswerBatch) -> Retrieved:
        """The retrieved documents of each question with new scores, q(x) · d(z), through which gradients reach the
        question encoder."""
        return batch.scored(self.question_encoder(batch.queries), batch.documents)

    def token_logprobs(self, batch: AnswerBatch) -> Float[Tensor, "query doc token"]:
        """log p(y_i|x,z,y_<i) of each token of the answer; 0 for a missing document or token."""
        is_target = batch.targets != IGNORE
        logp = self.generator(batch.reader_inputs)[is_target].log_softmax(1)  # [target vocab]
        return batch.by_token(logp.gather(1, batch.targets[is_target][:, None])[:, 0])

    def answer_logprobs(self, batch: AnswerBatch) -> Float[Tensor, "query"]:
        """log p(y|x) = log Σ_z p(z|x) Π_i p(y_i|x,z,y_<i) of each answer, in nats."""
        return sequence_marginal(self.retrieved(batch).logprobs(), self.token_logprobs(batch), batch.target_mask)

    def loss(self, batch: AnswerBatch) -> Float[Tensor, ""]:
        """Mean over questions of −log p(y|x), in nats."""
        return -self.answer_logprobs(batch).mean()

    @torch.no_grad()
    def decoding(self, batch: AnswerBatch, vocab: Vocabulary) -> tuple[ConditionedDecoder, Tensor, Tensor]:
        """The first three arguments of the functions of `plmlab.decode.rag`: the generator with its inputs, log p(z|x),
        and a [START] per question. The answers in ``batch`` are ignored."""
        documents = self.retrieved(batch).logprobs()
        prompt = torch.full((len(documents), 1), vocab.need("start"), device=documents.device)
        return ConditionedDecoder(self.generator, batch.reader_inputs.source), documents, prompt

    @torch.no_grad()
    def logprobs_of(self, batch: AnswerBatch, answers: Sequence[Ids], vocab: Vocabulary,
                    ) -> Float[Tensor, "answer doc token"]:
        """log p(y_i|x,z,y_<i) of the tokens of given answers to the only question in ``batch``, and of [END] after
        them; 0 after [END]. The answers in ``batch`` are ignored; each document is encoded once."""
        state, start = self.generator.start(batch.reader_inputs.source), vocab.need("start")
        pairs = len(batch.reader_inputs.source.tokens)
        texts = [torch.tensor([start, *some, vocab.need("end")]) for some in answers]
        tokens = pad_sequence(texts, True, IGNORE).repeat_interleave(pairs, 0).to(batch.documents.device)
        state.select(torch.arange(pairs, device=tokens.device).repeat(len(answers)))
        inputs, targets = tokens[:, :-1].clamp(min=0), tokens[:, 1:, None]
        logp = self.generator.predict(self.generator.decode(inputs, state), state).log_softmax(-1)
        chosen = logp.gather(2, targets.clamp(min=0)).masked_fill(targets == IGNORE, 0)[..., 0]
        return chosen.unflatten(0, (len(answers), pairs))

    def generate(self, batch: AnswerBatch, vocab: Vocabulary, *, length: int, beam: int = 4) -> list[list[Hypothesis]]:
        """Answers to each question by `thorough_decoding`, best first, with log p(y|x) in nats."""
        return thorough_decoding(*self.decoding(batch, vocab), vocab, length=length, beam=beam)


@model("rag-token", RAGConfig, BART_ENCODER_DECODER)
class RAGToken(RAGSequence):
    """RAG-Token: each token of the answer may be generated from a different document."""

    def answer_logprobs(self, batch: AnswerBatch) -> Float[Tensor, "query"]:
        """log p(y|x) = Σ_i log Σ_z p(z|x) p(y_i|x,z,y_<i) of each answer, in nats."""
        return token_marginal(self.retrieved(batch).logprobs(), self.token_logprobs(batch), batch.target_mask).sum(1)

    def generate(self, batch: AnswerBatch, vocab: Vocabulary, *, length: int, beam: int = 4) -> list[list[Hypothesis]]:
        """Answers to each question by `beam_search`, best first, with log p(y|x) in nats."""
        decoder, documents, prompt = self.decoding(batch, vocab)
        return beam_search(TokenMixture(decoder, documents), prompt, vocab, length=length, beam=beam)


@dataclass(frozen=True)
class RetrieveAndGenerate:
    """A RAG, and the corpus from which it retrieves documents.

    The corpus' retriever has the RAG's question encoder and a frozen document encoder. ``tokenizer`` is that of the
    generator; the retriever may have another one. ``combine`` puts a question and a document into one text.
    """

    model: RAGSequence
    corpus: TextCorpus
    tokenizer: Tokenizer
    combine: Combine = question_first

    @classmethod
    def of(cls, model: RAGSequence, document_encoder: nn.Module, tokenizer: Tokenizer, documents: Sequence[Block] = (),
           ) -> Self:
        """Build the model with a corpus of ``documents`` and one tokenizer for all parts."""
        retriever = TextRetriever(tokenizer, model.question_encoder, document_encoder)
        return cls(model, TextCorpus(retriever, documents), tokenizer)

    def with_corpus(self, corpus: TextCorpus) -> Self:
        """A copy that uses the same RAG with another corpus."""
        return replace(self, corpus=corpus)

    def queries(self, questions: Sequence[str]) -> list[Query]:
        """The retriever's queries."""
        return [Query(tuple(self.corpus.retriever.tokenizer.encode(each, plain=True)), ()) for each in questions]

    def retrieve(self, questions: Sequence[str], top_k: int = TOP_K, excluded: Sequence[Collection[int]] = (),
                 ) -> Retrieved:
        """The top ``top_k`` documents for each question, by the current question encoder, except those ``excluded`` for
        it."""
        return self.corpus.search(self.queries(questions), top_k, excluded)

    def batch(self, questions: Sequence[str], found: Retrieved, answers: Sequence[str] | None = None) -> AnswerBatch:
        """Batch of questions with the documents ``found``, on the model's device. ``answers`` has the correct answer to
        each question; they are empty if omitted. Raises ValueError if a question has no document."""
        retriever, weight = self.corpus.retriever, next(self.model.parameters())
        vocab, pair = self.tokenizer.vocab, architecture_of(self.model.generator).example
        answers = [""] * len(questions) if answers is None else answers
        pairs: list[Any] = [pair(self._ids(self.combine(questions[row], self.corpus.documents[number])),
                                 self._ids(answers[row]), vocab) for row, number in found.pairs.tolist()]
        return AnswerBatch.of([*map(retriever.query, self.queries(questions))], found,
                              self.corpus.index.vectors(found.documents.tolist()).to(weight.dtype),
                              [without_start_target(each, vocab) for each in pairs],
                              pad=vocab.need("pad")).to(weight.device)

    @torch.no_grad()
    def read(self, questions: Sequence[str], top_k: int = TOP_K, *, temperature: float = 1.0,
             also: Sequence[Sequence[Ids]] | None = None, excluded: Sequence[Collection[int]] = (),
             length: int = LENGTH, beam: int = 4) -> list[GeneratedAnswers]:
        """Generate answers to each question with both forms of RAG, and compute what each document contributes to each
        token.

        The answers are the hypotheses of `thorough_decoding` and of a `beam_search` with the `TokenMixture`, of at most
        ``length`` tokens, each ended by [END]; and ``also``, further answers to each question. With ``beam=0`` they are
        only those in ``also``. Retrieval scores are divided by ``temperature`` before the softmax. Raises ValueError if
        a question has no document, or no answer.
        """
        self.model.eval()
        found = self.retrieve(questions, top_k, excluded)
        readings = list[GeneratedAnswers]()
        for row, question in enumerate(questions):
            batch = self.batch([question], found[row:row + 1])
            scored = self.model.retrieved(batch)
            generated = self._hypotheses(batch, scored.logprobs(temperature), length, beam) if beam else []
            answers = [*dict.fromkeys([*generated, *(() if also is None else also[row])])]
            if not answers:
                raise ValueError(f"there is no answer to {question!r:.60}: give one in also, or a beam of 1 or more")
            readings.append(self._reading(batch, scored, temperature, answers))
        return readings

    def _hypotheses(self, batch: AnswerBatch, documents: Float[Tensor, "1 doc"], length: int, beam: int) -> list[Ids]:
        vocab = self.tokenizer.vocab
        decoder, _, prompt = self.model.decoding(batch, vocab)
        [beams] = beams_per_document(decoder, documents, prompt, vocab, length, beam)
        [best] = beam_search(TokenMixture(decoder, documents), prompt, vocab, length=length, beam=beam)
        found = chain(*beams, (text.tokens for text in best))
        return [tuple(id for id in text if id != vocab.end) for text in found]

    def _reading(self, batch: AnswerBatch, found: Retrieved, temperature: float, answers: Sequence[Ids],
                 ) -> GeneratedAnswers:
        tokens = self.model.logprobs_of(batch, answers, self.tokenizer.vocab).cpu()
        found = found.to("cpu")
        documents = found.logprobs(temperature).expand(len(answers), -1)
        target_mask = torch.arange(tokens.shape[2]) <= torch.tensor([[*map(len, answers)]]).T
        order = sequence_marginal(documents, tokens, target_mask).argsort(descending=True, stable=True)
        tokens, target_mask = tokens[order], target_mask[order]
        return GeneratedAnswers(
            found, temperature, tuple(answers[i] for i in order.tolist()), tokens.sum(2).exp().T,
            tokens.exp() * target_mask[:, None],
            sequence_posterior(documents, tokens, target_mask).exp() * target_mask[:, None],
            token_marginal(documents, tokens, target_mask).sum(1).exp())

    def _ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, plain=True)
