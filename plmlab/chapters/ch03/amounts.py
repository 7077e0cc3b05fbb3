"""Excess loss of n-gram models and the LSTM over the Bayes-optimal predictor, by the amount of training text from the
full world."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import islice
from statistics import mean
from typing import Any

from plmlab import world
from plmlab.chapters.ch03.baselines import Text
from plmlab.models.ngram import NGram
from plmlab.models.recurrent import LSTMLanguageModel
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor
from plmlab.world.datasets.excess_loss import category_means, kinds, kl_by_category, test_set
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.grammar.sentence import Sentence

SMOOTHING_METHODS = ("add k", "Kneser–Ney", "modified Kneser–Ney")
WIDTH = 128
MOST = 64_000
"""The largest number of training sentences."""
FAR = 6
"""Verbs at this distance or more from their subject are grouped."""


@cache
def test_sentences() -> list[Sentence]:
    """Distinct test sentences that occur in none of the training texts (cached)."""
    training = {tuple(words) for words in islice(world.full().text("train", seed=1), MOST)}
    return list({test.words: test for test in test_set(world.full()) if test.words not in training}.values())


def encode_words(sentences: Sequence[Sequence[str]]) -> list[list[int]]:
    """Token ids of the sentences, one token per word."""
    return world_tokenizer().encode_all([" ".join(words) for words in sentences], plain=True)


@cache
def text(size: int) -> Text:
    """Text with the first ``size`` training sentences of the full world (cached)."""
    return Text(encode_words(list(islice(world.full().text("train", seed=1), size))),
                encode_words(list(islice(world.full().text("test", seed=4), 500))),
                encode_words([sentence.words for sentence in test_sentences()]), world_tokenizer().vocab)


@cache
def bayes_optimal() -> BayesOptimalPredictor:
    """Return the Bayes-optimal predictor, which knows the grammar (cached)."""
    return BayesOptimalPredictor(world.full(), "test", world_tokenizer(), len(world_tokenizer()))


def distances(sentences: Sequence[Sentence]) -> list[int]:
    """Distance in words from each verb back to the subject that it agrees with, in order of occurrence."""
    distance_list = []
    for sentence in sentences:
        by_verb = {link.verb: link.verb - link.subject for link in sentence.agreement if link.subject < link.verb}
        distance_list += [by_verb[index] for index, kind in enumerate(kinds(sentence)) if kind == "agreement"]
    return distance_list


def excess_loss(model: NGram | LSTMLanguageModel) -> dict[str, Any]:
    """``gaps``: mapping from word category to nats above the Bayes-optimal predictor; ``agreement``: mapping from the
    distance of the subject to the same excess at its verb."""
    excess = kl_by_category(model, bayes_optimal(), test_sentences())  # type: ignore[arg-type]
    by_distance = defaultdict(list)
    for distance, gap in zip(distances(test_sentences()), excess["agreement"], strict=True):
        by_distance[str(min(distance, FAR))].append(gap)
    return {"gaps": category_means(excess), "agreement": {d: mean(by_distance[d]) for d in sorted(by_distance)}}


def floor(sentences: Sequence[tuple[str, ...]]) -> float:
    """Exact loss of the Bayes-optimal predictor on sentences of the full world, in nats per token."""
    return -sum(map(world.full().logprob, sentences)) / sum(len(words) + 1 for words in sentences)


def best_loss() -> float:
    """The `floor` of the test set."""
    return floor([sentence.words for sentence in test_sentences()])
