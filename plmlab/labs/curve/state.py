"""The state that the Curve sends to JavaScript."""

from typing import TypedDict


class Fixed(TypedDict):
    """The values that stay constant during a run."""

    floor: float | None
    floor_name: str
    steps: int | None
    unit: str


class Now(TypedDict):
    """The progress of a run; ``held_out`` is the last validation loss."""

    step: int
    loss: float | None
    held_out: float | None
    note: str
    done: bool


class State(Fixed, Now):
    """The data drawn: points (step, loss), each the mean over ``together`` steps."""

    title: str
    together: int
    training: list[tuple[int, float]]
    validation: list[tuple[int, float]]
