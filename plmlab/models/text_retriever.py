"""A retriever of texts: one network for queries and documents, as in REALM, or a network for each, as in DPR (Karpukhin
et al. 2020)."""

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
"""The number of texts in a batch."""


class TextRetriever:
    """Makes vectors of queries, [CLS] x [SEP], and of documents, [CLS] title [SEP] text [SEP].

    The networks take a `Batch` and give one vector per text, such as `plmlab.models.dual_encoder.DualEncoder`; their
    ``config.width`` is the size of a vector. One network makes both unless another one is given for documents.
    """

    def __init__(self, tokenizer: Tokenizer, query_network: nn.Module, document_network: nn.Module | None = None,
                 ) -> None:
        self.tokenizer, self.vocab, self.query_network = tokenizer, tokenizer.vocab, query_network
        self.document_network: Any = query_network if document_network is None else document_network
        self.document, self.body = cache(self._document), cache(self._body)

    @property
    def width(self) -> int:
        """The size of a vector."""
        return self.document_network.config.width

    def queries(self, queries: Sequence[Query]) -> Float[Tensor, "query width"]:
        """A vector for each query, without a gradient."""
        return self._vectors(self.query_network, [*map(self.query, queries)])

    def documents(self, documents: Sequence[Block]) -> Float[Tensor, "document width"]:
        """A vector for each document, without a gradient."""
        return self._vectors(self.document_network, [*map(self.document, documents)])

    def query(self, query: Query) -> Example:
        """What the query network reads."""
        return query_input(query.tokens, query.hidden, self.vocab)

    def _document(self, document: Block) -> Example:
        """What the document network reads."""
        return pair_input(self._ids(document.title), self.body(document), self.vocab)

    def _body(self, document: Block) -> Ids:
        """The text of a document without its title, as ids."""
        return self._ids(document.text)

    def _ids(self, text: str) -> Ids:
        return tuple(self.tokenizer.encode(text, plain=True))

    @torch.no_grad()
    def _vectors(self, network: nn.Module, examples: Sequence[Example]) -> Float[Tensor, "text width"]:
        network.eval()
        device = next(network.parameters()).device
        made = [network(Batch.of(examples[first:first + ROWS], pad=self.vocab.need("pad")).to(device))
                for first in range(0, len(examples), ROWS)]
        return torch.cat(made) if made else torch.empty(0, self.width)


class TextCorpus(Corpus[Query, Block]):
    """Blocks of text and their retriever."""

    retriever: TextRetriever
