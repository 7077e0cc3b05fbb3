"""Our n-gram models against ``nltk.lm``, on the same n-grams.

nltk is handed the n-grams that we count: those that end in a word or in one [END]. Its own pipeline would also count
what stands in the padding, a [START] after a [START], as something that is said.
"""

import math
from collections.abc import Iterator, Sequence
from random import Random

import pytest
import torch
from nltk.lm import MLE, KneserNeyInterpolated, Lidstone, NgramCounter
from nltk.lm import Vocabulary as TheirVocabulary
from nltk.util import everygrams, pad_sequence

from plmlab.draws import randint
from plmlab.models.ngram import AddK, KneserNey, NGram
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(48)
START, END, UNK = VOCAB.need("start"), VOCAB.need("end"), VOCAB.need("unk")
SAYABLE = [UNK, END, *VOCAB.words]
orders = pytest.mark.parametrize("order", [1, 2, 3, 4])
seeds = pytest.mark.parametrize("seed", range(3))


def sentences(seed: int) -> list[list[int]]:
    """Texts of 0 to 8 tokens, some words far more often than others, two words never."""
    rng = Random(seed)
    spoken = [UNK, *VOCAB.words[:-2]]
    return [[], *([spoken[min(randint(rng, len(spoken)), randint(rng, len(spoken)))] for _ in range(randint(rng, 9))]
                  for _ in range(40))]


def theirs(texts: list[list[int]], order: int) -> dict:
    """What a model of nltk's is made with: the counts, and a vocabulary of ours (it adds an [UNK] of its own)."""
    counts = NgramCounter([ngram for ngram in everygrams(list(padded), max_len=order) if ngram[-1] != START]
                          for padded in (pad_sequence([*text, END], order, pad_left=True, left_pad_symbol=START)
                                         for text in texts))
    vocabulary = TheirVocabulary([END, *VOCAB.words])
    assert len(vocabulary) == len(SAYABLE)
    return {"counter": counts, "vocabulary": vocabulary}


def befores(texts: list[list[int]], seed: int) -> Iterator[list[int]]:
    """What may stand before a token: every beginning of some texts, and random words, those never said too."""
    rng = Random(seed + 100)
    for text in texts[:12]:
        for place in range(len(text) + 1):
            yield text[:place]
    for length in range(6):
        for _ in range(6):
            yield [SAYABLE[randint(rng, len(SAYABLE))] for _ in range(length)]


def agree(ours: NGram, other, texts: list[list[int]], seed: int) -> int:
    """Compare all tokens after all contexts; how many of these were never seen whole."""
    unseen = 0
    for before in befores(texts, seed):
        context = tuple([START] * (ours.order - 1) + before)[len(before):]
        unseen += context not in ours.counts
        found = ours.probabilities(before)
        expected = torch.zeros(VOCAB.size, dtype=torch.float64)
        for token in SAYABLE:
            expected[token] = other.unmasked_score(token, context)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-14)
        assert float(found.sum()) == pytest.approx(1) or (type(ours) is NGram and context not in ours.counts)
    return unseen


def loss(other, text: Sequence[int], order: int) -> list[float]:
    """Nats a token under nltk's model, which counts in bits and knows nothing of texts."""
    padded = [*[START] * (order - 1), *text, END]
    scores = [other.unmasked_score(padded[place], tuple(padded[place - order + 1:place]))
              for place in range(order - 1, len(padded))]
    return [-math.log(score) if score else math.inf for score in scores]


@seeds
@orders
def test_raw_counts(order, seed):
    texts = sentences(seed)
    ours, other = NGram(texts, order, VOCAB), MLE(order, **theirs(texts, order))
    assert bool(agree(ours, other, texts, seed)) == (order > 1)
    for text in texts[:5] + sentences(seed + 1)[:5]:
        assert ours.losses(text).tolist() == pytest.approx(loss(other, text, order))


@seeds
@orders
@pytest.mark.parametrize("k", [0.05, 1.0, 2.5])
def test_counts_with_k_added(order, seed, k):
    texts = sentences(seed)
    ours, other = AddK(texts, order, VOCAB, k), Lidstone(k, order, **theirs(texts, order))
    agree(ours, other, texts, seed)
    for text in sentences(seed + 1)[:5]:
        assert ours.losses(text).tolist() == pytest.approx(loss(other, text, order))


@seeds
@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("discount", [0.0, 0.1, 0.75, 1.0])
def test_kneser_ney(order, seed, discount):
    """nltk's is Kneser and Ney's formula with one discount, and stops at single words, from which it takes nothing: so
    do ours with a discount of 0 there. Contexts never seen leave it to the shorter one in both."""
    texts = sentences(seed)
    ours = KneserNey(texts, order, VOCAB, discounts=[(0.0,) * 3] + [(discount,) * 3] * (order - 1))
    other = KneserNeyInterpolated(order, discount, **theirs(texts, order))
    assert agree(ours, other, texts, seed) > 0
    for text in sentences(seed + 1)[:5]:
        assert ours.losses(text).tolist() == pytest.approx(loss(other, text, order))


def test_where_nltk_has_no_answer():
    """Of order 1 there is nothing that could stand before a word: Kneser–Ney is the counts then, where nltk asks for
    pairs and divides by their number."""
    texts = sentences(0)
    ours = KneserNey(texts, 1, VOCAB, discounts=[(0.0, 0.0, 0.0)])
    torch.testing.assert_close(ours.probabilities([]), NGram(texts, 1, VOCAB).probabilities([]))
    with pytest.raises(ZeroDivisionError):
        KneserNeyInterpolated(1, 0.1, **theirs(texts, 1)).unmasked_score(END, ())
