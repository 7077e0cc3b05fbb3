"""The item *shapes*: an equation is a small function with jaxtyping axes, evaluated with sizes that all differ."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.chapters.ch19.finding import NOTHING, Finding

SIZES = {"source": 5, "target": 3, "model": 7, "hidden": 11, "key": 13, "vocab": 17, "weights": 19, "parameters": 23,
         "doc": 29, "query": 31}
"""The size of each axis. All differ, so that an axis cannot be confused with another."""


@dataclass(frozen=True)
class Equation:
    """An equation as it is printed: where, the function whose annotations are its axes, and its smallest repair."""

    where: str
    written: Callable[..., Tensor]
    repair: str = NOTHING
    repaired: Callable[..., Tensor] | None = None
    open: str = NOTHING


def shape_error(equation: Callable[..., Tensor]) -> str:
    """Evaluate an equation on random inputs with the shapes of its annotations. Returns the reason why this fails, or
    the difference of its result from the annotated shape, with the names of the axes; "" if the shapes are correct."""
    function = inspect.unwrap(equation)  # without the run-time checks of the tests
    hints = dict(function.__annotations__)
    expected = tuple(SIZES[axis] for axis in hints.pop("return").dim_str.split())
    generator = torch.Generator().manual_seed(0)
    inputs = [torch.randn([SIZES[axis] for axis in hint.dim_str.split()], generator=generator, dtype=torch.float64)
              for hint in hints.values()]
    try:
        result = function(*inputs)
    except RuntimeError as error:
        return _named(str(error).splitlines()[0])
    if tuple(result.shape) == expected:
        return ""
    return _named(f"the result is {list(result.shape)}; the left side is {list(expected)}")


def _named(message: str) -> str:
    axes = {str(size): axis for axis, size in SIZES.items()}
    shapes = re.sub(r"\b\d+\b", lambda size: axes.get(size[0], size[0]), message)
    return re.sub(r"The size of tensor a \((\w+)\).*tensor b \((\w+)\).*", r"element-wise operation of axes \1 and \2",
                  shapes).replace("[]", "a scalar").replace(",", "")


def check_shapes(equation: Equation) -> Finding:
    """The finding on one equation. Raises ValueError if its repair cannot be evaluated either."""
    error = shape_error(equation.written)
    if equation.repaired and (still := shape_error(equation.repaired)):
        raise ValueError(f"the repair of {equation.where} cannot be evaluated either: {still}")
    return Finding("shapes", equation.where, error or "can be evaluated", not error, equation.repair, equation.open)


def fixed_context(h: Float[Tensor, "source hidden"]) -> Float[Tensor, " hidden"]:
    """§2.2.1: the context c = [h_1, …, h_T], "of fixed length"."""
    return h


def mean_context(h: Float[Tensor, "source hidden"], alpha: Float[Tensor, " source"]) -> Float[Tensor, " hidden"]:
    """Repaired: the context Σ_j α_j h_j."""
    return alpha @ h


def gated_embedding(y: Float[Tensor, "model"], alpha: Float[Tensor, " source"]) -> Float[Tensor, "model"]:
    """Eq. 1, the argument of the MLP: E(y) ⊙ α."""
    return y * alpha


def gated_by_context(y: Float[Tensor, "model"], alpha: Float[Tensor, " source"], h: Float[Tensor, "source model"],
                     ) -> Float[Tensor, "model"]:
    """Repaired: E(y) ⊙ Σ_j α_j h_j."""
    return y * (alpha @ h)


def attention_weights(h: Float[Tensor, " hidden"], mixed: Float[Tensor, " hidden"], y: Float[Tensor, "model"],
                      W: Float[Tensor, "key hidden"], U: Float[Tensor, "key hidden"], X: Float[Tensor, "key model"],
                      V: Float[Tensor, "weights key"]) -> Float[Tensor, " source"]:
    """§2.2.3: w̃, with V of the "size of the attention weights", and no index of a source position."""
    return (V @ (W @ h + U @ mixed + X @ y).relu()).softmax(0)


def additive_weights(h: Float[Tensor, " hidden"], memory: Float[Tensor, "source hidden"], y: Float[Tensor, "model"],
                     W: Float[Tensor, "key hidden"], U: Float[Tensor, "key hidden"], X: Float[Tensor, "key model"],
                     v: Float[Tensor, "key"]) -> Float[Tensor, " source"]:
    """Repaired: v · ReLU(W h + U h_j + X y) for every source position j."""
    return ((W @ h + memory @ U.T + X @ y).relu() @ v).softmax(0)


def loss_of_weights(w: Float[Tensor, " source"]) -> Float[Tensor, ""]:
    """§2.2.3: −log σ(w̃), the loss of one token."""
    return -w.softmax(0).sigmoid().log()


def loss_of_logits(logits: Float[Tensor, "vocab"]) -> Float[Tensor, ""]:
    """Repaired: −log of the softmax of the MLP's output, at the target."""
    return -logits.log_softmax(0)[0]


def gradient_as_loss(logp: Float[Tensor, " target"], theta: Float[Tensor, " parameters"],
                     ) -> Float[Tensor, " parameters"]:
    """§2.2.3: ∇_θ L = −1/T Σ_t log p(y_t)."""
    return -logp.mean()


def gradient_of_loss(jacobian: Float[Tensor, "target parameters"]) -> Float[Tensor, " parameters"]:
    """Repaired: ∇_θ L = −1/T Σ_t ∇_θ log p(y_t)."""
    return -jacobian.mean(0)


def slow_scores(q: Float[Tensor, "target hidden"], k: Float[Tensor, "source hidden"], A: Float[Tensor, "key hidden"],
                B: Float[Tensor, "key hidden"]) -> Float[Tensor, "target source"]:
    """§3.1: e_ij = ‖ReLU(A q_i + B k_j)‖₂ / √d_key."""
    return ((q @ A.T)[:, None] + k @ B.T).relu().norm(dim=-1) / sqrt(len(A))


def connected_scores(q: Float[Tensor, "target source"], k: Float[Tensor, "source vocab"],
                     U: Float[Tensor, "target vocab"], bias: Float[Tensor, ""],
                     ) -> Float[Tensor, "target source vocab"]:
    """§3.3: QueryMap_μm · KeyMap_νn + U_μn + bias, with the indices (μm, n) of the left side."""
    return q[:, :, None] * k + U + bias


def position_scores(q: Float[Tensor, "target key"], k: Float[Tensor, "source key"], U: Float[Tensor, "target source"],
                    bias: Float[Tensor, ""]) -> Float[Tensor, "target source"]:
    """Repaired: q_μ · k_ν + U_μν + bias."""
    return q @ k.T + U + bias


NOTE = (
    Equation("§2.2.1, c = [h_1 … h_T], a vector of fixed length", fixed_context, "a weighted mean of the h_j",
             mean_context),
    Equation("Eq. 1, E(y) ⊙ α", gated_embedding, "α is replaced by the context Σ α_j h_j", gated_by_context,
             "what the authors multiplied"),
    Equation("§2.2.3, w̃", attention_weights, "one score per source position j", additive_weights),
    Equation("§2.2.3, −log σ(w̃) is a loss", loss_of_weights, "cross-entropy of the MLP's output", loss_of_logits,
             "how w̃ would give a distribution over tokens"),
    Equation("§2.2.3, ∇L = −1/T Σ log p", gradient_as_loss, "the right side is L; take its gradient", gradient_of_loss),
    Equation("§3.1, e_ij", slow_scores, open="MultiHeadMatMul has no formula"),
    Equation("§3.3, Ω∘(h, x)", connected_scores, "inner product; U has an element per pair of positions",
             position_scores, "whether x is the source or the target so far"),
)
"""The equations of the study note."""


def attention(q: Float[Tensor, "target key"], k: Float[Tensor, "source key"], v: Float[Tensor, "source hidden"],
              ) -> Float[Tensor, "target hidden"]:
    """Vaswani et al. 2017, eq. 1."""
    return (q @ k.T / sqrt(k.shape[1])).softmax(1) @ v


def query_stream(g: Float[Tensor, "key"], h: Float[Tensor, "source key"]) -> Float[Tensor, "key"]:
    """Yang et al. 2019, §2.3: g_{z_t} attends to the content h of the positions before z_t, with one head and without
    projections."""
    return (h @ g / sqrt(len(g))).softmax(0) @ h


def marginal(x: Float[Tensor, "key"], z: Float[Tensor, "doc key"], p: Float[Tensor, "doc"]) -> Float[Tensor, ""]:
    """Guu et al. 2020, eqs. 1 and 2: p(y|x) = Σ_z p(y|z,x) softmax_z(Embed(x) · Embed(z))."""
    return p @ (z @ x).softmax(0)


PAPERS = {"attention": (Equation("Eq. 1", attention),), "XLNet": (Equation("§2.3, g_{z_t}", query_stream),),
          "REALM": (Equation("§3.1 and §3.2, p(y|x)", marginal),)}
"""The central equations of three papers of this course."""
