"""The Wikipedia sample as pages that a question is answered from: titles are looked up in running text by their words.

Sentences are cut by NLTK's Punkt (Kiss & Strunk 2006), which learns from the sample itself, without labels, after which
words a full stop ends no sentence ("U.S.", "c.").
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
"""What tells pages of one name apart: "Animalia (book)"."""
SIGNPOST = "disambiguation"
"""The qualifier of a page that only says which pages a name may mean."""


class WikipediaPages(TitledPages):
    """The sample's articles, each under its title, signposts left out.

    A text calls a page by its title, without what stands behind it in parentheses. No text means by a single letter the
    page about it ("A"), which is never found so.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__(sentences(), {called(title): title for title in sentences() if len(called(title)) > 1},
                         tokenizer)


def called(title: str) -> str:
    """A title as a running text has it."""
    return QUALIFIER.sub("", title)


@cache
def sentences() -> dict[str, list[str]]:
    """Title → the sentences of its article, paragraph after paragraph. In some four seconds, once in a process."""
    return {article.title: [one for paragraph in article.paragraphs for one in punkt().tokenize(paragraph)]
            for article in articles() if not signpost(article.title)}


def signpost(title: str) -> bool:
    """Whether a page is about a name, and not about what is called so."""
    found = QUALIFIER.search(title)
    return found is not None and found[1] == SIGNPOST


@cache
def punkt() -> "PunktSentenceTokenizer":
    """What cuts a paragraph into sentences, having read the whole sample."""
    from nltk.tokenize.punkt import PunktSentenceTokenizer, PunktToken, PunktTrainer

    types = dict[str, str]()

    class Token(PunktToken):
        """The same in less time: a word's type is found once, and an ellipsis looked for where a full stop is last."""

        __positions__ = ()

        def _get_type(self, tok: str) -> str:
            if tok not in types:
                types[tok] = super()._get_type(tok)
            return types[tok]

        @property
        def is_ellipsis(self) -> bool:
            return self.period_final and bool(super().is_ellipsis)

    return PunktSentenceTokenizer(PunktTrainer("\n\n".join(paragraphs()), token_cls=Token).get_params())
