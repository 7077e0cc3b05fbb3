"""REALM for open-domain question answering (开放域问答; Guu et al. 2020, §3.2; reader of Lee et al. 2019): the reader
extracts the answer span from the retrieved documents. A span's score is computed from the hidden states of its first
and its last token. All spans that match the answer count, in all documents.

As in the authors' code, the document embeddings are precomputed and fixed, and the question embedder is fine-tuned.
There is no null document, because it contains no span.

Differences from the authors' code: an impossible span has the score −∞ instead of −10,000. Their loss has a second
term, −log p(a document with the answer) among the retriever's top 5000. They predict the single most likely span;
`best` sums over all spans with the same tokens, as the formula does. Their batches contain one question.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

import torch
from einops import rearrange
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.layers.initialise import initialise
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERT
from plmlab.models.dual_encoder import DualEncoder, DualEncoderConfig
from plmlab.models.realm import REALM
from plmlab.models.registry import model
from plmlab.models.retrieve_and_read import TOP_K
from plmlab.models.text_retriever import TextCorpus
from plmlab.objectives.fine_tuning import label_of
from plmlab.objectives.open_domain_qa import QuestionBatch, answer_spans
from plmlab.objectives.reader_inputs import Ids, query_input
from plmlab.retrieval.retrieved import Retrieved
from plmlab.weights import with_pretrained


@dataclass(frozen=True)
class REALMForOpenQAConfig(DualEncoderConfig):
    """Configuration of a REALM for question answering: ``hidden`` is the number of hidden units of the span scorer,
    ``longest`` the maximum answer length in tokens."""

    hidden: int = 256
    longest: int = 10


class FoundAnswer(NamedTuple):
    """A predicted answer: its tokens, and its probability p(y|x)."""

    tokens: tuple[int, ...]
    probability: float


@model("open-realm", REALMForOpenQAConfig, ENCODER)
class REALMForOpenQA(nn.Module):
    """REALM for open-domain question answering: retriever and reader as in the paper, p(y|x) = Σ_z p(z|x) p(y|z,x), and
    p(y|z,x) ∝ Σ_s exp(MLP(s)) over the spans s of z that match y, with a softmax over the spans of each document."""

    config: REALMForOpenQAConfig

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.embedder = DualEncoder(config)
        self.reader = BERT(config.encoder)
        self.start = nn.Linear(config.model, config.hidden)
        self.end = nn.Linear(config.model, config.hidden)
        self.norm = nn.LayerNorm(config.hidden, eps=1e-3)
        self.score = nn.Linear(config.hidden, 1)
        for layer in (self.start, self.end, self.score):
            initialise(layer)

    @classmethod
    def from_pretrained(cls, realm: REALM, hidden: int = REALMForOpenQAConfig.hidden,
                        longest: int = REALMForOpenQAConfig.longest) -> Self:
        """Build the model from copies of a pretrained retriever and reader, with a new span scorer."""
        model = cls(REALMForOpenQAConfig(**asdict(realm.config), hidden=hidden, longest=longest))
        return with_pretrained(realm.embedder, with_pretrained(realm.reader.encoder, model, "reader"), "embedder")

    def retrieve(self, corpus: TextCorpus, questions: Sequence[Ids], answers: Sequence[Sequence[Ids]] = (),
                 top_k: int = TOP_K) -> QuestionBatch:
        """Build a batch of questions with the top ``top_k`` documents of each, using the current question embedder and
        the document vectors of the ``corpus``. ``answers`` holds the correct answers of each question; none if
        omitted."""
        retriever, device = corpus.retriever, next(self.parameters()).device
        vocab = retriever.vocab
        queries, pad = [query_input(question, (), vocab) for question in questions], vocab.need("pad")
        with torch.no_grad():
            found = corpus.index.search(self.embedder(Batch.of(queries, pad=pad).to(device)), top_k)
        gold = answers or [()] * len(questions)
        readings = [answer_spans(questions[row], retriever.body(corpus.documents[number]), gold[row], vocab=vocab)
                    for row, number in found.pairs.tolist()]
        return QuestionBatch.of(queries, found, corpus.index.vectors(found.documents.tolist()), readings,
                                pad=pad).to(device)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time longest"]:
        """Span scores: [:, i, n] holds w·norm(ReLU(W_s h_i + W_e h_j)), the score of the span from position i to
        position j = i + n; −inf if the span is not within the document."""
        hidden = self.reader(batch)
        longest = self.config.longest
        ends = F.pad(self.end(hidden), (0, 0, 0, longest - 1)).unfold(1, longest, 1)  # [batch time hidden longest]
        both = self.start(hidden)[:, :, None] + rearrange(ends, "batch time hidden n -> batch time n hidden")
        text = (batch.segments == 1) & F.pad(batch.segments[:, 1:] == 1, (0, 1))  # without its [SEP]
        inside = text[..., None] & F.pad(text, (0, longest - 1)).unfold(1, longest, 1)  # [batch time longest]
        return self.score(self.norm(both.relu()))[..., 0].masked_fill(~inside, -torch.inf)

    def gold_span_mask(self, batch: Batch) -> Bool[Tensor, "batch time longest"]:
        """Mask of the spans that match a correct answer, from the label ``spans`` of
        `plmlab.objectives.open_domain_qa`."""
        first, last = label_of(batch, "spans", "objectives.open_domain_qa.answer_spans").unbind(-1)  # [row span] each
        real = (first != IGNORE) & (last - first < self.config.longest)
        row = torch.arange(len(first), device=first.device)[:, None].expand_as(first)
        mask = torch.zeros(*batch.size, self.config.longest, dtype=torch.bool, device=first.device)
        mask[row[real], first[real], (last - first)[real]] = True
        return mask

    def answers(self, batch: QuestionBatch) -> Bool[Tensor, "query doc span"]:
        """Mask of the spans that match a correct answer, per question and document."""
        return batch.retrieved.unflatten(self.gold_span_mask(batch.reader_inputs).flatten(1), False)

    def retrieved(self, batch: QuestionBatch) -> Retrieved:
        """The retrieved documents of each question with new scores, Embed(x) · document vector, which carry
        gradients."""
        return batch.scored(self.embedder(batch.queries), batch.documents)

    def log_joint(self, batch: QuestionBatch) -> Float[Tensor, "query doc span"]:
        """log p(z, s|x) = log p(z|x) + log p(s|z,x) of each span of each document."""
        spans = self(batch.reader_inputs).flatten(1).log_softmax(1)  # [row time·longest]
        return self.retrieved(batch).logprobs()[..., None] + batch.retrieved.unflatten(spans, -torch.inf)

    def answer_logprobs(self, batch: QuestionBatch) -> Float[Tensor, "query"]:
        """log p(y|x), summed over all correct answers; −inf if no document contains one."""
        gold = self.answers(batch)
        answered = gold.any((1, 2))  # [query]
        logp = self.log_joint(batch)[answered].masked_fill(~gold[answered], -torch.inf).flatten(1).logsumexp(1)
        return logp.new_full(answered.shape, -torch.inf).masked_scatter(answered, logp)

    def loss(self, batch: QuestionBatch) -> Float[Tensor, ""]:
        """Mean over questions of −log p(y|x), in nats; a question whose documents do not contain an answer contributes
        0."""
        logp = self.answer_logprobs(batch)
        return -logp.masked_fill(logp.isneginf(), 0).mean()

    @torch.no_grad()
    def best(self, batch: QuestionBatch, top_k: int = 1) -> list[list[FoundAnswer]]:
        """The ``top_k`` most likely answers to each question, best first; p(y|x) is summed over all matching spans in
        all documents."""
        log_joint, texts = self.log_joint(batch), batch.reader_inputs.tokens.tolist()
        rows = batch.retrieved.unflatten(torch.arange(len(texts), device=log_joint.device), -1)  # [query doc] → reading
        answers = []
        for logp, readings in zip(log_joint, rows, strict=True):
            probabilities: dict[tuple[int, ...], float] = defaultdict(float)
            for document, span in (~logp.isneginf()).nonzero().tolist():
                first, more = divmod(span, self.config.longest)
                text = texts[int(readings[document])]
                probabilities[tuple(text[first:first + more + 1])] += float(logp[document, span].exp())
            best = sorted(probabilities.items(), key=lambda item: -item[1])[:top_k]
            answers.append([FoundAnswer(*item) for item in best])
        return answers


@model("open-realm-one-softmax", REALMForOpenQAConfig, ENCODER)
class OneSoftmaxREALMForOpenQA(REALMForOpenQA):
    """REALM for open-domain question answering with a single softmax: as in the authors' code, the scores of a span and
    of its document are added, and the softmax is taken over all spans of all documents. A document with many
    high-scoring spans therefore has more weight than its own score gives it."""

    def log_joint(self, batch: QuestionBatch) -> Float[Tensor, "query doc span"]:
        """log p(z, s|x), from one softmax over the sums of document score and span score."""
        spans = batch.retrieved.unflatten(self(batch.reader_inputs).flatten(1), -torch.inf)
        scores = self.retrieved(batch).scores[..., None] + spans  # [query doc span]
        return scores.flatten(1).log_softmax(1).view_as(scores)
