"""Linguistic acceptability, CoLA's task (Radford et al. 2018, table 4) in miniature: fine-tuned and zero-shot.

In half of the sentences, "is" and "are" are swapped, so that the verb is wrong. A GPT-2 is trained on few or many
labels: from scratch, after pretraining, and after pretraining with the language-modelling loss as an auxiliary
objective (eq. 5). In the zero-shot setting it chooses the sentence with the higher probability (as in Radford et al.
2019, where language models perform tasks without supervision).
"""

from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from plmlab.batches import ExampleBatches
from plmlab.chapters.ch07.corpus import (
    OTHER,
    TEST_SIZE,
    Words,
    agreement_sentences,
    causal_batch,
    fresh,
    held_out_sentences,
    ids,
    pretrained,
)
from plmlab.draws import randint, shuffled
from plmlab.example import IGNORE, Batch, Example
from plmlab.models.gpt import GPT2
from plmlab.models.gpt_classifier import GPTClassifier
from plmlab.objectives import gpt_classification
from plmlab.train import Diverged, History, fit
from plmlab.world.datasets.tokenizer import small_world_tokenizer

DEVELOPMENT = 32
"""Number of development sentences, for early stopping and the choice of learning rates; none is in the test set."""
LABELS = (16, 32, 64, 128, 200)
STEPS, EVERY = 800, 50
KINDS = {"from scratch": (False, 0.0), "pretrained": (True, 0.0), "pretrained, λ = 0.5": (True, 0.5)}
"""Configuration → whether it is pretrained, and λ, the weight of the LM loss in fine-tuning."""

Judged = tuple[Words, int]
"""A sentence and its label: 1 if it is acceptable, otherwise 0."""


def labelled_examples(rows: Sequence[Judged]) -> list[Example]:
    """Labelled sentences as classification examples: [START] … [END], with the class predicted at [END]."""
    return [gpt_classification(ids(words), right, vocab=small_world_tokenizer().vocab) for words, right in rows]


def batch_of_rows(rows: Sequence[Judged]) -> Batch:
    """Collate labelled sentences into a batch."""
    return Batch.of(labelled_examples(rows), pad=small_world_tokenizer().vocab.need("pad"))


def corrupt(words: Words) -> Words:
    """Corrupt a sentence by swapping "is" and "are"."""
    return tuple(OTHER.get(word, word) for word in words)


def training_rows(count: int, seed: int) -> list[Judged]:
    """``count`` labelled training sentences; every second sentence is corrupted and has label 0."""
    rest = list(agreement_sentences())[TEST_SIZE + DEVELOPMENT:]
    chosen = shuffled(Random(seed), rest)[:count]
    return [(corrupt(words), 0) if index % 2 else (words, 1) for index, words in enumerate(chosen)]


def twice(sentences: Sequence[Words]) -> Batch:
    """A batch that contains each sentence twice: unchanged with label 1, and corrupted with label 0."""
    return batch_of_rows([pair for words in sentences for pair in ((words, 1), (corrupt(words), 0))])


@cache
def test_set() -> Batch:
    """Test batch: each held-out sentence, unchanged and corrupted (cached)."""
    return twice(sorted(held_out_sentences()))


@cache
def development() -> Batch:
    """Development batch: each sentence unchanged and corrupted, disjoint from the training and test sets (cached)."""
    return twice(list(agreement_sentences())[TEST_SIZE:TEST_SIZE + DEVELOPMENT])


class AcceptabilityClassifier(GPTClassifier):
    """A classifier that omits the auxiliary LM loss in evaluation, so that all configurations are comparable."""

    def loss(self, batch: Batch) -> Tensor:
        """During training, the classification loss plus the auxiliary LM loss; during evaluation, the classification
        loss alone."""
        if self.training:
            return super().loss(batch)
        return F.cross_entropy(self(batch), batch.labels["class"])


def fine_tune(gpt: GPT2, labels: int, auxiliary: float, seed: int, lr: float, steps: int = STEPS, **options: Any,
         ) -> tuple[AcceptabilityClassifier, History]:
    """Fine-tune a copy of a GPT-2 with a classification head on ``labels`` sentences; return it with the history of the
    run.

    ``auxiliary`` is λ. All recorded configurations are trained for ``STEPS`` updates, because training from scratch may
    improve late. The development loss is measured after every ``EVERY`` updates, and the weights with the lowest one
    are restored.
    """
    torch.manual_seed(seed)
    rows = training_rows(labels, seed)
    model = AcceptabilityClassifier.from_pretrained(gpt, labels=2, extract=small_world_tokenizer().vocab.need("end"),
                                                    auxiliary=auxiliary)

    def draw(rng: Random) -> list[Example]:
        return labelled_examples([rows[randint(rng, labels)] for _ in range(32)])
    history = fit(model, ExampleBatches(draw, seed, small_world_tokenizer().vocab.need("pad")), steps=steps, lr=lr,
                  warmup=20,
                  decay="none", evaluate=[development()], evaluate_every=EVERY, patience=max(1, steps // EVERY),
                  **options)
    return model, history


def accuracy(model: GPTClassifier) -> float:
    """Test accuracy of a classifier."""
    with torch.no_grad():
        return float((model(test_set()).argmax(-1) == test_set().labels["class"]).float().mean())


def zero_shot_accuracy(negative_log_prob: Callable[[Words], float]) -> float:
    """Zero-shot accuracy: the fraction of test pairs in which the correct sentence has a lower ``negative_log_prob``
    than the corrupted one."""
    return sum(negative_log_prob(words) < negative_log_prob(corrupt(words))
               for words in sorted(held_out_sentences())) / TEST_SIZE


def negative_log_prob(gpt: GPT2) -> Callable[[Words], float]:
    """Return a function that maps a sentence to −log P under a GPT, in nats."""
    @torch.no_grad()
    def nats(words: Words) -> float:
        batch = causal_batch([words])
        return float(F.cross_entropy(gpt(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE,
                                     reduction="sum"))
    return nats


def fine_tune_run(kind: str, labels: int, lr: float, seed: int) -> dict[str, float]:
    """Fine-tune once; return the test accuracy ("right"), the best number of "updates", and the development "loss"."""
    is_pretrained, auxiliary = KINDS[kind]
    try:
        gpt = pretrained(seed) if is_pretrained else fresh(seed)
        model, history = fine_tune(gpt, labels, auxiliary, seed, lr, show=False)
    except Diverged:
        return {"right": 0.5, "updates": STEPS, "loss": 1e9}
    assert history.best is not None
    return {"right": accuracy(model), "updates": history.best[0], "loss": history.best[1]}


def lr_score(kind: str, lr: float, seed: int) -> float:
    """Score of a learning rate: the negative mean development loss with 64 and with 128 labels."""
    return -sum(fine_tune_run(kind, labels, lr, seed)["loss"] for labels in (64, 128)) / 2
