"""REALM (Guu et al. 2020): a masked language model that looks things up. A retriever says how likely each document
helps, p(z|x); a reader says what is hidden, p(y|z,x), with one of them in sight. To raise p(y|x) = Σ_z p(z|x) p(y|z,x)
teaches both, and nobody is told which document is the right one.

Where the embedder differs from the paper stands in `plmlab.models.dual_encoder`.
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
    """Retriever and reader, learned together as the paper writes it: all hidden tokens come from one document."""

    config: DualEncoderConfig

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.embedder = DualEncoder(config)
        self.reader = BERTPretraining(config.encoder)

    @classmethod
    def from_pretrained(cls, embedder: DualEncoder, reader: BERTPretraining) -> Self:
        """On copies of a retriever and of a reader of the same size."""
        return with_pretrained(embedder, with_pretrained(reader, cls(embedder.config), "reader"), "embedder")

    def forward(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """The reader's logits of the token that belongs into each position of [CLS] x [SEP] z [SEP]."""
        return self.reader(batch)

    def retrieved(self, batch: RetrievedBatch) -> Retrieved:
        """What was retrieved for each statement, scored anew by f(x, z) = Embed(x) · Embed(z), through which the
        retriever learns."""
        return batch.scored(self.embedder(batch.queries), self.embedder(batch.documents))

    def token_logprobs(self, batch: RetrievedBatch) -> Float[Tensor, "query doc token"]:
        """log p(y_j|z,x) of each hidden token, in their order; 0 where there is no document, or no further token."""
        positions = batch.targets != IGNORE
        logits = self.reader.token_logits(self.reader.encoder(batch.reader_inputs)[positions])
        said = logits.log_softmax(1).gather(1, batch.targets[positions][:, None])[:, 0]
        places = batch.retrieved.doc_mask[..., None] & batch.target_mask[:, None]
        return said.new_zeros(places.shape).masked_scatter(places, said)

    def loss(self, batch: RetrievedBatch) -> Float[Tensor, ""]:
        """Mean over statements of −log Σ_z p(z|x) Π_j p(y_j|z,x), in nats."""
        return -sequence_marginal(self.retrieved(batch).logprobs(), self.token_logprobs(batch),
                                  batch.target_mask).mean()


@model("realm-token", DualEncoderConfig, ENCODER)
class TokenREALM(REALM):
    """REALM as the authors' code learns it: each hidden token may come from another document."""

    def loss(self, batch: RetrievedBatch) -> Float[Tensor, ""]:
        """Mean over hidden tokens of −log Σ_z p(z|x) p(y_j|z,x), in nats."""
        each = token_marginal(self.retrieved(batch).logprobs(), self.token_logprobs(batch), batch.target_mask)
        return -each.sum() / batch.target_mask.sum()
