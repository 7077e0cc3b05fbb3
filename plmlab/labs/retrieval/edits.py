"""Documents as a reader has edited them, in a copy of what is looked up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from plmlab.labs.retrieval.looking import Looking
from plmlab.retrieval.blocks import Block


@dataclass(frozen=True)
class Edits:
    """What differs from the documents that were given. Those ``added`` take the numbers that come next, in their order,
    and can be replaced and removed like the others."""

    added: tuple[Block, ...] = ()
    replaced: tuple[tuple[int, Block], ...] = ()
    removed: tuple[int, ...] = ()

    @classmethod
    def of(cls, added: Sequence[Any], replaced: Mapping[str, Any], removed: Sequence[int]) -> Self:
        """From what JSON holds, each document as [title, text]; ValueError for one without words."""
        return cls(tuple(map(document, added)),
                   tuple((int(number), document(told)) for number, told in sorted(replaced.items())), tuple(removed))

    @property
    def written(self) -> tuple[Block, ...]:
        """The documents that the reader wrote."""
        return *self.added, *(one for _, one in self.replaced)

    def applied(self, lookup: Looking) -> Looking:
        """A lookup in a copy of the corpus with these edits; only what was written is embedded."""
        made = lookup.corpus.copied()
        if self.added:
            made.add(self.added)
        for number, one in self.replaced:
            made.replace(number, one)
        for number in self.removed:
            made.remove(number)
        return lookup.among(made)


def document(told: Sequence[str]) -> Block:
    """A document from its title and its text."""
    title, text = (part.strip() for part in told)
    if not text:
        raise ValueError(f"The document {f'“{title}”' if title else 'without a title'} is empty: write something into "
                         "it, or delete it. What is drawn is from before.")
    return Block(title, 0, (text,))
