"""Texts under titles, as a model reads them that goes from one to the next: found by what they are called, cut into
sentences, all as ids."""

from collections.abc import Mapping, Sequence
from functools import cache

from plmlab.lists import refuse_string
from plmlab.text.gazetteer import Gazetteer
from plmlab.text.tokenizers import Tokenizer

Ids = tuple[int, ...]


class TitledPages:
    """``texts`` is a title → the sentences of its page; ``names`` is what a text may call a page → its title."""

    def __init__(self, texts: Mapping[str, Sequence[str]], names: Mapping[str, str], tokenizer: Tokenizer) -> None:
        self.texts, self.tokenizer = texts, tokenizer
        self._names = Gazetteer(names, tokenizer)
        self._sentences = cache(self._read)

    def named(self, question: Sequence[int]) -> list[str]:
        """The titles of the pages that a question names, in its order; where several names begin at one word that with
        the longest."""
        return self._names.named(question)

    def find(self, words: Sequence[int]) -> str | None:
        """The title of the page that is called so; None where none is."""
        return self._names.find(words)

    def sentences(self, title: str) -> list[Ids]:
        """The sentences of the page with this title; none where there is none."""
        return self._sentences(title)

    def _read(self, title: str) -> list[Ids]:
        return [tuple(self.tokenizer.encode(one, plain=True)) for one in self.texts.get(title, ())]

    def ids(self, words: Sequence[str]) -> Ids:
        """Words as ids, of which a word may have several. ValueError for one string."""
        refuse_string(words, "words")
        return tuple(self.tokenizer.encode(" ".join(words), plain=True))

    def spelled(self, words: Sequence[int]) -> str:
        """The words as a person writes them; in lower case where the tokenizer has made them so."""
        return self.tokenizer.decode(words)
