"""The world's articles as pages that a question is answered from: found by what they are called, read as ids."""

from collections.abc import Sequence
from functools import cache, cached_property

from plmlab.text.gazetteer import Gazetteer
from plmlab.text.tokenizers import Tokenizer
from plmlab.world.documents.articles import Article
from plmlab.world.world import World

Ids = tuple[int, ...]


class ArticlePages:
    """The articles that a split is read in, each under its title ("Anna Bell")."""

    def __init__(self, world: World, split: str, tokenizer: Tokenizer) -> None:
        self.world, self.tokenizer = world, tokenizer
        self._articles = world.corpora.articles(split)
        self._sentences = cache(self._read)

    @cached_property
    def keys(self) -> dict[str, str]:
        """A title → the key of its entity."""
        return {" ".join(article.title): key for key, article in self._articles.items()}

    @cached_property
    def _titles(self) -> Gazetteer:
        return Gazetteer({title: title for title in self.keys}, self.tokenizer)

    def named(self, question: Sequence[int]) -> list[str]:
        """The titles that stand in a question, in its order; where several begin at one word the longest."""
        return self._titles.named(question)

    def find(self, words: Sequence[int]) -> str | None:
        """The title that these words are; None where no article is called so."""
        return self._titles.find(words)

    def sentences(self, title: str) -> list[Ids]:
        """The sentences of the article with this title; none where there is none."""
        return self._sentences(title)

    def _read(self, title: str) -> list[Ids]:
        return [self.ids(one.words) for one in self.article(self.keys[title]).sentences] if title in self.keys else []

    def title(self, key: str) -> str:
        """The title of an entity's article."""
        return " ".join(self._articles[key].title)

    def article(self, key: str) -> Article:
        """The article of an entity."""
        return self._articles[key]

    def spelled(self, words: Sequence[int]) -> str:
        """The words as a person writes them; in lower case where the tokenizer has made them so."""
        return self.tokenizer.decode(words)

    def ids(self, words: Sequence[str]) -> Ids:
        """Words as ids, of which a word may have several."""
        return tuple(self.tokenizer.encode(" ".join(words), plain=True))
