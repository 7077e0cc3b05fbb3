"""Saved states: full disks, wrong models, other settings, damaged files."""

import errno
import json
import resource
import warnings
from functools import cache
from pathlib import Path

import nursery
import pytest
import torch
from forked import Forked
from torch import nn
from training_toy import batch, toy

import plmlab.atomic as folders
from plmlab.train import StateError, fit

HOW = {"steps": 12, "lr": 0.01, "warmup": 2, "show": False}


def run(model, folder, **choices):
    return fit(model, batch, save_to=folder, **HOW | choices)


@cache
def straight():
    """The losses and the model of a run that nothing stops."""
    history = fit(model := toy(), batch, **HOW)
    return history.losses, model


def stopping(at):
    """A function of batches that an interrupt ends before batch ``at``."""
    def batches(i):
        if i == at:
            raise KeyboardInterrupt
        return batch(i)
    return batches


def broken_off(folder, at=5, **choices):
    """A run that saved its state after ``at`` steps, and stopped."""
    return fit(toy(**choices), stopping(at), save_to=folder, **HOW)


def equal(a, b):
    return all(torch.equal(p, q) for p, q in zip(a.state_dict().values(), b.state_dict().values(), strict=True))


@pytest.mark.parametrize(("stream", "optimizer"), [(False, "adamw"), (True, "adamw"), (False, "adafactor")])
def test_resumed_is_never_stopped(tmp_path, stream, optimizer):
    curve = fit(whole := toy(), batch, optimizer=optimizer, **HOW)
    first, model = fit(toy(), stopping(5), save_to=tmp_path, optimizer=optimizer, **HOW), toy(seed=3)
    saved = json.loads((tmp_path / "step-00000005" / "state.json").read_text())["history"]["seconds"]
    torch.manual_seed(99)
    batches = (batch(i) for i in range(100)) if stream else batch
    second = fit(model, batches, save_to=tmp_path, resume=True, optimizer=optimizer, **HOW)
    assert first.losses == curve.losses[:5]
    assert (second.losses, second.norms, second.rates) == (curve.losses, curve.norms, curve.rates)
    assert equal(whole, model) and second.tokens == curve.tokens
    assert second.seconds >= saved > 0 and second.ended == "completed"


def test_the_best_weights_survive_a_stop(tmp_path):
    how = dict(evaluate=[batch(50)], evaluate_every=2, patience=30, **HOW | {"lr": 3.0})
    curve = fit(whole := toy(), batch, **how)
    model = toy()
    assert curve.best[0] < 12, "the best must lie before the end, or this shows nothing"
    fit(toy(), stopping(curve.best[0] + 1), save_to=tmp_path, **how)
    resumed = fit(model, batch, save_to=tmp_path, resume=True, **how)
    assert resumed.validation == curve.validation and equal(whole, model)


def test_a_finished_run_is_taken_up_without_a_step(tmp_path):
    model = toy()
    history = run(model, tmp_path)
    again = toy(seed=8)
    second = run(again, tmp_path, resume=True)
    assert second.losses == history.losses and second.ended == "completed" and equal(model, again)


def test_without_decay_a_run_can_be_made_longer(tmp_path):
    run(toy(), tmp_path, decay="none", steps=6)
    longer = run(toy(), tmp_path, decay="none", resume=True)
    assert longer.losses == fit(toy(), batch, **HOW | {"decay": "none"}).losses
    with pytest.raises(StateError, match="already has 12 steps, more than steps=3"):
        run(toy(), tmp_path, decay="none", resume=True, steps=3)


def test_what_may_change_the_last_digits_is_noted(tmp_path):
    broken_off(tmp_path)
    torch.set_num_threads(2)
    history = run(toy(), tmp_path, resume=True)
    assert history.notes == ["resumed at step 5 elsewhere: threads was 1, and is now 2"]
    assert history.notes[0] in history.table()


def test_nothing_is_pickled(tmp_path):
    broken_off(tmp_path)
    files = sorted(p.name for p in tmp_path.glob("*/*"))
    assert files == ["state.json", "state.safetensors"]
    facts = json.loads((tmp_path / "step-00000005" / "state.json").read_text())
    assert facts["step"] == 5 and facts["settings"]["lr"] == 0.01 and facts["versions"]["torch"] == torch.__version__


@pytest.mark.parametrize(("other", "words"), [
    ({"lr": 0.02}, "lr was 0.01, and is now 0.02"), ({"steps": 20}, "steps was 12, and is now 20"),
    ({"accumulate": 2}, "accumulate was 1, and is now 2"), ({"betas": (0.8, 0.9)}, r"betas was \[0.9, 0.95\]"),
    ({"precision": "bf16"}, "precision was float32, and is now bf16"),
])
def test_other_settings_are_named(tmp_path, other, words):
    broken_off(tmp_path)
    with pytest.raises(StateError, match=words):
        run(toy(), tmp_path, resume=True, **other)


class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2, 2))

    def loss(self, b):
        return self.weight.sum()


@pytest.mark.parametrize(("make", "words"), [
    (lambda: toy(seed=4, width=16), "width was 12, and is now 16"),
    (Odd, "the model was Toy, and is now Odd"),
])
def test_another_model_is_named_and_stays_as_it_is(tmp_path, make, words):
    broken_off(tmp_path)
    model = make()
    before = {n: t.clone() for n, t in model.state_dict().items()}
    with pytest.raises(StateError, match=words):
        run(model, tmp_path, resume=True)
    assert all(torch.equal(t, before[n]) for n, t in model.state_dict().items())


def test_the_same_config_with_other_shapes_is_named(tmp_path):
    broken_off(tmp_path)
    model = toy()
    model.inner = nn.Linear(12, 12, bias=False)
    with pytest.raises(StateError, match=r"the model has no inner\.bias"):
        run(model, tmp_path, resume=True)


def test_a_folder_in_use_is_not_overwritten(tmp_path):
    broken_off(tmp_path)
    with pytest.raises(StateError, match="saved at step 5: resume it with resume=True"):
        run(toy(), tmp_path)
    assert run(toy(), tmp_path, resume=True).ended == "completed"


@pytest.mark.parametrize("damage", ["cut", "not json", "gone", "newer", "older"])
def test_a_damaged_state_is_said(tmp_path, damage):
    broken_off(tmp_path)
    tensors, facts = (tmp_path / "step-00000005" / name for name in ("state.safetensors", "state.json"))
    if damage == "cut":
        tensors.write_bytes(tensors.read_bytes()[:-7])
    elif damage == "not json":
        facts.write_text("{")
    elif damage == "gone":
        tensors.unlink()
    else:
        facts.write_text(json.dumps(json.loads(facts.read_text()) | {"format": 99 if damage == "newer" else 1}))
    words = f"an? {damage} plmlab" if damage in ("newer", "older") else "is damaged"
    with pytest.raises(StateError, match=words) as told:
        run(toy(), tmp_path, resume=True)
    assert "delete" not in str(told.value)


FIRST_COMPLETE = 6
"""Disk operations until the first state stands under its name: two mkdir, two files, the folder, the rename."""


def refuse(monkeypatch, at, code):
    """Let the disk refuse operation ``at`` and every later one, until the returned list is emptied."""
    count, active = [0], [True]

    def refusing(function):
        def call(*args, **kwargs):
            count[0] += 1
            if active and count[0] >= at:
                raise OSError(code, "No space left on device" if code == errno.ENOSPC else "Read-only file system")
            return function(*args, **kwargs)
        return call

    for place, name in ((folders, "write"), (folders, "settle"), (folders.os, "rename"), (Path, "mkdir")):
        monkeypatch.setattr(place, name, refusing(getattr(place, name)))
    return active, count


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
@pytest.mark.parametrize("at", range(1, 17))
def test_a_disk_that_refuses_stops_no_training(tmp_path, monkeypatch, at, code):
    expected, whole = straight()
    active, count = refuse(monkeypatch, at, code)
    with pytest.warns(UserWarning, match="could not be saved") as seen:
        history = run(model := toy(), tmp_path / "run", save_every=2)
    assert count[0] >= at and len(seen) == 1, "one warning is enough"
    assert history.losses == expected and equal(model, whole) and history.ended == "completed"
    assert 1 <= len(history.notes) <= 6 and "training continues" in history.notes[0] and "could not" in history.table()
    active.clear()
    left = sorted((tmp_path / "run").glob("step-*"))
    assert len(left) <= 2 and bool(left) == (at > FIRST_COMPLETE)
    again = toy(seed=0 if not left else 5)
    resumed = fit(again, batch, save_to=tmp_path / "run", resume=True, **HOW)
    assert resumed.losses == expected and equal(again, whole)
    assert [p.name for p in (tmp_path / "run").iterdir()] == ["step-00000012"]


def test_a_disk_that_has_room_again_is_used_again(tmp_path, monkeypatch):
    active, _ = refuse(monkeypatch, 1, errno.ENOSPC)

    def batches(i):
        if i == 7:
            active.clear()
        return batch(i)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        history = fit(toy(), batches, save_to=tmp_path, save_every=3, **HOW)
    assert len(history.notes) == 2 == sum("step" in note for note in history.notes) and len(seen) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["step-00000012"]


def test_a_write_that_the_system_cuts_short(tmp_path):
    """A real one: the kernel lets no file grow beyond a limit, so that half a file is on the disk when it fails."""
    done = Forked(nursery.cut_short, tmp_path / "run").end()
    assert done.out.split() == ["completed", "12", "4"], done.err[-2000:]
    assert [p.name for p in (tmp_path / "run").iterdir()] == ["step-00000004"]
    resumed = run(model := toy(seed=2), tmp_path / "run", resume=True)
    expected, whole = straight()
    assert resumed.losses == expected and equal(model, whole)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
