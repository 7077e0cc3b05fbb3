"""Titled pages as token ids, which can be looked up by name and are split into sentences, so that a model can move from
page to page."""

from collections.abc import Mapping, Sequence
from functools import cache

from plmlab.lists import refuse_string
from plmlab.text.gazetteer import Gazetteer
from plmlab.text.tokenizers import Tokenizer

Ids = tuple[int, ...]


class TitledPages:
    """Pages indexed by title. ``texts`` maps a title to the sentences of its page; ``names`` maps a name used in a text
    to a title."""

    def __init__(self, texts: Mapping[str, Sequence[str]], names: Mapping[str, str], tokenizer: Tokenizer) -> None:
        self.texts, self.tokenizer = texts, tokenizer
        self._names = Gazetteer(names, tokenizer)
        self._sentences = cache(self._read)

    def named(self, question: Sequence[int]) -> list[str]:
        """The titles of the pages named in a question, in order of occurrence; the longest match wins."""
        return self._names.named(question)

    def find(self, words: Sequence[int]) -> str | None:
        """The title of the page with this name; None if there is no such page."""
        return self._names.find(words)

    def sentences(self, title: str) -> list[Ids]:
        """The sentences of the page with this title; an empty list if there is no such page."""
        return self._sentences(title)

    def _read(self, title: str) -> list[Ids]:
        return [tuple(self.tokenizer.encode(one, plain=True)) for one in self.texts.get(title, ())]

    def ids(self, words: Sequence[str]) -> Ids:
        """Encode words as token ids, possibly several per word. Raises ValueError for a single string."""
        refuse_string(words, "words")
        return tuple(self.tokenizer.encode(" ".join(words), plain=True))

    def spelled(self, words: Sequence[int]) -> str:
        """The tokens as running text, in lower case if the tokenizer lower-cases."""
        return self.tokenizer.decode(words)
