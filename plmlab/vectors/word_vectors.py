"""Words with a vector each: which lie near, and what an analogy comes to (词向量)."""

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
    """A word, and how near it lies: a cosine, from −1 to 1, or a dot product."""

    word: str
    score: float


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words in a fixed order, the likeliest first where it is known, and a row of ``matrix`` for each.

    A ValueError where rows and words are not equally many, or a word comes twice.
    """

    words: tuple[str, ...]
    matrix: Float[Tensor, "word model"]

    def __post_init__(self) -> None:
        if len(self.words) != len(self.matrix):
            raise ValueError(f"{len(self.words):,} words and {len(self.matrix):,} vectors: each word needs one")
        if len(self.row) != len(self.words):
            twice = next(word for i, word in enumerate(self.words) if self.row[word] != i)
            raise ValueError(f"the word {twice!r:.60} comes twice; a word has one vector here")

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"WordVectors({len(self):,} words, {self.matrix.shape[1]} numbers each)"

    @cached_property
    def row(self) -> dict[str, int]:
        """Word → the row of its vector."""
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def unit(self) -> Float[Tensor, "word model"]:
        """The vectors at length 1; a vector of zeros stays one."""
        return F.normalize(self.matrix, dim=-1)

    def __iter__(self) -> Iterator[str]:
        """The words, in order."""
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        """Has this word a vector?"""
        return word in self.row

    def __getitem__(self, word: str) -> Float[Tensor, "model"]:
        """The vector of a word; a ValueError where it has none."""
        return self.matrix[self.place(word)]

    def place(self, word: str) -> int:
        """The row of a word; a ValueError, with words that look like it, where it has none."""
        if word not in self.row:
            from difflib import get_close_matches
            near = get_close_matches(word, self.words, 3)
            hint = f"; there are {', '.join(near)}" if near else ""
            raise ValueError(f"{word!r:.60} has no vector: it is not among the {len(self):,} words{hint}")
        return self.row[word]

    def similarity(self, one: str, other: str) -> float:
        """The cosine of the angle between two words' vectors (余弦相似度)."""
        return float(self.unit[self.place(one)] @ self.unit[self.place(other)])

    def near(self, vector: Float[Tensor, "model"], count: int = 10, *, without: Collection[str] = (),
             dot: bool = False) -> list[Neighbour]:
        """The ``count`` words nearest to a point, by cosine, or by dot product; the ``without`` are left out.

        Of words that are equally near, the one with the earlier row comes first. ValueError for a negative ``count``.
        """
        refuse_string(without, "without")
        if count < 0:
            raise ValueError(f"count is how many words to give, 0 or more; not {count}")
        scores = self.matrix @ vector if dot else self.unit @ F.normalize(vector, dim=-1)
        scores[[self.row[word] for word in without if word in self.row]] = -torch.inf
        best, rows = scores.sort(descending=True, stable=True)
        count = min(count, len(self) - len({*without} & self.row.keys()))
        return [Neighbour(self.words[row], score)
                for score, row in zip(best[:count].tolist(), rows[:count].tolist(), strict=True)]

    def neighbours(self, word: str, count: int = 10, *, dot: bool = False) -> list[Neighbour]:
        """The words nearest to a word, without itself, the nearest first."""
        return self.near(self[word], count, without=(word,), dot=dot)

    def analogy(self, a: str, b: str, c: str, count: int = 10, *, keep: bool = False) -> list[Neighbour]:
        """``a`` is to ``b`` as ``c`` is to what? The words nearest to b − a + c, each taken at length 1 (3CosAdd;
        Mikolov et al. 2013, "Linguistic regularities"; Levy and Goldberg 2014).

        The three words themselves are left out, as everyone does, unless ``keep``.
        """
        a_, b_, c_ = (self.unit[self.place(word)] for word in (a, b, c))
        return self.near(b_ - a_ + c_, count, without=() if keep else (a, b, c))

    def only(self, words: Sequence[str]) -> "WordVectors":
        """The vectors of some words, in this order; a ValueError where one has none."""
        refuse_string(words, "words")
        return WordVectors(tuple(words), self.matrix[[self.place(word) for word in words]])
