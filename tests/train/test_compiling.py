"""When a run is compiled, as on a machine with a GPU; and what happens where the compiler fails."""

from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn
from torch._dynamo.exc import TorchDynamoException
from training_toy import batch, toy

from plmlab.example import Batch
from plmlab.layers.cells import LSTMCell
from plmlab.layers.recurrent import Recurrent
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.recurrent import LSTMLanguageModel, RecurrentConfig
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig
from plmlab.objectives import masked
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import compiling, fit
from plmlab.train.compiling import DECIDE_AFTER, MIN_SECONDS_LEFT, CompiledLoss, shapes
from plmlab.visibility import AttentionMask

STEP = 2.0
"""Seconds that an update takes here."""
ENOUGH = int(MIN_SECONDS_LEFT / STEP) + 1
EAGER, COMPILED = torch.tensor(0.0), torch.tensor(1.0)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What ``torch.compile`` was asked for, on a machine with a GPU where an update takes `STEP` seconds."""
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(compiling, "has_triton", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: None)
    monkeypatch.setattr(compiling, "time", SimpleNamespace(monotonic=lambda: STEP))
    monkeypatch.setattr(torch, "compile", lambda loss, **how: asked.append(how) or (lambda given: COMPILED))
    return asked


class Told(nn.Module):
    def forward(self, given: Any) -> torch.Tensor:
        return EAGER


def run(loss: nn.Module, batches: Callable[[int], Any], left: int = ENOUGH,
        device: str = "cuda") -> tuple[list[torch.Tensor], CompiledLoss]:
    """What each of some updates came through, with so many ``left`` when "auto" decides."""
    machine: Any = SimpleNamespace(device=torch.device(device), gather=lambda said: said.cpu(), num_processes=1)
    made = CompiledLoss(loss, "auto", machine, note=print)
    through = []
    for i in range(DECIDE_AFTER + 3):
        through.append(made(batches(i)))
        made.updated(left, start=0.0)
    return through, made


def test_a_long_run_of_one_shape_is_compiled_after_the_first_updates(compiled: list) -> None:
    through, made = run(Told(), batch)
    assert through == [EAGER] * DECIDE_AFTER + [COMPILED] * 3 and compiled == [{"dynamic": False}]
    assert made(batch(0, rows=2)) is EAGER, "a shape that was not seen"
    assert made(batch(0)) is COMPILED


@pytest.mark.parametrize(("batches", "left", "device"), [
    (batch, ENOUGH - 1, "cuda"), (lambda i: batch(i, time=5 + i % 2), ENOUGH, "cuda"), (batch, ENOUGH, "cpu"),
], ids=["short", "ragged", "on a CPU"])
def test_others_are_not(compiled: list, batches: Callable[[int], Any], left: int, device: str) -> None:
    through, _ = run(Told(), batches, left, device)
    assert compiled == [] and {*through} == {EAGER}


def test_a_loop_over_a_text_is_not(compiled: list) -> None:
    told = Told()
    told.layer = Recurrent(LSTMCell, 2, 2)
    through, _ = run(told, batch)
    assert compiled == [] and {*through} == {EAGER}


def test_models_that_go_through_a_text_in_a_loop_say_so() -> None:
    with torch.device("meta"):
        models = [LSTMLanguageModel(RecurrentConfig.tiny(20, 8)), TransformerXL(TransformerXLConfig.tiny(20, 8))]
    for model in models:
        assert any(getattr(module, "loops_over_text", False) for module in model.modules())


def test_a_shape_is_that_of_every_tensor() -> None:
    windows = torch.zeros(2, 6, dtype=torch.long)
    usual = Batch.causal(windows)
    assert shapes(usual) == shapes(Batch.causal(windows + 1))
    padded = Batch(usual.tokens, usual.position_ids, usual.segments, AttentionMask(keys=usual.tokens > 0),
                   usual.targets)
    labelled = Batch(*[getattr(usual, name) for name in ("tokens", "position_ids", "segments", "visible", "targets")],
                     {"next": torch.zeros(2)})
    assert len({shapes(one) for one in (usual, padded, labelled, Batch.causal(windows[:, 1:]))}) == 4


@pytest.mark.parametrize("late", [False, True], ids=["forward", "backward"])
def test_where_the_compiler_fails_training_continues_with_a_note(monkeypatch: pytest.MonkeyPatch, late: bool) -> None:
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
            raise IndexError("no such place\nand more")

    def failing(loss: nn.Module) -> Callable[[Any], torch.Tensor]:
        calls = []

        def call(given: Any) -> torch.Tensor:
            calls.append(given)
            if len(calls) == 1:
                return loss(given)  # its gradient must not count twice
            if late:
                return Broken.apply(loss(given))
            raise IndexError("no such place\nand more")
        return call

    monkeypatch.setattr(torch, "compile", failing)
    history = fit(toy(dropout=0.0), batch, steps=4, lr=0.01, accumulate=2, compile=True, show=False)
    monkeypatch.undo()
    assert history.losses == fit(toy(dropout=0.0), batch, steps=4, lr=0.01, accumulate=2, show=False).losses
    assert history.notes == ["torch.compile failed, and training continues uncompiled (IndexError: no such place)"]


@pytest.mark.parametrize(("error", "worked", "falls_back"), [
    (IndexError("a bug"), False, True), (IndexError("a bug"), True, False), (TorchDynamoException("a bug"), True, True),
    (torch.OutOfMemoryError("full"), False, False),
], ids=["at first", "later", "the compiler's, later", "out of memory"])
def test_whose_error_it_is(error: Exception, worked: bool, falls_back: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", lambda loss: loss)
    notes: list[str] = []
    one, two = (CompiledLoss(Told(), True, SimpleNamespace(device=torch.device("cpu"), num_processes=count),
                             notes.append) for count in (1, 2))
    one.worked = two.worked = worked
    assert one.fall_back_to_eager(error) is falls_back and len(notes) == falls_back
    assert not two.fall_back_to_eager(error), "the other process would wait"


@pytest.mark.parametrize("compile", [False, True])
def test_a_model_s_own_error_is_raised_as_it_is(compile: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", lambda loss: loss)

    class Wrong(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(2))

        def loss(self, given: Any) -> torch.Tensor:
            raise KeyError("the model's")

    with pytest.raises(KeyError, match="the model's"):
        fit(Wrong(), batch, steps=2, lr=0.1, compile=compile, show=False)


@pytest.mark.gpu
def test_a_compiled_run_on_a_gpu_has_the_curve_of_an_eager_one() -> None:
    rng, vocab = Random(0), Vocabulary(60)
    batches = [Batch.of([masked([*range(40, 46 + row)], vocab=vocab, rng=rng) for row in range(4)], pad=0)
               for _ in range(3)]
    curves = {}
    for compile in (False, True):
        torch.manual_seed(0)
        model = BERTPretraining(BERTConfig(60, time=16, layers=2, model=32, heads=2, inner=64, dropout=0.0))
        history = fit(model, batches, steps=30, lr=1e-3, compile=compile, precision="float32", evaluate=batches,
                      score=lambda it: -float(it.loss(batches[0])), evaluate_every=10, show=False)
        assert history.notes == [] and history.device == "cuda"
        curves[compile] = history.losses
    assert curves[True] == pytest.approx(curves[False], rel=1e-2)
