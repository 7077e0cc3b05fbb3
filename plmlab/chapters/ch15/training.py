"""Training texts of chapter 15, with relevance labels, or with initial labels from BM25.

The documents come from worlds other than the one that the models are tested on, with the same words but other facts.
There are 883 training questions per world; a model that is trained on only one world memorizes their answers. They have
500 to 1,000 tokens: in longer documents, fewer windows of consecutive blocks have a relevant one, and the judge needs
more than twice as many documents. It scores windows, so that longer documents can be read afterwards.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

import torch

from plmlab.chapters.ch15.long_texts import BlockedDocument, bm25_scores
from plmlab.checkpoints import load
from plmlab.models.bert import BERT
from plmlab.models.cogltx import CogLTX
from plmlab.models.cogltx_training import LongText, Samples, TrainingWindows
from plmlab.models.memory_recall import MemoryBlock
from plmlab.train import History, fit
from plmlab.world.datasets.long_documents import LongDocument, long_documents
from plmlab.world.world import full

WORLDS, PER_WORLD, LENGTHS = (2, 3, 4, 5), 500, (500, 1000)
SIZE = 4
"""Texts per update."""
SAMPLES = Samples(consecutive=1, mixed=1, hard=1, promising=1, random=0)
"""The authors' windows without random ones for the reasoner, and with windows of hard negatives for the judge."""

Scores = Callable[[Sequence[int], Sequence[MemoryBlock]], Sequence[float]]
"""Scores of the blocks for a query."""


def pretrained() -> BERT:
    """The bundled BERT, with which all models are initialized."""
    encoder: BERT = load("bert-world", expect="bert-pretraining")[0].encoder
    return encoder


@cache
def training_documents(worlds: Sequence[int] = WORLDS, per_world: int = PER_WORLD) -> tuple[LongDocument, ...]:
    """Training documents of the worlds with these seeds."""
    return tuple(document for seed in worlds
                 for document in islice(long_documents(full(seed), "train", lengths=LENGTHS), per_world))


def labelled_texts(documents: Iterable[LongDocument], longest: int) -> list[LongText]:
    """The documents as texts with relevance labels."""
    return [BlockedDocument.of(document, longest).labelled() for document in documents]


def without_labels(text: LongText, scores: Scores = bm25_scores, threshold: float = 0.15) -> LongText:
    """The text without relevance labels: the block with the answer is relevant, and the blocks whose score is above
    (1 − ``threshold``) of the highest begin at level 1, the others at 0, as in the authors' code."""
    values = torch.tensor(scores(text.query, text.blocks))
    best = values.max().clamp(min=1e-6)
    return replace(text, levels=(1 - values / best < threshold).int().tolist(), estimates=[])


def train(model: CogLTX, texts: Sequence[LongText], updates: int, lr: float, seed: int = 0, *,
          size: int = SIZE, interventions_from: int | None = None, **options: object) -> History:
    """Train a CogLTX on texts, ``size`` per update, which are copied first; returns the history."""
    windows = TrainingWindows(model, [replace(text) for text in texts], size=size, seed=seed, samples=SAMPLES,
                              interventions_from=interventions_from)
    return fit(model, windows, steps=updates, lr=lr, warmup=updates // 10, compile=False, **options)  # type: ignore[arg-type]
