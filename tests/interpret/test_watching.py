"""Looking inside a model of ours, and reaching in; no trace afterwards."""

import pytest
import torch
from torch import Tensor

from plmlab.example import Batch
from plmlab.interpret import intervene, watch
from plmlab.layers.hooks import HookPoint, hook_points
from plmlab.models.gpt import GPT2, GPTConfig


def close(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


def ours() -> tuple[GPT2, Batch]:
    torch.manual_seed(2)
    model = GPT2(GPTConfig(30, time=12, layers=2, model=8, heads=2)).double().eval()
    return model, Batch.causal(torch.randint(0, 30, (2, 9)))


def test_the_points_of_a_model() -> None:
    model, batch = ours()
    with watch(model) as seen:
        model(batch)
    attention = [f"attention.{name}" for name in ("queries", "keys", "values", "scores", "weights", "mixed")]
    layer = [*attention, "feed_forward.inner", "hidden"]
    assert list(seen) == ["embedded", *(f"layers.{i}.{name}" for i in range(2) for name in layer)]
    assert [tuple(w.shape) for w in seen.attention()] == [(2, 2, 8, 8)] * 2
    assert [tuple(h.shape) for h in seen.hidden()] == [(2, 8, 8)] * 3
    close(seen["layers.1.hidden"], seen.hidden()[-1])
    close(seen["layers.0.attention.mixed"], seen["layers.0.attention.weights"] @ seen["layers.0.attention.values"])


def test_outside_nothing_is_open() -> None:
    model, batch = ours()
    before = model(batch)
    with pytest.raises(RuntimeError, match="on purpose"), watch(model), intervene(model, {"*.hidden": torch.neg}):
        raise RuntimeError("on purpose")
    assert not any(point.open for point in hook_points(model).values())
    assert torch.equal(model(batch), before)


def test_interventions_come_in_order_and_the_record_is_of_the_last() -> None:
    model, batch = ours()
    with watch(model, "embedded") as seen, intervene(model, {"embedded": lambda x: x * 0 + 1}), \
            intervene(model, {"embedded": lambda x: x + 2}):
        model(batch)
    assert (seen["embedded"] == 3).all() and list(seen) == ["embedded"]


def test_one_change_twice_is_made_twice_and_taken_away_once_each() -> None:
    model, batch = ours()

    def add(x: Tensor) -> Tensor:
        return x + 1

    with intervene(model, {"embedded": add}):
        with intervene(model, {"embedded": add}), watch(model, "embedded") as twice:
            model(batch)
        with watch(model, "embedded") as once:
            model(batch)
    close(twice["embedded"], once["embedded"] + 1)


def test_gradients_flow_through_what_was_seen() -> None:
    model, batch = ours()
    with watch(model, "*.weights") as seen:
        loss = model.loss(batch)
    (gradient,) = torch.autograd.grad(loss, seen["layers.0.attention.weights"])
    assert gradient.abs().sum() > 0


def test_replacing_an_attention() -> None:
    """A head that only looks at the token before: its mixed value is the value of that token."""
    model, batch = ours()

    def before(weights: Tensor) -> Tensor:
        changed = weights.clone()
        changed[:, 1] = torch.eye(8, dtype=weights.dtype).roll(1, 0)
        return changed

    with intervene(model, {"layers.0.attention.weights": before}), watch(model) as seen:
        model(batch)
    close(seen["layers.0.attention.mixed"][:, 1], seen["layers.0.attention.values"][:, 1].roll(1, 1))


@pytest.mark.parametrize("open_it", [
    lambda m: watch(m, "layers.7.*"), lambda m: intervene(m, {"layers.7.*": torch.neg}),
])
def test_a_point_that_there_is_not(open_it) -> None:
    model, _ = ours()
    with pytest.raises(KeyError, match=r"no hook point of this model matches 'layers.7.\*'. It has: embedded, lay"), \
            open_it(model):
        pass


def test_what_was_not_seen() -> None:
    model, batch = ours()
    with watch(model, "embedded") as seen:
        with pytest.raises(KeyError, match=r"nothing was recorded at 'embedded'. Recorded: none: was the model called"):
            seen["embedded"]
        model(batch)
    with pytest.raises(KeyError, match=r"nothing was recorded at 'layers.0.hidden'. Recorded: embedded"):
        seen["layers.0.hidden"]
    assert len(seen) == 1 and "embedded" in seen and "layers.0.hidden" not in seen


@pytest.mark.parametrize(("change", "given"), [
    (lambda x: None, "NoneType"), (lambda x: print, "builtin_function_or_method"), (lambda x: 0.0, "float")])
def test_a_change_must_give_a_tensor(change, given: str) -> None:
    model, batch = ours()
    with (pytest.raises(ValueError, match=f"an intervention returned a {given}, not a tensor; end the function with"),
          intervene(model, {"layers.0.hidden": change})):
        model(batch)


def test_a_change_must_keep_the_shape() -> None:
    model, batch = ours()
    message = r"shape from \(2, 8, 8\) to \(2, 7, 8\); it must return a tensor of the same shape"
    with pytest.raises(ValueError, match=message), intervene(model, {"embedded": lambda x: x[:, 1:]}):
        model(batch)


def test_a_point_alone() -> None:
    point, x = HookPoint(), torch.ones(2)
    assert point(x) is x and not point.open
