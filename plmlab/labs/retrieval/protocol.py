"""The interface of the models that the Retrieval Lab accepts."""

from collections.abc import Sequence
from typing import Any, Protocol, Self

from plmlab.objectives.retrieval_batches import Ids, Query
from plmlab.retrieval.blocks import Block
from plmlab.retrieval.corpus import Corpus
from plmlab.retrieval.reading import Reading
from plmlab.text.tokenizers import Tokenizer


class Retriever(Protocol):
    """A retrieve-and-read model with its corpus, such as `plmlab.models.retrieve_and_read.RetrieveAndRead`."""

    @property
    def model(self) -> Any:
        """The model; its ``config.time`` is the maximum length of a query and a document together."""

    @property
    def corpus(self) -> Corpus[Query, Block]:
        """The documents."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of queries and documents."""

    def with_corpus(self, corpus: Any) -> Self:
        """The same model with a different corpus."""

    def read(self, queries: Sequence[Query], top_k: int = ..., *, null: bool = ..., temperature: float = ...,
             also: Sequence[Sequence[Ids]] | None = ...) -> Sequence[Reading]:
        """Retrieve documents and predict answers for each query."""
