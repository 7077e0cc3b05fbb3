"""How much of PEGASUS's targets is also in the source."""

from collections.abc import Sequence
from random import Random
from statistics import fmean
from typing import Any

from plmlab.objectives import gap_sentences
from plmlab.text import Text, Tokenizer


def in_source(articles: Sequence[Text], tokenizer: Tokenizer, **settings: Any) -> tuple[float, float]:
    """The fractions of gap sentences, and of target tokens, that occur in the source, with the ``settings`` of
    `gap_sentences`."""
    rng, gaps, tokens = Random(0), list[bool](), list[bool]()
    for article in articles:
        pair = gap_sentences(article, vocab=tokenizer.vocab, rng=rng, **settings)
        source, target = map(joined, (pair.source.tokens.tolist(), pair.target.targets[:-1].tolist()))
        sentences = [joined(article[begin:end]) for begin, end in article.sentences or ()]
        gaps += [sentence in source for sentence in sentences if sentence in target]
        tokens += [f" {token} " in source for token in target.split()]
    return fmean(gaps), fmean(tokens)


def joined(tokens: Sequence[int]) -> str:
    """The tokens as a string in which every token has a space on both sides."""
    return f" {' '.join(map(str, tokens))} "
