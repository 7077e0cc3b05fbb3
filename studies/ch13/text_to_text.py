"""Four tasks, each as text to text: the source and the target are texts, and the model is trained and used in the same
way for all (Raffel et al. 2020, §2.4). BART's paper has classifiers for reading tasks (Lewis et al. 2020, §4.2).

Reading: acceptability ("yes" or "no") and extractive QA (question, [SEP], text → answer). Writing: summarization of an
article and translation into Chinese. Each has 1,024 labelled rows.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, cast

import torch
from torch import nn

from plmlab import transfer
from plmlab.generation import UNILM, GenerationMode, encoder_decoder, example_batches, generate
from plmlab.models.registry import Pretraining, architecture_of, type_of
from plmlab.models.unilm import UniLMPretraining
from plmlab.train import History, fit
from plmlab.world.datasets.generation_tasks import (
    GenerationTask,
    Row,
    bilingual_ids,
    exact_match,
    scores_of,
    summarization,
    translation,
)
from plmlab.world.datasets.tokenizer import bilingual_tokenizer

LABELS, DEVELOPMENT, BATCH = 1024, 100, 32
"""Labelled training rows, development rows, and rows per update."""


def from_labelled(name: str, row: Callable[[Any], Row]) -> GenerationTask:
    """A labelled task of `plmlab.transfer` as text to text."""
    train, development, test_set = (tuple(map(row, rows)) for rows in (
        transfer.training_rows(name, 0), transfer.development(name, 0), transfer.test_set(name)))
    return GenerationTask(train, development[:DEVELOPMENT], test_set)


@cache
def acceptability() -> GenerationTask:
    """A sentence; "yes" if it is acceptable, otherwise "no"."""
    return from_labelled("acceptability", lambda row: (bilingual_ids(row.words),
                                                       bilingual_ids(["yes" if row.right else "no"])))


@cache
def extractive_qa() -> GenerationTask:
    """A question, [SEP] and a text; the answer, whose words occur in the text."""
    sep = bilingual_tokenizer().vocab.need("sep")
    return from_labelled("extractive QA", lambda row: ((*bilingual_ids(row.question), sep, *bilingual_ids(row.text)),
                                                       bilingual_ids(row.text[row.start:row.end])))


class Task(NamedTuple):
    """A task, and its ``measure`` of generated texts for rows, from 0 to 1."""

    rows: Callable[[], GenerationTask]
    measure: Callable[[Sequence[Sequence[int]], Sequence[Row]], float]


TASKS = {"acceptability": Task(acceptability, exact_match), "extractive QA": Task(extractive_qa, exact_match),
         "summarization": Task(summarization, lambda texts, rows: scores_of(texts, rows)["rouge-l"] / 100),
         "translation": Task(translation, lambda texts, rows: scores_of(texts, rows)["bleu"] / 100)}
"""Task → its rows and measure: exact match, ROUGE-L for summarization, BLEU for translation."""


def mode_of(model: nn.Module) -> GenerationMode:
    """How a model is fine-tuned and used: UniLM as in chapter 12, an encoder–decoder on pairs in its own format."""
    return UNILM if isinstance(model, UniLMPretraining) else encoder_decoder(architecture_of(model))


def fine_tune(model: nn.Module, task: str, *, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Fine-tune the model on a task, in place, with the optimizer of its pretraining."""
    torch.manual_seed(seed)
    optimizer = cast(Pretraining, type_of(model).pretraining).optimizer
    batches = example_batches(mode_of(model), TASKS[task].rows().train[:LABELS], BATCH, f"{task} {seed}")
    return fit(model, batches, steps=updates, lr=lr, warmup=updates // 10, optimizer=optimizer, **options)


def score(model: nn.Module, task: str, rows: Sequence[Row]) -> float:
    """Score of greedily generated texts for rows of a task, from 0 to 1, by the task's measure."""
    return TASKS[task].measure(generate(mode_of(model), model, [source for source, _ in rows]), rows)
