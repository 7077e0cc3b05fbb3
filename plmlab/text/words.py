"""Texts as sentences of words, and a tokenizer with one token per word of a list."""

import re
from collections.abc import Iterable, Iterator

import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers

from plmlab.lists import refuse_string
from plmlab.text.text import SENTENCE
from plmlab.text.tokenizers import OURS, Tokenizer
from plmlab.text.vocabulary import Vocabulary

LONGEST = 64
"""Maximum number of words; longer sentences are split."""
HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"[{HAN}]|[^\W_{HAN}]+(?:(?:['’\-.]|,(?=\d))[^\W_{HAN}]+)*")


def word_sentences(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield the sentences of the texts as lowercase words, at most `LONGEST` per sentence; punctuation is removed,
    numbers are kept.

    Chinese is split into single characters.
    """
    refuse_string(texts, "texts")
    for text in texts:
        for sentence in SENTENCE.split(text):
            words = WORD.findall(sentence.lower())
            yield from (words[start:start + LONGEST] for start in range(0, len(words), LONGEST))


def word_tokenizer(words: Iterable[str]) -> Tokenizer:
    """Build a word-level tokenizer with one token per word, after the special tokens shared by all our tokenizers. It
    splits text at spaces.

    The ids follow the order of ``words``; all other words become [UNK].
    """
    refuse_string(words, "words")
    listed = list(dict.fromkeys([*OURS, *words]))
    backend = tokenizers.Tokenizer(models.WordLevel({word: id for id, word in enumerate(listed)}, unk_token="[UNK]"))
    backend.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in OURS])
    backend.normalizer = normalizers.NFC()
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    backend.decoder = decoders.WordPiece()
    return Tokenizer(backend, Vocabulary(len(listed)))
