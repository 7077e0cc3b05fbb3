"""Sentences and documents as Texts with word, sentence and entity spans."""

from collections.abc import Sequence
from functools import reduce
from operator import add

from plmlab.text import Text, Tokenizer
from plmlab.text.text import Told
from plmlab.world.grammar.sentence import Sentence


def sentence_texts(sentences: Sequence[Sentence], tokenizer: Tokenizer) -> list[Text]:
    """English sentences as Texts with word spans, one sentence span and entity mentions. Raises ValueError if the
    tokenizer does not have one token per word."""
    return [of_sentence(row, one.words, one.named)
            for one, row in zip(sentences, rows(tokenizer, [one.words for one in sentences]), strict=True)]


def document_text(sentences: Sequence[Sentence], tokenizer: Tokenizer) -> Text:
    """The English sentences of an article or a story as one Text. Raises ValueError as `sentence_texts` does."""
    return reduce(add, sentence_texts(sentences, tokenizer), Text(words=(), sentences=(), entities=()))


def chinese_document_text(sentences: Sequence[Sentence], tokenizer: Tokenizer) -> Text:
    """The Chinese translations of these sentences as one Text, without entity mentions. Raises ValueError as
    `sentence_texts` does."""
    texts = map(of_sentence, rows(tokenizer, [one.chinese for one in sentences]), (one.chinese for one in sentences))
    return reduce(add, texts, Text(words=(), sentences=()))


def rows(tokenizer: Tokenizer, texts: Sequence[Sequence[str]]) -> list[list[int]]:
    """Convert texts, given as words, to lists of ids."""
    return tokenizer.encode_all([" ".join(words) for words in texts], plain=True)


def of_sentence(row: Sequence[int], words: Sequence[str], entities: Told = None) -> Text:
    """The ids of one sentence as a Text with word spans and one sentence span. Raises ValueError as `of_words` does."""
    return of_words(row, words, [(0, len(row))][:len(row)], entities)


def of_words(row: Sequence[int], words: Sequence[str], sentences: Told = None, entities: Told = None) -> Text:
    """The ids of these words as a Text with word spans. Raises ValueError unless there is one id per word."""
    if len(row) != len(words):
        raise ValueError(f"{len(words)} words have {len(row)} tokens; use a tokenizer with one token per word, such as "
                         "those of plmlab.world.datasets.tokenizer")
    return Text(row, words=lambda: ((place, place + 1) for place in range(len(row))), sentences=sentences,
                entities=entities)
