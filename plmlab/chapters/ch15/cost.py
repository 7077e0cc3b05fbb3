"""Attention scores of CogLTX and of full attention, counted from the inputs."""

from collections.abc import Iterable

from plmlab.models.memory_recall import Round, Window


def inputs(rounds: Iterable[Round]) -> list[Window]:
    """All inputs of the judge in MemRecall, and the reasoner's input."""
    rounds = list(rounds)
    judged = [window for one in rounds for window in (*one.windows, one.rehearsed)]
    return [*judged, rounds[-1].kept]


def attention_scores(lengths: Iterable[int]) -> int:
    """Attention scores per head and layer for inputs of these lengths: Σ n²."""
    return sum(length**2 for length in lengths)
