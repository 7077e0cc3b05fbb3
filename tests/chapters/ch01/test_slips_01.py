"""Slips that people make in the exercises of chapter 01, written as they write them: each is named as what it is."""

import math
from functools import reduce

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from plmlab.exercises import check

# 01.1

def lstm(cut=lambda a: a.chunk(4, dim=1), gates=torch.sigmoid, new=lambda i, f, g, c: f * c + i * torch.tanh(g),
         out=lambda o, new, old: o * torch.tanh(new)):
    def answer(x, h, c, W, U, b):
        i, f, g, o = cut(F.linear(x, W, b) + F.linear(h, U))
        memory = new(gates(i), gates(f), g, c)
        return out(gates(o), memory, c), memory
    return answer


def on_its_side(x, h, c, W, U, b):
    i, f, g, o = (x @ W + h @ U + b).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def block_by_block(x, h, c, W, U, b):
    """As the chapter's GRU has it, for one vector."""
    (Wi, Wf, Wg, Wo), (Ui, Uf, Ug, Uo), (bi, bf, bg, bo) = W.chunk(4), U.chunk(4), b.chunk(4)
    i, f = torch.sigmoid(Wi @ x + Ui @ h + bi), torch.sigmoid(Wf @ x + Uf @ h + bf)
    g, o = torch.tanh(Wg @ x + Ug @ h + bg), torch.sigmoid(Wo @ x + Uo @ h + bo)
    c = f * c + i * g
    return o * torch.tanh(c), c


def for_one_vector(cut, product=lambda x, h, W, U, b: W @ x + U @ h + b):
    """The loop's body of the chapter."""
    def answer(x, h, c, W, U, b):
        i, f, g, o = cut(product(x, h, W, U, b))
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        return h, c
    return answer


def element_by_element(x, h, c, W, U, b):
    i, f, g, o = (W * x + U * h + b).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def memory_in_place(x, h, c, W, U, b):
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, dim=-1)
    c *= torch.sigmoid(f)
    c += torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def gates_at_once(x, h, c, W, U, b):
    i, f, g, o = torch.sigmoid(x @ W.T + h @ U.T + b).chunk(4, dim=-1)
    c = f * c + i * g
    return o * torch.tanh(c), c


def state_first(x, h, c, W, U, b):
    """The state is made before the memory is new."""
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, dim=-1)
    h = torch.sigmoid(o) * torch.tanh(c)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return h, c


def two_biases(x, h, c, W, U, b):
    i, f, g, o = (F.linear(x, W, b) + F.linear(h, U, b)).chunk(4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


# 01.2

def gru(candidate=lambda x, h, r, W, U, b: torch.tanh(x @ W.T + (r * h) @ U.T + b), gate=torch.sigmoid,
        mix=lambda z, h, n: (1 - z) * h + z * n, names="rzn"):
    def answer(x, h, W, U, b):
        rows = dict(zip(names, zip(W.chunk(3), U.chunk(3), b.chunk(3), strict=True), strict=True))
        r, z = (gate(x @ W.T + h @ U.T + b) for W, U, b in (rows["r"], rows["z"]))
        return mix(z, h, candidate(x, h, r, *rows["n"]))
    return answer


@torch.no_grad()
def gru_of_pytorch(x, h, W, U, b):
    cell = nn.GRUCell(x.shape[1], h.shape[1])
    cell.load_state_dict({"weight_ih": W, "weight_hh": U, "bias_ih": b, "bias_hh": torch.zeros_like(b)})
    return cell(x, h)


def gru_at_once(x, h, W, U, b):
    """As PyTorch has it, but for the mixture."""
    (xr, xz, xn), (hr, hz, hn) = F.linear(x, W, b).chunk(3, 1), F.linear(h, U).chunk(3, 1)
    z = torch.sigmoid(xz + hz)
    return (1 - z) * h + z * torch.tanh(xn + torch.sigmoid(xr + hr) * hn)


def gru_of_one_vector(x, h, W, U, b):
    """The loop's body of the chapter."""
    (Wr, Wz, Wn), (Ur, Uz, Un), (br, bz, bn) = W.chunk(3), U.chunk(3), b.chunk(3)
    r = torch.sigmoid(Wr @ x + Ur @ h + br)
    z = torch.sigmoid(Wz @ x + Uz @ h + bz)
    candidate = torch.tanh(Wn @ x + Un @ (r * h) + bn)
    return (1 - z) * h + z * candidate


def gru_not_turned(x, h, W, U, b):
    (Wr, Wz, Wn), (Ur, Uz, Un), (br, bz, bn) = W.chunk(3), U.chunk(3), b.chunk(3)
    r, z = torch.sigmoid(x @ Wr + h @ Ur + br), torch.sigmoid(x @ Wz + h @ Uz + bz)
    return (1 - z) * h + z * torch.tanh(x @ Wn + (r * h) @ Un + bn)


def state_overwritten(x, h, W, U, b):
    (Wr, Wz, Wn), (Ur, Uz, Un), (br, bz, bn) = W.chunk(3), U.chunk(3), b.chunk(3)
    r, z = torch.sigmoid(x @ Wr.T + h @ Ur.T + br), torch.sigmoid(x @ Wz.T + h @ Uz.T + bz)
    h = r * h
    return (1 - z) * h + z * torch.tanh(x @ Wn.T + h @ Un.T + bn)


def state_reset_in_place(x, h, W, U, b):
    old = h.clone()
    (Wr, Wz, Wn), (Ur, Uz, Un), (br, bz, bn) = W.chunk(3), U.chunk(3), b.chunk(3)
    r, z = torch.sigmoid(x @ Wr.T + h @ Ur.T + br), torch.sigmoid(x @ Wz.T + h @ Uz.T + bz)
    h *= r
    return (1 - z) * old + z * torch.tanh(x @ Wn.T + h @ Un.T + bn)


# 01.3

def stepped(step, states=lambda states: states[1:]):
    def answer(given, U):
        return reduce(lambda so_far, h: step(so_far, h, U), states(given), torch.eye(len(U)))
    return answer


def from_the_zeros(states, U):
    product = torch.zeros(len(U), len(U))
    for h in states[1:]:
        product = product + torch.diag(1 - h ** 2) @ U
    return product


def begun_with(start):
    def answer(states, U):
        product = start(len(U), len(U))
        for h in states[1:]:
            product = torch.diag(1 - h ** 2) @ U @ product
        return product
    return answer


def begun_in_the_loop(states, U):
    for h in states[1:]:
        product = torch.eye(len(U))
        product = torch.diag(1 - h ** 2) @ U @ product
    return product


def as_notes_print_it(states, U):
    return torch.linalg.matrix_power(U, len(states) - 1) * torch.prod(1 - states[1:] ** 2, dim=0)


def never_begun(states, U):
    return reduce(torch.matmul, [torch.diag(1 - h ** 2) @ U for h in states[1:].flip(0)])


# 01.4

def root_of_squares(gradients):
    return torch.sqrt(sum(torch.sum(gradient ** 2) for gradient in gradients))


def clip(norm=root_of_squares, factor=lambda norm, most: most / norm):
    def answer(gradients, most):
        length = norm(gradients)
        return tuple(g * factor(length, most) for g in gradients) if length > most else gradients
    return answer


def as_pytorch(change):
    """What one of PyTorch's ways to clip makes of a model's gradients."""
    def answer(gradients, most):
        weights = [nn.Parameter(torch.zeros_like(gradient)) for gradient in gradients]
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.grad = gradient.clone()
        change(weights, most)
        return [weight.grad for weight in weights]
    return answer


def clip_in_place(gradients, most):
    norm = root_of_squares(gradients)
    for gradient in gradients:
        if norm > most:
            gradient.mul_(most / norm)
    return gradients


def unit_first(gradients, most):
    norm = root_of_squares(gradients)
    return tuple(gradient / norm * torch.clamp(norm, max=most) for gradient in gradients)


# 01.5

def shortened_in_place(shown, lengths):
    lengths -= 1
    return shown[torch.arange(len(shown)), lengths]


def masked(pool, value=0.0):
    def answer(shown, lengths):
        mask = torch.arange(shown.shape[1])[None, :] < lengths[:, None]
        return pool(shown.masked_fill(~mask.unsqueeze(-1), value))
    return answer


def padding_as_minus_infinity(shown, lengths):
    for text, length in enumerate(lengths):
        shown[text, length:] = float("-inf")
    return shown.max(1).values


# 01.6

def gate_by(gate):
    return lambda steps, left: float(torch.logit(torch.tensor(gate(steps, left))))


def bias_by(bias):
    return lambda steps, left: bias(left ** (1 / steps))


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("01.1", lstm(gates=lambda a: a.softmax(-1)), "he gates are a softmax"),
    ("01.1", lstm(gates=lambda a: a), "he gates' sigmoid is missing"),
    ("01.1", lstm(cut=lambda a: [a.chunk(4, 1)[k] for k in (0, 1, 3, 2)]), "g and o have changed places"),
    ("01.1", lstm(cut=lambda a: [a.chunk(4, 1)[k] for k in (1, 0, 2, 3)]), "i and f have changed places"),
    ("01.1", lstm(cut=lambda a: [a.chunk(4, 1)[k] for k in (1, 0, 3, 2)]), "you read f, i, o, g"),
    ("01.1", lstm(new=lambda i, f, g, c: f * c + i * torch.sigmoid(g)), "he candidate is bounded by a sigmoid"),
    ("01.1", gates_at_once, "he candidate is bounded by a sigmoid"),
    ("01.1", lstm(new=lambda i, f, g, c: f * c + i * g), "he candidate is not bounded"),
    ("01.1", lstm(new=lambda i, f, g, c: f * c + (1 - f) * torch.tanh(g)), "he input gate is taken for 1 − f"),
    ("01.1", lstm(new=lambda i, f, g, c: c + i * torch.tanh(g)), "othing is forgotten"),
    ("01.1", lstm(new=lambda i, f, g, c: f @ c + i @ torch.tanh(g), out=lambda o, new, old: o @ torch.tanh(new)),
     "∘ is number by number"),
    ("01.1", lstm(out=lambda o, new, old: o * torch.tanh(old)), "he state shows the old memory"),
    ("01.1", state_first, "he state shows the old memory"),
    ("01.1", lstm(out=lambda o, new, old: o * new), "shown without its tanh"),
    ("01.1", lstm(out=lambda o, new, old: torch.tanh(o * new)), "he tanh is of the product"),
    ("01.1", two_biases, "he bias is added twice"),
    ("01.1", lambda *args: lstm()(*args)[::-1], "give (h, c)"),
    ("01.1", lstm(new=lambda i, f, g, c: (1 - f) * c + i * torch.tanh(g)), "1 − f of the old memory is kept"),
    ("01.1", lstm(cut=lambda a: a.chunk(4)), "cuts the first axis, which holds the texts"),
    ("01.1", lstm(cut=lambda a: a.reshape(len(a), -1, 4).unbind(2)), "takes every fourth number"),
    ("01.1", lstm(cut=lambda a: a.view(4, len(a), -1)), "cuts across texts"),
    ("01.1", for_one_vector(lambda a: a.chunk(4)), "@ x is for a single vector; x holds a text in each row: that is"),
    ("01.1", for_one_vector(lambda a: a.chunk(4, -1)), "@ x is for a single vector; x holds a text in each row, and"),
    ("01.1", block_by_block, "@ x is for a single vector; x holds a text in each row: with each block's W"),
    ("01.1", for_one_vector(lambda a: a.chunk(4), lambda x, h, W, U, b: W @ x.T + U @ h.T + b.unsqueeze(1)),
     "has the texts in its columns"),
    ("01.1", for_one_vector(lambda a: a, lambda x, h, W, U, b: [x @ w + h @ u + a for w, u, a in zip(
        W.chunk(4), U.chunk(4), b.chunk(4), strict=True)]), "he .T is missing"),
    ("01.1", element_by_element, "* multiplies number by number; W x is a product of a matrix"),
    ("01.1", memory_in_place, "The answer is right, but `c` is changed in place"),
    ("01.2", gru_at_once, "after the matrix, as PyTorch has it; here it is applied to the state"),
    ("01.2", gru_of_pytorch, "his is PyTorch's GRU, which is another one"),
    ("01.2", gru(lambda x, h, r, W, U, b: torch.tanh(x @ W.T + r * (h @ U.T + b)), mix=lambda z, h, n: n + z * (h - n)),
     "after the matrix and its bias, and z is the share of the old state"),
    ("01.2", gru_of_one_vector, "@ x is for a single vector"),
    ("01.2", gru_not_turned, "he .T is missing"),
    ("01.2", gru(mix=lambda z, h, n: 1 - z * h + z * n), "1 − z needs its brackets"),
    ("01.2", gru(lambda x, h, r, W, U, b: torch.tanh(r * (F.linear(x, W, b) + F.linear(h, U)))), "eets all that the"),
    ("01.2", gru(lambda x, h, r, W, U, b: torch.tanh(r * (x @ W.T + h @ U.T) + b)), "eets W x + U h; it"),
    ("01.2", gru(lambda x, h, r, W, U, b: r * torch.tanh(x @ W.T + h @ U.T + b)), "he reset gate meets the candidate"),
    ("01.2", gru(lambda x, h, r, W, U, b: torch.tanh(r * (x @ W.T) + h @ U.T + b)), "resets the input, W x; it"),
    ("01.2", gru(lambda x, h, r, W, U, b: torch.tanh(r * F.linear(x, W, b) + h @ U.T)), "the input, W x + b; it"),
    ("01.2", gru(lambda x, h, r, W, U, b: torch.tanh((r * x) @ W.T + h @ U.T + b)), "resets the input, r∘x; it"),
    ("01.2", gru(lambda x, h, r, W, U, b: torch.tanh(r * (x @ W.T) + (r * h) @ U.T + b)), "as well as the state"),
    ("01.2", gru(mix=lambda z, h, n: z * h + (1 - z) * n), "he shares have changed places"),
    ("01.2", gru(mix=lambda z, h, n: torch.lerp(n, h, z)), "he shares have changed places"),
    ("01.2", gru(names="zrn"), "he gates have changed places"),
    ("01.2", gru(gate=lambda a: a.softmax(-1)), "he gates are a softmax"),
    ("01.2", gru(lambda x, h, r, W, U, b: torch.sigmoid(x @ W.T + (r * h) @ U.T + b)), "bounded by a sigmoid"),
    ("01.2", gru(lambda x, h, r, W, U, b: torch.tanh(x @ W.T + h @ U.T + b)), "othing is reset"),
    ("01.2", gru(lambda x, h, r, W, U, b: torch.tanh(x @ W.T + r * (h @ U.T + b))), "after the matrix and its bias"),
    ("01.2", state_overwritten, "he mixture takes the state itself"),
    ("01.2", state_reset_in_place, "The answer is right, but `h` is changed in place"),
    ("01.3", stepped(lambda so_far, h, U: so_far @ torch.diag(1 - h ** 2) @ U), "he steps stand in the wrong order"),
    ("01.3", stepped(lambda so_far, h, U: ((1 - h ** 2) * U) @ so_far), "he slopes stand in the columns"),
    ("01.3", stepped(lambda so_far, h, U: U @ torch.diag(1 - h ** 2) @ so_far), "he slopes stand in the columns"),
    ("01.3", stepped(lambda so_far, h, U: torch.diag(1 - h ** 2) @ U * so_far), "teps are multiplied as matrices"),
    ("01.3", stepped(lambda so_far, h, U: torch.diag(1 - torch.tanh(h) ** 2) @ U @ so_far), "takes tanh once more"),
    ("01.3", stepped(lambda so_far, h, U: torch.diag(h * (1 - h)) @ U @ so_far), "that of a sigmoid"),
    ("01.3", stepped(lambda so_far, h, U: torch.diag(1 - h ** 2) @ U.T @ so_far), "U is transposed"),
    ("01.3", stepped(lambda so_far, h, U: U @ so_far), "U alone, to a power"),
    ("01.3", stepped(lambda so_far, h, U: torch.diag(1 - h ** 2) @ U @ so_far, lambda s: s), "he first state counts"),
    ("01.3", stepped(lambda so_far, h, U: torch.diag(1 - h ** 2) @ U @ so_far, lambda s: s[:-1]), "the steps leave"),
    ("01.3", stepped(lambda so_far, h, U: so_far @ U.T @ torch.diag(1 - h ** 2)), "he answer lies on its side"),
    ("01.3", as_notes_print_it, "hough some notes print it"),
    ("01.3", lambda states, U: (1 - states[1:] ** 2).prod(0).diag() @ torch.linalg.matrix_power(U, len(states) - 1),
     "ll slopes, times U to a power, is another matrix"),
    ("01.3", begun_with(torch.ones), "t begins with ones"),
    ("01.3", begun_with(torch.zeros), "t begins with zeros"),
    ("01.3", begun_in_the_loop, "he identity is made anew inside the loop"),
    ("01.3", stepped(lambda so_far, h, U: torch.diag(1 - h ** 2) @ U @ torch.eye(len(U))),
     "Is the identity made anew inside the loop?"),
    ("01.3", from_the_zeros, "he steps are added up"),
    ("01.4", as_pytorch(nn.utils.clip_grad_value_), "ach number is cut off at the limit, so"),
    ("01.4", as_pytorch(lambda weights, most: nn.utils.clip_grad_norm_(weights, most, norm_type=math.inf)),
     "his norm is the largest number"),
    ("01.4", as_pytorch(lambda weights, most: nn.utils.clip_grad_norm_(weights, most, norm_type=1)),
     "sum of the numbers without their signs"),
    ("01.4", as_pytorch(lambda weights, most: [nn.utils.clip_grad_norm_(weight, most) for weight in weights]),
     "ach tensor is shortened for itself"),
    ("01.4", lambda gradients, most: [torch.clip(g, max=most) for g in gradients], "and only above 0"),
    ("01.4", clip(norm=lambda gradients: max(g.abs().max() for g in gradients)), "his norm is the largest number"),
    ("01.4", clip(norm=lambda gradients: sum(g.pow(2).sum() for g in gradients)), "he square root is missing"),
    ("01.4", clip(norm=lambda gradients: sum(g.norm() for g in gradients)), "he tensors' norms are added up"),
    ("01.4", clip(norm=lambda gradients: torch.stack([g.norm() for g in gradients]).max()), "longest tensor alone"),
    ("01.4", clip(norm=lambda gradients: sum(g.sum() ** 2 for g in gradients) ** 0.5), "he numbers of each tensor are"),
    ("01.4", clip(norm=lambda gradients: (torch.cat([g.flatten() for g in gradients]).sum() ** 2).sqrt()),
     "ll numbers are added up before they are squared"),
    ("01.4", clip(norm=lambda gradients: torch.cat([g.flatten() for g in gradients]).pow(2).mean().sqrt()),
     "he squares are averaged"),
    ("01.4", clip(norm=lambda gradients: sum((g ** 2).mean() for g in gradients).sqrt()), "f each tensor are averaged"),
    ("01.4", clip(norm=lambda gradients: sum(g.norm() for g in gradients) / len(gradients)), "norms are averaged"),
    ("01.4", lambda gradients, most: [g - (root_of_squares(gradients) - most).clamp(min=0) for g in gradients],
     "taken away from each number, norm − limit"),
    ("01.4", lambda gradients, most: [g - most if root_of_squares(gradients) > most else g for g in gradients],
     "he limit is taken away"),
    ("01.4", lambda gradients, most: [nn.utils.clip_grad_norm_(gradients, most), gradients][1],
     "othing is shortened. Is it clip_grad_norm_? It reads the .grad of weights"),
    ("01.4", lambda gradients, most: nn.utils.clip_grad_norm_(gradients, most), "his is what clip_grad_norm_ gives"),
    ("01.4", clip(factor=lambda norm, most: 1 / norm), "heir length is 1"),
    ("01.4", clip(factor=lambda norm, most: norm / most), "stands on its head"),
    ("01.4", lambda gradients, most: [g * most / root_of_squares(gradients) for g in gradients], "made longer"),
    ("01.4", lambda gradients, most: [g * (most / (root_of_squares(gradients) + 1e-6)) for g in gradients], "longer"),
    ("01.4", unit_first, "0 divided by 0 is NaN"),
    ("01.4", clip_in_place, "The answer is right, but `gradients` is changed in place"),
    ("01.5", lambda shown, lengths: shown[:, -1], "behind a short text it holds padding"),
    ("01.5", lambda shown, lengths: shown[torch.arange(len(shown)), lengths], "ne slot too far"),
    ("01.5", lambda shown, lengths: torch.stack([text[n] for text, n in zip(shown, lengths, strict=True)]), "too far"),
    ("01.5", lambda shown, lengths: shown[:, lengths - 1], "has one slot"),
    ("01.5", lambda shown, lengths: torch.index_select(shown, 1, lengths - 1), "has one slot"),
    ("01.5", lambda shown, lengths: shown[lengths - 1], "exts are picked, not slots"),
    ("01.5", lambda shown, lengths: shown[lengths - 1, torch.arange(len(shown))], "ext and slot have changed places"),
    ("01.5", lambda shown, lengths: shown.gather(1, (lengths - 1).view(-1, 1, 1)).squeeze(1), "nly the first unit"),
    ("01.5", lambda shown, lengths: shown.gather(1, (lengths - 1).view(-1, 1, 1).expand(-1, 1, shown.shape[2])),
     "still there, of length 1"),
    ("01.5", lambda shown, lengths: shown.view(-1, shown.shape[2])[lengths.cumsum(0) - 1], "as if they lay end to end"),
    ("01.5", lambda shown, lengths: shown[-1], "he last text is taken"),
    ("01.5", lambda shown, lengths: shown.max(1).values, "he largest number of each unit"),
    ("01.5", lambda shown, lengths: shown[:, min(lengths) - 1], "here the shortest ends"),
    ("01.5", lambda shown, lengths: torch.stack([text[text.abs().sum(-1) > 0][-1] for text in shown]), "ot zero is"),
    ("01.5", lambda shown, lengths: shown[torch.arange(len(shown)), (shown.norm(dim=-1) > 0).sum(1) - 1], "ot zero is"),
    ("01.5", lambda shown, lengths: torch.stack([text[min(int(n), len(text) - 1)] for text, n in zip(
        shown, lengths, strict=True)]), "ne slot too far where there is padding"),
    ("01.5", lambda shown, lengths: torch.stack([text.roll(len(text) - int(n) - 1, 0)[-1] for text, n in zip(
        shown, lengths, strict=True)]), "comes round to the first slot"),
    ("01.5", lambda shown, lengths: shown.flatten(0, 1)[torch.arange(len(shown)) * max(lengths) + lengths - 1],
     "s if they ended with the longest text"),
    ("01.5", masked(lambda shown: shown.sum(dim=1)), "his is the sum over the words"),
    ("01.5", masked(lambda shown: shown.max(dim=1).values), "of each unit over the words, or 0"),
    ("01.5", masked(lambda shown: shown.max(dim=1).values, -math.inf), "of each unit over the words; asked"),
    ("01.5", padding_as_minus_infinity, "of each unit over the words; asked"),
    ("01.5", lambda shown, lengths: shown.sum(1), "his is the sum of all slots, padding too; asked"),
    ("01.5", shortened_in_place, "The answer is right, but `lengths` is changed in place"),
    ("01.5", padding_as_minus_infinity, "Besides, `shown` is changed in place."),
    ("01.6", gate_by(lambda steps, left: left), "he root is missing"),
    ("01.6", gate_by(lambda steps, left: left ** 1 / steps), "** binds tighter than /"),
    ("01.6", gate_by(lambda steps, left: left ** steps), "his is a power"),
    ("01.6", gate_by(lambda steps, left: 1 - (1 - left) / steps), "he same share of what is still there"),
    ("01.6", gate_by(lambda steps, left: 0.5 ** (1 / steps)), "alf is left, whatever"),
    ("01.6", gate_by(lambda steps, left: math.exp(-1 / steps)), "1/e is left"),
    ("01.6", gate_by(lambda steps, left: math.exp(math.log(1 - left) / steps)), "aken for what is lost"),
    ("01.6", bias_by(lambda gate: gate), "his is the gate"),
    ("01.6", bias_by(lambda gate: torch.tensor(gate).sigmoid()), "his is the sigmoid of the gate"),
    ("01.6", bias_by(math.log), "his is the logarithm of the gate"),
    ("01.6", bias_by(lambda gate: math.log(1 / gate - 1)), "stands on its head"),
    ("01.6", bias_by(lambda gate: torch.log(torch.tensor(gate / 1 - gate))), "needs its brackets"),
    ("01.6", bias_by(lambda gate: math.log(gate) / (1 - gate)), "of the gate alone"),
    ("01.6", bias_by(lambda gate: math.log(gate) / math.log(1 - gate)), "ne logarithm is divided by the other"),
    ("01.6", bias_by(lambda gate: math.log10(gate / (1 - gate))), "base 10"),
    ("01.6", gate_by(lambda steps, left: left ** (1 / (steps - 1))), "one step too few"),
    ("01.6", lambda steps, left: math.log(left ** (1 / (steps - 1)) / (1 - left ** (1 / (steps - 1)))), "too few"),
    ("01.6", lambda steps, left: math.log(steps), "the rule log(steps), which"),
    ("01.6", lambda steps, left: torch.tensor(steps).log(), "the rule log(steps), which"),
    ("01.6", bias_by(lambda gate: float(torch.logit(torch.tensor(gate)))), "loat32 has too few digits"),
    ("01.6", lambda steps, left: -torch.log(torch.tensor(left) ** (-1.0 / steps) - 1), "loat32 has too few digits"),
    ("01.6", lambda steps, left: math.log(steps - 1), "the rule log(steps − 1)"),
    ("01.6", lambda steps, left: torch.log(torch.tensor(steps - 1.0)), "the rule log(steps − 1)"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer", "error"), [
    ("01.1", on_its_side, "mat1 and mat2 shapes cannot be multiplied"),
    ("01.2", gru(lambda x, h, r, W, U, b: torch.tanh(x @ W + (r * h) @ U + b)), "mat1 and mat2 shapes"),
    ("01.3", never_begun, "reduce() of empty iterable"),
    ("01.4", clip(norm=lambda gradients: torch.stack(gradients).norm()), "stack expects each tensor to be equal size"),
    ("01.5", lambda shown, lengths: shown.gather(1, lengths - 1), "Index tensor must have the same number of dim"),
    ("01.6", bias_by(lambda gate: math.log(gate / 1 - gate)), "math domain error"),
])
def test_what_cannot_run_is_shown_with_its_error_and_a_way_to_go_on(number: str, answer, error: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "error" and error in repr(feedback) and "\nPrint " in repr(feedback), feedback


def test_what_fails_only_for_a_single_state_is_shown_on_it() -> None:
    assert "(a single state)" in repr(check("01.3", never_begun))


@pytest.mark.parametrize(("number", "answer"), [
    ("01.1", lstm()), ("01.2", gru()), ("01.4", clip()), ("01.4", as_pytorch(nn.utils.clip_grad_norm_)),
    ("01.3", stepped(lambda so_far, h, U: torch.diag(1 - h ** 2) @ U @ so_far)),
    ("01.3", begun_with(torch.eye)), ("01.6", bias_by(lambda gate: -math.log(1 / gate - 1))),
])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
