"""The interfaces of the models that the Retrieval Lab accepts."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol, Self

from plmlab.objectives.retrieval_batches import Ids, Query
from plmlab.retrieval.blocks import Block
from plmlab.retrieval.corpus import Corpus
from plmlab.retrieval.reading import GeneratedAnswers, Reading
from plmlab.text.tokenizers import Tokenizer


class Retriever(Protocol):
    """A model with the corpus from which it retrieves documents."""

    @property
    def model(self) -> Any:
        """The model; its ``config.time`` is the maximum length of a query and a document together. It takes masked
        queries if its `Architecture` has a ``cloze_input``, otherwise questions."""

    @property
    def corpus(self) -> Corpus[Any, Block]:
        """The documents."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of queries and documents."""

    def with_corpus(self, corpus: Any) -> Self:
        """The same model with a different corpus."""


class Reader(Retriever, Protocol):
    """A retrieve-and-read model, such as `plmlab.models.retrieve_and_read.RetrieveAndRead`."""

    def read(self, queries: Sequence[Query], top_k: int = ..., *, null: bool = ..., temperature: float = ...,
             also: Sequence[Sequence[Ids]] | None = ...) -> Sequence[Reading]:
        """Retrieve documents and predict answers for each query."""


class MemoryReader(Reader, Protocol):
    """A model with a memory, such as `plmlab.models.memory_readers.EntityReader`: a document is one vector of the
    memory, and an answer the name of an entity. The retriever of the corpus has the ``ids`` of these names, as tokens.
    """

    @property
    def kind(self) -> str:
        """What the memory contains, "entities" or "facts"."""


class Generator(Retriever, Protocol):
    """A retrieve-and-generate model, such as `plmlab.models.rag.RetrieveAndGenerate`."""

    @property
    def combine(self) -> Callable[[str, Block], str]:
        """``combine(question, document)`` is the generator's input."""

    def queries(self, questions: Sequence[str]) -> list[Query]:
        """The retriever's queries."""

    def read(self, questions: Sequence[str], top_k: int = ..., *, temperature: float = ...,
             also: Sequence[Sequence[Ids]] | None = ..., excluded: Sequence[Collection[int]] = ...,
             beam: int = ...) -> Sequence[GeneratedAnswers]:
        """Retrieve documents and generate answers to each question; with ``beam=0`` only score those in ``also``."""
