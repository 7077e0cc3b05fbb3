"""How a classifier is examined in a task that is a cloze."""

from collections.abc import Callable
from typing import Any

from torch import nn

from plmlab.chapters.ch12.cloze_tasks import ClozeTask
from plmlab.example import Example
from plmlab.transfer import accuracy


def examined(model: nn.Module, read: Callable[[Any], Example], task: ClozeTask) -> dict[str, float]:
    """By each name of the task's exam the share of rows that are given their class."""
    return {name: accuracy(model, read, rows) for name, rows in task.test_set().items()}
