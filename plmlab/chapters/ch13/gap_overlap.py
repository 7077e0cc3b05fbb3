"""What PEGASUS's gap sentences have in common with the source, and with the summary of the article."""

from collections.abc import Collection, Iterable
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

from plmlab.objectives import gap_sentences
from plmlab.text import Text, Tokenizer


class Overlap(NamedTuple):
    """Fractions of the gap sentences that occur in the source, of the target tokens that do, and of the gap sentences
    that belong to the summary."""

    sentences: float
    tokens: float
    summary: float


def overlap(articles: Iterable[tuple[Text, Collection[int]]], tokenizer: Tokenizer, **settings: Any) -> Overlap:
    """The overlap with the ``settings`` of `gap_sentences`, for articles given as texts and the indices of the
    sentences that are their summaries. A gap sentence is one that occurs in the target."""
    rng, sentences, tokens, in_summary = Random(0), list[bool](), list[bool](), list[bool]()
    for text, summary in articles:
        pair = gap_sentences(text, vocab=tokenizer.vocab, rng=rng, **settings)
        source, target = (f" {' '.join(map(str, side.tolist()))} "
                          for side in (pair.source.tokens, pair.target.targets[:-1]))
        for place, (begin, end) in enumerate(text.sentences or ()):
            if (sentence := f" {' '.join(map(str, text[begin:end]))} ") in target:
                sentences.append(sentence in source)
                in_summary.append(place in summary)
        tokens.extend(f" {token} " in source for token in target.split())
    return Overlap(fmean(sentences), fmean(tokens), fmean(in_summary))
