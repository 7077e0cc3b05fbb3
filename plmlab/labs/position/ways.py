"""The ways of telling places that the course knows, each in the scores of one head that nobody trained."""

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
"""Of the token vectors and of the one head."""
ROWS = 48
"""The places that the learned table has."""
WINDOW = 4
"""Where Shaw's distances are clipped."""
BUCKETS = 32
SLOPE = alibi_slopes(8)[2]
"""ALiBi's, in the third of eight heads."""
SPREAD = 0.7
"""The standard deviation of each number that a trained head would have learned of places: the size of a sinusoid's."""
SEED = 20

Vectors = Float[Tensor, "time width"]
Scores = Float[Tensor, "query key"]


class RandomHead:
    """A head that nobody trained: token vectors, W_q, W_k and all that tells places are drawn, and always the same.

    Each way is a method from the vectors of a text to its scores, of order 1. It looks back: where the key comes
    later, the score stands as 0. All divide by √d, T5's too, which in its paper does not: only the places differ.
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
        """The vector of each token, drawn for its id."""
        return torch.stack([torch.randn(WIDTH, generator=torch.Generator().manual_seed(id)) for id in ids])

    def sinusoidal(self, x: Vectors) -> Scores:
        """A sinusoid is added to each vector."""
        return self._plain(x + sinusoid(torch.arange(len(x)), WIDTH))

    def learned(self, x: Vectors) -> Scores:
        """A row of a table is added to each vector; ValueError where the table has no such row."""
        return self._plain(x + self.table(torch.arange(len(x))[None])[0])

    def shaw(self, x: Vectors) -> Scores:
        """A vector of the distance is added to each key."""
        return self.in_scores.score(*self._batched(x))[0, 0].tril()

    def transformer_xl(self, x: Vectors) -> Scores:
        """The sum of four terms."""
        return self.four_terms.score(*self._batched(x))[0, 0].tril()

    def t5(self, x: Vectors) -> Scores:
        """A number of the distance's bucket is added to each score."""
        return (self._plain(x) + self.numbers[relative_position_bucket(_distances(len(x)), BUCKETS)]).tril()

    def rotary(self, x: Vectors) -> Scores:
        """Query and key are turned by the angles of their places."""
        places = torch.arange(len(x))
        return scaled_dot_product(rotated(x @ self.w_q, places), rotated(x @ self.w_k, places)).tril()

    def alibi(self, x: Vectors) -> Scores:
        """The distance is taken off each score."""
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
    """How many places back each key stands, i − j."""
    places = torch.arange(time)
    return places[:, None] - places


@dataclass(frozen=True)
class Way:
    """A way of telling places.

    Attributes:
        name: what it is called.
        source: whose it is, and when.
        score: from the vectors of a text to the scores of a head that is told places in this way.
        how: where the place comes in.
        why: what becomes of it when the sentence is moved.
        learned: what is learned of n places, in h heads of d dimensions in all.
        numbers: how many that are at BERT-base's size: 512 places, 12 layers, 12 heads, 768 dimensions; Shaw's clipped
            at 16, T5's in 32 buckets.
        beyond: what happens to places, or distances, that training never saw.
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
    Way("sinusoidal", "Vaswani et al. 2017", RandomHead.sinusoidal,
        "Added to the vector: sines and cosines of the place.",
        "The place is in the query and in the key. sᵢ·sⱼ alone would stay the same; projected, and mixed with the "
        "words, it does not.",
        "nothing", 0, "computed for any place"),
    Way("learned", "BERT, GPT 2018", RandomHead.learned,
        f"Added to the vector: a row of a table of {ROWS} places.",
        "Other places, other rows: the table never heard of distances.",
        "n · d: a vector a place", 512 * 768, "no such row: an error"),
    Way("Shaw", "Shaw et al. 2018", RandomHead.shaw,
        f"In the score: a vector of the distance, clipped at {WINDOW}, is added to the key.",
        "The distance chooses the vector, and the distance stays.",
        "2 (2k + 1) · d/h in each layer, for keys and values; the heads share them", 12 * 2 * 33 * 64,
        "beyond k, far is far"),
    Way("Transformer-XL", "Dai et al. 2019", RandomHead.transformer_xl,
        "In the score: four terms, two of them of the distance.",
        "R is the sinusoid of the distance i − j; no place comes in.",
        "d · d + 2 d in each layer: what projects R, and u, v", 12 * (768 * 768 + 2 * 768),
        "computed for any distance, or clamped"),
    Way("T5", "Raffel et al. 2020", RandomHead.t5,
        "To the score: one number of the distance's bucket.",
        "The same distance, the same bucket, the same number.",
        "32 · h: a number a bucket and head; the layers share them", 32 * 12, "the last bucket: far is far"),
    Way("rotary", "Su et al. 2021, an outlook", RandomHead.rotary,
        "In the score: query and key are turned by the angle of their place.",
        "Both turn on by one angle; between them the distance's is left.",
        "nothing", 0, "computed for any place"),
    Way("ALiBi", "Press et al. 2022, an outlook", RandomHead.alibi,
        "To the score: the distance, times 1/8 in this head, is taken off.",
        "Only the distance is taken off, and it stays.",
        "nothing: the slopes are set", 0, "computed: farther costs more"),
)
