"""Each model that can be pretrained: trained on a GPU, interrupted, resumed, and read where there is none."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
import torch
from fake_gpu import fake_gpu
from little_run import TEXT, interrupted_at

from plmlab.checkpoints import load
from plmlab.models import word2vec
from plmlab.models.registry import pretrainable
from plmlab.pretraining import Plan, material, pretrain, run
from plmlab.text.text import Named
from plmlab.train import loop
from plmlab.weights import weights

COUNTING = ("cbow", "skip-gram")
"""They count the words of the first batches before they are trained."""


@pytest.mark.parametrize(("gpu", "steps"), [
    (fake_gpu, 4), pytest.param(nullcontext, 300, marks=pytest.mark.gpu)], ids=["fake", "real"])
@pytest.mark.parametrize("name", sorted(pretrainable()))
def test_a_model_pretrained_on_a_gpu_is_the_same_on_a_cpu(
        name: str, gpu: Callable[[], AbstractContextManager[None]], steps: int, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word2vec, "COUNTED", 5)
    monkeypatch.setattr(material, "texts", lambda corpus: lambda: [Named(one, [(4, 7)]) for one in TEXT.split("\n\n")])
    text, trained = tmp_path / "text.txt", []
    text.write_text(TEXT, encoding="utf-8")
    plan = Plan(name, str(text), str(tmp_path / "made"), steps=steps, batch=4, time=16, vocab=330, layers=1, width=16,
                heads=2, save_every=steps // 2)
    monkeypatch.setattr(loop.Run, "save", lambda it, save=loop.Run.save: trained.append(
        {str(weight.device) for weight in it.model.parameters()}) or save(it))
    with gpu():
        with monkeypatch.context() as patch:
            interrupted_at(3, patch, asked=1 + (name in COUNTING))
            assert f"interrupted after step 3 of {steps}" in pretrain(plan)
        read = run.material(plan, plan.run)
        pretrain(plan)
    assert trained and all(devices == {"cuda:0"} for devices in trained)
    model, _ = load(plan.out)
    assert {tensor.device.type for tensor in weights(model).values()} == {"cpu"}
    told = (tmp_path / "made" / "README.md").read_text(encoding="utf-8")
    stated = float(re.search(r"\| held-out loss[^|]*\| ([\d.]+)", told)[1])
    assert "| device | cuda |" in told
    held_out = list(read.held_out)
    counts = torch.tensor([float((batch.targets >= 0).sum()) or float(len(batch.targets)) for batch in held_out])
    with torch.no_grad():
        losses = torch.stack([model.loss(batch) for batch in held_out])
    assert float((losses * counts).sum() / counts.sum()) == pytest.approx(stated, rel=1e-3)
