"""Whom a model can look at, by the length of its segments and of its memory."""

import torch

from plmlab.chapters.ch10 import recalling
from plmlab.chapters.ch10.arms import WINDOW, new
from plmlab.visibility import Visibility


def looks(name: str) -> torch.Tensor:
    """Whom each position of a text can look at directly, in an arm or, for "sliding", in a window before each
    position."""
    if name == "sliding":
        return Visibility.last(recalling.WORDS, WINDOW).dense()
    return new(name, 0).visibility(recalling.WORDS).dense()
