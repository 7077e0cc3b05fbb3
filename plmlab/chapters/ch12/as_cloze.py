"""Evaluation of a classifier on a task in cloze format."""

from collections.abc import Callable
from typing import Any

from torch import nn

from plmlab.chapters.ch12.cloze_tasks import ClozeTask
from plmlab.example import Example
from plmlab.transfer import accuracy


def examined(model: nn.Module, read: Callable[[Any], Example], task: ClozeTask) -> dict[str, float]:
    """Map the name of each test set of the task to the model's accuracy on it."""
    return {name: accuracy(model, read, rows) for name, rows in task.test_set().items()}
