"""The Shape X-ray: every intermediate tensor of multi-head attention, with the elements that belong to one token."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import torch
import traitlets
from einops import einsum, rearrange
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.interpret import intervene, watch
from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.shape_xray.state import State, Tensors
from plmlab.labs.shared.notes import empty, left_out
from plmlab.labs.shared.tokens import names_of
from plmlab.layers.attention import MultiHeadAttention
from plmlab.layers.positions import sinusoid
from plmlab.text.printable import printable
from plmlab.visibility import AttentionMask

SENTENCE = "the cat sat on the mat"
WIDEST = 16
"""Maximum dimension of a token vector: each element is drawn as a cell."""

Read = Callable[[str], tuple[Sequence[str], Tensor]]
"""Maps a text to its tokens and their vectors, one row per token."""


def word_vectors(width: int, seed: int = 0) -> Read:
    """An untrained embedding function: a random vector per word plus the sinusoidal encoding of its position."""
    def read(text: str) -> tuple[Sequence[str], Float[Tensor, "time model"]]:
        tokens = text.split()
        words = {word: i for i, word in enumerate(dict.fromkeys(tokens))}
        vectors = torch.randn(len(words), width, generator=torch.Generator().manual_seed(seed))
        ids = torch.tensor([words[token] for token in tokens], dtype=torch.long)
        return tokens, vectors[ids] + sinusoid(torch.arange(len(tokens)), width)
    return read


def small_attention(width: int = 8, heads: int = 2, seed: int = 0) -> MultiHeadAttention:
    """Multi-head attention with random weights that are large enough for the attention to be non-uniform."""
    with torch.random.fork_rng(devices=[]):
        module = MultiHeadAttention(width, heads)
    generator = torch.Generator().manual_seed(seed)
    for linear in (module.q, module.k, module.v, module.out):
        nn.init.normal_(linear.weight, std=1.1 * width ** -0.5, generator=generator)
        nn.init.normal_(linear.bias, std=0.1, generator=generator)
    return module


def split_by_view(
    split: Float[Tensor, "batch head time width"] | Int[Tensor, "batch head time width"],
) -> Float[Tensor, "batch head time width"] | Int[Tensor, "batch head time width"]:
    """Convert a correctly split projection to the result of ``projection.view(batch, head, time, width)``.

    The shape is the same, but ``view`` keeps the order of the elements: it fills head 0 with the first tokens of the
    text, whereas ``view(batch, time, head, width).transpose(1, 2)`` gives each head a slice of every token.
    """
    projection = rearrange(split, "batch head time width -> batch time (head width)")
    return projection.contiguous().view(split.shape)


SPLITS: dict[str, Callable[[Tensor], Tensor] | None] = {"right": None, "wrong": split_by_view}
"""The function applied to the projections after ``forward`` has split them into heads."""


@dataclass(frozen=True)
class Pass:
    """All tensors of one forward pass of one sentence through an attention module.

    ``sources`` gives, for each element after the split, its index in the projection: position · model + column.
    ``parts`` holds the contribution of each token to each element of the output; the contributions and the bias add up
    to the output.
    """

    q: Float[Tensor, "time model"]
    k: Float[Tensor, "time model"]
    v: Float[Tensor, "time model"]
    queries: Float[Tensor, "head time width"]
    keys: Float[Tensor, "head time width"]
    values: Float[Tensor, "head time width"]
    sources: Int[Tensor, "head time width"]
    scores: Float[Tensor, "head query key"]
    weights: Float[Tensor, "head query key"]
    mixed: Float[Tensor, "head query width"]
    joined: Float[Tensor, "query model"]
    out: Float[Tensor, "query model"]
    parts: Float[Tensor, "token query model"]

    @property
    def holders(self) -> Int[Tensor, "head time width"]:
        """The position of the token that each element after the split belongs to."""
        return self.sources // self.q.shape[1]

    def leaks(self) -> int:
        """The number of rows, over all heads, into which information from a later token leaks."""
        heads, time, _ = self.holders.shape
        key = self.holders[:, None, :, 0].expand(heads, time, time)
        later = key > torch.arange(time)[None, :, None]
        return int(((self.weights > 0) & later).any(-1).sum())


def follow(module: MultiHeadAttention, x: Float[Tensor, "time model"], attn_mask: AttentionMask,
           after_split: Callable[[Tensor], Tensor] | None = None) -> Pass:
    """Run the module on x and record all tensors; ``after_split`` optionally changes the split projections."""
    training, x = module.training, x.to(module.q.weight)
    points = dict.fromkeys(("queries", "keys", "values"), after_split)
    reach_in = intervene(module, points) if after_split else nullcontext()  # type: ignore[arg-type]
    module.eval()
    try:
        with torch.no_grad():
            projections = {name: getattr(module, name)(x).cpu() for name in "qkv"}
            with reach_in, watch(module) as seen:
                out = module(x[None], attn_mask)[0].cpu()
    finally:
        module.train(training)
    tensors = {name: seen[name][0].cpu() for name in ("queries", "keys", "values", "scores", "weights", "mixed")}
    index = torch.arange(x.numel()).view(1, *x.shape)
    sources = rearrange(index, "batch time (head width) -> batch head time width", head=module.heads)
    sources = (after_split(sources) if after_split else sources)[0]
    matrix = module.out.weight.detach().cpu()
    return Pass(**projections, **tensors, sources=sources, out=out,
                joined=rearrange(tensors["mixed"], "head query width -> query (head width)"),
                parts=parts_of(tensors["weights"], tensors["values"], sources // x.shape[1], matrix))


def parts_of(weights: Float[Tensor, "head query key"], values: Float[Tensor, "head key width"],
             holders: Int[Tensor, "head key width"], out: Float[Tensor, "model model"],
             ) -> Float[Tensor, "token query model"]:
    """The contribution of each token to the output: its values, weighted, concatenated and projected, without those of
    other tokens."""
    token = torch.arange(values.shape[1])
    alone = values * (holders == token[:, None, None, None])
    mixed = einsum(weights, alone, "head query key, token head key width -> token head query width")
    return rearrange(mixed, "token head query width -> token query (head width)") @ out.T


def check_drawable(module: MultiHeadAttention) -> int:
    """Return the module's width. Raises ValueError if the module is not a plain MultiHeadAttention or is too wide."""
    if type(module) is not MultiHeadAttention:
        raise ValueError("the Shape X-ray shows the code of MultiHeadAttention, which differs from that of "
                         f"{type(module).__name__}: give it a MultiHeadAttention")
    width = module.q.out_features
    if width > WIDEST:
        raise ValueError(f"the Shape X-ray draws each element as a cell, and this attention has {width} dimensions: "
                         f"give it one with at most {WIDEST}, such as MultiHeadAttention(8, 2)")
    return width


class ShapeXray(Lab):
    """The ``forward`` method of multi-head attention, line by line, on real tensors, with the elements of one token
    highlighted. The split into heads is shown twice, once correct and once with the wrong reshape; a switch selects
    which of the two the following lines use.

    ``passes`` holds the tensors of both forward passes, with the keys "right" and "wrong".

    Args:
        text: the initial sentence.
        attention: the attention module; by default, a small module with random weights.
        read: maps a text to its tokens and their vectors; by default, random word vectors.
        causal: whether each word can attend only to itself and earlier words (otherwise, to all words).
        seed: the seed of the random weights and vectors.
        max_tokens: the maximum number of words drawn.
        traits: initial values of other traits: ``followed`` (the position of the highlighted token) and ``wrong``
            (whether lines 4 to 8 use the wrong reshape).
    """

    title = "Shape X-ray"
    module = "shape_xray/lab.js"
    styles = ("shape_xray/lab.css",)
    inputs: ClassVar = ("text", "max_tokens")

    followed = traitlets.Int(2).tag(sync=True)
    wrong = traitlets.Bool(False).tag(sync=True)

    def __init__(self, text: str = SENTENCE, attention: MultiHeadAttention | None = None, read: Read | None = None, *,
                 causal: bool = True, seed: int = 0, max_tokens: int = 8, **traits: Any) -> None:
        self.attention = attention or small_attention(seed=seed)
        self.read = read or word_vectors(check_drawable(self.attention), seed)
        self.causal = causal
        self.passes: dict[str, Pass] = {}
        super().__init__(text=text, max_tokens=max_tokens, **traits)

    @property
    def apart(self) -> float:
        """The relative error of the output if the wrong reshape is used."""
        return apart(self.passes["right"], self.passes["wrong"])

    def summary(self) -> str:
        """The tokens, and the shape of the split projections: head, time, width."""
        if not self.passes:
            return self.message
        right = self.passes["right"]
        heads, time, width = right.queries.shape
        return f"{' '.join(self.state['tokens'])}: head {heads} × time {time} × width {width}"

    def compute(self, change: Change) -> Computed:
        """Run both forward passes on the words that are drawn; the tensors and the state are updated together."""
        tokens, x = self._read()
        shown = slice(0, self.max_tokens)
        passes = {name: follow(self.attention, x[shown], AttentionMask(causal=self.causal), after_split)
                  for name, after_split in SPLITS.items()}
        if not all(bool(passed.out.isfinite().all()) for passed in passes.values()):
            raise ValueError("The output of this attention is not finite (NaN or ∞) and cannot be drawn: check its "
                             "weights and the token vectors.")
        state = self._describe([printable(token) for token in tokens[shown]], x[shown], passes)
        return Computed({"state": state, "followed": min(max(self.followed, 0), len(state["tokens"]) - 1),
                         "message": left_out(len(tokens) - self.max_tokens, self.max_tokens, "word")},
                        {"passes": passes})

    def _read(self) -> tuple[Sequence[str], Tensor]:
        tokens, x = self.read(self.text)
        width = self.attention.q.in_features
        if not tokens:
            raise empty()
        if x.shape != (len(tokens), width):
            raise ValueError(f"`read` returned {len(tokens)} tokens and vectors of shape {tuple(x.shape)}; this "
                             f"attention needs one {width}-dimensional vector per token: {(len(tokens), width)}")
        return tokens, x.detach().float()

    def _describe(self, tokens: list[str], x: Tensor, passes: dict[str, Pass]) -> State:
        right, wrong = passes["right"], passes["wrong"]
        heads, time, width = right.queries.shape
        return {
            "tokens": tokens, "names": names_of(tokens), "heads": heads, "width": width, "causal": self.causal,
            "x": rounded(x), "right": numbers(right), "wrong": numbers(wrong),
            "same": torch.equal(right.sources, wrong.sources), "apart": apart(right, wrong),
            "leaks": wrong.leaks() if self.causal else 0, "rows": heads * time,
        }


def apart(right: Pass, wrong: Pass) -> float:
    """The norm of the difference of two outputs, relative to the norm of the first."""
    return float((wrong.out - right.out).norm() / right.out.norm())


def rounded(tensor: Tensor) -> list[Any]:
    """A tensor as nested lists for JSON, rounded to four decimals."""
    return tensor.double().round(decimals=4).tolist()


def numbers(passed: Pass) -> Tensors:
    """Every tensor of a pass by name, as nested lists for JSON."""
    return cast("Tensors", {name: tensor.tolist() if name == "sources" else rounded(tensor)
                            for name, tensor in vars(passed).items()})
