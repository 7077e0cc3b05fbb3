"""Dense text retriever: one encoder shared by queries and documents, as in REALM, or one for each, as in DPR
(Karpukhin et al. 2020)."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import Batch, Example
from plmlab.objectives.reader_inputs import pair_input, query_input
from plmlab.objectives.retrieval_batches import Ids, Query
from plmlab.retrieval.blocks import Block
from plmlab.retrieval.corpus import Corpus
from plmlab.text.tokenizers import Tokenizer

ROWS = 64
"""Batch size (texts per forward pass)."""


class TextRetriever:
    """Dense retriever for queries, [CLS] x [SEP], and documents, [CLS] title [SEP] text [SEP].

    A network maps a `Batch` to one vector per text, such as `plmlab.models.dual_encoder.DualEncoder`; its
    ``config.width`` is the dimension of the vectors. ``query_network`` also embeds the documents unless
    ``document_network`` is given.
    """

    def __init__(self, tokenizer: Tokenizer, query_network: nn.Module, document_network: nn.Module | None = None,
                 ) -> None:
        self.tokenizer, self.vocab, self.query_network = tokenizer, tokenizer.vocab, query_network
        self.document_network: Any = query_network if document_network is None else document_network
        self.document, self.body = cache(self._document), cache(self._body)

    @property
    def width(self) -> int:
        """The dimension of the embeddings."""
        return self.document_network.config.width

    def queries(self, queries: Sequence[Query]) -> Float[Tensor, "query width"]:
        """Embed the queries, without gradients."""
        return self._vectors(self.query_network, [*map(self.query, queries)])

    def documents(self, documents: Sequence[Block]) -> Float[Tensor, "document width"]:
        """Embed the documents, without gradients."""
        return self._vectors(self.document_network, [*map(self.document, documents)])

    def query(self, query: Query) -> Example:
        """The input of the query network."""
        return query_input(query.tokens, query.hidden, self.vocab)

    def _document(self, document: Block) -> Example:
        """The input of the document network."""
        return pair_input(self._ids(document.title), self.body(document), self.vocab)

    def _body(self, document: Block) -> Ids:
        """The text of a document without its title, as token ids."""
        return self._ids(document.text)

    def _ids(self, text: str) -> Ids:
        return tuple(self.tokenizer.encode(text, plain=True))

    @torch.no_grad()
    def _vectors(self, network: nn.Module, examples: Sequence[Example]) -> Float[Tensor, "text width"]:
        network.eval()
        device = next(network.parameters()).device
        vectors = [network(Batch.of(examples[first:first + ROWS], pad=self.vocab.need("pad")).to(device))
                   for first in range(0, len(examples), ROWS)]
        return torch.cat(vectors) if vectors else torch.empty(0, self.width)


class TextCorpus(Corpus[Query, Block]):
    """A corpus of text blocks with a retriever."""

    retriever: TextRetriever
