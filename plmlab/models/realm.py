"""REALM (Guu et al. 2020): a retrieval-augmented masked language model. The retriever assigns each document a
probability p(z|x); the reader predicts the masked tokens from the query and one document, p(y|z,x). Maximizing p(y|x) =
Σ_z p(z|x) p(y|z,x) trains both without labels for the relevant documents.

`plmlab.models.dual_encoder` lists the embedder's differences from the paper.
"""

from typing import Any, Self

from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import IGNORE, Batch
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERTPretraining
from plmlab.models.dual_encoder import DualEncoder, DualEncoderConfig
from plmlab.models.marginals import sequence_marginal, token_marginal
from plmlab.models.registry import model
from plmlab.objectives.retrieval_batches import RetrievedBatch
from plmlab.retrieval.retrieved import Retrieved
from plmlab.weights import with_pretrained


@model("realm", DualEncoderConfig, ENCODER)
class REALM(nn.Module):
    """REALM: retriever and reader, trained jointly as in the paper; all masked tokens of a query are predicted from the
    same document."""

    config: DualEncoderConfig

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.embedder = DualEncoder(config)
        self.reader = BERTPretraining(config.encoder)

    @classmethod
    def from_pretrained(cls, embedder: DualEncoder, reader: BERTPretraining) -> Self:
        """Build a REALM from copies of a retriever and of a reader of the same size."""
        return with_pretrained(embedder, with_pretrained(reader, cls(embedder.config), "reader"), "embedder")

    def forward(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """The reader's token logits at every position of [CLS] x [SEP] z [SEP]."""
        return self.reader(batch)

    def retrieved(self, batch: RetrievedBatch) -> Retrieved:
        """The retrieved documents of each query with new scores, f(x, z) = Embed(x) · Embed(z), through which gradients
        reach the retriever."""
        return batch.scored(self.embedder(batch.queries), self.embedder(batch.documents))

    def token_logprobs(self, batch: RetrievedBatch) -> Float[Tensor, "query doc token"]:
        """log p(y_j|z,x) of each masked token, in order; 0 for a missing document or token."""
        is_target = batch.targets != IGNORE
        logits = self.reader.token_logits(self.reader.encoder(batch.reader_inputs)[is_target])  # [target vocab]
        return batch.by_token(logits.log_softmax(1).gather(1, batch.targets[is_target][:, None])[:, 0])

    def loss(self, batch: RetrievedBatch) -> Float[Tensor, ""]:
        """Mean over queries of −log Σ_z p(z|x) Π_j p(y_j|z,x), in nats."""
        return -sequence_marginal(self.retrieved(batch).logprobs(), self.token_logprobs(batch),
                                  batch.target_mask).mean()


@model("realm-token", DualEncoderConfig, ENCODER)
class TokenREALM(REALM):
    """REALM with a per-token marginal: as in the authors' code, each masked token may be predicted from a different
    document."""

    def loss(self, batch: RetrievedBatch) -> Float[Tensor, ""]:
        """Mean over masked tokens of −log Σ_z p(z|x) p(y_j|z,x), in nats."""
        logp = token_marginal(self.retrieved(batch).logprobs(), self.token_logprobs(batch), batch.target_mask)
        return -logp.sum() / batch.target_mask.sum()
