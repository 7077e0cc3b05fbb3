"""What a perplexity is a perplexity of: one text cut into characters, pieces and words, and what each cut hides."""

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
"""So many articles are read, and so many asked."""


@dataclass(frozen=True)
class Cut:
    """What one cut comes to: ``types`` in its vocabulary, ``tokens`` of the exam, the share ``unknown`` of these, the
    ``perplexity`` a token and the ``bits`` a character of the exam's text."""

    types: int
    tokens: int
    unknown: float
    perplexity: float
    bits: float


@cache
def lines() -> tuple[list[str], list[str]]:
    """The paragraphs that are read, and those of the exam."""
    found = [article.paragraphs for article in articles()]
    return list(chain(*found[:READ])), list(chain(*found[READ:READ + TEST_SIZE]))


def cut(read: Sequence[Sequence[int]], test_set: Sequence[Sequence[int]], vocab: Vocabulary, order: int,
        characters: int) -> Cut:
    """Kneser–Ney of this order on ids, and what it pays for an exam of so many characters."""
    model = KneserNey(read, order, vocab)
    nats = sum(float(model.losses(ids).sum()) for ids in test_set)
    tokens = sum(len(ids) + 1 for ids in test_set)
    unknown = sum(token == vocab.unk for ids in test_set for token in ids)
    return Cut(len(vocab.words), tokens, unknown / tokens, perplexity(nats / tokens), nats / log(2) / characters)


def characters(order: int) -> Cut:
    """Each character is a token; one never read is [UNK]."""
    read, test_set = lines()
    first = len(SPECIALS) + len(SENTINELS)
    ids = {letter: first + i for i, letter in enumerate(sorted(set(chain(*read))))}
    vocab = Vocabulary(first + len(ids))
    known, asked = ([[ids.get(letter, vocab.need("unk")) for letter in line] for line in part]
                    for part in (read, test_set))
    return cut(known, asked, vocab, order, _letters())


def pieces(size: int, order: int) -> Cut:
    """Byte-level BPE: nothing is unknown."""
    read, test_set = lines()
    tokenizer = Tokenizer.bpe(read, size)
    known, asked = (tokenizer.encode_all(part, plain=True) for part in (read, test_set))
    return cut(known, asked, tokenizer.vocab, order, _letters())


def words(least: int, order: int) -> Cut:
    """Lowercase words, those that were read less than ``least`` times as [UNK]."""
    read, test_set = ([" ".join(chain(*word_sentences([line]))) for line in part] for part in lines())
    counts = Counter(chain.from_iterable(line.split() for line in read))
    tokenizer = word_tokenizer(word for word, count in counts.most_common() if count >= least)
    known, asked = (tokenizer.encode_all(part, plain=True) for part in (read, test_set))
    return cut(known, asked, tokenizer.vocab, order, _letters())


def _letters() -> int:
    """The characters of the exam's text, each paragraph with its end."""
    return sum(len(line) + 1 for line in lines()[1])
