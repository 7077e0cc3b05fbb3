"""The solutions of chapter 01 against independent ones; and other right ways are not refused."""

from functools import reduce
from math import exp, expm1, hypot, log, sqrt

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from plmlab.chapters.ch01 import exercises as right
from plmlab.exercises import check
from plmlab.layers.cells import GRUCell


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)


def loaded(cell: nn.Module, W: torch.Tensor, U: torch.Tensor, b: torch.Tensor) -> nn.Module:
    """A cell in float64 that holds these weights; its second bias is 0."""
    cell.double().load_state_dict({"weight_ih": W, "weight_hh": U, "bias_ih": b, "bias_hh": 0 * b})
    return cell


# The solutions

@torch.no_grad()
def test_the_lstm_is_pytorchs() -> None:
    x, h, c, W, U, b = draw(5, 3), draw(5, 4), 3 * draw(5, 4), draw(16, 3), draw(16, 4), draw(16)
    torch.testing.assert_close(right.lstm_step(x, h, c, W, U, b), loaded(nn.LSTMCell(3, 4), W, U, b)(x, (h, c)))


@torch.no_grad()
def test_the_gru_is_the_textbooks() -> None:
    x, h, W, U, b = draw(5, 3), draw(5, 4), draw(12, 3), draw(12, 4), draw(12)
    cell = loaded(GRUCell(3, 4), W, U, b)
    torch.testing.assert_close(right.gru_step(x, h, W, U, b), cell.step(cell.read(x), (h,))[0])


@torch.no_grad()
def test_the_gru_is_pytorchs_where_no_unit_sees_another() -> None:
    """U (r∘h) is r∘(U h) where U is diagonal; and σ(−a) is 1 − σ(a), since PyTorch's z keeps the old state."""
    x, h, W, U, b = draw(5, 3), draw(5, 4), draw(12, 3), draw(12, 4), draw(12)
    U[8:] = torch.diag(draw(4))
    turned = [torch.cat([part[:4], -part[4:8], part[8:]]) for part in (W, U, b)]
    torch.testing.assert_close(right.gru_step(x, h, W, U, b), loaded(nn.GRUCell(3, 4), *turned)(x, h))


@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_the_gradient_through_time_is_autograds(steps: int) -> None:
    x, W, U, b = draw(steps, 3), draw(4, 3), draw(4, 4), draw(4)

    def states(first: torch.Tensor) -> torch.Tensor:
        return torch.stack(reduce(lambda h, now: [*h, torch.tanh(W @ now + U @ h[-1] + b)], x, [first]))

    first = draw(4).tanh()
    told = torch.autograd.functional.jacobian(lambda h: states(h)[-1], first)
    torch.testing.assert_close(right.bptt_jacobian(states(first), U), told)


@pytest.mark.parametrize("max_norm", [0.1, 1.0, 3.0, 50.0])
def test_clipping_is_pytorchs(max_norm: float) -> None:
    """PyTorch adds 1e-6 to the norm before it divides."""
    gradients = (draw(4, 3), draw(4), -draw(2, 2, 2).abs())
    weights = [nn.Parameter(torch.zeros_like(gradient)) for gradient in gradients]
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.grad = gradient.clone()
    norm = nn.utils.clip_grad_norm_(weights, max_norm)
    clipped = right.clip_gradients(gradients, max_norm)
    for part, weight in zip(clipped, weights, strict=True):
        torch.testing.assert_close(part, weight.grad, rtol=3e-6, atol=1e-9)
    assert float(torch.cat([part.flatten() for part in clipped]).norm()) == pytest.approx(min(max_norm, float(norm)))


@torch.no_grad()
@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_the_last_states_are_those_of_a_packed_batch(kind: type) -> None:
    lengths = torch.tensor([3, 6, 1, 4])
    network = kind(2, 5, batch_first=True).double()
    packed, last = network(pack_padded_sequence(draw(4, 6, 2), lengths, batch_first=True, enforce_sorted=False))
    states, _ = pad_packed_sequence(packed, batch_first=True, padding_value=9.0, total_length=8)
    state = last[0] if isinstance(last, tuple) else last
    torch.testing.assert_close(right.last_states(states, lengths), state[0])


@torch.no_grad()
@pytest.mark.parametrize(("steps", "fraction"), [(1, 0.2), (3, 0.5), (40, 0.5), (7, 0.05), (200, 0.9)])
def test_a_cell_with_that_bias_forgets_as_fast(steps: int, fraction: float) -> None:
    """A cell of PyTorch's that reads nothing, takes nothing in and forgets by its bias alone."""
    b = torch.tensor([-1e3, right.forget_bias(steps, fraction), 0.0, 0.0], dtype=torch.float64)
    cell = loaded(nn.LSTMCell(1, 1), draw(4, 1), torch.zeros(4, 1).double(), b)
    h, c = torch.zeros(1, 1).double(), torch.ones(1, 1).double()
    for _ in range(steps):
        h, c = cell(torch.zeros(1, 1).double(), (h, c))
    assert float(c) == pytest.approx(fraction, rel=1e-4)


def test_a_long_memory_keeps_its_digits() -> None:
    """Half after n steps is ln(n / ln 2) up to ln 2 / 2n, since 1 − 2^(−1/n) is ln 2 / n."""
    assert right.forget_bias(10 ** 8, 0.5) == pytest.approx(log(10 ** 8 / log(2)), rel=1e-8)


def test_two_biases_worked_by_hand() -> None:
    """Half in two steps is a gate of 1/√2, and that of ln(1 + √2). A bias of 1, with which many begin, forgets half
    between the second step and the third."""
    assert right.forget_bias(2, 0.5) == pytest.approx(log(1 + sqrt(2)))
    assert right.forget_bias(1, 0.5) == pytest.approx(0)
    assert right.forget_bias(2, 0.5) < 1 < right.forget_bias(3, 0.5)


# Other right ways

def lstm_joined(x, h, c, W, U, b):
    """One matrix for what is read and the state, side by side."""
    i, f, g, o = torch.chunk(torch.cat([x, h], 1) @ torch.cat([W, U], 1).T + b, 4, 1)
    new = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(new), new


def lstm_in_loops(x, h, c, W, U, b):
    size = h.shape[1]
    state, memory = torch.empty_like(h), torch.empty_like(c)
    for text in range(len(x)):
        for unit in range(size):
            i, f, g, o = (float(W[row] @ x[text] + U[row] @ h[text] + b[row]) for row in range(unit, 4 * size, size))
            i, f, o = (1 / (1 + exp(-number)) for number in (i, f, o))
            memory[text, unit] = f * c[text, unit] + i * torch.tanh(torch.tensor(g))
            state[text, unit] = o * memory[text, unit].tanh()
    return [state, memory]


def lstm_block_by_block(x, h, c, W, U, b):
    """The texts in columns, a block at a time, and laid back at the end."""
    x, h, c = x.T, h.T, c.T
    (Wi, Wf, Wg, Wo), (Ui, Uf, Ug, Uo), (bi, bf, bg, bo) = W.chunk(4), U.chunk(4), b[:, None].chunk(4)
    i, f, o = ((w @ x + u @ h + a).sigmoid() for w, u, a in ((Wi, Ui, bi), (Wf, Uf, bf), (Wo, Uo, bo)))
    c = f * c + i * torch.tanh(Wg @ x + Ug @ h + bg)
    return (o * c.tanh()).T, c.T


def gru_joined(x, h, W, U, b):
    size = h.shape[1]
    gates = torch.cat([x, h], 1) @ torch.cat([W, U], 1)[:2 * size].T + b[:2 * size]
    r, z = torch.sigmoid(gates[:, :size]), torch.sigmoid(gates[:, size:])
    n = torch.tanh(torch.cat([x, r * h], 1) @ torch.cat([W, U], 1)[2 * size:].T + b[2 * size:])
    return torch.lerp(h, n, z)


def gru_by_chunks(x, h, W, U, b):
    (Wr, Wz, Wn), (Ur, Uz, Un), (br, bz, bn) = W.chunk(3), U.chunk(3), b.chunk(3)
    r = torch.sigmoid(nn.functional.linear(x, Wr, br) + nn.functional.linear(h, Ur))
    z = torch.sigmoid(nn.functional.linear(x, Wz, bz) + nn.functional.linear(h, Uz))
    n = torch.tanh(nn.functional.linear(x, Wn, bn) + nn.functional.linear(r * h, Un))
    return h + z * (n - h)


def gru_by_the_cell(x, h, W, U, b):
    cell = GRUCell(x.shape[1], h.shape[1])
    cell.load_state_dict({"weight_ih": W, "weight_hh": U, "bias_ih": b, "bias_hh": torch.zeros_like(b)})
    return cell.step(cell.read(x), (h,))[0]


def backwards(states, U):
    """From the last step to the first, as backpropagation goes."""
    product = torch.eye(len(U))
    for h in states[1:].flip(0):
        product = product @ ((1 - h ** 2)[:, None] * U)
    return product


def row_by_row(states, U):
    """One gradient a unit of the last state, in float64, by transposed products."""
    rows = []
    for row in torch.eye(len(U), dtype=torch.float64):
        for t in range(len(states) - 1, 0, -1):
            row = U.T.double() @ (row * (1 - states[t].double() ** 2))
        rows.append(row)
    return torch.stack(rows).float()


def by_multi_dot(states, U):
    steps = [torch.diag(1 - h * h) @ U for h in reversed(states[1:])]
    return torch.linalg.multi_dot([torch.eye(len(U)), *steps, torch.eye(len(U))])


def clip_as_pytorch(gradients, max_norm):
    weights = [nn.Parameter(torch.zeros_like(gradient)) for gradient in gradients]
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.grad = gradient.clone()
    nn.utils.clip_grad_norm_(weights, max_norm)
    return [weight.grad for weight in weights]


def clip_with_a_little_added(gradients, max_norm):
    norm = torch.sqrt(sum((gradient ** 2).sum() for gradient in gradients))
    if norm <= max_norm:
        return gradients
    return tuple(gradient * (max_norm / (norm + 1e-6)) for gradient in gradients)


def clip_in_numbers(gradients, max_norm):
    norm = hypot(*(number for gradient in gradients for number in gradient.flatten().tolist()))
    return [gradient / max(1.0, norm / max_norm) for gradient in gradients]


def last_by_gather(states, lengths):
    return states.gather(1, (lengths - 1)[:, None, None].expand(-1, 1, states.shape[2])).squeeze(1)


def last_by_a_mask(states, lengths):
    here = nn.functional.one_hot(lengths - 1, states.shape[1]).float()
    return torch.einsum("bt,bth->bh", here, states)


def last_of_the_diagonal(states, lengths):
    return states[:, lengths - 1].diagonal(dim1=0, dim2=1).T


def bias_by_math(steps, fraction):
    gate = fraction ** (1 / steps)
    return log(gate) - log(1 - gate)


def bias_with_all_digits(steps, fraction):
    gate = log(fraction) / steps
    return gate - log(-expm1(gate))


def bias_by_trying(steps, fraction):
    low, high = -50.0, 50.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 + exp(-middle)) ** -steps < fraction else (low, middle)
    return middle


@pytest.mark.parametrize(("number", "answer"), [
    ("01.1", lstm_joined), ("01.1", lstm_in_loops), ("01.1", lstm_block_by_block),
    ("01.2", gru_joined), ("01.2", gru_by_chunks), ("01.2", gru_by_the_cell),
    ("01.3", backwards), ("01.3", row_by_row), ("01.3", by_multi_dot),
    ("01.4", clip_as_pytorch), ("01.4", clip_with_a_little_added), ("01.4", clip_in_numbers),
    ("01.5", last_by_gather), ("01.5", last_by_a_mask), ("01.5", last_of_the_diagonal),
    ("01.6", bias_by_math), ("01.6", bias_by_trying), ("01.6", bias_with_all_digits),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


# Wrong in other words

@pytest.mark.parametrize(("number", "answer", "words"), [
    ("01.1", lambda x, h, c, W, U, b: (2 + h, c), "is outside −1 … 1"),
    ("01.1", lambda x, h, c, W, U, b: (h.tanh(), 5 * c), "has grown by more than 1"),
    ("01.1", lambda *args: right.lstm_step(*args)[0], "2 values were expected"),
    ("01.2", lambda x, h, W, U, b: 3 + h.abs(), "farther from 0 than the old state"),
    ("01.2", lambda x, h, W, U, b: (gru_joined(x, h, W, U, b),), "expected a tensor [1, 1]"),
    ("01.3", lambda states, U: through_the_end(states, U), "single state the Jacobian is the identity"),
    ("01.3", lambda states, U: right.bptt_jacobian(states, U).norm(), "has the shape []; expected [2, 2]"),
    ("01.4", lambda gradients, max_norm: tuple(3 * part for part in right.clip_gradients(gradients, max_norm)),
     "still above the limit"),
    ("01.4", lambda gradients, max_norm: tuple(part.abs() / 30 for part in gradients), "yours is"),
    ("01.4", lambda gradients, max_norm: tuple(part.flip(0) if part.ndim == 2 else part for part in
                                           right.clip_gradients(gradients, max_norm)), "The direction has changed"),
    ("01.4", lambda gradients, max_norm: torch.cat(
        [part.flatten() for part in right.clip_gradients(gradients, max_norm)]), "2 values were expected"),
    ("01.4", lambda gradients, max_norm: (part for part in right.clip_gradients(gradients, max_norm)),
     "2 values were expected"),
    ("01.5", lambda states, lengths: states[:, 0] / 2, "is not a state of any of its words"),
    ("01.5", lambda states, lengths: states[torch.arange(len(states)), lengths.flip(0) - 1], "not a state of any"),
    ("01.6", lambda steps, fraction: bias_by_math(steps, fraction) + 0.01, "Yours is 0.01, expected 0.0"),
])
def test_what_is_wrong_is_said(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and not feedback.mistake and words in repr(feedback), feedback


def through_the_end(states, U):
    """Right, but for a single state."""
    return right.bptt_jacobian(states, U) if len(states) > 1 else torch.zeros_like(U)


# Slips, as people write them

def lstm(cut=lambda a: a.chunk(4, dim=1), keep=lambda f: f, show=lambda o, c: o * torch.tanh(c)):
    def answer(x, h, c, W, U, b):
        i, f, g, o = cut(nn.functional.linear(x, W, b) + nn.functional.linear(h, U))
        c = keep(torch.sigmoid(f)) * c + torch.sigmoid(i) * torch.tanh(g)
        return show(torch.sigmoid(o), c), c
    return answer


def gru_of_pytorch(x, h, W, U, b):
    cell = nn.GRUCell(x.shape[1], h.shape[1])
    cell.load_state_dict({"weight_ih": W, "weight_hh": U, "bias_ih": b, "bias_hh": torch.zeros_like(b)})
    return cell(x, h)


def gru(candidate, mix):
    def answer(x, h, W, U, b):
        (Wr, Wz, Wn), (Ur, Uz, Un), (br, bz, bn) = W.chunk(3), U.chunk(3), b.chunk(3)
        r, z = torch.sigmoid(x @ Wr.T + h @ Ur.T + br), torch.sigmoid(x @ Wz.T + h @ Uz.T + bz)
        return mix(z, h, torch.tanh(candidate(x, h, r, Wn, Un, bn)))
    return answer


def stepped(step):
    return lambda states, U: reduce(lambda so_far, h: step(so_far, h, U), states[1:], torch.eye(len(U)))


def clip_in_place(gradients, max_norm):
    norm = torch.sqrt(sum((gradient ** 2).sum() for gradient in gradients))
    for gradient in gradients:
        gradient *= min(1.0, max_norm / float(norm) if norm else 1.0)
    return gradients


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("01.1", lstm(cut=lambda a: a.chunk(4)), "splits the first axis, which is the batch"),
    ("01.1", lstm(keep=lambda f: 1 - f), "old cell state is multiplied by 1 − f"),
    ("01.1", lstm(show=lambda o, c: o * c), "he tanh of the new cell state is missing"),
    ("01.2", gru_of_pytorch, "his is PyTorch's GRU, a different variant"),
    ("01.2", gru(lambda x, h, r, W, U, b: x @ W.T + r * (h @ U.T + b), lambda z, h, n: (1 - z) * h + z * n),
     "after the matrix and its bias, as in PyTorch"),
    ("01.2", gru(lambda x, h, r, W, U, b: x @ W.T + (r * h) @ U.T + b, lambda z, h, n: torch.lerp(n, h, z)),
     "he weights are swapped"),
    ("01.3", stepped(lambda so_far, h, U: so_far @ torch.diag(1 - h ** 2) @ U), "he factors are in the wrong order"),
    ("01.3", stepped(lambda so_far, h, U: ((1 - h ** 2) * U) @ so_far), "derivatives of tanh scale the columns"),
    ("01.3", stepped(lambda so_far, h, U: torch.diag(1 - torch.tanh(h) ** 2) @ U @ so_far), "takes tanh once more"),
    ("01.4", lambda gradients, max_norm: nn.utils.clip_grad_norm_(gradients, max_norm),
     "his is what clip_grad_norm_ returns"),
    ("01.4", lambda gradients, max_norm: [g.clip(-max_norm, max_norm) for g in gradients],
     "ach entry is clipped at the limit"),
    ("01.4", clip_in_place, "The answer is correct, but `gradients` is changed in place"),
    ("01.5", lambda states, lengths: states[torch.arange(len(states)), lengths], "ff by one"),
    ("01.5", lambda states, lengths: torch.index_select(states, 1, lengths - 1), "take one step per text"),
    ("01.5", lambda states, lengths: states.gather(1, (lengths - 1).view(-1, 1, 1)).squeeze(1), "nly the first unit"),
    ("01.6", lambda steps, fraction: bias_by_math(1, fraction ** 1 / steps), "** binds tighter than /"),
    ("01.6", lambda steps, fraction: bias_by_math(1, 1 - (1 - fraction) / steps), "he same fraction of what remains"),
    ("01.6", lambda steps, fraction: float(torch.logit(torch.tensor(fraction ** (1 / steps)))),
     "loat32 is not precise enough"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback
