"""Train skip-gram with negative sampling, with our implementation or with gensim, under the same settings."""

from collections.abc import Sequence

import torch

from plmlab.chapters.ch02.factorisation import NEGATIVES, WINDOW
from plmlab.vectors import WordVectors
from plmlab.vectors.learning import learn_vectors, vectors_of

Pair = tuple[WordVectors, WordVectors]
"""Word vectors and context vectors."""


def our_vectors(sentences: Sequence[Sequence[str]], rate: float, seed: int, *, size: int, least: int = 1,
                sample: float = 0.0, rounds: int = 1) -> Pair:
    """Train with our implementation, with the settings of ``learn_vectors``."""
    learned = learn_vectors(sentences, size=size, window=WINDOW, negatives=NEGATIVES, least=least, sample=sample,
                            rounds=rounds, lr=rate, seed=seed, show=False)
    return learned.vectors, vectors_of(learned.model, learned.tokenizer, output=True)


def gensim_vectors(sentences: Sequence[Sequence[str]], rate: float, seed: int, *, size: int, least: int = 1,
                   sample: float = 0.0, rounds: int = 1, workers: int = 1) -> Pair:
    """Train with gensim, by default with one worker thread, because with several the result depends on thread
    timing."""
    from gensim.models import Word2Vec

    learned = Word2Vec(sentences, vector_size=size, window=WINDOW, negative=NEGATIVES, sg=1, sample=sample,
                       min_count=least, epochs=rounds, workers=workers, alpha=rate, seed=seed)
    words = tuple(learned.wv.index_to_key)
    tables = learned.wv.vectors, learned.syn1neg
    return WordVectors(words, torch.from_numpy(tables[0])), WordVectors(words, torch.from_numpy(tables[1]))


TRAINERS = {"ours": our_vectors, "gensim": gensim_vectors}
