"""A gazetteer (地名表): finds names in running text by their tokens, preferring the longest match."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from plmlab.text.spacing import PIECE
from plmlab.text.text import Text
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary


class Gazetteer:
    """Finds names in token ids. ``names`` maps a name, as it is written in a text, to what it denotes.

    A gazetteer can replace the tokenizer of the Mask Lab: the entities of a typed text are then the names in it.
    """

    def __init__(self, names: Mapping[str, str], tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._meant = {tuple(tokenizer.encode(name, plain=True)): meant for name, meant in names.items()}

    @property
    def vocab(self) -> Vocabulary:
        """The vocabulary of the tokenizer."""
        return self.tokenizer.vocab

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """The label of each token, as from the tokenizer."""
        return self.tokenizer.tokens(ids)

    def text(self, text: str) -> Text:
        """``tokenizer.text(text)`` with the names as its entities."""
        found = self.tokenizer.text(text)
        return Text(found, words=found.words, sentences=found.sentences, entities=self._places(found))

    def find(self, ids: Sequence[int]) -> str | None:
        """What the whole sequence of ids denotes; None if it is not a name."""
        return self._meant.get(tuple(ids))

    def named(self, ids: Sequence[int]) -> list[str]:
        """What the names in these ids denote, in order of occurrence. A name never ends within a word."""
        return [self._meant[tuple(ids[start:end])] for start, end in self._places(ids)]

    def _places(self, ids: Sequence[int]) -> Iterator[tuple[int, int]]:
        """The spans of the names, (start, end) such that ``ids[start:end]`` is a name."""
        at = 0
        while at < len(ids):
            ends = range(min(len(ids), at + self._longest), at, -1)
            end = next((end for end in ends if self.find(ids[at:end]) and self._whole(ids[end:end + 1])), None)
            if end is not None:
                yield at, end
            at = end or at + 1

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._meant), default=0)

    def _whole(self, following: Sequence[int]) -> bool:
        """Whether a word ends before the token ``following``, or the text ends."""
        return not any(token.startswith(PIECE) for token in self.tokenizer.tokens(following))
