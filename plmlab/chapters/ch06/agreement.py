"""Agreement over up to twelve words: "the *plate* under the beds behind the white doors *is* wet".

The same text is read by a Transformer and by LSTMs of the same size, deep and shallow (Vaswani et al. 2017, §4: the
shorter the path between two places, the easier to learn what joins them).
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import islice
from random import Random
from typing import Any

import torch
from torch import nn

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.chapters.ch06.readers import LSTM
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
"""Words between the noun and its verb."""
PREPOSITIONS = {"near", "beside", "behind", "under"}
Agreement = dict[int, float]
"""Words between noun and verb → how often the right one of "is" and "are" gets the higher probability."""


def chains(split: str, seed: int, count: int) -> list[Sentence]:
    """Sentences of the Small World in which a chain of places parts a noun from its verb."""
    full = world.full()
    found = (words for words in full.text(split, seed) if is_chain(words))
    return [full.parse(words, split) for words in islice(found, count)]


def is_chain(words: Sequence[str]) -> bool:
    """Whether a sentence has the form "the NOUN near … is/are ADJECTIVE .", without a relative clause."""
    return (len(words) > 6 and words[0] == "the" and words[2] in PREPOSITIONS and "that" not in words
            and words[-3] in ("is", "are"))


@cache
def to_learn() -> list[Sentence]:
    """The sentences that are learned from."""
    return chains("train", 1, 4000)


@cache
def test_set() -> list[Sentence]:
    """The sentences of the exam, none of them learned from."""
    return chains("test", 2, 1000)


@cache
def to_choose() -> list[Sentence]:
    """The sentences that the learning rates are chosen with: neither learned from, nor in the exam."""
    asked = {sentence.text for sentence in test_set()}
    return [sentence for sentence in chains("test", 3, 600) if sentence.text not in asked]


@cache
def ids() -> dict[str, int]:
    """Word → id, for each of the English words of all these sentences."""
    words = sorted({word for part in (to_learn(), test_set(), to_choose()) for sentence in part
                    for word in sentence.words})
    return {word: id for id, word in enumerate(words, Vocabulary(0).sentinels[-1] + 1)}


def vocab() -> Vocabulary:
    """The vocabulary of these words."""
    return Vocabulary(max(ids().values()) + 1)


def examples(sentences: Sequence[Sentence]) -> list[Example]:
    """The sentences as Examples, each position to say the next word."""
    return [causal([ids()[word] for word in sentence.words], vocab=vocab(), rng=Random(0)) for sentence in sentences]


def reading(sentences: Sequence[Sentence]) -> Batch:
    """The batch of some sentences, each position to say the next word."""
    return Batch.of(examples(sentences), pad=vocab().need("pad"))


def lessons(seed: int) -> ExampleBatches:
    """Batches of 64 sentences to learn from, drawn with the seed."""
    learn = to_learn()
    return ExampleBatches(lambda rng: examples([learn[randint(rng, len(learn))] for _ in range(64)]), seed,
                          vocab().need("pad"))


def build(kind: str, seed: int) -> nn.Module:
    """A decoder-only Transformer of two layers, or an LSTM: each about 122,000 parameters."""
    torch.manual_seed(seed)
    if kind == "Transformer":
        return GPT2(GPTConfig(vocab().size, time=32, layers=2, model=64, heads=4, dropout=0.0))
    wide, deep = LSTM(vocab().size, width=104, layers=1), LSTM(vocab().size, width=64, layers=3)
    return wide if kind == "LSTM, 1 layer" else deep


def agreement(model: nn.Module, sentences: Sequence[Sentence] | None = None) -> Agreement:
    """Distance → the share of right verbs, on the exam or on other sentences."""
    sentences = test_set() if sentences is None else sentences
    right: dict[int, list[bool]] = defaultdict(list)
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(reading(sentences))
    model.train(was_training)
    for row, sentence in enumerate(sentences):
        verb = len(sentence.words) - 3
        other = "are" if sentence.words[verb] == "is" else "is"
        better = logits[row, verb, ids()[sentence.words[verb]]] > logits[row, verb, ids()[other]]
        right[verb - 2].append(bool(better))
    return {distance: sum(told) / len(told) for distance, told in sorted(right.items())}


def within(told: Agreement, distances: range) -> float:
    """The mean agreement over the distances of a range that occur."""
    return sum(told[d] for d in distances if d in told) / sum(d in told for d in distances)


def learn(kind: str, seed: int, lr: float, steps: int = STEPS, sentences: Sequence[Sentence] | None = None,
          **options: Any) -> tuple[list[Agreement], History]:
    """Train a model of one kind, and give its agreement after every ``EVERY`` steps, and the history of the run."""
    model, seen = build(kind, seed), []

    def look() -> list[Batch]:
        seen.append(agreement(model, sentences))
        return [reading(to_choose()[:50])]
    history = fit(model, lessons(seed), steps=steps, lr=lr, warmup=50, decay="none", evaluate=look,
                  evaluate_every=EVERY, **options)
    return seen, history


@none_if_diverged
def soon(kind: str, lr: float, seed: int) -> float:
    """How soon a rate teaches agreement: the mean over a run, near and far, on the sentences to choose with."""
    seen, _ = learn(kind, seed, lr, sentences=to_choose(), show=False)
    return sum(within(told, reach) for told in seen for reach in (NEAR, FAR)) / len(seen) / 2


def curves(kind: str, lr: float, seed: int) -> dict[str, Any]:
    """One run on the exam: agreement "near" and "far", step by step."""
    seen, _ = learn(kind, seed, lr, show=False)
    return {"near": [within(told, NEAR) for told in seen], "far": [within(told, FAR) for told in seen]}
