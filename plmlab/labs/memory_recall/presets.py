"""Presets of the Memory Recall Lab: long texts, each with a question."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MemoryRecallPreset:
    """A long text with a ``question``. If they are known, ``needed`` has the spans of the text's tokens (start, end)
    that the question needs, with exclusive ends, and ``answer`` the correct answer."""

    title: str
    question: str
    text: str
    needed: tuple[tuple[int, int], ...] = ()
    answer: str = ""
