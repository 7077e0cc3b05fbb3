"""Subject–verb agreement over up to twelve words: "the *plate* under the beds behind the white doors *is* wet".

A Transformer and LSTMs of the same size, deep and shallow, are trained on the same text. According to Vaswani et al.
(2017, §4), the shorter the path between two positions, the easier it is to learn a dependency between them.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from random import Random
from typing import Any

import torch
from torch import nn

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.chapters.ch06.models import LSTM
from plmlab.draws import randint
from plmlab.example import Batch, Example
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.objectives import causal
from plmlab.recipes import none_if_diverged
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import History, fit
from plmlab.world.grammar.sentence import Sentence

STEPS, EVERY = 1000, 50
KINDS = ("Transformer", "LSTM, 1 layer", "LSTM, 3 layers")
NEAR, FAR = range(3, 5), range(9, 13)
"""Numbers of words between the noun and its verb."""
PREPOSITIONS = {"near", "beside", "behind", "under"}
Agreement = dict[int, float]
"""Words between noun and verb → accuracy: how often the correct one of "is" and "are" has the higher probability."""


def agreement_sentences(split: str, seed: int, count: int) -> list[Sentence]:
    """``count`` sentences of the Small World in which prepositional phrases separate a noun from the verb that agrees
    with it."""
    full = world.full()
    matching = (words for words in full.text(split, seed) if is_chain(words))
    return [full.parse(words, split) for words in islice(matching, count)]


def is_chain(words: Sequence[str]) -> bool:
    """Return whether a sentence has the form "the NOUN near … is/are ADJECTIVE .", without a relative clause."""
    return (len(words) > 6 and words[0] == "the" and words[2] in PREPOSITIONS and "that" not in words
            and words[-3] in ("is", "are"))


@cache
def training_sentences() -> list[Sentence]:
    """Training sentences (cached)."""
    return agreement_sentences("train", 1, 4000)


@cache
def test_set() -> list[Sentence]:
    """Test sentences, disjoint from the training sentences (cached)."""
    return agreement_sentences("test", 2, 1000)


@cache
def development_sentences() -> list[Sentence]:
    """Development sentences for choosing learning rates; disjoint from the training and test sets (cached)."""
    test = {sentence.text for sentence in test_set()}
    return [sentence for sentence in agreement_sentences("test", 3, 600) if sentence.text not in test]


@cache
def ids() -> dict[str, int]:
    """Map each word of these sentences to its token id (cached)."""
    words = sorted({word for part in (training_sentences(), test_set(), development_sentences()) for sentence in part
                    for word in sentence.words})
    return {word: id for id, word in enumerate(words, Vocabulary(0).sentinels[-1] + 1)}


def vocab() -> Vocabulary:
    """Vocabulary of these words."""
    return Vocabulary(max(ids().values()) + 1)


def examples(sentences: Sequence[Sentence]) -> list[Example]:
    """Causal LM examples: the target at each position is the next word."""
    return [causal([ids()[word] for word in sentence.words], vocab=vocab(), rng=Random(0)) for sentence in sentences]


def collated(sentences: Sequence[Sentence]) -> Batch:
    """Collate sentences into a batch of causal LM examples."""
    return Batch.of(examples(sentences), pad=vocab().need("pad"))


def training_batches(seed: int) -> ExampleBatches:
    """Training batches of 64 random sentences."""
    training = training_sentences()
    return ExampleBatches(lambda rng: examples([training[randint(rng, len(training))] for _ in range(64)]), seed,
                          vocab().need("pad"))


def build(kind: str, seed: int) -> nn.Module:
    """Return an untrained model with about 122,000 parameters: a two-layer decoder-only Transformer, or an LSTM."""
    torch.manual_seed(seed)
    if kind == "Transformer":
        return GPT2(GPTConfig(vocab().size, time=32, layers=2, model=64, heads=4, dropout=0.0))
    wide, deep = LSTM(vocab().size, width=104, layers=1), LSTM(vocab().size, width=64, layers=3)
    return wide if kind == "LSTM, 1 layer" else deep


def agreement(model: nn.Module, sentences: Sequence[Sentence] | None = None) -> Agreement:
    """Agreement accuracy by distance, on the test set or on the given sentences."""
    sentences = test_set() if sentences is None else sentences
    correct: dict[int, list[bool]] = defaultdict(list)
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(collated(sentences))
    model.train(was_training)
    for row, sentence in enumerate(sentences):
        verb = len(sentence.words) - 3
        other = "are" if sentence.words[verb] == "is" else "is"
        better = logits[row, verb, ids()[sentence.words[verb]]] > logits[row, verb, ids()[other]]
        correct[verb - 2].append(bool(better))
    return {distance: sum(hits) / len(hits) for distance, hits in sorted(correct.items())}


def within(accuracies: Agreement, distances: range) -> float:
    """Mean agreement accuracy over the distances in a range, as far as they occur."""
    return sum(accuracies[d] for d in distances if d in accuracies) / sum(d in accuracies for d in distances)


def learn(kind: str, seed: int, lr: float, steps: int = STEPS, sentences: Sequence[Sentence] | None = None,
          **options: Any) -> tuple[list[Agreement], History]:
    """Train a model; return its agreement accuracies, measured after every ``EVERY`` steps, and the history of the
    run."""
    model, accuracies = build(kind, seed), []

    def evaluate() -> list[Batch]:
        accuracies.append(agreement(model, sentences))
        return [collated(development_sentences()[:50])]
    history = fit(model, training_batches(seed), steps=steps, lr=lr, warmup=50, decay="none", evaluate=evaluate,
                  evaluate_every=EVERY, **options)
    return accuracies, history


@none_if_diverged
def lr_score(kind: str, lr: float, seed: int) -> float:
    """Score of a learning rate: the mean agreement accuracy over a run, at near and far distances, on the development
    sentences."""
    accuracies, _ = learn(kind, seed, lr, sentences=development_sentences(), show=False)
    return sum(within(scores, reach) for scores in accuracies for reach in (NEAR, FAR)) / len(accuracies) / 2


def curves(kind: str, lr: float, seed: int) -> dict[str, Any]:
    """Train once; return the test accuracies at "near" and "far" distances, measured after every ``EVERY`` steps."""
    accuracies, _ = learn(kind, seed, lr, show=False)
    return {name: [within(scores, reach) for scores in accuracies] for name, reach in (("near", NEAR), ("far", FAR))}


def learned_at(points: Sequence[Mapping[str, Any]], steps: Sequence[int], level: float = 0.95) -> str:
    """For each seed, the first recorded update from which the accuracy stays above ``level``; "–" if there is none."""
    def first(seed: int) -> str:
        above = [point["values"][seed] > level for point in points]
        return next((str(step) for i, step in enumerate(steps) if all(above[i:])), "–")
    return ", ".join(first(seed) for seed in range(len(points[0]["values"])))
