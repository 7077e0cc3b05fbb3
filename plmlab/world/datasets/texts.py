"""Sentences and documents as Texts: their words, sentences and entities are known."""

from collections.abc import Sequence
from functools import reduce
from operator import add

from plmlab.text import Text, Tokenizer
from plmlab.text.text import Told
from plmlab.world.grammar.sentence import Sentence


def sentence_texts(sentences: Sequence[Sentence], tokenizer: Tokenizer) -> list[Text]:
    """English sentences, each of which knows its words, itself, and what it mentions. ValueError for a tokenizer that
    has not one token a word."""
    return [of_sentence(row, one.words, one.named)
            for one, row in zip(sentences, rows(tokenizer, [one.words for one in sentences]), strict=True)]


def document_text(sentences: Sequence[Sentence], tokenizer: Tokenizer) -> Text:
    """The English sentences of an article or a story as one text. ValueError as `sentence_texts`."""
    return reduce(add, sentence_texts(sentences, tokenizer), Text(words=(), sentences=(), entities=()))


def rows(tokenizer: Tokenizer, texts: Sequence[Sequence[str]]) -> list[list[int]]:
    """The ids of texts that are told as words."""
    return tokenizer.encode_all([" ".join(words) for words in texts], plain=True)


def of_sentence(row: Sequence[int], words: Sequence[str], entities: Told = None) -> Text:
    """The ids of one sentence, which knows its words and itself. ValueError as `of_words`."""
    return of_words(row, words, [(0, len(row))][:len(row)], entities)


def of_words(row: Sequence[int], words: Sequence[str], sentences: Told = None, entities: Told = None) -> Text:
    """The ids of some words, which knows these. ValueError where it has not one id a word."""
    if len(row) != len(words):
        raise ValueError(f"{len(words)} words have {len(row)} tokens; give a tokenizer with one token a word, such as "
                         "plmlab.world.datasets.tokenizer has")
    return Text(row, words=lambda: ((place, place + 1) for place in range(len(row))), sentences=sentences,
                entities=entities)
