"""The bundled CogQA's recipe goes on after a stop, and ends with the weights of a run that never stopped."""

from pathlib import Path
from typing import Any

import pytest
import torch

from plmlab.chapters.ch14.compared import BOTH
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.cogqa import CogQA
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch14 import arms, bundled, learning


@pytest.mark.usefixtures("one_thread")
def test_it_goes_on_after_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[CogQA, float]] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(learning, "pretrained", lambda: BERT(BERTConfig(len(world_tokenizer()), 192, 2, 16, 2, 32)))
    monkeypatch.setattr(learning, "BATCH", 2)
    monkeypatch.setattr(arms, "UPDATES", 3)
    monkeypatch.setattr(bundled, "bundle", lambda model, device, seconds: made.append((model, seconds)))
    whole, _ = arms.train(BOTH, learning.RATE, bundled.SEED)
    learn = arms.learn

    def stopped(model: CogQA, *options: Any, **choices: Any) -> None:
        read, calls = model.losses, []

        def losses(batch: Any) -> Any:
            calls.append(batch)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return read(batch)

        monkeypatch.setattr(model, "losses", losses)
        learn(model, *options, **choices)
        raise KeyboardInterrupt

    monkeypatch.setattr(arms, "learn", stopped)
    with pytest.raises(KeyboardInterrupt):
        bundled.main()
    assert not made and any((tmp_path / "runs" / bundled.NAME).iterdir())
    monkeypatch.setattr(arms, "learn", learn)
    losses, left = CogQA.losses, []
    monkeypatch.setattr(CogQA, "losses", lambda model, batch: left.append(batch) or losses(model, batch))
    bundled.main()
    (model, _), = made
    assert len(left) == 1, "the one update that was left"
    for name, weight in model.state_dict().items():
        torch.testing.assert_close(weight, whole.state_dict()[name])
