"""Word vectors: nearest neighbours and analogies (词向量)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from plmlab.lists import refuse_string


class Neighbour(NamedTuple):
    """A word with its similarity, a cosine (from −1 to 1) or a dot product."""

    word: str
    score: float


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words in a fixed order, most frequent first where frequencies are known, with one row of ``matrix`` per word.

    Raises ValueError if the numbers of rows and words differ, or if a word is duplicated.
    """

    words: tuple[str, ...]
    matrix: Float[Tensor, "word model"]

    def __post_init__(self) -> None:
        if len(self.words) != len(self.matrix):
            raise ValueError(f"{len(self.words):,} words and {len(self.matrix):,} vectors were given; each word needs "
                             "one vector")
        if len(self.row) != len(self.words):
            twice = next(word for i, word in enumerate(self.words) if self.row[word] != i)
            raise ValueError(f"the word {twice!r:.60} occurs twice; each word must have one vector")

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"WordVectors({len(self):,} words, {self.matrix.shape[1]} dimensions)"

    @cached_property
    def row(self) -> dict[str, int]:
        """Word → the index of its row."""
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def unit(self) -> Float[Tensor, "word model"]:
        """The vectors normalized to length 1; a zero vector stays zero."""
        return F.normalize(self.matrix, dim=-1)

    def __iter__(self) -> Iterator[str]:
        """The words, in order."""
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        """Whether the word has a vector."""
        return word in self.row

    def __getitem__(self, word: str) -> Float[Tensor, "model"]:
        """The vector of a word. Raises ValueError if the word has no vector."""
        return self.matrix[self.place(word)]

    def place(self, word: str) -> int:
        """The row index of a word. Raises ValueError, suggesting similar words, if the word has no vector."""
        if word not in self.row:
            from difflib import get_close_matches
            near = get_close_matches(word, self.words, 3)
            hint = f"; similar words: {', '.join(near)}" if near else ""
            raise ValueError(f"{word!r:.60} has no vector: it is not among the {len(self):,} words{hint}")
        return self.row[word]

    def similarity(self, one: str, other: str) -> float:
        """Cosine similarity of two words (余弦相似度)."""
        return float(self.unit[self.place(one)] @ self.unit[self.place(other)])

    def near(self, vector: Float[Tensor, "model"], count: int = 10, *, without: Collection[str] = (),
             dot: bool = False) -> list[Neighbour]:
        """The ``count`` words nearest to a vector, by cosine or by dot product, except the words in ``without``.

        Ties are broken by row order. Raises ValueError for a negative ``count``.
        """
        refuse_string(without, "without")
        if count < 0:
            raise ValueError(f"count={count} was given; it is the number of words to return, 0 or more")
        scores = self.matrix @ vector if dot else self.unit @ F.normalize(vector, dim=-1)
        scores[[self.row[word] for word in without if word in self.row]] = -torch.inf
        best, rows = scores.sort(descending=True, stable=True)
        count = min(count, len(self) - len({*without} & self.row.keys()))
        return [Neighbour(self.words[row], score)
                for score, row in zip(best[:count].tolist(), rows[:count].tolist(), strict=True)]

    def neighbours(self, word: str, count: int = 10, *, dot: bool = False) -> list[Neighbour]:
        """The nearest neighbours of a word, excluding the word itself, nearest first."""
        return self.near(self[word], count, without=(word,), dot=dot)

    def analogy(self, a: str, b: str, c: str, count: int = 10, *, keep: bool = False) -> list[Neighbour]:
        """Answer "``a`` is to ``b`` as ``c`` is to what?" with the words nearest to b − a + c, with all vectors
        normalized (3CosAdd; Mikolov et al. 2013, "Linguistic regularities"; Levy and Goldberg 2014).

        The three words themselves are excluded, as is common practice, unless ``keep``.
        """
        a_, b_, c_ = (self.unit[self.place(word)] for word in (a, b, c))
        return self.near(b_ - a_ + c_, count, without=() if keep else (a, b, c))

    def only(self, words: Sequence[str]) -> "WordVectors":
        """The vectors of these words, in this order. Raises ValueError if a word has no vector."""
        refuse_string(words, "words")
        return WordVectors(tuple(words), self.matrix[[self.place(word) for word in words]])
