"""What PEGASUS's gap sentences have in common with the source, and with the summary of the article."""

from collections.abc import Sequence
from random import Random
from statistics import fmean
from typing import Any

from plmlab.objectives import gap_sentences
from plmlab.text import Tokenizer
from plmlab.world.datasets.texts import document_text
from plmlab.world.documents.articles import Article


def counted(articles: Sequence[Article], tokenizer: Tokenizer, **settings: Any) -> tuple[float, float, float]:
    """With the ``settings`` of `gap_sentences`: the fractions of gap sentences and of target tokens that occur in the
    source, and that of gap sentences that belong to the article's gist."""
    rng, gaps, tokens, gist = Random(0), list[bool](), list[bool](), list[bool]()
    for article in articles:
        text = document_text(article.sentences, tokenizer)
        pair = gap_sentences(text, vocab=tokenizer.vocab, rng=rng, **settings)
        source, target = (f" {' '.join(map(str, side.tolist()))} "
                          for side in (pair.source.tokens, pair.target.targets[:-1]))
        for place, (begin, end) in enumerate(text.sentences or ()):
            if (sentence := f" {' '.join(map(str, text[begin:end]))} ") in target:
                gaps.append(sentence in source)
                gist.append(place in article.gist)
        tokens += [f" {token} " in source for token in target.split()]
    return fmean(gaps), fmean(tokens), fmean(gist)
