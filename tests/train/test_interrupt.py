"""Ctrl-C and the stop button: whole weights and a true history, whenever it comes."""

import os
import random
import signal
import threading

import pytest
import torch
from moments import Lines
from torch import nn
from training_toy import batch, toy

from plmlab.train import fit


class Recorder(nn.Module):
    """A toy that remembers its weights at every call, and does something in one of them."""

    def __init__(self, at=0, act=None):
        super().__init__()
        self.inner, self.at, self.act, self.states = toy(), at, act, []

    def loss(self, b):
        self.states.append([p.detach().clone() for p in self.parameters()])
        loss = self.inner.loss(b)
        if len(self.states) == self.at:
            self.act()
        return loss

    def are(self, state):
        return all(torch.equal(p, q) for p, q in zip(self.parameters(), state, strict=True))


def press():
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_ends_the_run_after_the_step_in_hand(tmp_path):
    fit(whole := Recorder(), batch, steps=12, lr=0.01, show=False)
    history = fit(model := Recorder(7, press), batch, steps=12, lr=0.01, save_to=tmp_path, show=False)
    assert (history.ended, history.reason) == ("interrupted", "interrupted after step 7 of 12")
    assert len(history.losses) == len(model.states) == 7 and model.are(whole.states[7]) and not model.training
    rest = Recorder()
    finished = fit(rest, batch, steps=12, lr=0.01, save_to=tmp_path, resume=True, show=False)
    assert finished.ended == "completed" and len(rest.states) == 5
    assert finished.losses[:7] == history.losses
    assert all(torch.equal(p, q) for p, q in zip(rest.states[-1], whole.states[-1], strict=True))


def test_the_handler_of_before_is_back():
    before = signal.getsignal(signal.SIGINT)
    fit(Recorder(2, press), batch, steps=3, lr=0.01, show=False)
    assert signal.getsignal(signal.SIGINT) is before


def test_at_random_moments_the_weights_are_those_of_the_last_whole_step():
    """Before a random line of plmlab's code, in the first eight steps or so."""
    draw, ends, how = random.Random(5), [], {"steps": 20, "lr": 0.01, "decay": "none", "show": False}
    curve = fit(whole := Recorder(), batch, **how)
    fit(Recorder(1, (lines := Lines()).begin), batch, **how | {"steps": 8})
    lines.end()
    for _ in range(24):
        pressing = Lines(1 + int(lines.passed * draw.random()), press)
        history = fit(model := Recorder(1, pressing.begin), batch, **how)
        pressing.end()
        ends.append(len(history.losses))
        assert history.ended == "interrupted" and history.losses == curve.losses[:ends[-1]]
        assert model.are(whole.states[ends[-1]])
        assert all(p.grad is None for p in model.parameters())
    assert len(set(ends)) > 3


def test_an_interrupt_from_another_thread_ends_the_run():
    begun, pressed = threading.Event(), threading.Event()

    def outside():
        begun.wait()
        press()
        pressed.set()

    def batches(i):
        if i == 2:
            begun.set()
        if i == 30:
            pressed.wait()
        return batch(i)

    fit(whole := Recorder(), batch, steps=40, lr=0.01, show=False)
    (other := threading.Thread(target=outside)).start()
    history = fit(model := Recorder(), batches, steps=40, lr=0.01, show=False)
    other.join()
    assert history.ended == "interrupted" and 2 <= len(history.losses) <= 31
    assert model.are(whole.states[len(history.losses)])


def test_a_second_interrupt_does_not_wait_for_a_batch_that_never_comes():
    def endless(i):
        if i == 3:
            press()
            press()
            pytest.fail("it goes on to make the batch")
        return batch(i)

    history = fit(Recorder(), endless, steps=10, lr=0.01, show=False)
    assert history.ended == "interrupted" and len(history.losses) == 3


def test_two_interrupts_within_an_update_let_it_finish():
    fit(whole := Recorder(), batch, steps=8, lr=0.01, show=False)
    history = fit(model := Recorder(4, lambda: (press(), press())), batch, steps=8, lr=0.01, show=False)
    assert len(history.losses) == 4 and model.are(whole.states[4]) and history.ended == "interrupted"


def test_an_interrupt_raised_by_what_gives_the_batches():
    def stopped(i):
        if i == 2:
            raise KeyboardInterrupt
        return batch(i)

    history = fit(Recorder(), stopped, steps=5, lr=0.01, show=False)
    assert history.ended == "interrupted" and len(history.losses) == 2


def test_an_error_in_the_model_comes_through_and_the_line_is_closed(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)   # 80 in a worker of xdist; tqdm before 4.68 cuts the line there

    def fail():
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        fit(Recorder(3, fail), batch, steps=5, lr=0.01, show=True)
    assert "stopped by RuntimeError" in capsys.readouterr().err
