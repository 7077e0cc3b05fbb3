"""Word2vec, ours compared with gensim's: ``python benchmarks/word2vec.py [rounds] [sentences]`` prints tables.

Skip-gram, five negative samples, a window of 5, no subsampling of frequent words, one epoch. "Words" are those of the
text, without discarded ones. The time includes building the vocabulary.
"""

import sys
from collections import Counter
from collections.abc import Callable
from itertools import islice
from typing import Any

import torch
from rounds import race, table

from plmlab import world
from plmlab.chapters.ch02.factorisation import factors_of, pair_loss, scores
from plmlab.chapters.ch02.trainers import gensim_vectors, our_vectors
from plmlab.text import paragraphs
from plmlab.text.words import word_sentences
from plmlab.world.datasets.word_kinds import free_sentences

SIZES = (50, 100)
RATE = 0.1
"""Learning rate, near the best of each implementation for the world's 40,000 sentences in the pilots of chapter 02's
recipe."""
LEAST = 5
"""Minimum count of a word of Wikipedia; rarer words are discarded."""

Text = list[list[str]]


def runners(text: Text, size: int, least: int) -> dict[str, Callable[[], Any]]:
    """The implementations to train on the text, by name."""
    return {"gensim, one thread": lambda: gensim_vectors(text, RATE, 1, size=size, least=least),
            "plmlab, one thread": lambda: our_vectors(text, RATE, 0, size=size, least=least),
            "gensim, two threads": lambda: gensim_vectors(text, RATE, 1, size=size, least=least, workers=2)}


def main(rounds: int, sentences: int) -> None:
    """Print a table for each text and size, and on the world's text the excess of each exact loss over its minimum."""
    torch.set_num_threads(1)
    texts = {"world": (list(islice(free_sentences(world.full()), sentences)), 1),
             "wikipedia": (list(word_sentences(paragraphs())), LEAST)}
    for name, (text, least) in texts.items():
        counts = Counter(word for words in text for word in words)
        kept = [count for count in counts.values() if count >= least]
        for size in SIZES:
            print(f"\n{name}: {sum(kept):,} words, {len(kept):,} distinct, {size} dimensions\n")
            print(table(race(runners(text, size, least), rounds=rounds, warm_up=1), sum(kept))
                  .replace("tokens", "words"))
            if name == "world":
                for who, run in runners(text, size, least).items():
                    above = pair_loss("full").above(scores(factors_of(pair_loss("full"), *run())))
                    print(f"{who}: exact loss {above:.1%} above its minimum")


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:] or ("5", "40000")))
