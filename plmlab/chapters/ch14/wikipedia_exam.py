"""What questions about real text are answered from: the articles of the Wikipedia sample as pages."""

from functools import cache

from plmlab.hf import minilm
from plmlab.text import Tokenizer
from plmlab.text.wikipedia_pages import WikipediaPages


@cache
def pieces() -> Tokenizer:
    """MiniLM's pieces of words."""
    return minilm()[1]


@cache
def pages() -> WikipediaPages:
    """The pages, in MiniLM's pieces of words."""
    return WikipediaPages(pieces())
