"""The registry of objectives, with their titles and the settings offered by the labs and the command line."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from plmlab.example import AnyExample


@dataclass(frozen=True)
class Choice:
    """A numeric setting of an objective, with its default and the range offered to the user."""

    name: str
    title: str
    default: float
    low: float
    high: float
    step: float


Make = TypeVar("Make", bound=Callable[..., AnyExample])
"""Signature of an objective, a pure function: ``(tokens, *, vocab: Vocabulary, rng: Random, **choices) -> Example``; or
``-> BidirectionalExample`` for a bidirectional language model; or ``(source, target, *, …) -> PairExample`` for two
texts. Tokens are a sequence of ids: a `plmlab.text.Text` if the source knows its words, sentences or entities."""


@dataclass(frozen=True)
class Objective:
    """A registered objective: names, paper, settings, the number of input texts, and what a ``second`` text is for."""

    name: str
    title: str
    chinese: str
    paper: str
    make: Callable[..., AnyExample]
    choices: tuple[Choice, ...] = ()
    question: str = ""
    answer: str = ""
    texts: int = 1
    second: str = "the decoder's target"


OBJECTIVES: dict[str, Objective] = {}


def objective(*, title: str, chinese: str, paper: str, choices: tuple[Choice, ...] = (),
              question: str = "", answer: str = "", texts: int = 1, second: str = Objective.second,
              ) -> Callable[[Make], Make]:
    """Decorator that registers an objective under the function's name.

    ``question`` and ``answer`` are shown in the Mask Lab: the user guesses before the answer is revealed.
    """
    def register(make: Make) -> Make:
        name = make.__name__
        OBJECTIVES[name] = Objective(name, title, chinese, paper, make, choices, question, answer, texts, second)
        return make
    return register
