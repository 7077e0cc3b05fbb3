"""Word2vec beside gensim's: the same pairs in the same direction, the same shrinking window, and as low a loss."""

from collections import Counter
from itertools import islice
from random import Random

import numpy as np
import pytest
import torch
from gensim.models import Word2Vec as Gensim

from plmlab import world
from plmlab.chapters.ch02.factorisation import factors_of, pair_loss, scores
from plmlab.chapters.ch02.trainers import gensim_vectors
from plmlab.example import Batch
from plmlab.layers import sampled_softmax
from plmlab.models.word2vec import CBOW, SkipGram, Word2Vec, Word2VecConfig
from plmlab.objectives.window import window
from plmlab.text.vocabulary import Vocabulary
from plmlab.vectors.learning import learn_vectors, vectors_of
from plmlab.vectors.windows import WindowBatches
from plmlab.world.datasets.word_kinds import free_sentences

SENTENCE = ["the", "old", "cat", "saw", "a", "dog", "near", "my", "house"]
OTHER = "zz"
"""A word of sentences of its own, and so frequent that with a high power of the counts all negatives are it."""
SIZE, RATE = 24, 1e-3


def said_by(shape: str, window: int, *, copies: int = 1, shrink: bool = False) -> np.ndarray:
    """[word, other]: how much of the other word's vector gensim adds, in all, to say the word.

    The vectors of contexts begin at 0, so that each is moved by rate · ½ · Σ of what says it, to the first order; with
    more numbers a vector than words the sum has one solution.
    """
    texts = [SENTENCE] * copies + [[OTHER]] * (50 + 5 * copies)
    model = Gensim(vector_size=SIZE, window=window, negative=1, ns_exponent=30.0, sg=shape == "skip-gram", sample=0,
                   min_count=1, alpha=RATE / copies, min_alpha=RATE / copies, workers=1, seed=1, cbow_mean=1,
                   shrink_windows=shrink)
    model.build_vocab(texts)
    rows = [model.wv.key_to_index[word] for word in SENTENCE]
    begun = model.wv.vectors[rows].astype(float)
    model.train(texts, total_examples=len(texts), epochs=1)
    return np.linalg.lstsq(begun.T, model.syn1neg[rows].T.astype(float) * 2 / RATE, rcond=None)[0].T


def said_by_us(kind: type[Word2Vec], reach: int) -> np.ndarray:
    """The same of ours, from the gradient of the loss."""
    torch.manual_seed(0)
    model = kind(Word2VecConfig(50, SIZE))
    ids = list(range(39, 39 + len(SENTENCE)))
    batch = Batch.of([window(ids, vocab=Vocabulary(50), rng=Random(0), reach=[reach] * len(ids))], pad=0)
    model.loss(batch).backward()
    asked = int(batch.visible.pairs.sum()) if kind is SkipGram else len(ids)
    moved = -2 * asked * model.output.weight.grad[ids].numpy().astype(float)
    begun = model.token.weight.detach()[ids].numpy().astype(float)
    return np.linalg.lstsq(begun.T, moved.T, rcond=None)[0].T


@pytest.mark.parametrize("reach", [1, 2, 5])
@pytest.mark.parametrize(("shape", "kind"), [("skip-gram", SkipGram), ("cbow", CBOW)])
def test_the_same_words_say_the_same_words(shape: str, kind: type[Word2Vec], reach: int, monkeypatch) -> None:
    """With a window that does not shrink: skip-gram's pairs, and CBOW's means."""
    monkeypatch.setattr(torch, "multinomial", lambda noise, count, replacement: torch.full((count,), 9))
    monkeypatch.setattr(sampled_softmax, "SHARED_NEGATIVES", 1)
    theirs, ours = said_by(shape, reach), said_by_us(kind, reach)
    distance = np.abs(np.subtract.outer(range(len(SENTENCE)), range(len(SENTENCE))))
    pairs = (distance > 0) & (distance <= reach)
    told = pairs if kind is SkipGram else pairs / pairs.sum(1, keepdims=True)
    assert np.abs(ours - told).max() < 1e-3
    assert np.abs(theirs - ours).max() < 0.02, "gensim looks its logistic function up in a table"


def test_the_window_shrinks_alike() -> None:
    """How often words so far apart are a pair, of 600 sentences: ours and gensim's, both drawn."""
    size, copies, length = 3, 600, len(SENTENCE)
    theirs = said_by("skip-gram", size, copies=copies, shrink=True)
    batches = WindowBatches([list(range(40, 40 + length))] * copies, 60, batch=copies, window=size)
    looks = batches(0).visible.pairs.float().mean(0).numpy()
    met = Counter[int]()
    for i in range(length):
        for j in range(length):
            chance = max(0, size - abs(i - j) + 1) / size if i != j else 0.0
            error = 4 * (chance * (1 - chance) / copies) ** 0.5
            assert abs(looks[i, j] - chance) <= error
            assert abs(theirs[i, j] - chance) <= error + 0.03
            met[abs(i - j)] += 1
    assert met[3] > 0


@pytest.mark.parametrize("seed", [0, 1])
def test_our_vectors_reach_as_low_a_loss(seed: int) -> None:
    """3,000 sentences of the small world read once by each, the rate of each near its best; judged by the exact loss
    over endless text."""
    loss = pair_loss("small")
    sentences = list(islice(free_sentences(world.small(), seed), 3000))
    made = learn_vectors(sentences, size=20, batch=8, lr=0.08, seed=seed, show=False)
    ours = loss.above(scores(factors_of(loss, made.vectors, vectors_of(made.model, made.tokenizer, output=True))))
    theirs = loss.above(scores(factors_of(loss, *gensim_vectors(sentences, 0.1, seed, size=20))))
    assert 0 < ours < theirs + 0.01 < 0.13
