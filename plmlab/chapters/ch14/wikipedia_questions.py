"""Pages for questions about real text, taken from the articles of the Wikipedia sample."""

from functools import cache

from plmlab.hf.minilm_vectors import pieces
from plmlab.text.wikipedia_pages import WikipediaPages


@cache
def pages() -> WikipediaPages:
    """The pages, encoded with MiniLM's subword tokenizer."""
    return WikipediaPages(pieces())
