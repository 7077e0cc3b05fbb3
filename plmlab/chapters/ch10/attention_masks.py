"""Attention masks of whole texts, by segment length and memory length."""

import torch

from plmlab.chapters.ch10 import recall_task
from plmlab.chapters.ch10.arms import WINDOW, new
from plmlab.visibility import Visibility


def attention_mask(name: str) -> torch.Tensor:
    """Mask [query key] of the positions that each position of a text attends to directly, in a variant or, for
    "sliding", with a sliding window."""
    if name == "sliding":
        return Visibility.last(recall_task.WORDS, WINDOW).dense()
    return new(name, 0).visibility(recall_task.WORDS).dense()
