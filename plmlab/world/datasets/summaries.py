"""Summaries of articles: their evaluation by ROUGE and by the facts that they state, and baselines."""

from collections.abc import Iterator, Sequence
from functools import cache
from statistics import fmean

import torch
from torch import Tensor
from torch.nn import functional as F

from plmlab import world
from plmlab.metrics import rouge
from plmlab.world.datasets.generation_tasks import Row, summarization, summarization_entities
from plmlab.world.datasets.tokenizer import bilingual_tokenizer
from plmlab.world.documents.stated import FactExtractor

HIGH = 0.8
"""A high score: the mean of the three ROUGE scores of a text that differs from its reference in a name or a number."""

Ids = tuple[int, ...]


@cache
def fact_extractor() -> FactExtractor:
    """The extractor of the full world."""
    return FactExtractor(world.full().library)


def evaluated(part: str, texts: Sequence[Sequence[int]]) -> dict[str, float]:
    """The evaluation of summaries of a ``part`` of `summarization`, "development" or "test_set"; all from 0 to 1.

    The means of ``rouge1``, ``rouge2`` and ``rougeL``, and of all three (``score``); and the fractions of texts that
    state a ``false`` fact, that have a sentence without a meaning in the world (``unmatched``), and that state a false
    fact although their score is at least `HIGH` (``high and false``).
    """
    tokenizer, extractor = bilingual_tokenizer(), fact_extractor()
    rows, entities = getattr(summarization(), part), getattr(summarization_entities(), part)
    scores, false, unmatched = [], [], []
    for text, (_, target), entity in zip(texts, rows, entities, strict=True):
        words, reference = tokenizer.tokens(text), tokenizer.tokens(target)
        found = rouge([" ".join(words)], [" ".join(reference)])
        scores.append((found.rouge1, found.rouge2, found.rougeL))
        counts = extractor.count(words, entity)
        false.append(counts.false > 0)
        unmatched.append(counts.unmatched > 0)
    means = [fmean(of) for of in scores]
    return {**dict(zip(("rouge1", "rouge2", "rougeL"), map(fmean, zip(*scores, strict=True)), strict=True)),
            "score": fmean(means), "false": fmean(false), "unmatched": fmean(unmatched),
            "high and false": fmean(high >= HIGH and one for high, one in zip(means, false, strict=True))}


@cache
def stops() -> frozenset[int]:
    """The ids of the full stop and the question mark."""
    return frozenset(bilingual_tokenizer().encode(". ?", plain=True))


def sentences(text: Sequence[int]) -> list[Ids]:
    """The sentences of a text, each with its full stop or question mark; words after the last one are left out."""
    ends = [place + 1 for place, token in enumerate(text) if token in stops()]
    return [tuple(text[begin:end]) for begin, end in zip([0, *ends[:-1]], ends, strict=True)]


def lead(source: Sequence[int], count: int) -> Ids:
    """The first sentences of an article."""
    return joined(sentences(source)[:count])


def nearest(rows: Sequence[Row], known: Sequence[Row]) -> list[Ids]:
    """For each row, the target of the known row with the most similar source, by cosine of word counts rounded to four
    digits; the first if tied."""
    def counts(some: Sequence[Row]) -> Tensor:
        vectors = torch.zeros(len(some), len(bilingual_tokenizer()))
        for row, (source, _) in zip(vectors, some, strict=True):
            row.index_add_(0, torch.tensor(source), torch.ones(len(source)))
        return F.normalize(vectors, dim=1)
    near = (1e4 * counts(rows) @ counts(known).T).round()
    return [known[int(place)][1] for place in near.argmax(1)]


def naive_bayes(rows: Sequence[Row], known: Sequence[Row], count: int = 2) -> list[Ids]:
    """For each row, the ``count`` sentences of its source that most probably belong to a summary, in the order of the
    text, by naive Bayes on the words of the known sources' sentences."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    learned = [(sentence, sentence in summary) for source, target in known for summary in [sentences(target)]
               for sentence in sentences(source)]
    classifier = make_pipeline(CountVectorizer(analyzer=list), MultinomialNB())
    classifier.fit([sentence for sentence, _ in learned], [part for _, part in learned])

    def chosen(source: Sequence[int]) -> Ids:
        found = sentences(source)
        likely = classifier.predict_log_proba(found)[:, 1].argsort()[-count:]
        return joined([found[place] for place in sorted(likely)])
    return [chosen(source) for source, _ in rows]


def best_sentence(rows: Sequence[Row]) -> list[Ids]:
    """For each row, the sentence of its source with the highest ROUGE-1 against the target: an oracle."""
    def rated(source: Sequence[int], target: Sequence[int]) -> Iterator[tuple[float, Ids]]:
        tokens = bilingual_tokenizer().tokens
        for sentence in sentences(source):
            yield rouge([" ".join(tokens(sentence))], [" ".join(tokens(target))]).rouge1, sentence
    return [max(rated(*row), key=lambda one: one[0])[1] for row in rows]


def baselines(rows: Sequence[Row], known: Sequence[Row]) -> dict[str, list[Ids]]:
    """Baseline → its summaries of the rows' sources. Two of them use the known rows."""
    return {"the first sentence": [lead(source, 1) for source, _ in rows],
            "the first two sentences": [lead(source, 2) for source, _ in rows],
            "the summary of the nearest labelled article": nearest(rows, known),
            "two sentences, by naive Bayes on the labels": naive_bayes(rows, known),
            "oracle: the sentence with the highest ROUGE-1 against the reference": best_sentence(rows)}


def joined(some: Sequence[Ids]) -> Ids:
    """The tokens of some sentences."""
    return tuple(token for sentence in some for token in sentence)
