"""Wrong answers to the exercises 01.3, 01.4 and 01.6, how far a gradient and a memory reach, under the names of their
mistakes, and what holds of any right one."""

from collections.abc import Callable, Iterable
from math import exp, inf, log, log2, log10

import torch
from torch import Tensor

from plmlab.exercises.mistakes import Mistakes, Properties

# 01.3, the gradient through time

Step = Callable[[Tensor, Tensor], Tensor]


def slope(h: Tensor, U: Tensor) -> Tensor:
    """One step: diag(1 − h²) U."""
    return (1 - h ** 2).diag() @ U


def product(
    states: Iterable[Tensor], U: Tensor, step: Step = slope, join: Step = torch.matmul, begin: Tensor | None = None,
) -> Tensor:
    """The steps to some states, ``step(state, U)``, each joined to those before, ``join(this, so far)``; what it begins
    with is the identity where nothing else is given."""
    found = torch.eye(len(U), dtype=U.dtype) if begin is None else begin
    for h in states:
        found = join(step(h, U), found)
    return found


def sloped(factor: Callable[[Tensor], Tensor]) -> Step:
    """The exercise's function with other numbers for the slopes 1 − h²."""
    return lambda states, U: product(states[1:], U, lambda h, U: factor(h).diag() @ U)


def slopes(states: Tensor) -> Tensor:
    """The slopes of all steps multiplied, on a diagonal: diag(∏)."""
    return (1 - states[1:] ** 2).prod(0).diag()


def power(states: Tensor, U: Tensor) -> Tensor:
    """U to the number of steps."""
    return torch.linalg.matrix_power(U, len(states) - 1)


def begun_in_the_loop(states: Tensor, U: Tensor) -> Tensor:
    """The last step alone; where there is none, what Python says of a name that was never given a value."""
    if len(states) == 1:
        raise UnboundLocalError
    return slope(states[-1], U)


THROUGH_TIME: Mistakes = {
    "the steps stand in the wrong order: the latest comes first, from the left":
        lambda states, U: product(states[1:], U, join=lambda step, so_far: so_far @ step),
    "the order of matrices matters: all slopes, times U to a power, is another matrix":
        lambda states, U: slopes(states) @ power(states, U),
    "the order of matrices matters: U to a power, times all slopes, is another matrix, though some notes print it":
        lambda states, U: power(states, U) @ slopes(states),
    "the slopes are missing: this is U alone, to a power": power,
    "U is missing: these are the slopes alone": lambda states, U: slopes(states),
    "it begins with ones; the identity has ones on its diagonal only: torch.eye":
        lambda states, U: product(states[1:], U, begin=torch.ones_like(U)),
    "it begins with zeros, and zeros they stay: begin with the identity, torch.eye":
        lambda states, U: torch.zeros_like(U),
    "the identity is made anew inside the loop, so that only the last step is left: make it once, before the loop":
        begun_in_the_loop,
    "the slopes stand in the columns of U; a slope belongs to the unit that moves, a row":
        lambda states, U: product(states[1:], U, lambda h, U: U * (1 - h ** 2)),
    "U is transposed: a step is diag(1 − h²) U":
        lambda states, U: product(states[1:], U.T),
    "the answer lies on its side: rows are units of the last state": lambda states, U: product(states[1:], U).T,
    "* multiplies number by number; steps are multiplied as matrices, @":
        lambda states, U: product(states[1:], U, join=torch.mul),
    "the slope of tanh is 1 − h², and h is the state already; yours takes tanh once more":
        sloped(lambda h: 1 - h.tanh() ** 2),
    "the slope is 1 − h, without the square": sloped(lambda h: 1 - h),
    "the slope is (1 − h)²; the square is of h alone": sloped(lambda h: (1 - h) ** 2),
    "the slope is h (1 − h), that of a sigmoid; tanh has 1 − h²": sloped(lambda h: h * (1 - h)),
    "the slope is h²; it is 1 − h²": sloped(torch.square),
    "the slopes are of the states that the steps leave; they are of those that the steps reach":
        lambda states, U: product(states[:-1], U),
    "the first state counts as a step; the change begins there": lambda states, U: product(states, U),
    "the last step is missing": lambda states, U: product(states[1:-1], U),
    "only the last step counts; all steps since the first are multiplied. Is the identity made anew inside the loop?":
        lambda states, U: product(states[1:][-1:], U),
    "the steps are added up; they are multiplied": lambda states, U: product(
        states[1:], U, join=torch.add) - torch.eye(len(U), dtype=U.dtype),
}

OF_A_JACOBIAN: Properties = {
    "with a single state nothing has moved yet: that is the identity": lambda out, states, U:
        len(states) > 1 or torch.allclose(out, torch.eye(len(U), dtype=U.dtype), atol=1e-4),
}


# 01.4, clipping

Gradients = tuple[Tensor, ...]


def flat(gradients: Gradients) -> Tensor:
    """All numbers in one long vector."""
    return torch.cat([gradient.flatten() for gradient in gradients])


def shortened(norm: Callable[[Gradients], Tensor]) -> Callable[[Gradients, float], Gradients]:
    """The exercise's function with another norm."""
    return lambda gradients, most: tuple(g * (most / norm(gradients)).clamp(max=1) for g in gradients)


def scaled(by: Callable[[Tensor, float], Tensor]) -> Callable[[Gradients, float], Gradients]:
    """The exercise's function with another factor, made of the norm and the limit."""
    return lambda gradients, most: tuple(g * by(flat(gradients).norm(), most) for g in gradients)


def less(amount: Callable[[Tensor, float], Tensor]) -> Callable[[Gradients, float], Gradients]:
    """Where they are too long, something made of the norm and the limit is taken away from each number."""
    def answer(gradients: Gradients, most: float) -> Gradients:
        norm = flat(gradients).norm()
        return tuple(g - amount(norm, most) if norm > most else g for g in gradients)
    return answer


def by_squares(squares: Callable[[Tensor], Tensor]) -> Callable[[Gradients, float], Gradients]:
    """The exercise's function with something else, made of each tensor, in the place of its sum of squares."""
    return shortened(lambda gradients: torch.stack([squares(g) for g in gradients]).sum().sqrt())


CLIP: Mistakes = {
    "each tensor is shortened for itself, so that the direction changes; there is one norm for all":
        lambda gradients, most: tuple(shortened(lambda one: one[0].norm())((g,), most)[0] for g in gradients),
    "each number is cut off at the limit, so that the direction changes; it is the norm that is limited":
        lambda gradients, most: tuple(g.clamp(-most, most) for g in gradients),
    "each number is cut off at the limit, and only above 0; it is the norm that is limited":
        lambda gradients, most: tuple(g.clamp(max=most) for g in gradients),
    "short gradients are made longer: below the limit they stay as they are":
        scaled(lambda norm, most: most / norm.clamp(min=1e-6)),
    "long gradients stay, and short ones are made longer: it is the other way round":
        scaled(lambda norm, most: (most / norm.clamp(min=1e-6)).clamp(min=1)),
    "the factor stands on its head: it is the limit divided by the norm":
        scaled(lambda norm, most: norm / most if norm > most else torch.ones(())),
    "the factor is the limit alone, and the norm does not divide":
        scaled(lambda norm, most: torch.tensor(most) if norm > most else torch.ones(())),
    "they are divided by the norm: their length is 1, whatever the limit":
        scaled(lambda norm, most: 1 / norm if norm > most else torch.ones(())),
    "too long gradients become 0; they become as long as the limit": scaled(lambda norm, most: (norm <= most).float()),
    "something is taken away from each number, norm − limit; all numbers are multiplied by limit / norm":
        less(lambda norm, most: norm - most),
    "the limit is taken away from each number; all numbers are multiplied by limit / norm":
        less(lambda norm, most: torch.tensor(most)),
    "nothing is shortened. Is it clip_grad_norm_? It reads the .grad of weights, and shortens that in place; these "
    "tensors are gradients themselves, and have none": scaled(lambda norm, most: torch.ones(())),
    "this is what clip_grad_norm_ gives back: a norm, here 0. It reads the .grad of weights, and shortens that in "
    "place; these tensors are gradients themselves, and have none": torch.nn.utils.clip_grad_norm_,
    "the square root is missing: this is the norm's square":
        shortened(lambda gradients: flat(gradients).square().sum()),
    "the numbers of each tensor are added up before they are squared, .sum() ** 2; squares come first, (… ** 2).sum()":
        by_squares(lambda g: g.sum() ** 2),
    "all numbers are added up before they are squared, .sum() ** 2; squares come first, (… ** 2).sum()":
        shortened(lambda gradients: flat(gradients).sum().abs()),
    "the squares are averaged; they are added up":
        shortened(lambda gradients: flat(gradients).square().mean().sqrt()),
    "the squares of each tensor are averaged; they are added up": by_squares(lambda g: g.square().mean()),
    "the tensors' norms are averaged; their squares are added up, and then comes the root":
        shortened(lambda gradients: torch.stack([g.norm() for g in gradients]).mean()),
    "the tensors' norms are added up; their squares are, and then comes the root":
        shortened(lambda gradients: sum((g.norm() for g in gradients), torch.zeros(()))),
    "the norm is that of the longest tensor alone": shortened(lambda gradients: max(g.norm() for g in gradients)),
    "this norm is the largest number; it is the root of the sum of squares":
        shortened(lambda gradients: flat(gradients).norm(inf)),
    "this norm is the sum of the numbers without their signs; it is the root of the sum of squares":
        shortened(lambda gradients: flat(gradients).norm(1)),
    "0 divided by 0 is NaN: where all gradients are 0 there is nothing to shorten":
        scaled(lambda norm, most: 1 / norm * norm.clamp(max=most)),
}

OF_A_CLIP: Properties = {
    "the gradients are still longer than the limit":
        lambda out, gradients, most: bool(flat(out).norm() <= most * (1 + 1e-3)),
    "the direction has changed: all numbers are to be multiplied by the same one": lambda out, gradients, most:
        bool(flat(out) @ flat(gradients) >= (1 - 1e-4) * flat(out).norm() * flat(gradients).norm()),
}


# 01.6, a memory's half-life

def logit(gate: float) -> float:
    """The number whose sigmoid is ``gate``."""
    return log(gate / (1 - gate))


def opened(gate: Callable[[int, float], float]) -> Callable[[int, float], float]:
    """The exercise's function with another gate, made of the steps and of what is left."""
    return lambda steps, left: logit(gate(steps, left))


def turned(bias: Callable[[float], float]) -> Callable[[int, float], float]:
    """The exercise's function with the right gate, and another way from it to the bias."""
    return lambda steps, left: bias(left ** (1 / steps))


def coarse(gate: float) -> float:
    """The number whose sigmoid is ``gate``, in float32."""
    return float(torch.tensor(gate, dtype=torch.float32).logit())


FORGET: Mistakes = {
    "float32 has too few digits for a gate so near 1, which it rounds to 1: use Python's numbers, or "
    "dtype=torch.float64": turned(coarse),
    "this is the gate; the bias is the number whose sigmoid it is": turned(lambda gate: gate),
    "this is the sigmoid of the gate; the bias goes the other way, from the gate back through the sigmoid":
        turned(lambda gate: 1 / (1 + exp(-gate))),
    "this is the logarithm of the gate; the sigmoid is undone by the logarithm of gate / (1 − gate)": turned(log),
    "the sign is wrong: gate / (1 − gate) stands on its head": turned(lambda gate: -logit(gate)),
    "the logarithm is missing: this is gate / (1 − gate)": turned(lambda gate: gate / (1 - gate)),
    "the logarithm is of the gate alone; it is of the whole, gate / (1 − gate)":
        turned(lambda gate: log(gate) / (1 - gate)),
    "one logarithm is divided by the other: log(a / b) is log a − log b":
        turned(lambda gate: log(gate) / log(1 - gate)),
    "1 − gate needs its brackets: gate / 1 − gate is 0, and its logarithm is −∞": turned(lambda gate: -inf),
    "this is the logarithm to base 2; the sigmoid has e": turned(lambda gate: log2(gate / (1 - gate))),
    "this is the logarithm to base 10; the sigmoid has e": turned(lambda gate: log10(gate / (1 - gate))),
    "the root is missing: so much is left after a single step": opened(lambda steps, left: left),
    "** binds tighter than /: left ** 1 / steps is left divided by steps; write left ** (1 / steps)":
        opened(lambda steps, left: left / steps),
    "this is a power; a gate that is multiplied so many times to give `left` is its root":
        opened(lambda steps, left: left ** steps),
    "every step takes away the same amount; a gate takes away the same share of what is still there":
        opened(lambda steps, left: 1 - (1 - left) / steps),
    "`left` is taken for what is lost": opened(lambda steps, left: (1 - left) ** (1 / steps)),
    "half is left, whatever `left` says": opened(lambda steps, left: 0.5 ** (1 / steps)),
    "1/e is left, whatever `left` says": opened(lambda steps, left: exp(-1 / steps)),
    "this is the rule log(steps − 1), which makes the gate 1 − 1/steps; about 1/e is left, whatever `left` says":
        lambda steps, left: log(steps - 1),
    "this is the rule log(steps), which makes the gate steps / (steps + 1); about 1/e is left, whatever `left` says":
        lambda steps, left: log(steps),
    "the root is taken of one step too few: the gate multiplies `steps` times, not steps − 1":
        opened(lambda steps, left: left ** (1 / (steps - 1))),
    "the gate multiplies once more than there are steps": opened(lambda steps, left: left ** (1 / (steps + 1))),
}
