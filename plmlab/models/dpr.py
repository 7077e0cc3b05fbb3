"""Dense passage retrieval, DPR (Karpukhin et al. 2020): the relevance of a passage to a question is the inner product
of two vectors, from two encoders. It is trained with pairs of a question and a passage that answers it; REALM's
retriever has no such labels.

Each encoder is a BERT, and a text's vector is the final hidden state of its [CLS] (§3.1), without BERT's pooler and
without a projection. The negatives of a question are all other passages of the batch (§3.2): those that match the other
questions, even if they answer this one too, and one hard negative per question, the best by BM25 that does not contain
the answer (`plmlab.retrieval.Retrieved.without`).

Difference from the authors' code: a passage's text is segment 1; in their code all tokens are segment 0.
"""

from dataclasses import asdict, dataclass
from typing import Any, Self

from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.layers.initialise import initialise
from plmlab.layers.stack import Stack, TokenEmbeddings
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERT, BERTConfig, Embeddings
from plmlab.models.dual_encoder import in_batch_loss
from plmlab.models.registry import model
from plmlab.objectives.inverse_cloze import MatchingBatch
from plmlab.weights import with_pretrained


@dataclass(frozen=True)
class DPRConfig(BERTConfig):
    """Configuration of DPR, that of each of its encoders."""

    @property
    def width(self) -> int:
        """The dimension of the vectors, which is that of the hidden states."""
        return self.model


class DPREncoder(Stack):
    """BERT without a pooler, whose output is the hidden state of [CLS]."""

    config: DPRConfig
    embeddings_class: type[TokenEmbeddings] = Embeddings

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.apply(initialise)

    @classmethod
    def from_pretrained(cls, bert: BERT) -> Self:
        """Build an encoder from a copy of a pretrained BERT, whose pooler is left out."""
        made = with_pretrained(bert.layers, cls(DPRConfig(**asdict(bert.config))), "layers")
        return with_pretrained(bert.embeddings, made, "embeddings")

    def forward(self, batch: Batch) -> Float[Tensor, "batch width"]:
        """The vector of each text: h_[CLS], the hidden state at position 0."""
        return self.hidden_states(batch)[:, 0]


@model("dpr-question-encoder", DPRConfig, ENCODER)
class QuestionEncoder(DPREncoder):
    """DPR's question encoder, E_Q: the vector of a question, [CLS] x [SEP]."""


@model("dpr-document-encoder", DPRConfig, ENCODER)
class DocumentEncoder(DPREncoder):
    """DPR's passage encoder, E_P: the vector of a document, [CLS] title [SEP] text [SEP] (§4.1)."""


@model("dpr", DPRConfig, ENCODER)
class DPR(nn.Module):
    """DPR: two encoders, trained jointly. `plmlab.models.text_retriever.TextRetriever` searches with both."""

    config: DPRConfig

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.question_encoder = QuestionEncoder(config)
        self.document_encoder = self.build_document_encoder()

    def build_document_encoder(self) -> DPREncoder:
        """Create the document encoder, which shares no weights with the question encoder."""
        return DocumentEncoder(self.config)

    @classmethod
    def from_pretrained(cls, bert: BERT) -> Self:
        """Build a DPR whose encoders both start from a copy of a pretrained BERT."""
        encoder = QuestionEncoder.from_pretrained(bert)
        made = with_pretrained(encoder, cls(encoder.config), "question_encoder")
        return with_pretrained(encoder, made, "document_encoder")

    def forward(self, batch: Batch) -> Float[Tensor, "batch width"]:
        """The vectors of questions."""
        return self.question_encoder(batch)

    def loss(self, batch: MatchingBatch) -> Float[Tensor, ""]:
        """Mean over questions of −log p(matching document), in nats, with a softmax over all documents of the batch,
        including the hard negatives of all questions (eq. 2)."""
        return in_batch_loss(self.question_encoder(batch.queries), self.document_encoder(batch.documents))


@model("dpr-shared", DPRConfig, ENCODER)
class SharedDPR(DPR):
    """DPR with one encoder: questions and documents share it, which halves the parameters. Not in the paper."""

    def build_document_encoder(self) -> DPREncoder:
        """The question encoder itself."""
        return self.question_encoder
