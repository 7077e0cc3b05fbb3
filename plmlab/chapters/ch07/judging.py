"""Is this sentence right? CoLA's task (Radford et al. 2018, table 4) in miniature, with labels and without.

Half of the sentences have the wrong one of "is" and "are". A GPT-2 is fine-tuned on few labels or many: from scratch,
pretrained, and pretrained with the language model's loss as auxiliary (eq. 5). Without any label, it can be asked which
of the two sentences is likelier (Radford et al. 2019: a language model knows tasks that nobody taught it).
"""

from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from plmlab.batches import ExampleBatches
from plmlab.chapters.ch07.corpus import OTHER, TEST_SIZE, Words, agreeing, fresh, ids, kept, pretrained, reading
from plmlab.draws import randint, shuffled
from plmlab.example import IGNORE, Batch, Example
from plmlab.models.gpt import GPT2
from plmlab.models.gpt_classifier import GPTClassifier
from plmlab.objectives import gpt_classification
from plmlab.train import Diverged, History, fit
from plmlab.world.datasets.tokenizer import small_world_tokenizer

DEVELOPMENT = 32
"""So many of the sentences that are not the exam's say which weights are kept, and which learning rate is best."""
LABELS = (16, 32, 64, 128, 200)
STEPS, EVERY = 800, 50
KINDS = {"from scratch": (False, 0.0), "pretrained": (True, 0.0), "pretrained, λ = 0.5": (True, 0.5)}
"""Each: whether it is pretrained, and λ, the weight of the words' loss while it is tuned."""

Judged = tuple[Words, int]
"""A sentence, and whether it is right."""


def labelled_examples(rows: Sequence[Judged]) -> list[Example]:
    """Labelled sentences as GPT reads them: [START] … [END], and what is asked is asked at [END]."""
    return [gpt_classification(ids(words), right, vocab=small_world_tokenizer().vocab) for words, right in rows]


def judging(rows: Sequence[Judged]) -> Batch:
    """The batch of labelled sentences as GPT reads them."""
    return Batch.of(labelled_examples(rows), pad=small_world_tokenizer().vocab.need("pad"))


def spoilt(words: Words) -> Words:
    """The sentence with "is" and "are" exchanged."""
    return tuple(OTHER.get(word, word) for word in words)


def training_rows(count: int, seed: int) -> list[Judged]:
    """So many labelled sentences to learn from; every second one is spoilt, with label 0."""
    rest = list(agreeing())[TEST_SIZE + DEVELOPMENT:]
    chosen = shuffled(Random(seed), rest)[:count]
    return [(spoilt(words), 0) if place % 2 else (words, 1) for place, words in enumerate(chosen)]


def twice(sentences: Sequence[Words]) -> Batch:
    """The batch of sentences, each as it is, with label 1, and spoilt, with label 0."""
    return judging([pair for words in sentences for pair in ((words, 1), (spoilt(words), 0))])


@cache
def test_set() -> Batch:
    """The batch of the exam: the kept sentences, each twice."""
    return twice(sorted(kept()))


@cache
def development() -> Batch:
    """The batch of the sentences that say which weights are kept, each twice; neither in the exam nor labelled."""
    return twice(list(agreeing())[TEST_SIZE:TEST_SIZE + DEVELOPMENT])


class Judge(GPTClassifier):
    """A classifier whose words' loss does not count where it is evaluated, so that all kinds have one measure."""

    def loss(self, batch: Batch) -> Tensor:
        """As the classifier's while it trains, and of the classes alone while it is evaluated."""
        if self.training:
            return super().loss(batch)
        return F.cross_entropy(self(batch), batch.labels["class"])


def tune(gpt: GPT2, labels: int, auxiliary: float, seed: int, lr: float, steps: int = STEPS, **options: Any,
         ) -> tuple[Judge, History]:
    """A copy of the GPT-2 with a classifier on top, fine-tuned on so many labelled sentences, and the run's history.

    ``auxiliary`` is λ. All recorded kinds train for ``STEPS`` updates, for what learns from scratch may rise late; kept
    are the weights with the lowest loss on the development sentences, looked at after every ``EVERY``.
    """
    torch.manual_seed(seed)
    rows = training_rows(labels, seed)
    model = Judge.from_pretrained(gpt, labels=2, extract=small_world_tokenizer().vocab.need("end"), auxiliary=auxiliary)

    def draw(rng: Random) -> list[Example]:
        return labelled_examples([rows[randint(rng, labels)] for _ in range(32)])
    history = fit(model, ExampleBatches(draw, seed, small_world_tokenizer().vocab.need("pad")), steps=steps, lr=lr,
                  warmup=20,
                  decay="none", evaluate=[development()], evaluate_every=EVERY, patience=max(1, steps // EVERY),
                  **options)
    return model, history


def accuracy(model: GPTClassifier) -> float:
    """The share of the exam that a classifier gets right."""
    with torch.no_grad():
        return float((model(test_set()).argmax(-1) == test_set().labels["class"]).float().mean())


def likelier(cost: Callable[[Words], float]) -> float:
    """The share of the exam's pairs of which the right sentence costs less than the spoilt one; no label is needed."""
    return sum(cost(words) < cost(spoilt(words)) for words in sorted(kept())) / TEST_SIZE


def cost(gpt: GPT2) -> Callable[[Words], float]:
    """What a GPT asks for a sentence: −log P, in nats."""
    @torch.no_grad()
    def nats(words: Words) -> float:
        batch = reading([words])
        return float(F.cross_entropy(gpt(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE,
                                     reduction="sum"))
    return nats


def tuned(kind: str, labels: int, lr: float, seed: int) -> dict[str, float]:
    """One point: "right", the share of the exam; "updates", after which it was best; "loss", on the development
    sentences."""
    reads, auxiliary = KINDS[kind]
    try:
        model, history = tune(pretrained(seed) if reads else fresh(seed), labels, auxiliary, seed, lr, show=False)
    except Diverged:
        return {"right": 0.5, "updates": STEPS, "loss": 1e9}
    assert history.best is not None
    return {"right": accuracy(model), "updates": history.best[0], "loss": history.best[1]}


def rate_score(kind: str, lr: float, seed: int) -> float:
    """How good a learning rate is: minus the mean loss on the development sentences, with 64 labels and with 128."""
    return -sum(tuned(kind, labels, lr, seed)["loss"] for labels in (64, 128)) / 2
