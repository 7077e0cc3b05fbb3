"""Training data with random access to the batch of any step, from a long stream of tokens or from many texts.

The batch of a step depends only on the seed and the step. A run that was stopped at step 1,000 can therefore resume at
step 1,001 without replaying any data, and every machine gets the same batches.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from plmlab.batches import ExampleBatches
from plmlab.example import Batch
from plmlab.text import tokenfile
from plmlab.text.chunks import TokenChunks
from plmlab.text.corpora import CorpusError
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary

END = "[END]"


@dataclass(frozen=True)
class TokenStream:
    """A sequence of token ids, in memory or in a file larger than memory; slicing it gives a tensor."""

    ids: np.ndarray

    @classmethod
    def of(cls, ids: Iterable[int]) -> Self:
        """Build a stream in memory from the given ids."""
        return cls(np.fromiter(ids, dtype=np.int64))

    @classmethod
    def from_texts(cls, texts: Iterable[str], tokenizer: Tokenizer, separator: str | None = END) -> Self:
        """Build a stream in memory from all texts, with the token ``separator`` after each (None: no separator)."""
        return cls(np.concatenate([np.empty(0, np.uint32), *tokenfile.encoded(texts, tokenizer, separator)]))

    @classmethod
    def build(cls, texts: Iterable[str], tokenizer: Tokenizer, path: str | Path, separator: str | None = END, *,
              progress: bool = True) -> Self:
        """Write the tokens of all texts to ``path``, and a header to ``path`` + ".json"; returns the opened stream.

        The token ``separator`` follows each text. Only a small part of the texts is in memory at a time. If writing
        fails, an existing file stays unchanged. "[MASK]" and the like in a text are ordinary text, not special tokens.
        Raises CorpusError if there is no text or the disk cannot be written.
        """
        tokenfile.write(texts, tokenizer, Path(path), separator, progress)
        return cls.open(path, tokenizer)

    @classmethod
    def open(cls, path: str | Path, tokenizer: Tokenizer | None = None, *, check: bool = True) -> Self:
        """Open the stream in a file without loading it into memory.

        With ``check``, the file is read once and its checksum verified; otherwise only its length is verified. Raises
        CorpusError if the file is missing, was changed, or was written with another tokenizer than ``tokenizer``.
        """
        return cls(tokenfile.read(Path(path), tokenizer, check))

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, place: slice) -> Int[Tensor, "time"]:
        return torch.from_numpy(self.ids[place].astype(np.int64))

    def split(self, held_out: float = 0.1) -> tuple["TokenStream", "TokenStream"]:
        """Split into a training part and a validation part, which is the last fraction ``held_out`` of the stream.
        Raises CorpusError if the fraction is not between 0 and 1, or if one part would be empty."""
        if not 0 < held_out < 1:
            raise CorpusError(f"held_out={held_out} was given; it is a fraction of the stream, between 0 and 1")
        cut = len(self) - round(held_out * len(self))
        if not 0 < cut < len(self):
            raise CorpusError(f"a stream of {len(self)} tokens is too short to hold out {held_out:.0%} of it")
        return TokenStream(self.ids[:cut]), TokenStream(self.ids[cut:])

    def windows(self, batch: int, time: int, seed: int) -> "Windows":
        """Batches of ``batch`` windows of ``time`` positions at random starts; available for any step."""
        return Windows(self, batch, time, seed)

    def sequential(self, batch: int, time: int) -> "Sequential":
        """Batches that cover the stream once, in order: every token except the first is predicted exactly once."""
        return Sequential(self, batch, time)


@dataclass(frozen=True)
class Windows:
    """Random windows of a stream: ``windows(step)`` is the causal batch of that step. Raises CorpusError if the stream
    is too short."""

    stream: TokenStream
    batch: int
    time: int
    seed: int

    def __post_init__(self) -> None:
        _positive(batch=self.batch, time=self.time)
        if len(self.stream) <= self.time:
            raise CorpusError(
                f"a window of {self.time} positions needs {self.time + 1} tokens, but the stream has "
                f"{len(self.stream)}; use a shorter window, or more text"
            )

    def __call__(self, step: int) -> Batch:
        """The causal batch of one step, [batch time]; it depends only on the seed and the step."""
        rng = Random(f"{self.seed}:{step}")
        places = len(self.stream) - self.time
        starts = np.array([int(rng.random() * places) for _ in range(self.batch)])
        return _windows_at(self.stream, starts, self.time)


@dataclass(frozen=True)
class Sequential:
    """A stream in order, for evaluation: causal batches of consecutive windows, the last one with the remainder. Raises
    CorpusError for a stream of fewer than two tokens."""

    stream: TokenStream
    batch: int
    time: int

    def __post_init__(self) -> None:
        _positive(batch=self.batch, time=self.time)
        if len(self.stream) < 2:
            raise CorpusError(f"a stream of {len(self.stream)} tokens has nothing to predict; it needs at least two")

    def __len__(self) -> int:
        whole, left = divmod(len(self.stream) - 1, self.time)
        return -(-whole // self.batch) + (left > 0)

    def __iter__(self) -> Iterator[Batch]:
        whole, left = divmod(len(self.stream) - 1, self.time)
        for first in range(0, whole, self.batch):
            starts = np.arange(first, min(first + self.batch, whole)) * self.time
            yield _windows_at(self.stream, starts, self.time)
        if left:
            yield _windows_at(self.stream, np.array([whole * self.time]), left)


def examples(texts: Iterable[str], tokenizer: Tokenizer, objective: Callable[..., Any], batch: int, seed: int,
             max_tokens: int, **choices) -> ExampleBatches:
    """Batches of texts turned into Examples by an objective (a function of ``plmlab.objectives``), available for any
    step.

    A text longer than ``max_tokens`` is split into chunks; the tokens that the objective adds ([CLS], [SEP], …) are not
    counted. ``choices`` are passed to the objective. All tokens are held in memory. Raises CorpusError if there is no
    text.
    """
    _positive(batch=batch, max_tokens=max_tokens)
    return examples_of(TokenChunks.of(texts, tokenizer, max_tokens), tokenizer.vocab, objective, batch, seed, **choices)


def examples_of(pieces: TokenChunks, vocab: Vocabulary, objective: Callable[..., Any], batch: int, seed: int,
                **choices: Any) -> ExampleBatches:
    """Batches of randomly sampled chunks of text, each turned into an Example by the objective."""
    def draw(rng: Random) -> list[Any]:
        drawn = [pieces[int(rng.random() * len(pieces))] for _ in range(batch)]
        return [objective(text, vocab=vocab, rng=rng, **choices) for text in drawn]

    return ExampleBatches(draw, seed, vocab.need("pad"))


def _positive(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise CorpusError(f"{name} must be at least 1, but {number} was given")


def _windows_at(stream: TokenStream, starts: np.ndarray, time: int) -> Batch:
    """The causal batch of the windows that start at ``starts``: each position predicts the next token."""
    rows = stream.ids[starts[:, None] + np.arange(time + 1)]
    return Batch.causal(torch.from_numpy(rows.astype(np.int64)))
