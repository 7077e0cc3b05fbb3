"""The hyperparameters of a run: with the same batches, the same settings give the same learning curve."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

Decay = Literal["cosine", "linear", "none"]
Precision = Literal["bf16", "float32"]
Optimizer = Literal["adamw", "adafactor"]


@dataclass(frozen=True)
class Settings:
    """The validated arguments of `fit`, which documents them. ``processes`` is the number of processes. Raises
    ValueError for an invalid value."""

    steps: int
    lr: float
    warmup: int
    decay: Decay
    lr_end: float
    clip: float | None
    accumulate: int
    weight_decay: float
    betas: tuple[float, float]
    precision: Precision
    evaluate_every: int
    patience: int | None
    processes: int
    optimizer: Optimizer = "adamw"

    def __post_init__(self) -> None:
        for name in ("steps", "accumulate", "evaluate_every", "patience"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int) and value >= 1):
                raise ValueError(f"{name}={value!r:.60}: give a whole number, 1 or more")
        for name in ("warmup", "lr_end", "weight_decay"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name}={getattr(self, name)!r:.60}: give 0 or more")
        if not self.lr > 0:
            raise ValueError(f"lr={self.lr!r:.60}: the learning rate must be above 0 (3e-4 is a usual start)")
        if self.clip is not None and not self.clip > 0:
            raise ValueError(f"clip={self.clip!r:.60}: give the largest gradient norm, above 0, "
                             "or None for no clipping")
        if self.decay not in get_args(Decay):
            raise ValueError(f"decay={self.decay!r:.60}: choose one of {', '.join(get_args(Decay))}")
        if self.optimizer not in get_args(Optimizer):
            raise ValueError(f"optimizer={self.optimizer!r:.60}: choose one of {', '.join(get_args(Optimizer))}")
        if self.precision not in get_args(Precision):
            raise ValueError(f"precision={self.precision!r:.60}: choose auto, {' or '.join(get_args(Precision))}")
        if not all(0 <= beta < 1 for beta in self.betas):
            raise ValueError(f"betas={self.betas!r:.60}: give two numbers from 0 up to, not including, 1")

    def shaping(self) -> dict[str, Any]:
        """The settings that must not change when a run is resumed, as a JSON-compatible dict.

        Without learning-rate decay, the number of steps does not affect the curve and may be increased.
        """
        settings = asdict(self) | {"betas": list(self.betas)}
        if self.optimizer == "adamw":
            del settings["optimizer"]  # runs that were saved before there was a choice name none
        if self.decay == "none":
            del settings["steps"]
        return settings
