"""Who can write: whatever says, after each token, how likely each next one is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.example import Batch
from plmlab.text.vocabulary import Vocabulary


@runtime_checkable
class DecodingState(Protocol):
    """What a model remembers of the texts it is in the middle of, one a row: caches, or a recurrent state."""

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep these rows, in this order: a search drops some and doubles others."""


M = TypeVar("M")


@runtime_checkable
class AutoregressiveModel(Protocol[M]):
    """All that decoding asks of a model."""

    def start(self) -> M:
        """The memory of having read nothing."""

    def step(self, tokens: Int[Tensor, "batch time"], state: M, /) -> Float[Tensor, "batch vocab"]:
        """Read on after what ``state`` holds, add to it, and give the logits of the token that comes next."""


@dataclass(frozen=True)
class Given:
    """An encoder-decoder with its source read: a writer of the target. One row of the source for each prompt."""

    model: Any
    source: Batch

    @property
    def training(self) -> bool:
        """Whether the model's dropout is on."""
        return self.model.training

    def start(self) -> DecodingState:
        """The source, read; of the target, nothing."""
        return self.model.start(self.source)

    def step(self, tokens: Int[Tensor, "batch time"], state: DecodingState) -> Float[Tensor, "batch vocab"]:
        """Write on."""
        return self.model.step(tokens, state)


@dataclass
class Text:
    """The plainest state: every token so far."""

    tokens: Int[Tensor, "batch time"] | None = None

    def read(self, tokens: Int[Tensor, "batch new"]) -> Int[Tensor, "batch time"]:
        """Add these; returns all."""
        self.tokens = tokens if self.tokens is None else torch.cat([self.tokens, tokens], dim=1)
        return self.tokens

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep these rows, in this order."""
        if self.tokens is not None:
            self.tokens = self.tokens[rows]


@dataclass(frozen=True)
class Rereading:
    """Anything without a state: ``logits(texts)`` reads the whole texts anew for each token."""

    logits: Callable[[Int[Tensor, "batch time"]], Float[Tensor, "batch vocab"]]

    def start(self) -> Text:
        """An empty text."""
        return Text()

    def step(self, tokens: Int[Tensor, "batch time"], state: Text) -> Float[Tensor, "batch vocab"]:
        """The logits after all tokens so far."""
        return self.logits(state.read(tokens))


class Table(Rereading):
    """A language model made by hand, of whole texts with their probabilities (or any weights).

    ``Table({"我爱苹果": 0.45, "我爱大象": 0.10, …})``. A key is a sequence of words; the words of a string are its
    characters. The chance of a next word is the share that the texts with it have among those that begin
    alike; [END], id 0, follows a whole text.
    """

    def __init__(self, texts: Mapping[Sequence[str], float]) -> None:
        if not texts or any(not weight > 0 for weight in texts.values()):
            raise ValueError("a Table needs at least one text, and a probability above 0 for each")
        self.words = ("[END]", *dict.fromkeys(word for text in texts for word in text))
        self.vocab = Vocabulary(len(self.words), None, None, None, None, None, None, end=0, sentinels=())
        self.texts = {(*self.ids(text), 0): weight for text, weight in texts.items()}
        super().__init__(self.next_words)

    def ids(self, text: Sequence[str]) -> tuple[int, ...]:
        """The words of a text as ids."""
        unknown = [word for word in text if word not in self.words]
        if unknown:
            raise ValueError(f"the table has no word {unknown[0]!r}; it has {', '.join(self.words)}")
        return tuple(self.words.index(word) for word in text)

    def prompt(self, text: Sequence[str]) -> Int[Tensor, "1 time"]:
        """A text as a prompt."""
        return torch.tensor([self.ids(text)], dtype=torch.long)

    def read(self, tokens: Sequence[int]) -> tuple[str, ...]:
        """Ids as words, [END] left out."""
        return tuple(self.words[token] for token in tokens if token)

    def next_words(self, texts: Int[Tensor, "batch time"]) -> Float[Tensor, "batch vocab"]:
        """The log-probability of each next word, up to a constant."""
        weights = torch.zeros(len(texts), len(self.words), dtype=torch.float64)
        for row, begun in zip(weights, map(tuple, texts.tolist()), strict=True):
            for text, weight in self.texts.items():
                if len(text) > len(begun) and text[: len(begun)] == begun:
                    row[text[len(begun)]] += weight
            if not row.any():
                raise ValueError(f"no text of the table begins with {' '.join(self.read(begun))!r}")
        return weights.log()
