"""Text processing: tokenizers, corpora, and streams of tokens for training."""

from plmlab.text.corpora import CorpusError, each, hub, read_texts
from plmlab.text.streams import Sequential, TokenStream, Windows, examples
from plmlab.text.text import Text
from plmlab.text.tokenizers import Tokenizer, TokenizerError
from plmlab.text.vocabulary import SENTINELS, SPECIALS, Vocabulary
from plmlab.text.wikipedia import Article, articles, paragraphs

__all__ = [
    "SENTINELS", "SPECIALS", "Article", "CorpusError", "Sequential", "Text", "TokenStream", "Tokenizer",
    "TokenizerError", "Vocabulary", "Windows", "articles", "each", "examples", "hub", "paragraphs", "read_texts",
]
