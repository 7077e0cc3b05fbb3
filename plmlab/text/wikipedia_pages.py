"""The Wikipedia sample as pages for question answering: titles are matched word by word in running text.

Sentences are split by NLTK's Punkt (Kiss & Strunk 2006), which learns from the unlabelled sample itself after which
words a full stop does not end a sentence ("U.S.", "c.").
"""

import re
from functools import cache
from typing import TYPE_CHECKING

from plmlab.text.pages import TitledPages
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.wikipedia import articles, paragraphs

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

QUALIFIER = re.compile(r" \(([^()]*)\)$")
"""The qualifier that distinguishes pages with the same name: "Animalia (book)".""" 
SIGNPOST = "disambiguation"
"""The qualifier of a page that only lists the pages a name may refer to."""


class WikipediaPages(TitledPages):
    """The sample's articles as pages, indexed by title, without disambiguation pages.

    A text refers to a page by its title without the part in parentheses. Pages about a single letter ("A") are never
    matched, because a single letter in a text does not refer to them.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__(sentences(), {called(title): title for title in sentences() if len(called(title)) > 1},
                         tokenizer)


def called(title: str) -> str:
    """The form in which a title appears in running text."""
    return QUALIFIER.sub("", title)


@cache
def sentences() -> dict[str, list[str]]:
    """Title → the sentences of its article, paragraph by paragraph. The first call takes about four seconds."""
    return {article.title: [one for paragraph in article.paragraphs for one in punkt().tokenize(paragraph)]
            for article in articles() if not signpost(article.title)}


def signpost(title: str) -> bool:
    """Whether a page is a disambiguation page."""
    found = QUALIFIER.search(title)
    return found is not None and found[1] == SIGNPOST


@cache
def punkt() -> "PunktSentenceTokenizer":
    """The Punkt sentence splitter, trained on the whole sample."""
    from nltk.tokenize.punkt import PunktSentenceTokenizer, PunktToken, PunktTrainer

    types = dict[str, str]()

    class Token(PunktToken):
        """Faster PunktToken: caches word types, and checks for an ellipsis only at a final full stop."""

        __positions__ = ()

        def _get_type(self, tok: str) -> str:
            if tok not in types:
                types[tok] = super()._get_type(tok)
            return types[tok]

        @property
        def is_ellipsis(self) -> bool:
            return self.period_final and bool(super().is_ellipsis)

    return PunktSentenceTokenizer(PunktTrainer("\n\n".join(paragraphs()), token_cls=Token).get_params())
