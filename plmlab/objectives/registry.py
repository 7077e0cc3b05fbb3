"""The list of objectives: how each is called, by a person and by a lab's controls."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from plmlab.example import AnyExample


@dataclass(frozen=True)
class Choice:
    """A number that an objective lets one choose, with the range that makes sense."""

    name: str
    title: str
    default: float
    low: float
    high: float
    step: float


Make = TypeVar("Make", bound=Callable[..., AnyExample])
"""What every objective is: ``(tokens, *, vocab: Vocabulary, rng: Random, **choices) -> Example``, a pure function; or
``-> BidirectionalExample``, of a text read from both ends; or ``(source, target, *, …) -> PairExample``, of two texts.
Tokens are a sequence of ids: a `plmlab.text.Text`, where the source knows its words, sentences or entities."""

@dataclass(frozen=True)
class Objective:
    """An objective as a reader meets it: its names, its paper, what can be chosen, how many texts it takes, and what
    the ``second`` of two is."""

    name: str
    title: str
    chinese: str
    paper: str
    make: Callable[..., AnyExample]
    choices: tuple[Choice, ...] = ()
    question: str = ""
    answer: str = ""
    texts: int = 1
    second: str = "what the decoder writes"


OBJECTIVES: dict[str, Objective] = {}


def objective(*, title: str, chinese: str, paper: str, choices: tuple[Choice, ...] = (),
              question: str = "", answer: str = "", texts: int = 1, second: str = Objective.second,
              ) -> Callable[[Make], Make]:
    """Register the function below under its own name.

    ``question`` and ``answer`` are the guess that the Mask Lab invites before it reveals.
    """
    def register(make: Make) -> Make:
        name = make.__name__
        OBJECTIVES[name] = Objective(name, title, chinese, paper, make, choices, question, answer, texts, second)
        return make
    return register
