"""The loop against a loop written by hand, and everything that it can be told."""

import itertools
import math
import threading

import jaxtyping
import pytest
import torch
from torch import nn
from training_toy import ToyBatch, batch, joined, toy

from plmlab.example import IGNORE
from plmlab.train import Diverged, History, fit
from plmlab.train.schedule import rate
from plmlab.train.settings import Settings


@pytest.fixture
def unchecked():
    """As readers have it: without the tests' run-time check of annotations."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


def told(**choices):
    usual = {"steps": 10, "lr": 1.0, "warmup": 0, "decay": "none", "lr_end": 0.0, "clip": 1.0, "accumulate": 1,
             "weight_decay": 0.0, "betas": (0.9, 0.95), "precision": "float32", "evaluate_every": 100,
             "patience": None, "processes": 1}
    return Settings(**usual | choices)


def by_hand(model, steps, lr, batches=batch, clip=1.0, decay=0.01, betas=(0.9, 0.95)):
    """AdamW as Loshchilov & Hutter's Algorithm 2 has it, gradient by gradient, without torch.optim."""
    m = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
    v = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
    losses, norms = [], []
    for t in range(1, steps + 1):
        model.zero_grad()
        loss = model.loss(batches(t - 1))
        loss.backward()
        used = {n: p for n, p in model.named_parameters() if p.grad is not None}
        norm = math.sqrt(sum(float(p.grad.double().pow(2).sum()) for p in used.values()))
        with torch.no_grad():
            for n, p in used.items():
                grad = p.grad * min(1.0, clip / (norm + 1e-6))
                m[n] = betas[0] * m[n] + (1 - betas[0]) * grad
                v[n] = betas[1] * v[n] + (1 - betas[1]) * grad**2
                if p.dim() >= 2:
                    p -= lr * decay * p
                p -= lr * (m[n] / (1 - betas[0]**t)) / ((v[n] / (1 - betas[1]**t)).sqrt() + 1e-8)
        losses.append(loss.item())
        norms.append(norm)
    return losses, norms


def test_the_curve_is_that_of_a_loop_written_by_hand():
    mine, theirs = toy(dropout=0.0), toy(dropout=0.0)
    history = fit(mine, batch, steps=25, lr=0.02, decay="none", show=False, weight_decay=0.1)
    losses, norms = by_hand(theirs, 25, 0.02, decay=0.1)
    assert history.losses == pytest.approx(losses, rel=1e-4)
    assert history.norms == pytest.approx(norms, rel=1e-3)
    for (name, p), q in zip(mine.named_parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(p, q, rtol=1e-3, atol=1e-4, msg=name)
    assert history.losses[-1] < history.losses[0] - 0.5
    assert history.tokens == 25 * 21 and history.tokens_per_second > 0 and history.ended == "completed"
    assert not mine.training and all(p.grad is None for p in mine.parameters())


class Slope(nn.Module):
    """A matrix of one value, whose loss has the same gradient everywhere."""

    def __init__(self, value):
        super().__init__()
        self.weight = nn.Parameter(torch.full((4, 6), value))

    def loss(self, b):
        return (self.weight * torch.linspace(1, 2, 24).view(4, 6)).sum()


@pytest.mark.parametrize("value", [0.1, 10.0])
def test_adafactor_changes_a_matrix_in_proportion_to_its_values(value):
    """By the formulas of Shazeer & Stern: the first update is the gradient, divided by the root of the product of its
    rows' and columns' mean squares, scaled to a root mean square of at most 1."""
    model, grad = Slope(value), torch.linspace(1, 2, 24).view(4, 6)
    fit(model, batch, steps=1, lr=0.01, decay="none", clip=None, optimizer="adafactor", show=False)
    rows, columns = grad.pow(2).mean(1, keepdim=True), grad.pow(2).mean(0, keepdim=True)
    update = grad / (rows * columns / rows.mean()).sqrt()
    update /= max(1, float(update.pow(2).mean().sqrt()))
    torch.testing.assert_close(model.weight, value * (1 - 0.01 * update), rtol=1e-5, atol=0)


def test_without_clipping_the_norm_is_still_told():
    history = fit(toy(dropout=0.0), batch, steps=3, lr=0.02, decay="none", clip=None, show=False)
    losses, norms = by_hand(toy(dropout=0.0), 3, 0.02, clip=1e9)
    assert history.norms == pytest.approx(norms, rel=1e-4)
    assert history.losses == pytest.approx(losses, rel=1e-4)


def test_the_same_seed_gives_the_same_bits_dropout_included():
    runs = []
    for _ in range(2):
        model = toy()
        runs.append((fit(model, batch, steps=8, lr=0.01, show=False).losses, model.state_dict()))
    assert runs[0][0] == runs[1][0]
    assert all(torch.equal(runs[0][1][name], runs[1][1][name]) for name in runs[0][1])


def test_accumulating_uneven_batches_gives_the_curve_of_one_large_batch():
    many, one = toy(dropout=0.0), toy(dropout=0.0)
    small = fit(many, batch, steps=12, lr=0.01, accumulate=3, show=False)
    large = fit(one, lambda i: joined(i, 3), steps=12, lr=0.01, show=False)
    assert len({int((batch(i).targets != IGNORE).sum()) for i in range(3)}) > 1
    assert small.losses == pytest.approx(large.losses, rel=1e-4)
    assert small.norms == pytest.approx(large.norms, rel=1e-3)
    assert small.tokens == large.tokens


def test_a_batch_without_targets_weighs_nothing_beside_one_that_has_them():
    nothing = ToyBatch(batch(0).tokens, torch.full_like(batch(0).targets, IGNORE))
    with_it = fit(toy(dropout=0.0), [nothing, batch(1)], steps=4, lr=0.01, accumulate=2, show=False)
    without = fit(toy(dropout=0.0), [batch(1)], steps=4, lr=0.01, show=False)
    assert with_it.losses == pytest.approx(without.losses, rel=1e-5)


def test_losses_that_rest_on_labels_weigh_by_examples():
    class Mean(nn.Module):
        def __init__(self):
            super().__init__()
            self.at = nn.Parameter(torch.zeros(1, 1))

        def loss(self, b):
            return ((self.at - b.tokens) ** 2).mean()

    def rows(*values):
        numbers = torch.tensor(values)[:, None]
        return ToyBatch(numbers, torch.full((len(values), 1), IGNORE))

    history = fit(Mean(), [rows(1.0), rows(2.0, 3.0, 4.0)], steps=1, lr=0.1, accumulate=2, show=False)
    assert history.losses[0] == pytest.approx((1 + 4 + 9 + 16) / 4)


@pytest.mark.parametrize("decay", ["cosine", "linear"])
def test_the_schedule_is_that_of_transformers(decay):
    import transformers
    make = {"cosine": transformers.get_cosine_schedule_with_warmup,
            "linear": transformers.get_linear_schedule_with_warmup}[decay]
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.3)
    theirs = make(optimizer, 5, 40)
    rates = []
    for _ in range(40):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        theirs.step()
    ours = [rate(told(steps=40, lr=0.3, warmup=5, decay=decay), step) for step in range(40)]
    assert ours[5:] == pytest.approx(rates[5:])
    assert ours[:5] == pytest.approx(rates[1:6])


def test_the_rate_falls_to_its_end_and_no_further():
    settings = told(steps=50, lr=1.0, warmup=10, decay="cosine", lr_end=0.1)
    rates = [rate(settings, step) for step in range(51)]
    assert max(rates) == rates[9] == rates[10] == 1.0 and rates[50] == pytest.approx(0.1)
    assert rates[30] == pytest.approx(0.55)
    assert all(a > b for a, b in itertools.pairwise(rates[10:]))
    history = fit(toy(), batch, steps=4, lr=0.5e-2, warmup=2, decay="linear", show=False)
    assert history.rates == pytest.approx([0.25e-2, 0.5e-2, 0.5e-2, 0.25e-2])


def test_lists_functions_and_streams_give_one_curve():
    listed = [batch(i) for i in range(4)]
    curves = [fit(toy(), batches, steps=10, lr=0.01, show=False).losses for batches in
              (listed, lambda i: listed[i % 4], (listed[i % 4] for i in range(100)), tuple(listed))]
    assert all(curve == curves[0] for curve in curves)


def test_a_stream_that_runs_out_ends_the_run():
    history = fit(toy(), iter([batch(i) for i in range(5)]), steps=10, lr=0.01, accumulate=2, show=False)
    assert history.ended == "out of batches" and len(history.losses) == 2
    assert history.reason == "the batches ran out after 2 of 10 steps"


def test_evaluation_weighs_by_targets_and_changes_nothing():
    held_out = [batch(100), batch(101), batch(102)]
    model = toy()
    watched = fit(model, batch, steps=10, lr=0.01, evaluate=held_out, evaluate_every=4, show=False)
    alone = fit(toy(), batch, steps=10, lr=0.01, show=False)
    assert watched.losses == alone.losses
    assert [step for step, _ in watched.validation] == [4, 8, 10]
    with torch.no_grad():
        summed = [model.loss(b).item() * int((b.targets != IGNORE).sum()) for b in held_out]
    expected = sum(summed) / sum(int((b.targets != IGNORE).sum()) for b in held_out)
    assert watched.validation[-1][1] == pytest.approx(expected, rel=1e-6)
    anew = fit(toy(), batch, steps=10, lr=0.01, evaluate=lambda: iter(held_out), evaluate_every=4, show=False)
    assert anew.validation == watched.validation


def test_held_out_batches_that_are_used_up_are_told():
    with pytest.raises(ValueError, match="function that returns new ones"):
        fit(toy(), batch, steps=4, lr=0.01, evaluate=iter([batch(1)]), evaluate_every=2, show=False)


def test_early_stopping_keeps_the_best_weights():
    reversed_counting = ToyBatch(batch(0).targets.clamp(min=0), batch(0).tokens)
    model = toy(dropout=0.0)
    history = fit(model, batch, steps=200, lr=0.05, evaluate=[reversed_counting], evaluate_every=2, patience=3,
                  show=False)
    assert history.ended == "stopped early" and len(history.losses) < 200
    step, loss = history.best
    assert history.validation[-1][0] == step + 6 == len(history.losses)
    assert loss == min(value for _, value in history.validation)
    with torch.no_grad():
        assert model.loss(reversed_counting).item() == pytest.approx(loss, rel=1e-6)
    assert f"at step {step}" in history.reason


@pytest.mark.parametrize("evaluate", [None, [batch(50)]])
def test_the_weights_with_the_best_score_are_kept_whatever_the_loss(evaluate):
    model, told = toy(), []

    def score(judged):
        assert judged is model and not judged.training
        torch.rand(3)
        told.append((min(len(told), 4 - len(told)), {name: p.clone() for name, p in judged.named_parameters()}))
        return told[-1][0]

    history = fit(model, batch, steps=200, lr=0.01, evaluate=evaluate, score=score, evaluate_every=2, patience=3,
                  show=False)
    assert history.scores == [(2, 0), (4, 1), (6, 2), (8, 1), (10, 0), (12, -1)] and history.best == (6, 2)
    assert history.ended == "stopped early" and "the score was not better in the last 3 evaluations" in history.reason
    assert all(torch.equal(p, told[2][1][name]) for name, p in model.named_parameters())
    assert [at for at, _ in history.validation] == ([2, 4, 6, 8, 10, 12] if evaluate else [])
    plain = fit(toy(), batch, steps=12, lr=0.01, show=False, decay="none")
    same = fit(toy(), batch, steps=12, lr=0.01, show=False, decay="none", score=lambda judged: torch.rand(1),
               evaluate_every=2)
    assert same.losses == plain.losses and len(same.scores) == 6


class Bomb(nn.Module):
    """A toy whose loss, or gradient only, is not finite in a given call."""

    def __init__(self, at, where):
        super().__init__()
        self.inner, self.at, self.where, self.calls = toy(dropout=0.0), at, where, 0
        self.states = []

    def loss(self, b):
        self.states.append({n: p.detach().clone() for n, p in self.named_parameters()})
        loss = self.inner.loss(b)
        self.calls += 1
        if self.calls != self.at:
            return loss
        return loss * math.inf if self.where == "loss" else loss + (self.inner.idle - 1).pow(2).sum().sqrt()


@pytest.mark.parametrize("optimizer", ["adamw", "adafactor"])
@pytest.mark.parametrize("where", ["loss", "gradient"])
@pytest.mark.parametrize("at", [1, 2, 60])
def test_divergence_tells_when_and_leaves_good_weights(where, at, optimizer):
    model = Bomb(at, where)
    with pytest.raises(Diverged) as caught:
        fit(model, batch, steps=70, lr=0.01, clip=None, optimizer=optimizer, show=False)
    problem = caught.value
    assert problem.step == at and len(problem.history.losses) == at - 1
    assert problem.history.ended == "diverged" and problem.history.reason == str(problem)
    for word in (f"at step {at}", "lower lr (now 0.01)", "clip=1.0", "warmup (now 0 steps)"):
        assert word in str(problem)
    if at > 1:
        assert f"last good loss was {problem.history.losses[-1]:.3f}" in str(problem)
    kept = at - 1 if where == "gradient" else (at - 1) // 50 * 50 if at > 1 else 0
    for name, p in model.named_parameters():
        assert torch.equal(p, model.states[kept][name]), name
    assert math.isfinite(model.inner.loss(batch(0)).item())


def test_training_goes_on_well_after_a_divergence():
    model = Bomb(5, "loss")
    with pytest.raises(Diverged):
        fit(model, batch, steps=9, lr=0.01, show=False)
    assert fit(model, batch, steps=9, lr=0.01, show=False).ended == "completed"


@pytest.mark.parametrize(("wrong", "words"), [
    ({"steps": 0}, "steps=0"), ({"steps": 2.5}, "steps=2.5"), ({"lr": 0}, "above 0"), ({"lr": -1}, "lr=-1"),
    ({"lr": math.nan}, "lr=nan"), ({"warmup": -1}, "warmup=-1"), ({"decay": "cos"}, "cosine, linear, none"),
    ({"optimizer": "sgd"}, "adamw, adafactor"),
    ({"clip": 0}, "None for no clipping"), ({"accumulate": 0}, "accumulate=0"), ({"betas": (0.9, 1)}, "betas"),
    ({"precision": "fp16"}, "bf16 or float32"), ({"evaluate_every": 0}, "evaluate_every=0"),
    ({"patience": 2}, "give score= or evaluate="), ({"resume": True}, "give save_to="),
    ({"save_every": 3}, "give save_to="), ({"batches": []}, "empty"),
])
def test_what_makes_no_sense_is_said(unchecked, wrong, words):
    call = {"batches": batch, "steps": 3, "lr": 0.01, "show": False} | wrong
    model = toy()
    before = {n: p.clone() for n, p in model.named_parameters()}
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        fit(model, call.pop("batches"), **call)
    assert all(torch.equal(p, before[n]) for n, p in model.named_parameters())


def test_a_model_with_nothing_to_train_and_batches_of_no_kind_are_said(unchecked):
    model = toy()
    model.requires_grad_(False)
    with pytest.raises(ValueError, match="requires_grad=False"):
        fit(model, batch, steps=1, lr=0.1, show=False)
    with pytest.raises(TypeError, match="step → batch"):
        fit(toy(), 3, steps=1, lr=0.1, show=False)
    with pytest.raises(TypeError, match="batches gave a NoneType, not a batch; a function must end with return"):
        fit(toy(), lambda step: None, steps=1, lr=0.1, show=False)
    with pytest.raises(ValueError, match="score= gave None; the function must end with return"):
        fit(toy(), batch, steps=1, lr=0.1, show=False, score=lambda model: None)
    with pytest.raises(ValueError, match="evaluate= gave no batch"):
        fit(toy(), batch, steps=1, lr=0.1, show=False, evaluate=lambda: None)


def test_frozen_parameters_stay():
    model = toy()
    model.inner.requires_grad_(False)
    before = model.inner.weight.clone()
    fit(model, batch, steps=3, lr=0.01, show=False)
    assert torch.equal(model.inner.weight, before)


def test_bf16_on_request():
    class Seeing(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.seen = toy(dropout=0.0), set()

        def loss(self, b):
            self.seen.add(self.inner(b).dtype)
            return self.inner.loss(b)

    model = Seeing()
    history = fit(model, batch, steps=3, lr=0.01, precision="bf16", show=False)
    assert model.seen == {torch.bfloat16} and history.precision == "bf16"
    assert all(p.dtype == torch.float32 for p in model.parameters())
    exact = fit(Seeing(), batch, steps=3, lr=0.01, show=False)
    assert history.losses == pytest.approx(exact.losses, rel=0.02) and history.losses != exact.losses


def test_compiled_gives_the_same_curve(unchecked, monkeypatch):
    compiled = []
    real = torch.compile
    monkeypatch.setattr(torch, "compile", lambda f, **kw: compiled.append(f) or real(f, backend="eager"))
    ours = fit(toy(), batch, steps=4, lr=0.01, compile=True, show=False)
    plain = fit(toy(), batch, steps=4, lr=0.01, show=False)
    assert len(compiled) == 1 and ours.notes == [] and ours.losses == pytest.approx(plain.losses, rel=1e-5)


def test_it_works_outside_the_main_thread():
    result = []
    worker = threading.Thread(target=lambda: result.append(fit(toy(), batch, steps=3, lr=0.01, show=False)))
    worker.start()
    worker.join()
    assert isinstance(result[0], History) and result[0].ended == "completed"


def test_a_real_model_learns():
    from plmlab.example import Batch
    from plmlab.models.gpt import GPT2, GPTConfig
    torch.manual_seed(0)
    model = GPT2(GPTConfig(vocab=40, time=16, layers=1, model=32, heads=2, dropout=0.0))

    def counting(i):
        start = torch.randint(40, (8, 1), generator=torch.Generator().manual_seed(i))
        return Batch.causal((start + torch.arange(17)) % 40)

    history = fit(model, counting, steps=60, lr=1e-2, warmup=5, show=False)
    assert history.losses[0] == pytest.approx(math.log(40), abs=0.3) and history.losses[-1] < 0.3
