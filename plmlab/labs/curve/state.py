"""The state of the Curve, as JavaScript reads it."""

from typing import TypedDict


class Fixed(TypedDict):
    """What does not change while a run goes on."""

    floor: float | None
    floor_name: str
    steps: int | None
    unit: str


class Now(TypedDict):
    """Where a run is; ``held_out`` is the last loss on held-out text."""

    step: int
    loss: float | None
    held_out: float | None
    note: str
    done: bool


class State(Fixed, Now):
    """What is drawn: points as (step, loss), of which each is the mean of ``together`` steps."""

    title: str
    together: int
    training: list[tuple[int, float]]
    validation: list[tuple[int, float]]
