"""Chapter 07: how much is pretraining worth, by the number of labels? And does a tiny GPT learn from a prompt?

The task is that of CoLA, the paper's own hardest (Radford et al. 2018, table 4), in miniature: is this sentence right?
Half of the sentences have the wrong one of "is" and "are". A GPT-2 of three layers is fine-tuned on few labels or many,
from scratch, pretrained, and pretrained with the language model's loss as auxiliary (eq. 5).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from random import Random
from typing import Any

import torch
from torch import Tensor

from plmlab import world
from plmlab.example import Batch
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.gpt_classifier import GPT2Classifier
from plmlab.objectives import causal, extracted
from plmlab.recipes import spread
from plmlab.text import Tokenizer
from plmlab.train import History, fit
from plmlab.world.corpus import SentenceBatches
from plmlab.world.draws import below

SEEDS = (0, 1, 2)
PILOT = 9
"""The seed that the learning rates are chosen with; it is not used for the results."""
RATES = (3e-4, 1e-3, 3e-3)
LABELS = (8, 16, 32, 64, 128, 256, 512, 1024)
STEPS = 150
KINDS = {"from scratch": (False, 0.0), "pretrained": (True, 0.0), "pretrained, with the words' loss": (True, 0.5)}
"""Each: whether it is pretrained, and λ."""
Judged = tuple[list[str], int]
"""A sentence, and whether it is right."""


@cache
def spelling() -> Tokenizer:
    """One token for each English word of the small world."""
    return world.small().tokenizer(["english"], ["sentences"])


def fresh(seed: int) -> GPT2:
    """A GPT-2 of three layers of 64, that has read nothing."""
    torch.manual_seed(seed)
    return GPT2(GPTConfig(len(spelling()), time=128, layers=3, model=64, heads=4, dropout=0.0))


def pretrain(seed: int, steps: int = 800, **options: Any) -> tuple[GPT2, History]:
    """The same after reading 32 sentences a step."""
    gpt = fresh(seed)
    text = SentenceBatches(world.small(), "train", spelling(), "causal", batch=32, seed=seed)
    return gpt, fit(gpt, text, steps=steps, lr=1e-2, warmup=50, **options)


def judged(split: str, seed: int) -> Iterator[Judged]:
    """Sentences with "is" or "are" that agrees with its subject; in every second one it is turned into the other."""
    small, other, right = world.small(), {"is": "are", "are": "is"}, 1
    for sentence in small.sentences(split, seed):
        verbs = [link.verb for link in sentence.agreement if sentence.words[link.verb] in other]
        if verbs:
            words = list(sentence.words)
            if not right:
                words[verbs[0]] = other[words[verbs[0]]]
            yield words, right
            right = 1 - right


def batch_of(rows: Sequence[Judged]) -> Batch:
    """As GPT reads them: [START] … [END], and the question is asked at [END]."""
    vocab = spelling().vocab
    return Batch.of([extracted(spelling().encode(" ".join(words), plain=True), right, vocab=vocab)
                     for words, right in rows], pad=vocab.need("pad"))


def accuracy(model: GPT2Classifier, batch: Batch) -> float:
    """How often it is right."""
    with torch.no_grad():
        return float((model(batch).argmax(-1) == batch.labels["class"]).float().mean())


def tune(gpt: GPT2, labels: int, auxiliary: float, seed: int, lr: float, **options: Any) -> float:
    """Fine-tune a copy on so many labelled sentences; the accuracy on new ones."""
    torch.manual_seed(seed)
    rows = list(islice(judged("train", 100 + seed), labels))
    model = GPT2Classifier.on(gpt, labels=2, extract=spelling().vocab.need("end"), auxiliary=auxiliary)

    def draw(step: int) -> Batch:
        rng = Random(f"{seed}:{step}")
        return batch_of([rows[below(rng, labels)] for _ in range(32)])
    fit(model, draw, steps=STEPS, lr=lr, warmup=15, **options)
    return accuracy(model, exam())


@cache
def exam() -> Batch:
    """400 sentences that no training text holds, half of them wrong."""
    return batch_of(list(islice(judged("test", 1), 400)))
