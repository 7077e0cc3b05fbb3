"""REALM for open questions (开放域问答; Guu et al. 2020, §3.2; the reader is that of Lee et al. 2019): what was looked
up holds the answer, and the reader points at it. Each span of a document has a score, from the vectors of its first and
its last token. Several spans may spell the answer, in several documents, and all of them count.

The documents have been embedded before, and their vectors do not learn, as in the authors' code; the question's
embedder does. There is no null document: nothing can be pointed at in it.

What differs from the authors' code: a span that cannot be has the score −∞, theirs −10,000. Their loss has a second
term, −log p(a document with the answer) among the retriever's best 5000. They say the single likeliest span; `best`
adds up all spans with the same tokens, as the formula does. Their batch is one question.
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
from plmlab.models.retrieve_and_read import TOP
from plmlab.models.text_retriever import TextCorpus
from plmlab.objectives.fine_tuning import label_of
from plmlab.objectives.open_domain_qa import QuestionBatch, answer_spans
from plmlab.objectives.reader_inputs import Ids, query_input
from plmlab.retrieval.retrieved import Retrieved
from plmlab.weights import with_pretrained


@dataclass(frozen=True)
class REALMForOpenQAConfig(DualEncoderConfig):
    """The size of a REALM; ``hidden`` units between the two ends of a span and its score; an answer has at most
    ``longest`` tokens."""

    hidden: int = 256
    longest: int = 10


class FoundAnswer(NamedTuple):
    """An answer's tokens, and p(y|x)."""

    tokens: tuple[int, ...]
    chance: float


@model("open-realm", REALMForOpenQAConfig, ENCODER)
class REALMForOpenQA(nn.Module):
    """Retriever and reader as the paper writes them: p(y|x) = Σ_z p(z|x) p(y|z,x), and p(y|z,x) ∝ Σ_s exp(MLP(s)) over
    the spans s of z that spell y, a softmax over the spans of each document."""

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
        """A new layer for spans on copies of a pretrained retriever and reader."""
        made = cls(REALMForOpenQAConfig(**asdict(realm.config), hidden=hidden, longest=longest))
        return with_pretrained(realm.embedder, with_pretrained(realm.reader.encoder, made, "reader"), "embedder")

    def retrieve(self, corpus: TextCorpus, questions: Sequence[Ids], answers: Sequence[Sequence[Ids]] = (),
                  most: int = TOP) -> QuestionBatch:
        """Questions with the best documents for each, by the embedder of questions as it is now and the vectors that
        the documents have in the ``corpus``. ``answers`` are the right ones of each question; none if left away."""
        reads, device = corpus.retriever, next(self.parameters()).device
        queries, pad = [query_input(one, (), reads.vocab) for one in questions], reads.vocab.need("pad")
        with torch.no_grad():
            found = corpus.index.search(self.embedder(Batch.of(queries, pad=pad).to(device)), most)
        right = answers or [()] * len(questions)
        readings = [answer_spans(questions[row], reads.body(corpus.documents[number]), right[row], vocab=reads.vocab)
                    for row, number in found.pairs.tolist()]
        return QuestionBatch.of(queries, found, corpus.index.vectors(found.documents.tolist()), readings,
                                pad=pad).to(device)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time longest"]:
        """The score w·norm(ReLU(W_s h_i + W_e h_j)) of the span from position i to position j = i + n, at [:, i, n];
        −inf where it does not lie in the document."""
        hidden = self.reader(batch)
        reach = self.config.longest
        ends = F.pad(self.end(hidden), (0, 0, 0, reach - 1)).unfold(1, reach, 1)
        both = self.start(hidden)[:, :, None] + rearrange(ends, "batch time hidden reach -> batch time reach hidden")
        text = (batch.segments == 1) & F.pad(batch.segments[:, 1:] == 1, (0, 1))  # without its [SEP]
        spans = text[..., None] & F.pad(text, (0, reach - 1)).unfold(1, reach, 1)
        return self.score(self.norm(both.relu()))[..., 0].masked_fill(~spans, -torch.inf)

    def gold_span_mask(self, batch: Batch) -> Bool[Tensor, "batch time longest"]:
        """Which of these spans spell an answer, by the label ``spans`` of `plmlab.objectives.open_domain_qa`."""
        first, last = label_of(batch, "spans").unbind(-1)
        span = (first != IGNORE) & (last - first < self.config.longest)
        reading = torch.arange(len(first), device=first.device)[:, None].expand_as(first)
        found = torch.zeros(*batch.size, self.config.longest, dtype=torch.bool, device=first.device)
        found[reading[span], first[span], (last - first)[span]] = True
        return found

    def answers(self, batch: QuestionBatch) -> Bool[Tensor, "query doc span"]:
        """Which spans of which documents spell a right answer to each question."""
        return batch.retrieved.unflatten(self.gold_span_mask(batch.reader_inputs).flatten(1), False)

    def retrieved(self, batch: QuestionBatch) -> Retrieved:
        """What was retrieved for each question, scored anew by Embed(x) · the vector of each document."""
        return batch.scored(self.embedder(batch.queries), batch.documents)

    def log_joint(self, batch: QuestionBatch) -> Float[Tensor, "query doc span"]:
        """log p(z, s|x) = log p(z|x) + log p(s|z,x) of each span of each document."""
        spans = self(batch.reader_inputs).flatten(1).log_softmax(1)
        return self.retrieved(batch).logprobs()[..., None] + batch.retrieved.unflatten(spans, -torch.inf)

    def answer_logprobs(self, batch: QuestionBatch) -> Float[Tensor, "query"]:
        """log p(y|x), all right answers together; −inf where no document holds one."""
        right = self.answers(batch)
        answered = right.any((1, 2))
        found = self.log_joint(batch)[answered].masked_fill(~right[answered], -torch.inf).flatten(1).logsumexp(1)
        return found.new_full(answered.shape, -torch.inf).masked_scatter(answered, found)

    def loss(self, batch: QuestionBatch) -> Float[Tensor, ""]:
        """Mean over questions of −log p(y|x), in nats; a question that no document answers adds 0."""
        worth = self.answer_logprobs(batch)
        return -worth.masked_fill(worth.isneginf(), 0).mean()

    @torch.no_grad()
    def best(self, batch: QuestionBatch, most: int = 1) -> list[list[FoundAnswer]]:
        """For each question its likeliest answers, the likeliest first: p(y|x) is the sum over all spans, in all
        documents, that spell it."""
        log_joint, texts = self.log_joint(batch), batch.reader_inputs.tokens.tolist()
        reading = batch.retrieved.unflatten(torch.arange(len(texts), device=log_joint.device), -1)
        found = []
        for row, documents in zip(log_joint, reading, strict=True):
            chances: dict[tuple[int, ...], float] = defaultdict(float)
            for document, span in (~row.isneginf()).nonzero().tolist():
                first, more = divmod(span, self.config.longest)
                text = texts[int(documents[document])]
                chances[tuple(text[first:first + more + 1])] += float(row[document, span].exp())
            best = sorted(chances.items(), key=lambda item: -item[1])[:most]
            found.append([FoundAnswer(*one) for one in best])
        return found


@model("open-realm-one-softmax", REALMForOpenQAConfig, ENCODER)
class OneSoftmaxREALMForOpenQA(REALMForOpenQA):
    """The same as the authors' code fine-tunes it: a span's score and its document's are added, and one softmax goes
    over all spans of all documents. So a document with many good spans counts for more than its own score says."""

    def log_joint(self, batch: QuestionBatch) -> Float[Tensor, "query doc span"]:
        """log p(z, s|x), from the sum of both scores."""
        spans = batch.retrieved.unflatten(self(batch.reader_inputs).flatten(1), -torch.inf)
        scores = self.retrieved(batch).scores[..., None] + spans
        return scores.flatten(1).log_softmax(1).view_as(scores)
