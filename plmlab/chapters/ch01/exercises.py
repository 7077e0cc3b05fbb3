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
    """One step of an LSTM: the next hidden state and the next cell state, (h, c).

    W, U and b consist of four blocks of ``hidden`` rows each, in this order: the input gate i, the forget
    gate f, the candidate g, the output gate o. The pre-activations of each block are W x + U h + b. The gates
    are their sigmoid, the candidate is their tanh. The new cell state is c = f∘c + i∘g, where ∘ is the
    element-wise product. The new hidden state is h = o∘tanh(c), with the new cell state.
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
        "one text, one input dimension, one unit": drawn(1, 1, 1),
        "three texts, two input dimensions, five units": drawn(3, 2, 5),
        "equal numbers of texts, input dimensions and units": drawn(4, 4, 4),
        "as many texts as blocks, one unit": drawn(4, 4, 1),
        "cell states far from 0": drawn(2, 4, 3, scale=6.0),
    }


def gru_step(
    x: Float[Tensor, "batch inputs"], h: Float[Tensor, "batch hidden"], W: Float[Tensor, "rows inputs"],
    U: Float[Tensor, "rows hidden"], b: Float[Tensor, "rows"],
) -> Float[Tensor, "batch hidden"]:
    """One step of a GRU, in the textbook form: the next hidden state.

    W, U and b consist of three blocks of ``hidden`` rows each, in this order: the reset gate r, the update
    gate z, the candidate n. The gates r and z are the sigmoid of W x + U h + b, each with its own block. The
    candidate depends on the reset hidden state: n = tanh(W x + U (r∘h) + b), where ∘ is the element-wise
    product. The new hidden state interpolates between the two: (1 − z)∘h + z∘n.
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
        "one text, one input dimension, one unit": drawn(1, 1, 1),
        "two texts, four input dimensions, five units": drawn(2, 4, 5),
        "equal numbers of texts, input dimensions and units": drawn(3, 3, 3),
    }


def bptt_jacobian(
    states: Float[Tensor, "time hidden"], U: Float[Tensor, "hidden hidden"],
) -> Float[Tensor, "hidden hidden"]:
    """The gradient through time of an RNN: the Jacobian ∂h_last / ∂h_first.

    ``states`` are h_0, h_1 … of a network with the recurrence h_t = tanh(W x_t + U h_(t−1) + b). Entry (i, j)
    of the result is the derivative of unit i of the last state with respect to unit j of the first. The step
    to h_t multiplies by diag(1 − h_t²) U on the left, where diag(v) is the matrix with v on its diagonal and
    0 elsewhere. For a single state the Jacobian is the identity.
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


def clip_gradients(gradients: tuple[Tensor, ...], max_norm: float) -> tuple[Tensor, ...]:
    """Clip gradients by their global norm (Pascanu et al. 2013, algorithm 1).

    ``gradients`` has one tensor per parameter of a model, as returned by torch.autograd.grad. Their global
    norm is that of all their entries concatenated into one vector: the square root of the sum of all squares.
    If it is above ``max_norm``, all tensors are multiplied by the same factor, so that the norm becomes ``max_norm``;
    otherwise they are unchanged.
    """
    norm = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    return tuple(gradient * (max_norm / norm).clamp(max=1) for gradient in gradients)


def flattened(gradients: tuple[Tensor, ...]) -> Tensor:
    """Concatenate all gradients into one flat vector."""
    return torch.cat([gradient.flatten() for gradient in gradients])


def draw_gradients(rng: Generator) -> Probes:
    """Inputs for 01.4: name → (gradients, the maximum norm)."""
    def drawn(*shapes: tuple[int, ...]) -> tuple[Tensor, ...]:
        return tuple(randn(shape, generator=rng) for shape in shapes)

    return {
        "two numbers in two tensors": ((torch.tensor([3.0]), torch.tensor([4.0])), 1.0),
        "a matrix and a bias": (drawn((3, 2), (3,)), 0.5),
        "a norm below the limit": (tuple(part / 10 for part in drawn((2, 2), (2,))), 5.0),
        "all entries negative, one large norm and one small":
            ((-10 * drawn((4,))[0].abs(), -drawn((2, 3))[0].abs() / 10), 2.0),
        "all gradients zero": ((torch.zeros(2), torch.zeros(1, 2)), 1.0),
    }


def last_states(
    states: Float[Tensor, "batch time hidden"], lengths: Int[Tensor, "batch"],
) -> Float[Tensor, "batch hidden"]:
    """Hidden state after each text's last word, from the states at all steps of a padded batch.

    Text i has ``lengths[i]`` words, at least one, and begins at step 0. It is followed by padding, whose
    states must be ignored.
    """
    return states[torch.arange(len(states)), lengths - 1]


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
        "padding after the longest text too": drawn(6, 3, 4, 2, 3),
        "padding of zeros, and a last state of zeros": (zeros, ends),
    }


def forget_bias(steps: int, fraction: float) -> float:
    """The forget-gate bias with which ``fraction`` of the cell state is left after ``steps`` steps.

    Nothing is added to the cell state, and the gate depends only on its bias b: each step multiplies the cell
    state by σ(b) = 1 / (1 + e^−b). ``fraction`` is between 0 and 1. Return b.
    """
    gate = torch.tensor(fraction, dtype=torch.float64) ** (1 / steps)
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
            "W @ x is for a single vector; each row of x is a text, which needs x @ W.T":
                edit("x @ W.T + h @ U.T", "W @ x + U @ h"),
            ".chunk(4) splits the first axis, which is the batch; the blocks are along the last: .chunk(4, -1)":
                edit("dim=-1", "dim=0"),
            "a view to [… 4] takes every fourth entry; a block is `hidden` contiguous entries, as .chunk(4, -1) "
            "splits them": edit(".chunk(4, dim=-1)", ".unflatten(-1, (-1, 4)).unbind(-1)"),
            "the order of the blocks is i, f, g, o; here g and o are swapped": edit("i, f, g, o", "i, f, o, g"),
            "the candidate uses a sigmoid; with tanh the cell state can decrease as well as increase":
                edit("g.tanh()", "g.sigmoid()"),
            "the sigmoid of the gates is missing": edit("f.sigmoid()", "f", "i.sigmoid()", "i", "o.sigmoid()", "o"),
            "the old cell state is multiplied by 1 − f; f is the fraction that is kept, although it is called the "
            "forget gate": edit("f.sigmoid()", "(1 - f.sigmoid())"),
            "1 is added in the forget gate; some libraries do this, but here the bias is b alone":
                edit("f.sigmoid()", "(f + 1).sigmoid()"),
            "the tanh of the new cell state is missing": edit("c.tanh(), c", "c, c"),
            "the hidden state is computed from the old cell state; use the new one":
                edit("c = ", "new = ", "c.tanh(), c", "c.tanh(), new"),
        },
        properties={
            "an entry of the hidden state is outside −1 … 1, which a gate times a tanh cannot be":
                lambda out, *_: bool((out[0].abs() <= 1 + 1e-4).all()),
            "the cell state has grown by more than 1, which a gate times a tanh cannot add":
                lambda out, x, h, c, *_: bool((out[1].abs() <= c.abs() + 1 + 1e-4).all()),
        },
        hints=(
            "Take one text and two units. How many entries does W x + U h + b have, and which of them belong to the "
            "forget gate? (In the chapter's loop x_t is one vector with a single axis to split. Here each row of x "
            "and of the result is a text: which factor comes first in the matrix product?)",
            "Compute all four blocks at once, [batch rows], and split the result into four. Three parts become gates, "
            "one becomes the candidate. Compute the new cell state before the new hidden state.",
            "The rows of x are texts, so W x for all texts is x @ W.T. .chunk(4, dim=-1) splits the last axis into "
            "four. .sigmoid() and .tanh() are the activation functions; * multiplies element-wise.",
        ),
    ),
    Exercise(
        "01.2", "one step of a GRU", gru_step, draw_grus,
        mistakes={
            "this is PyTorch's GRU, a different variant: there r is applied after the matrix, and z is the weight of "
            "the old state": edit("(r * h) @ Un.T", "r * (h @ Un.T)", "(1 - z) * h + z * n", "z * h + (1 - z) * n"),
            "the reset gate is applied after the matrix, as in PyTorch; here it is applied to the state, before U":
                edit("(r * h) @ Un.T", "r * (h @ Un.T)"),
            "the reset gate is applied after the matrix and its bias, as in PyTorch; here it is applied to the state, "
            "before U": edit("(r * h) @ Un.T + bn", "r * (h @ Un.T + bn)"),
            "the reset gate is applied to the input, W x; apply it to the state only":
                edit("x @ Wn.T + (r * h)", "r * (x @ Wn.T) + h"),
            "nothing is reset: the candidate uses the whole state": edit("(r * h)", "h"),
            "the weights are swapped: z is that of the candidate, 1 − z that of the old state":
                edit("(1 - z) * h + z * n", "z * h + (1 - z) * n"),
            "the interpolation uses the reset state; use the state itself": edit("(1 - z) * h", "(1 - z) * r * h"),
            "1 − z needs parentheses: 1 - z * h subtracts z∘h from 1": edit("(1 - z)", "1 - z"),
            "the gates are swapped: r, the first block, resets, and z interpolates": edit("r, z =", "z, r ="),
            "the candidate uses a sigmoid; with tanh the state can decrease as well as increase":
                edit("tanh", "sigmoid"),
        },
        properties={
            "an entry is farther from 0 than the old state and than 1, so it is not an interpolation":
                lambda out, x, h, *_: bool((out.abs() <= h.abs().clamp(min=1) + 1e-4).all()),
        },
        hints=(
            "Which of the three blocks can be computed from h, and which must wait until r is known?",
            "First compute the two gates, from the first 2 · hidden rows. Then compute the candidate from the last "
            "rows, with r∘h where the gates have h. Finally interpolate between the given h and the candidate.",
            "W[: 2 * hidden] and W[2 * hidden :] are the rows for the gates and for the candidate; U and b are split "
            "in the same way. .chunk(2, dim=-1) separates r from z.",
        ),
    ),
    Exercise(
        "01.3", "the gradient through time", bptt_jacobian, draw_states,
        mistakes={
            "the factors are in the wrong order: the latest step is the leftmost factor":
                edit("torch.diag(1 - h ** 2) @ U @ product", "product @ torch.diag(1 - h ** 2) @ U"),
            "the derivatives of tanh are missing: this is a power of U alone": edit("torch.diag(1 - h ** 2) @ ", ""),
            "the initial matrix is all ones; the identity has ones on its diagonal only: torch.eye":
                edit("torch.eye(len(U), dtype=U.dtype)", "torch.ones_like(U)"),
            "the derivatives of tanh scale the columns of U; each belongs to an output unit, a row":
                edit("torch.diag(1 - h ** 2) @ U", "U @ torch.diag(1 - h ** 2)"),
            "U is transposed: a step is diag(1 − h²) U": edit("@ U", "@ U.T"),
            "* multiplies element-wise; the steps need the matrix product, @": edit("U @ product", "U * product"),
            "the derivative of tanh is 1 − h², and h is already the state; yours takes tanh once more":
                edit("h ** 2", "h.tanh() ** 2"),
            "the derivatives are taken at the state before each step; take them at the state after it":
                edit("states[1:]", "states[:-1]"),
            "the first state counts as a step; there is no step before it": edit("states[1:]", "states"),
            "only the last step counts; multiply all steps. Is the identity created again inside the loop?":
                edit(" @ product", ""),
        },
        properties={
            "for a single state the Jacobian is the identity": lambda out, states, U:
                len(states) > 1 or torch.allclose(out, torch.eye(len(U), dtype=U.dtype), atol=1e-4),
        },
        hints=(
            "From h_0 to h_2 there are two steps. Which two matrices are multiplied, and which of them is on the left?",
            "Start with the identity. For each state except the first, multiply the current product by that step's "
            "matrix, on the left.",
            "torch.eye(n) is the identity, torch.diag(v) puts a vector on a diagonal, states[1:] leaves out the "
            "first, @ is the matrix product.",
        ),
    ),
    Exercise(
        "01.4", "clipping the gradient", clip_gradients, draw_gradients,
        mistakes={
            "each tensor is clipped separately, which changes the direction; use one global norm":
                edit("max_norm / norm", "max_norm / gradient.norm().clamp(min=1e-6)"),
            "each entry is clipped at the limit, which changes the direction; clip the norm instead":
                edit("gradient * (max_norm / norm).clamp(max=1)", "gradient.clamp(-max_norm, max_norm)"),
            "gradients below the limit are scaled up; leave them unchanged":
                edit("(max_norm / norm).clamp(max=1)", "(max_norm / norm.clamp(min=1e-6))"),
            "the factor is inverted: it is the limit divided by the norm":
                edit("(max_norm / norm).clamp(max=1)", "(norm / max_norm if norm > max_norm else 1)"),
            "the gradients are divided by the norm, so that their norm is 1, whatever the limit":
                edit("(max_norm / norm).clamp(max=1)", "(1 / norm if norm > max_norm else 1)"),
            "nothing is clipped. Is it clip_grad_norm_? It clips the .grad of parameters in place; these tensors are "
            "gradients themselves and have none": edit(" * (max_norm / norm).clamp(max=1)", ""),
            "this is what clip_grad_norm_ returns: a norm, here 0. It clips the .grad of parameters in place; these "
            "tensors are gradients themselves and have none":
                edit("tuple(gradient * (max_norm / norm).clamp(max=1) for gradient in gradients)",
                     "torch.nn.utils.clip_grad_norm_(gradients, max_norm)"),
            "the square root is missing: this is the squared norm": edit(".norm()", ".square().sum()"),
            "the squares are averaged; sum them": edit(".norm()", ".square().mean().sqrt()"),
            "the norms of the tensors are summed; sum their squares, then take the square root":
                edit("torch.cat([gradient.flatten() for gradient in gradients]).norm()",
                     "sum(gradient.norm() for gradient in gradients)"),
        },
        properties={
            "the norm of the gradients is still above the limit":
                lambda out, gradients, max_norm: bool(flattened(out).norm() <= max_norm * (1 + 1e-3)),
            "the direction has changed: multiply all entries by the same factor": lambda out, gradients, max_norm:
                bool(torch.cosine_similarity(flattened(out), flattened(gradients), dim=0) >= 1 - 1e-4
                     or not flattened(out).norm() * flattened(gradients).norm()),
        },
        hints=(
            "Two weights have the gradients 3 and 4, and the limit is 1. What is the norm of the vector (3, 4), and "
            "what does the vector become?",
            "There is one norm and therefore one factor for all tensors: the limit divided by the norm. When must the "
            "factor be 1 instead?",
            ".flatten() makes a tensor one-dimensional, torch.cat concatenates, .norm() is the square root of the sum "
            "of squares. .clamp(max=…) is an upper bound; tuple(… for … in …) builds the result.",
        ),
    ),
    Exercise(
        "01.5", "the state after the last word", last_states, draw_padded,
        mistakes={
            "the last time step is used, which is padding for a short text":
                edit("torch.arange(len(states)), lengths - 1", ":, -1"),
            "every text is read at the last step of the longest; each text has its own length":
                edit("torch.arange(len(states)), lengths", ":, lengths.max()"),
            "off by one: steps count from 0, so the last word of a three-word text is at step 2": edit(" - 1", ""),
            "off by one where there is padding, and correct only where there is none: the last word is at step "
            "lengths − 1": edit("lengths - 1", "lengths.clamp(max=states.shape[1] - 1)"),
            "the last non-zero state is taken; padding need not be zero, and a state may be: use `lengths`":
                edit("lengths - 1", "(states != 0).any(-1).cumsum(1).argmax(1)"),
            "every text is read at the last step of every text: states[:, lengths − 1] is [batch batch hidden]; take "
            "one step per text": edit("torch.arange(len(states))", ":"),
            "lengths − 1 indexes the texts; the first axis is the batch, and lengths − 1 indexes the second":
                edit("torch.arange(len(states)), ", ""),
            "text and step are swapped: the first axis is the batch":
                edit("torch.arange(len(states)), lengths - 1", "lengths - 1, torch.arange(len(states))"),
            "only the first unit is gathered: the output of .gather has the shape of its index, so expand the index "
            "to all units":
                edit("[torch.arange(len(states)), lengths - 1]", ".gather(1, (lengths - 1)[:, None, None])[:, 0]"),
            "this is the mean over the words; return the state after the last one":
                edit("states[torch.arange(len(states)), lengths - 1]",
                     "torch.stack([text[:n].mean(0) for text, n in zip(states, lengths, strict=True)])"),
        },
        properties={
            "the result for a text is not a state of any of its words": lambda out, states, lengths: bool(
                (((states - out[:, None]).abs().amax(-1) < 1e-4)
                 & (torch.arange(states.shape[1]) < lengths[:, None])).any(1).all()),
        },
        hints=(
            "A text has three words. At which step is its last word, if steps count from 0?",
            "Each text needs one step, its own. So index with pairs: text 0 and its step, text 1 and its step, and so "
            "on.",
            "table[rows, columns] with two index lists of equal length selects pairs. torch.arange(n) is 0, 1 … n − 1.",
        ),
    ),
    Exercise(
        "01.6", "how long a cell state lasts", forget_bias, draw_times,
        mistakes={
            "float32 is not precise enough for a gate so close to 1 and rounds it to 1: use Python floats or "
            "dtype=torch.float64": edit(", dtype=torch.float64", ""),
            "this is the gate; the bias is the number whose sigmoid is the gate": edit(".logit()", ""),
            "this is the sigmoid of the gate; the bias is the inverse sigmoid of the gate": edit("logit", "sigmoid"),
            "this is the logarithm of the gate; the inverse of the sigmoid is the logarithm of gate / (1 − gate)":
                edit("logit", "log"),
            "1 − gate needs parentheses: gate / 1 − gate is 0, and its logarithm is −∞":
                edit("gate.logit()", "(gate / 1 - gate).log()"),
            "the root is missing: with this bias, `fraction` is left after a single step": edit(" ** (1 / steps)", ""),
            "** binds tighter than /: fraction ** 1 / steps is fraction / steps; write fraction ** (1 / steps)":
                edit("(1 / steps)", "1 / steps"),
            "this is a power of `fraction`; the gate is a root of it, because `steps` factors give `fraction`":
                edit("(1 / steps)", "steps"),
            "every step subtracts the same amount; a gate removes the same fraction of what remains":
                edit("torch.tensor(fraction", "1 - (1 - torch.tensor(fraction", " ** (1 / steps)", ") / steps"),
            "`fraction` is used as the part that is lost; it is the part that is left":
                edit("(fraction,", "(1 - fraction,"),
        },
        hints=(
            "A gate of 0.9 multiplies the cell state at every step. How much is left after two steps, and after "
            'three? ("math domain error" means the logarithm of a number ≤ 0: print its argument. a / 1 - b divides '
            "first, so 0.9 / 1 - 0.9 is 0.)",
            "First find the gate: its power to the number of steps is `fraction`. Then find the number whose sigmoid "
            "is that gate.",
            "a ** (1 / n) is the n-th root. The inverse of the sigmoid is the logit, the logarithm of gate / (1 − "
            "gate); torch.logit computes it for a tensor. A gate close to 1 needs float64.",
        ),
    ),
)
