"""What the Retrieval Lab asks of a model among documents."""

from collections.abc import Sequence
from typing import Any, Protocol, Self

from plmlab.objectives.retrieval_batches import Ids, Query
from plmlab.retrieval.blocks import Block
from plmlab.retrieval.corpus import Corpus
from plmlab.retrieval.reading import Reading
from plmlab.text.tokenizers import Tokenizer


class Looking(Protocol):
    """A model and its corpus, such as `plmlab.models.retrieve_and_read.RetrieveAndRead`."""

    @property
    def model(self) -> Any:
        """Its ``config.time`` says how many tokens a statement and a document may have together."""

    @property
    def corpus(self) -> Corpus[Query, Block]:
        """The documents."""

    @property
    def tokenizer(self) -> Tokenizer:
        """How statements and documents are read."""

    def among(self, corpus: Any) -> Self:
        """The same model among other documents."""

    def read(self, queries: Sequence[Query], most: int = ..., *, null: bool = ..., temperature: float = ...,
             also: Sequence[Sequence[Ids]] | None = ...) -> Sequence[Reading]:
        """What is made of each statement."""
