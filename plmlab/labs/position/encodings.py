"""The positional encodings of the course, each applied to the attention scores of one head with random weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.interpret.watching import watch
from plmlab.labs.position.formulas import alibi, alibi_slopes, rotated
from plmlab.layers.attention import scaled_dot_product
from plmlab.layers.positions import LearnedPositions, sinusoid
from plmlab.layers.relative import TERMS, ShawAttention, TransformerXLAttention, relative_position_bucket

WIDTH = 32
"""Dimension of the token vectors and of the single head."""
ROWS = 48
"""Number of positions in the learned table."""
WINDOW = 4
"""Clipping distance of Shaw's relative positions."""
BUCKETS = 32
SLOPE = alibi_slopes(8)[2]
"""ALiBi's slope for the third of eight heads."""
SPREAD = 0.7
"""Standard deviation of all position parameters that a trained head would have learned: about that of a sinusoid."""
SEED = 20

Vectors = Float[Tensor, "time width"]
Scores = Float[Tensor, "query key"]


class RandomHead:
    """An untrained attention head: token vectors, W_q, W_k and all position parameters are random, with a fixed seed.

    Each positional encoding is a method that maps the vectors of a text to its attention scores, whose magnitude is
    about 1. The head is causal: the scores of later keys are set to 0. All scores are divided by √d, even those of T5,
    whose paper omits this division, so that the methods differ only in how they encode positions.
    """

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(SEED)

        def drawn(*shape: int, spread: float = SPREAD) -> Tensor:
            return spread * torch.randn(*shape, generator=generator)

        self.w_q, self.w_k = (drawn(WIDTH, WIDTH, spread=WIDTH ** -0.5) for _ in range(2))
        with torch.random.fork_rng(devices=[]):
            self.table = LearnedPositions(ROWS, WIDTH)
            self.in_scores = ShawAttention(WIDTH, 1, window=WINDOW)
            self.four_terms = TransformerXLAttention(WIDTH, 1)
        self.numbers = drawn(BUCKETS)
        for module in (self.table, self.in_scores.key_distance):
            module.weight = nn.Parameter(drawn(*module.weight.shape), requires_grad=False)
        for name in ("content_bias", "position_bias"):
            setattr(self.four_terms, name, nn.Parameter(drawn(1, WIDTH), requires_grad=False))
        self.four_terms.r.weight = nn.Parameter(drawn(WIDTH, WIDTH, spread=WIDTH ** -0.5), requires_grad=False)

    def vectors(self, ids: Sequence[int]) -> Vectors:
        """The token vectors, which are random, with the token id as the seed."""
        return torch.stack([torch.randn(WIDTH, generator=torch.Generator().manual_seed(id)) for id in ids])

    def sinusoidal(self, x: Vectors) -> Scores:
        """Add a sinusoid to each vector."""
        return self._plain(x + sinusoid(torch.arange(len(x)), WIDTH))

    def learned(self, x: Vectors) -> Scores:
        """Add a row of a table to each vector. Raises ValueError if the text is longer than the table."""
        return self._plain(x + self.table(torch.arange(len(x))[None])[0])

    def shaw(self, x: Vectors) -> Scores:
        """Add a vector that depends on the distance to each key (the relative position representations of Shaw et
        al.)."""
        return self.in_scores.score(*self._batched(x))[0, 0].tril()

    def transformer_xl(self, x: Vectors) -> Scores:
        """Compute the sum of Transformer-XL's four terms."""
        return self.four_terms.score(*self._batched(x))[0, 0].tril()

    def t5(self, x: Vectors) -> Scores:
        """Add to each score a bias that depends on the bucket of the distance."""
        return (self._plain(x) + self.numbers[relative_position_bucket(_distances(len(x)), BUCKETS)]).tril()

    def rotary(self, x: Vectors) -> Scores:
        """Rotate queries and keys by angles that depend on their positions."""
        places = torch.arange(len(x))
        return scaled_dot_product(rotated(x @ self.w_q, places), rotated(x @ self.w_k, places)).tril()

    def alibi(self, x: Vectors) -> Scores:
        """Subtract a multiple of the distance from each score."""
        return (self._plain(x) + alibi(_distances(len(x)), SLOPE)).tril()

    def terms(self, x: Vectors) -> Float[Tensor, "term query key"]:
        """Transformer-XL's four terms, (a) to (d)."""
        with watch(self.four_terms, *TERMS) as seen:
            self.four_terms.score(*self._batched(x))
        return torch.cat([seen[name][0] for name in TERMS]).tril()

    def _plain(self, x: Vectors) -> Scores:
        return scaled_dot_product(x @ self.w_q, x @ self.w_k).tril()

    def _batched(self, x: Vectors) -> tuple[Float[Tensor, "1 1 time width"], Float[Tensor, "1 1 time width"]]:
        return (x @ self.w_q)[None, None], (x @ self.w_k)[None, None]


def _distances(time: int) -> Int[Tensor, "query key"]:
    """The distance of each key from each query, i − j."""
    places = torch.arange(time)
    return places[:, None] - places


@dataclass(frozen=True)
class Encoding:
    """A positional encoding.

    Attributes:
        name: the name of the encoding.
        source: the authors and the year.
        score: maps the vectors of a text to the scores of a head with this encoding.
        how: where the position enters the computation.
        why: the effect of shifting the sentence, with the reason.
        learned: the learned parameters for n positions, with h heads of d dimensions in total.
        numbers: the number of learned parameters at BERT-base's size: 512 positions, 12 layers, 12 heads, 768
            dimensions; distances are clipped at 16 for Shaw and put into 32 buckets for T5.
        beyond: the behaviour at positions, or distances, that do not occur in training.
    """

    name: str
    source: str
    score: Callable[[RandomHead, Vectors], Scores]
    how: str
    why: str
    learned: str
    numbers: int
    beyond: str


WAYS = (
    Encoding("sinusoidal", "Vaswani et al. 2017", RandomHead.sinusoidal,
             "Added to the token vector: sines and cosines of the position.",
        "The position enters the query and the key. sᵢ·sⱼ alone would stay the same; projected and combined with the "
             "token vectors, it does not.",
             "nothing", 0, "computed for any position"),
    Encoding("learned", "BERT, GPT 2018", RandomHead.learned,
             f"Added to the token vector: a row of a table of {ROWS} positions.",
             "Different positions have different rows; the table has no notion of distance.",
             "n · d: one vector per position", 512 * 768, "no such row: an error"),
    Encoding("Shaw", "Shaw et al. 2018", RandomHead.shaw,
             f"In the score: a vector for the distance, clipped at {WINDOW}, is added to the key.",
             "The vector depends on the distance, which does not change.",
             "2 (2k + 1) · d/h in each layer, for keys and values; shared by the heads", 12 * 2 * 33 * 64,
             "distances beyond k share one vector"),
    Encoding("Transformer-XL", "Dai et al. 2019", RandomHead.transformer_xl,
             "In the score: four terms, two of which depend on the distance.",
             "R is the sinusoid of the distance i − j; no absolute position enters.",
             "d · d + 2 d in each layer: the projection of R, and u, v", 12 * (768 * 768 + 2 * 768),
             "computed for any distance, or clamped"),
    Encoding("T5", "Raffel et al. 2020", RandomHead.t5,
             "Added to the score: a learned bias for the bucket of the distance.",
             "Equal distances share a bucket, and therefore a bias.",
             "32 · h: one bias per bucket and head; shared by the layers", 32 * 12,
             "large distances share the last bucket"),
    Encoding("rotary", "Su et al. 2021, an outlook", RandomHead.rotary,
             "In the score: query and key are rotated by an angle proportional to their position.",
             "A shift rotates both by the same angle; the angle between them depends on the distance only.",
             "nothing", 0, "computed for any position"),
    Encoding("ALiBi", "Press et al. 2022, an outlook", RandomHead.alibi,
             "Subtracted from the score: the distance, times 1/8 in this head.",
             "The penalty depends on the distance, which does not change.",
             "nothing: the slopes are fixed", 0, "computed: larger distances are penalized more"),
)
