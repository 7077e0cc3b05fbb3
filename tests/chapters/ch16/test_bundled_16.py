"""The bundled REALM's recipe goes on after a stop, and ends with the weights of a run that never stopped."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_realm import scattered
from torch import Tensor

from plmlab.chapters.ch16 import bundled
from plmlab.models.realm import REALM
from plmlab.world.datasets.fact_documents import TRAINING


@pytest.mark.usefixtures("one_thread")
def test_it_goes_on_after_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[REALM] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bundled, "start", lambda: None)
    monkeypatch.setattr(bundled, "initialized", lambda name: scattered())
    monkeypatch.setattr(bundled, "UPDATES", 3)
    monkeypatch.setattr(bundled, "SAVED", 1)
    monkeypatch.setattr(bundled, "EVERY", 1)
    for name, value in (("EVERY", 1), ("BATCH", 2), ("TRAINING", TRAINING[:2])):
        monkeypatch.setattr(f"plmlab.chapters.ch16.arms.{name}", value)
    monkeypatch.setattr(bundled, "bundle", lambda name, model, figures: made.append(model))
    (tmp_path / "whole").mkdir()
    monkeypatch.setattr(bundled, "RUNS", tmp_path / "whole")
    bundled.main()
    monkeypatch.setattr(bundled, "RUNS", tmp_path / "stopped")
    loss: Callable[..., Tensor] = REALM.loss
    calls: list[Any] = []

    def stopping(model: REALM, batch: Any) -> Tensor:
        calls.append(batch)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return loss(model, batch)

    monkeypatch.setattr(REALM, "loss", stopping)
    bundled.main()
    assert any((tmp_path / "stopped" / bundled.NAME).iterdir()) and len(calls) == 3
    calls.clear()
    bundled.main()
    assert len(calls) == 1, "the one update that was left"
    whole, stopped, resumed = (model.state_dict() for model in made)
    assert not all(torch.equal(whole[name], stopped[name]) for name in whole)
    for name, weight in whole.items():
        torch.testing.assert_close(weight, resumed[name])


def test_half_precision_is_what_was_examined(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from plmlab.checkpoints import load
    seen: list[REALM] = []
    monkeypatch.setattr(bundled, "home", lambda: tmp_path)
    monkeypatch.setattr(bundled, "enter", lambda name: None)
    monkeypatch.setattr(bundled, "outcomes", lambda name, model: seen.append(model) or {"right": 0.5})
    from plmlab.chapters.ch16.arms import FULL, initialized
    bundled.bundle("some", initialized(FULL), {"a": "b"})
    found, _ = load(tmp_path / "some", expect="realm")
    assert next(found.parameters()).dtype == torch.float32 and "0.500" in (tmp_path / "some" / "README.md").read_text()
