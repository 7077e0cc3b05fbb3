"""The world's articles as pages for question answering."""

from functools import cached_property

from plmlab.text.pages import TitledPages
from plmlab.text.tokenizers import Tokenizer
from plmlab.world.documents.articles import Article
from plmlab.world.world import World


class ArticlePages(TitledPages):
    """The articles that a split uses as context, each under its title ("Anna Bell")."""

    def __init__(self, world: World, split: str, tokenizer: Tokenizer) -> None:
        self.world = world
        self._articles = world.corpora.articles(split)
        texts = {" ".join(article.title): [" ".join(sentence.words) for sentence in article.sentences]
                 for article in self._articles.values()}
        super().__init__(texts, {title: title for title in texts}, tokenizer)

    @cached_property
    def keys(self) -> dict[str, str]:
        """Title → the key of its entity."""
        return {" ".join(article.title): key for key, article in self._articles.items()}

    def title(self, key: str) -> str:
        """The title of an entity's article."""
        return " ".join(self._articles[key].title)

    def article(self, key: str) -> Article:
        """The article of an entity."""
        return self._articles[key]
