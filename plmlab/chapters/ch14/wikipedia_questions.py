"""Pages for questions about real text, taken from the articles of the Wikipedia sample."""

from functools import cache

from plmlab.hf import minilm
from plmlab.text import Tokenizer
from plmlab.text.wikipedia_pages import WikipediaPages


@cache
def pieces() -> Tokenizer:
    """MiniLM's subword tokenizer."""
    return minilm()[1]


@cache
def pages() -> WikipediaPages:
    """The pages, encoded with MiniLM's subword tokenizer."""
    return WikipediaPages(pieces())
