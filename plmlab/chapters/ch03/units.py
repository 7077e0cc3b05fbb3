"""Perplexity depends on the tokenization: the same text as characters, subwords and words, in bits per character."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from math import log

from plmlab.metrics import perplexity
from plmlab.models.ngram import KneserNey
from plmlab.text import Tokenizer, articles
from plmlab.text.vocabulary import SENTINELS, SPECIALS, Vocabulary
from plmlab.text.words import word_sentences, word_tokenizer

READ, TEST_SIZE = 12, 2
"""Number of training articles, and of test articles."""


@dataclass(frozen=True)
class TokenizationResult:
    """Results for one tokenization: ``types`` in the vocabulary, ``tokens`` in the test set, the fraction of test
    tokens that is ``unknown``, the ``perplexity`` per token, and the ``bits`` per character of the test text."""

    types: int
    tokens: int
    unknown: float
    perplexity: float
    bits: float


@cache
def lines() -> tuple[list[str], list[str]]:
    """Paragraphs of the training set and of the test set (cached)."""
    parts = [article.paragraphs for article in articles()]
    return list(chain(*parts[:READ])), list(chain(*parts[READ:READ + TEST_SIZE]))


def evaluate_ngram(read: Sequence[Sequence[int]], test_set: Sequence[Sequence[int]], vocab: Vocabulary, order: int,
                   characters: int) -> TokenizationResult:
    """Fit a Kneser–Ney model of this order on token ids and evaluate it on a test set with this many ``characters``."""
    model = KneserNey(read, order, vocab)
    nats = sum(float(model.losses(ids).sum()) for ids in test_set)
    tokens = sum(len(ids) + 1 for ids in test_set)
    unknown = sum(token == vocab.unk for ids in test_set for token in ids)
    return TokenizationResult(len(vocab.words), tokens, unknown / tokens, perplexity(nats / tokens),
                              nats / log(2) / characters)


def characters(order: int) -> TokenizationResult:
    """Character-level tokenization; characters unseen in training are [UNK]."""
    read, test_set = lines()
    first = len(SPECIALS) + len(SENTINELS)
    ids = {character: first + i for i, character in enumerate(sorted(set(chain(*read))))}
    vocab = Vocabulary(first + len(ids))
    train_ids, test_ids = ([[ids.get(c, vocab.need("unk")) for c in line] for line in part]
                           for part in (read, test_set))
    return evaluate_ngram(train_ids, test_ids, vocab, order, _characters())


def pieces(size: int, order: int) -> TokenizationResult:
    """Byte-level BPE with a vocabulary of ``size``, which needs no [UNK]."""
    read, test_set = lines()
    tokenizer = Tokenizer.bpe(read, size)
    train_ids, test_ids = (tokenizer.encode_all(part, plain=True) for part in (read, test_set))
    return evaluate_ngram(train_ids, test_ids, tokenizer.vocab, order, _characters())


def words(least: int, order: int) -> TokenizationResult:
    """Lower-case words; words with fewer than ``least`` occurrences in training are [UNK]."""
    read, test_set = ([" ".join(chain(*word_sentences([line]))) for line in part] for part in lines())
    counts = Counter(chain.from_iterable(line.split() for line in read))
    tokenizer = word_tokenizer(word for word, count in counts.most_common() if count >= least)
    train_ids, test_ids = (tokenizer.encode_all(part, plain=True) for part in (read, test_set))
    return evaluate_ngram(train_ids, test_ids, tokenizer.vocab, order, _characters())


def _characters() -> int:
    """Number of characters in the test text, including one end-of-paragraph character per paragraph."""
    return sum(len(line) + 1 for line in lines()[1])
