"""When a run is compiled, as if a GPU were there; and what becomes of it where the compiler fails."""

import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from training_toy import batch, toy

from plmlab.example import Batch
from plmlab.layers.cells import LSTMCell
from plmlab.layers.recurrent import Recurrent
from plmlab.models.recurrent import LSTMLanguageModel, RecurrentConfig
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig
from plmlab.train import fit
from plmlab.train.compiling import PAYS, WARMING, WATCHED, MaybeCompiled, shapes
from plmlab.visibility import AttentionMask

STEP = 2.0
"""Seconds that an update takes here."""
ENOUGH = int(PAYS / STEP) + 1
AS_IT_STANDS, COMPILED = torch.tensor(0.0), torch.tensor(1.0)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What ``torch.compile`` was asked for, on a machine with a GPU where an update takes `STEP` seconds."""
    asked: list[dict[str, Any]] = []
    ticks = iter([0.0, (WATCHED - WARMING) * STEP])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: None)
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
    monkeypatch.setattr(torch, "compile", lambda loss, **how: asked.append(how) or (lambda given: COMPILED))
    return asked


class Told(nn.Module):
    def forward(self, given: Any) -> torch.Tensor:
        return AS_IT_STANDS


def run(loss: nn.Module, batches: Callable[[int], Any], left: int = ENOUGH,
        device: str = "cuda") -> tuple[list[torch.Tensor], MaybeCompiled]:
    """What each of some updates came through, with so many ``left`` when "auto" decides."""
    made = MaybeCompiled(loss, "auto", torch.device(device), note=print)
    through = []
    for i in range(WATCHED + 3):
        through.append(made(batches(i)))
        made.updated(left)
    return through, made


def test_a_long_run_of_one_shape_is_compiled_after_the_first_updates(compiled: list) -> None:
    through, made = run(Told(), batch)
    assert through == [AS_IT_STANDS] * WATCHED + [COMPILED] * 3 and compiled == [{"dynamic": False}]
    assert made(batch(0, rows=2)) is AS_IT_STANDS, "a shape that was not seen"
    assert made(batch(0)) is COMPILED


@pytest.mark.parametrize(("batches", "left", "device"), [
    (batch, ENOUGH - 1, "cuda"), (lambda i: batch(i, time=5 + i % 2), ENOUGH, "cuda"), (batch, ENOUGH, "cpu"),
], ids=["short", "ragged", "on a CPU"])
def test_others_are_not(compiled: list, batches: Callable[[int], Any], left: int, device: str) -> None:
    through, _ = run(Told(), batches, left, device)
    assert compiled == [] and {*through} == {AS_IT_STANDS}


def test_a_loop_over_a_text_is_not(compiled: list) -> None:
    told = Told()
    told.layer = Recurrent(LSTMCell, 2, 2)
    through, _ = run(told, batch)
    assert compiled == [] and {*through} == {AS_IT_STANDS}


def test_models_that_go_through_a_text_in_a_loop_say_so() -> None:
    with torch.device("meta"):
        models = [LSTMLanguageModel(RecurrentConfig.tiny(20, 8)), TransformerXL(TransformerXLConfig.tiny(20, 8))]
    for model in models:
        assert any(getattr(module, "sequential", False) for module in model.modules())


def test_a_shape_is_that_of_every_tensor() -> None:
    windows = torch.zeros(2, 6, dtype=torch.long)
    usual = Batch.causal(windows)
    assert shapes(usual) == shapes(Batch.causal(windows + 1))
    padded = Batch(usual.tokens, usual.positions, usual.segments, AttentionMask(keys=usual.tokens > 0), usual.targets)
    labelled = Batch(*[getattr(usual, name) for name in ("tokens", "positions", "segments", "visible", "targets")],
                     {"next": torch.zeros(2)})
    assert len({shapes(one) for one in (usual, padded, labelled, Batch.causal(windows[:, 1:]))}) == 4


@pytest.mark.parametrize("late", [False, True], ids=["forward", "backward"])
def test_where_the_compiler_fails_training_goes_on_with_a_note(monkeypatch: pytest.MonkeyPatch, late: bool) -> None:
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
            raise IndexError("no such place\nand more")

    def failing(loss: nn.Module) -> Callable[[Any], torch.Tensor]:
        def call(given: Any) -> torch.Tensor:
            if late:
                return Broken.apply(loss(given))
            raise IndexError("no such place\nand more")
        return call

    monkeypatch.setattr(torch, "compile", failing)
    history = fit(toy(dropout=0.0), batch, steps=4, lr=0.01, accumulate=2, compile=True, show=False)
    monkeypatch.undo()
    assert history.losses == fit(toy(dropout=0.0), batch, steps=4, lr=0.01, accumulate=2, show=False).losses
    assert history.notes == ["torch.compile failed, and training goes on without (IndexError: no such place)"]


def test_a_model_s_own_error_is_raised_as_it_is() -> None:
    class Wrong(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(2))

        def loss(self, given: Any) -> torch.Tensor:
            raise KeyError("the model's")

    with pytest.raises(KeyError, match="the model's"):
        fit(Wrong(), batch, steps=2, lr=0.1, show=False)
