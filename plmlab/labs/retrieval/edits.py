"""The user's edits to the documents, applied to a copy of the corpus."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from plmlab.labs.retrieval.protocol import Retriever
from plmlab.retrieval.blocks import Block


@dataclass(frozen=True)
class Edits:
    """Changes to the original documents. The ``added`` documents are numbered consecutively after the original ones,
    and can be replaced and removed like any other document."""

    added: tuple[Block, ...] = ()
    replaced: tuple[tuple[int, Block], ...] = ()
    removed: tuple[int, ...] = ()

    @classmethod
    def of(cls, added: Sequence[Any], replaced: Mapping[str, Any], removed: Sequence[int]) -> Self:
        """Create the edits from JSON values; each document is given as [title, text]. Raises ValueError for a document
        without text."""
        return cls(tuple(map(document, added)),
                   tuple((int(number), document(fields)) for number, fields in sorted(replaced.items())),
                   tuple(removed))

    @property
    def written(self) -> tuple[Block, ...]:
        """The documents that the user wrote."""
        return *self.added, *(block for _, block in self.replaced)

    def applied(self, lookup: Retriever) -> Retriever:
        """The same retrieve-and-read model with an edited copy of the corpus; only new texts are embedded."""
        corpus = lookup.corpus.copied()
        if self.added:
            corpus.add(self.added)
        for number, block in self.replaced:
            corpus.replace(number, block)
        for number in self.removed:
            corpus.remove(number)
        return lookup.with_corpus(corpus)


def document(fields: Sequence[str]) -> Block:
    """A document from its title and its text. Raises ValueError if the text is empty."""
    title, text = (field.strip() for field in fields)
    if not text:
        raise ValueError(f"The document {f'“{title}”' if title else 'without a title'} is empty: type a text, or "
                         "delete the document. The previous result is still shown.")
    return Block(title, 0, (text,))
