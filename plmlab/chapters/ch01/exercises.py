"""Exercises of chapter 01: recurrent networks, from one step of a cell to gradients and cell states over many steps."""

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, randn

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def lstm_step(
    x: Float[Tensor, "batch inputs"], h: Float[Tensor, "batch hidden"], c: Float[Tensor, "batch hidden"],
    W: Float[Tensor, "rows inputs"], U: Float[Tensor, "rows hidden"], b: Float[Tensor, "rows"],
) -> tuple[Float[Tensor, "batch hidden"], Float[Tensor, "batch hidden"]]:
    """One step of an LSTM: the next state and the next memory, (h, c).

    W, U and b hold four blocks of ``hidden`` rows each, in this order: the input gate i, the forget
    gate f, the candidate g, the output gate o. Each block makes W x + U h + b. The gates are its
    sigmoid, the candidate is its tanh. The memory forgets and takes in: c = f∘c + i∘g, where ∘
    multiplies number by number. The state shows a part of the new memory: h = o∘tanh(c).
    """
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, dim=-1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def draw_lstms(rng: Generator) -> Probes:
    """Inputs for 01.1: name → (x, h, c, W, U, b)."""
    def drawn(batch: int, inputs: int, hidden: int, scale: float = 1.0) -> tuple[Tensor, ...]:
        return (randn(batch, inputs, generator=rng), randn(batch, hidden, generator=rng),
                scale * randn(batch, hidden, generator=rng), randn(4 * hidden, inputs, generator=rng),
                randn(4 * hidden, hidden, generator=rng), randn(4 * hidden, generator=rng))

    return {
        "one text, one number, one unit": drawn(1, 1, 1),
        "three texts, two numbers, five units": drawn(3, 2, 5),
        "as many texts as numbers and units": drawn(4, 4, 4),
        "as many texts as blocks, one unit": drawn(4, 4, 1),
        "memories far from 0": drawn(2, 4, 3, scale=6.0),
    }


def gru_step(
    x: Float[Tensor, "batch inputs"], h: Float[Tensor, "batch hidden"], W: Float[Tensor, "rows inputs"],
    U: Float[Tensor, "rows hidden"], b: Float[Tensor, "rows"],
) -> Float[Tensor, "batch hidden"]:
    """One step of a GRU, in the textbooks' form: the next state.

    W, U and b hold three blocks of ``hidden`` rows each, in this order: the reset gate r, the update
    gate z, the candidate n. The gates r and z are the sigmoid of W x + U h + b, each in its block.
    The candidate sees what the reset gate leaves of the state: n = tanh(W x + U (r∘h) + b), where ∘
    multiplies number by number. The new state is a mixture: (1 − z)∘h + z∘n.
    """
    hidden = h.shape[1]
    (Wg, Wn), (Ug, Un), (bg, bn) = (part.split([2 * hidden, hidden]) for part in (W, U, b))
    r, z = (x @ Wg.T + h @ Ug.T + bg).sigmoid().chunk(2, dim=-1)
    n = (x @ Wn.T + (r * h) @ Un.T + bn).tanh()
    return (1 - z) * h + z * n


def draw_grus(rng: Generator) -> Probes:
    """Inputs for 01.2: name → (x, h, W, U, b)."""
    def drawn(batch: int, inputs: int, hidden: int) -> tuple[Tensor, ...]:
        return (randn(batch, inputs, generator=rng), randn(batch, hidden, generator=rng),
                randn(3 * hidden, inputs, generator=rng), randn(3 * hidden, hidden, generator=rng),
                randn(3 * hidden, generator=rng))

    return {
        "one text, one number, one unit": drawn(1, 1, 1),
        "two texts, four numbers, five units": drawn(2, 4, 5),
        "as many texts as numbers and units": drawn(3, 3, 3),
    }


def through_time(
    states: Float[Tensor, "time hidden"], U: Float[Tensor, "hidden hidden"],
) -> Float[Tensor, "hidden hidden"]:
    """How a change of the first state moves the last: the matrix ∂h_last / ∂h_first of an RNN.

    ``states`` are h_0, h_1 … of a network that steps as h_t = tanh(W x_t + U h_(t−1) + b). Row i,
    column j of the answer says how much unit i of the last state moves with unit j of the first.
    The step to h_t multiplies by diag(1 − h_t²) U, from the left; diag(v) is the matrix with v on
    its diagonal and 0 elsewhere. With a single state nothing has moved yet: the identity.
    """
    product = torch.eye(len(U), dtype=U.dtype)
    for h in states[1:]:
        product = torch.diag(1 - h ** 2) @ U @ product
    return product


def draw_states(rng: Generator) -> Probes:
    """Inputs for 01.3: name → (states [time hidden], U)."""
    def drawn(time: int, hidden: int) -> tuple[Tensor, Tensor]:
        return randn(time, hidden, generator=rng).tanh(), 1.5 * randn(hidden, hidden, generator=rng) / hidden ** 0.5

    return {
        "one step, two units": drawn(2, 2),
        "four steps, three units": drawn(5, 3),
        "as many states as units": drawn(4, 4),
        "a single state": drawn(1, 3),
    }


def clip(gradients: tuple[Tensor, ...], most: float) -> tuple[Tensor, ...]:
    """Gradients, made shorter where they are too long (Pascanu et al. 2013, algorithm 1).

    ``gradients`` has a tensor for each of a model's weights, as torch.autograd.grad gives them. Their
    norm is that of one long vector with all their numbers: the root of the sum of all squares. Where
    it is above ``most``, all tensors are multiplied by the same number, so that it becomes ``most``;
    else they stay as they are.
    """
    norm = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    return tuple(gradient * (most / norm).clamp(max=1) for gradient in gradients)


def joined(gradients: tuple[Tensor, ...]) -> Tensor:
    """Concatenate all gradients into one flat vector."""
    return torch.cat([gradient.flatten() for gradient in gradients])


def draw_gradients(rng: Generator) -> Probes:
    """Inputs for 01.4: name → (gradients, the maximum norm)."""
    def drawn(*shapes: tuple[int, ...]) -> tuple[Tensor, ...]:
        return tuple(randn(shape, generator=rng) for shape in shapes)

    return {
        "two numbers in two tensors": ((torch.tensor([3.0]), torch.tensor([4.0])), 1.0),
        "a matrix and a bias": (drawn((3, 2), (3,)), 0.5),
        "shorter than the limit": (tuple(part / 10 for part in drawn((2, 2), (2,))), 5.0),
        "all below 0, one long and one short": ((-10 * drawn((4,))[0].abs(), -drawn((2, 3))[0].abs() / 10), 2.0),
        "all zeros": ((torch.zeros(2), torch.zeros(1, 2)), 1.0),
    }


def last_states(
    shown: Float[Tensor, "batch time hidden"], lengths: Int[Tensor, "batch"],
) -> Float[Tensor, "batch hidden"]:
    """The state after each text's last word, from the states at all steps of a padded batch.

    Text i has ``lengths[i]`` words, at least one. They begin at step 0. Behind them stands padding,
    and what is shown there counts for nothing.
    """
    return shown[torch.arange(len(shown)), lengths - 1]


def draw_padded(rng: Generator) -> Probes:
    """Inputs for 01.5: name → (hidden states at all time steps, lengths)."""
    def drawn(time: int, hidden: int, *lengths: int) -> tuple[Tensor, Tensor]:
        return randn(len(lengths), time, hidden, generator=rng), torch.tensor(lengths)

    zeros, ends = drawn(5, 3, 3, 5, 2)
    for text, end in zip(zeros, ends.tolist(), strict=True):
        text[end:] = 0
    zeros[0, ends[0] - 1] = 0
    return {
        "two texts, two units": drawn(3, 2, 3, 1),
        "four texts, three units": drawn(5, 3, 2, 5, 5, 1),
        "as many texts as steps": drawn(4, 5, 4, 1, 3, 2),
        "no padding": drawn(3, 2, 3, 3),
        "padding behind the longest text too": drawn(6, 3, 4, 2, 3),
        "padding of zeros, and a last state of zeros": (zeros, ends),
    }


def forget_bias(steps: int, left: float) -> float:
    """The bias of a forget gate that leaves so much of a memory after so many steps.

    Nothing comes in, and the gate sees nothing but its bias b: each step multiplies the memory by
    σ(b) = 1 / (1 + e^−b). After ``steps`` steps the share ``left`` of it, between 0 and 1, is still
    there. Give b.
    """
    gate = torch.tensor(left, dtype=torch.float64) ** (1 / steps)
    return float(gate.logit())


def draw_times(_: Generator) -> Probes:
    """Inputs for 01.6: name → (number of steps, the fraction that is left)."""
    return {
        "half after one step": (1, 0.5),
        "half after two steps": (2, 0.5),
        "a hundredth after one step": (1, 0.01),
        "a tenth after five steps": (5, 0.1),
        "nine tenths after a hundred steps": (100, 0.9),
        "half after a hundred million steps": (10 ** 8, 0.5),
    }


EXERCISES = (
    Exercise(
        "01.1", "one step of an LSTM", lstm_step, draw_lstms,
        mistakes={
            "W @ x is for a single vector; x holds a text in each row, and that is x @ W.T":
                edit("x @ W.T + h @ U.T", "W @ x + U @ h"),
            ".chunk(4) cuts the first axis, which holds the texts; the blocks lie in the last: .chunk(4, -1)":
                edit("dim=-1", "dim=0"),
            "a view to [… 4] takes every fourth number; a block is `hidden` numbers side by side, as .chunk(4, -1) "
            "cuts them": edit(".chunk(4, dim=-1)", ".unflatten(-1, (-1, 4)).unbind(-1)"),
            "the blocks are in another order: they are i, f, g, o, and g and o have changed places":
                edit("i, f, g, o", "i, f, o, g"),
            "the candidate is bounded by a sigmoid; tanh lets the memory fall as well as rise":
                edit("g.tanh()", "g.sigmoid()"),
            "the gates' sigmoid is missing": edit("f.sigmoid()", "f", "i.sigmoid()", "i", "o.sigmoid()", "o"),
            "1 − f of the old memory is kept; f is the share that stays, though it is called the forget gate":
                edit("f.sigmoid()", "(1 - f.sigmoid())"),
            "1 is added in the forget gate; some libraries do so, here the bias b says all":
                edit("f.sigmoid()", "(f + 1).sigmoid()"),
            "the new memory is shown without its tanh": edit("c.tanh(), c", "c, c"),
            "the state shows the old memory; it shows the new one":
                edit("c = ", "new = ", "c.tanh(), c", "c.tanh(), new"),
        },
        properties={
            "a number of the state lies beyond −1 and 1: a gate and a tanh cannot make that":
                lambda out, *_: bool((out[0].abs() <= 1 + 1e-4).all()),
            "the memory has grown by more than 1: a gate times a tanh cannot make that":
                lambda out, x, h, c, *_: bool((out[1].abs() <= c.abs() + 1 + 1e-4).all()),
        },
        hints=(
            "Take one text and two units. How many numbers does W x + U h + b have, and which of them belong to the "
            "forget gate? (In the chapter's loop x_t is one vector, and the axis to cut is the only one. Here each row "
            "of x is a text, and so is each row of the answer: what has to stand on the left of @?)",
            "Make all four blocks at once, [batch rows], and cut that into four pieces. Three pieces become gates, one "
            "becomes the candidate. The new memory must be there before the new state.",
            "x holds texts in its rows, so W x of all texts is x @ W.T. .chunk(4, dim=-1) cuts the last axis into "
            "four. .sigmoid() and .tanh() bound numbers; * multiplies number by number.",
        ),
    ),
    Exercise(
        "01.2", "one step of a GRU", gru_step, draw_grus,
        mistakes={
            "this is PyTorch's GRU, which is another one: there r comes after the matrix, and z is the share of the "
            "old state": edit("(r * h) @ Un.T", "r * (h @ Un.T)", "(1 - z) * h + z * n", "z * h + (1 - z) * n"),
            "the reset gate comes after the matrix, as PyTorch has it; here it is applied to the state, before U":
                edit("(r * h) @ Un.T", "r * (h @ Un.T)"),
            "the reset gate comes after the matrix and its bias, as PyTorch has it; here it is applied to the state, "
            "before U": edit("(r * h) @ Un.T + bn", "r * (h @ Un.T + bn)"),
            "the reset gate resets the input, W x; it resets the state, and the input is always read in full":
                edit("x @ Wn.T + (r * h)", "r * (x @ Wn.T) + h"),
            "nothing is reset: the candidate sees the whole state": edit("(r * h)", "h"),
            "the shares have changed places: z is that of the candidate, 1 − z that of the old state":
                edit("(1 - z) * h + z * n", "z * h + (1 - z) * n"),
            "what the reset gate has left of the state is mixed in; the mixture takes the state itself":
                edit("(1 - z) * h", "(1 - z) * r * h"),
            "1 − z needs its brackets: 1 - z * h takes z∘h away from 1": edit("(1 - z)", "1 - z"),
            "the gates have changed places: r, the first block, resets, and z mixes": edit("r, z =", "z, r ="),
            "the candidate is bounded by a sigmoid; tanh lets the state fall as well as rise": edit("tanh", "sigmoid"),
        },
        properties={
            "a number is farther from 0 than the old state and than 1: a mixture lies between what it mixes":
                lambda out, x, h, *_: bool((out.abs() <= h.abs().clamp(min=1) + 1e-4).all()),
        },
        hints=(
            "Which of the three blocks can be made from h, and which must wait until r is known?",
            "First the two gates, from the first 2 · hidden rows. Then the candidate, from the last rows, which see "
            "r∘h where the gates saw h. Last the mixture, of the candidate and of the h that was given.",
            "W[: 2 * hidden] and W[2 * hidden :] are rows for the gates and for the candidate; U and b are cut in the "
            "same way. .chunk(2, dim=-1) cuts r from z.",
        ),
    ),
    Exercise(
        "01.3", "the gradient through time", through_time, draw_states,
        mistakes={
            "the steps stand in the wrong order: the latest comes first, from the left":
                edit("torch.diag(1 - h ** 2) @ U @ product", "product @ torch.diag(1 - h ** 2) @ U"),
            "the slopes are missing: this is U alone, to a power": edit("torch.diag(1 - h ** 2) @ ", ""),
            "it begins with ones; the identity has ones on its diagonal only: torch.eye":
                edit("torch.eye(len(U), dtype=U.dtype)", "torch.ones_like(U)"),
            "the slopes stand in the columns of U; a slope belongs to the unit that moves, a row":
                edit("torch.diag(1 - h ** 2) @ U", "U @ torch.diag(1 - h ** 2)"),
            "U is transposed: a step is diag(1 − h²) U": edit("@ U", "@ U.T"),
            "* multiplies number by number; steps are multiplied as matrices, @": edit("U @ product", "U * product"),
            "the slope of tanh is 1 − h², and h is the state already; yours takes tanh once more":
                edit("h ** 2", "h.tanh() ** 2"),
            "the slopes are of the states that the steps leave; they are of those that the steps reach":
                edit("states[1:]", "states[:-1]"),
            "the first state counts as a step; the change begins there": edit("states[1:]", "states"),
            "only the last step counts; all steps since the first are multiplied. Is the identity made anew inside the "
            "loop?": edit(" @ product", ""),
        },
        properties={
            "with a single state nothing has moved yet: that is the identity": lambda out, states, U:
                len(states) > 1 or torch.allclose(out, torch.eye(len(U), dtype=U.dtype), atol=1e-4),
        },
        hints=(
            "From h_0 to h_2 there are two steps. Which two matrices are multiplied, and which of them stands on the "
            "left?",
            "Begin with the identity. For each state but the first, multiply what you have by that step's matrix, "
            "which goes to the left of it.",
            "torch.eye(n) is the identity, torch.diag(v) puts a vector on a diagonal, states[1:] leaves the first "
            "out, @ multiplies matrices.",
        ),
    ),
    Exercise(
        "01.4", "clipping the gradient", clip, draw_gradients,
        mistakes={
            "each tensor is shortened for itself, so that the direction changes; there is one norm for all":
                edit("most / norm", "most / gradient.norm().clamp(min=1e-6)"),
            "each number is cut off at the limit, so that the direction changes; it is the norm that is limited":
                edit("gradient * (most / norm).clamp(max=1)", "gradient.clamp(-most, most)"),
            "short gradients are made longer: below the limit they stay as they are":
                edit("(most / norm).clamp(max=1)", "(most / norm.clamp(min=1e-6))"),
            "the factor stands on its head: it is the limit divided by the norm":
                edit("(most / norm).clamp(max=1)", "(norm / most if norm > most else 1)"),
            "they are divided by the norm: their length is 1, whatever the limit":
                edit("(most / norm).clamp(max=1)", "(1 / norm if norm > most else 1)"),
            "nothing is shortened. Is it clip_grad_norm_? It reads the .grad of weights, and shortens that in place; "
            "these tensors are gradients themselves, and have none": edit(" * (most / norm).clamp(max=1)", ""),
            "this is what clip_grad_norm_ gives back: a norm, here 0. It reads the .grad of weights, and shortens that "
            "in place; these tensors are gradients themselves, and have none":
                edit("tuple(gradient * (most / norm).clamp(max=1) for gradient in gradients)",
                     "torch.nn.utils.clip_grad_norm_(gradients, most)"),
            "the square root is missing: this is the norm's square": edit(".norm()", ".square().sum()"),
            "the squares are averaged; they are added up": edit(".norm()", ".square().mean().sqrt()"),
            "the tensors' norms are added up; their squares are, and then comes the root":
                edit("torch.cat([gradient.flatten() for gradient in gradients]).norm()",
                     "sum(gradient.norm() for gradient in gradients)"),
        },
        properties={
            "the gradients are still longer than the limit":
                lambda out, gradients, most: bool(joined(out).norm() <= most * (1 + 1e-3)),
            "the direction has changed: all numbers are to be multiplied by the same one": lambda out, gradients, most:
                bool(joined(out) @ joined(gradients) >= (1 - 1e-4) * joined(out).norm() * joined(gradients).norm()),
        },
        hints=(
            "Two weights have the gradients 3 and 4, and the limit is 1. How long is the vector (3, 4), and what does "
            "it become?",
            "There is one norm, and so one factor for all tensors: the limit divided by the norm. When must the "
            "factor be 1 instead?",
            ".flatten() lays a tensor in a row, torch.cat joins rows, .norm() is the root of the sum of squares. "
            ".clamp(max=…) keeps a number from being larger; tuple(… for … in …) makes the answer.",
        ),
    ),
    Exercise(
        "01.5", "the state after the last word", last_states, draw_padded,
        mistakes={
            "the last step is taken; behind a short text it holds padding":
                edit("torch.arange(len(shown)), lengths - 1", ":, -1"),
            "every text is read at the step where the longest ends; each has a length of its own":
                edit("torch.arange(len(shown)), lengths", ":, lengths.max()"),
            "it is one step too far: steps count from 0, so a text of three words has its last in step 2":
                edit(" - 1", ""),
            "it is one step too far where there is padding, and right only where there is none: the last word is in "
            "step lengths − 1": edit("lengths - 1", "lengths.clamp(max=shown.shape[1] - 1)"),
            "the last state that is not zero is taken; padding need not be zeros, and a state may be: `lengths` says "
            "where to look": edit("lengths - 1", "(shown != 0).any(-1).cumsum(1).argmax(1)"),
            "every text is read at every text's step: shown[:, lengths − 1] is [batch batch hidden]; each text has one "
            "step": edit("torch.arange(len(shown))", ":"),
            "texts are picked, not steps: the first axis is the batch, and lengths − 1 belongs to the second":
                edit("torch.arange(len(shown)), ", ""),
            "text and step have changed places: the first axis is the batch":
                edit("torch.arange(len(shown)), lengths - 1", "lengths - 1, torch.arange(len(shown))"),
            "only the first unit is gathered: .gather gives as many units as its index has, so expand that to all of "
            "them": edit("[torch.arange(len(shown)), lengths - 1]", ".gather(1, (lengths - 1)[:, None, None])[:, 0]"),
            "this is the mean over the words; asked is the state after the last one":
                edit("shown[torch.arange(len(shown)), lengths - 1]",
                     "torch.stack([text[:n].mean(0) for text, n in zip(shown, lengths, strict=True)])"),
        },
        properties={
            "what is given for a text is none of its words' states": lambda out, shown, lengths: bool(
                (((shown - out[:, None]).abs().amax(-1) < 1e-4)
                 & (torch.arange(shown.shape[1]) < lengths[:, None])).any(1).all()),
        },
        hints=(
            "A text has three words. In which step is its last one, when steps count from 0?",
            "Each text needs one step, its own. So ask for pairs: text 0 and its step, text 1 and its step, and so on.",
            "table[rows, columns] with two lists of ids, equally long, takes pairs. torch.arange(n) is 0, 1 … n − 1.",
        ),
    ),
    Exercise(
        "01.6", "how long a memory lasts", forget_bias, draw_times,
        mistakes={
            "float32 has too few digits for a gate so near 1, which it rounds to 1: use Python's numbers, or "
            "dtype=torch.float64": edit(", dtype=torch.float64", ""),
            "this is the gate; the bias is the number whose sigmoid it is": edit(".logit()", ""),
            "this is the sigmoid of the gate; the bias goes the other way, from the gate back through the sigmoid":
                edit("logit", "sigmoid"),
            "this is the logarithm of the gate; the sigmoid is undone by the logarithm of gate / (1 − gate)":
                edit("logit", "log"),
            "1 − gate needs its brackets: gate / 1 − gate is 0, and its logarithm is −∞":
                edit("gate.logit()", "(gate / 1 - gate).log()"),
            "the root is missing: so much is left after a single step": edit(" ** (1 / steps)", ""),
            "** binds tighter than /: left ** 1 / steps is left divided by steps; write left ** (1 / steps)":
                edit("(1 / steps)", "1 / steps"),
            "this is a power; a gate that is multiplied so many times to give `left` is its root":
                edit("(1 / steps)", "steps"),
            "every step takes away the same amount; a gate takes away the same share of what is still there":
                edit("torch.tensor(left", "1 - (1 - torch.tensor(left", " ** (1 / steps)", ") / steps"),
            "`left` is taken for what is lost": edit("(left,", "(1 - left,"),
        },
        hints=(
            "A gate of 0.9 multiplies the memory at every step. How much is left after two steps, and after three? "
            '(Where Python says "math domain error", a logarithm was asked of 0 or of less: print what stands in its '
            "brackets. a / 1 - b divides first, so 0.9 / 1 - 0.9 is 0.)",
            "First find the gate: multiplied by itself so many times, it gives `left`. Then find the number whose "
            "sigmoid is that gate.",
            "a ** (1 / n) is the n-th root. The sigmoid's way back is called logit: it is the logarithm of "
            "gate / (1 − gate), and torch.logit does it for a tensor. A gate near 1 needs all its digits: float64.",
        ),
    ),
)
