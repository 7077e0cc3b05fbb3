"""How much text each rival needs: what n-grams and the LSTM read of the full world, and how far they fall short of the
best possible reader."""

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
from plmlab.world.datasets.gaps import category_means, gaps, kinds, test_set
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.grammar.sentence import Sentence

WAYS = ("add k", "Kneser–Ney", "modified Kneser–Ney")
"""The ways to smooth."""
WIDTH = 128
MOST = 64_000
"""The most sentences that are read."""
FAR = 6
"""Verbs as far from their subject, or farther, are taken together."""


@cache
def asked() -> list[Sentence]:
    """The different sentences of the exam that none of the texts holds."""
    held = {tuple(words) for words in islice(world.full().text("train", seed=1), MOST)}
    return list({one.words: one for one in test_set(world.full()) if one.words not in held}.values())


def spelled(sentences: Sequence[Sequence[str]]) -> list[list[int]]:
    """Their ids, one token a word."""
    return world_tokenizer().encode_all([" ".join(words) for words in sentences], plain=True)


@cache
def text(size: int) -> Text:
    """So many sentences of the full world to read; each amount begins with the smaller one."""
    return Text(spelled(list(islice(world.full().text("train", seed=1), size))),
                spelled(list(islice(world.full().text("test", seed=4), 500))),
                spelled([one.words for one in asked()]), world_tokenizer().vocab)


@cache
def best_reader() -> BayesOptimalPredictor:
    """Who knows the grammar."""
    return BayesOptimalPredictor(world.full(), "test", world_tokenizer(), len(world_tokenizer()))


def distances(sentences: Sequence[Sentence]) -> list[int]:
    """For each verb that agrees with a subject before it, in order, how many words back that stands."""
    found = []
    for sentence in sentences:
        apart = {link.verb: link.verb - link.subject for link in sentence.agreement if link.subject < link.verb}
        found += [apart[place] for place, kind in enumerate(kinds(sentence)) if kind == "agreement"]
    return found


def short_of_the_best(model: NGram | LSTMLanguageModel) -> dict[str, Any]:
    """``gaps``: kind of word → nats above the best reader; ``agreement``: distance of the subject → the same, of its
    verb."""
    found = gaps(model, best_reader(), asked())  # type: ignore[arg-type]
    by_distance = defaultdict(list)
    for distance, gap in zip(distances(asked()), found["agreement"], strict=True):
        by_distance[str(min(distance, FAR))].append(gap)
    return {"gaps": category_means(found), "agreement": {d: mean(by_distance[d]) for d in sorted(by_distance)}}


def best_loss() -> float:
    """What the best reader pays on the exam, in nats a token, exactly."""
    return sum(-world.full().logprob(one.words) for one in asked()) / sum(len(one.words) + 1 for one in asked())
