"""The protocol that decoding asks of a model, and how an encoder-decoder, a function or a table comes to follow it."""

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
    """The state of a model in the middle of some texts, one a row: key-value caches, or a recurrent state."""

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep the texts of these rows, in this order: beam search drops some texts and doubles others."""


M = TypeVar("M")


@runtime_checkable
class AutoregressiveModel(Protocol[M]):
    """A model that writes from left to right: `start` gives an empty state, `step` the logits of the next token."""

    def start(self) -> M:
        """A fresh state, in which nothing has been read yet."""

    def step(self, tokens: Int[Tensor, "batch time"], state: M, /) -> Float[Tensor, "batch vocab"]:
        """Read ``tokens`` after what ``state`` holds, add them to it, and give the logits of the next token."""


@dataclass(frozen=True)
class ConditionedDecoder:
    """An encoder-decoder with its source read: an `AutoregressiveModel` of the target. One row of source a prompt."""

    model: Any
    source: Batch

    @property
    def training(self) -> bool:
        """Whether the model's dropout is on."""
        return self.model.training

    def start(self) -> DecodingState:
        """A fresh state: the encoder has read the source, the decoder nothing."""
        return self.model.start(self.source)

    def step(self, tokens: Int[Tensor, "batch time"], state: DecodingState) -> Float[Tensor, "batch vocab"]:
        """Read target tokens after what ``state`` holds, and give the logits of the next one."""
        return self.model.step(tokens, state)


@dataclass
class Text:
    """A decoding state without a cache: all tokens read so far, None before the first."""

    tokens: Int[Tensor, "batch time"] | None = None

    def read(self, tokens: Int[Tensor, "batch new"]) -> Int[Tensor, "batch time"]:
        """Append ``tokens`` to those read so far; returns all of them."""
        self.tokens = tokens if self.tokens is None else torch.cat([self.tokens, tokens], dim=1)
        return self.tokens

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep the texts of these rows, in this order."""
        if self.tokens is not None:
            self.tokens = self.tokens[rows]


@dataclass(frozen=True)
class UncachedLM:
    """An `AutoregressiveModel` made of a function: ``logits(texts)`` reads the whole texts anew for each token."""

    logits: Callable[[Int[Tensor, "batch time"]], Float[Tensor, "batch vocab"]]

    def start(self) -> Text:
        """A state with no tokens."""
        return Text()

    def step(self, tokens: Int[Tensor, "batch time"], state: Text) -> Float[Tensor, "batch vocab"]:
        """Add ``tokens`` to ``state`` and give the logits of the next token, computed from the whole text."""
        return self.logits(state.read(tokens))


class TableLM(UncachedLM):
    """A language model made by hand, of whole texts with their probabilities (or any weights).

    ``TableLM({"我爱苹果": 0.45, "我爱大象": 0.10, …})``. A key is a sequence of words; the words of a string are its
    characters. The chance of a next word is the share that the texts with it have among those that begin alike; [END],
    id 0, follows a whole text. ValueError for no texts, or a weight that is not above 0.
    """

    def __init__(self, texts: Mapping[Sequence[str], float]) -> None:
        if not texts or any(not weight > 0 for weight in texts.values()):
            raise ValueError("a Table needs at least one text, and a probability above 0 for each")
        self.words = ("[END]", *dict.fromkeys(word for text in texts for word in text))
        self.vocab = Vocabulary(len(self.words), None, None, None, None, None, None, end=0, sentinels=())
        self.texts = {(*self.ids(text), 0): weight for text, weight in texts.items()}
        super().__init__(self.next_words)

    def ids(self, text: Sequence[str]) -> tuple[int, ...]:
        """The ids of a text's words; a ValueError for a word that the table does not have."""
        unknown = [word for word in text if word not in self.words]
        if unknown:
            raise ValueError(f"the table has no word {unknown[0]!r:.60}; it has {', '.join(self.words)}")
        return tuple(self.words.index(word) for word in text)

    def prompt(self, text: Sequence[str]) -> Int[Tensor, "1 time"]:
        """A text as a prompt for decoding: its ids in one row."""
        return torch.tensor([self.ids(text)], dtype=torch.long)

    def read(self, tokens: Sequence[int]) -> tuple[str, ...]:
        """The words of some ids, [END] left out."""
        return tuple(self.words[token] for token in tokens if token)

    def next_words(self, texts: Int[Tensor, "batch time"]) -> Float[Tensor, "batch vocab"]:
        """Log-probabilities of each next word, up to a constant; −∞ for a word that no text goes on with. ValueError
        where no text of the table begins as one of ``texts``."""
        weights = torch.zeros(len(texts), len(self.words), dtype=torch.float64)
        for row, begun in zip(weights, map(tuple, texts.tolist()), strict=True):
            for text, weight in self.texts.items():
                if len(text) > len(begun) and text[: len(begun)] == begun:
                    row[text[len(begun)]] += weight
            if not row.any():
                raise ValueError(f"no text of the table begins with {' '.join(self.read(begun))!r:.60}")
        return weights.log()
