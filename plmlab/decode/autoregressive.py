"""The model interface for decoding, and adapters for encoder–decoders, functions and probability tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.example import Batch
from plmlab.text.vocabulary import Vocabulary


@runtime_checkable
class DecodingState(Protocol):
    """Interface of the decoding state of a batch, one text per row: key–value caches or a recurrent state."""

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep only the given batch rows, in the given order: beam search drops some texts and duplicates others."""


M = TypeVar("M")


@runtime_checkable
class AutoregressiveModel(Protocol[M]):
    """Interface of a left-to-right language model: `start` returns an empty state, `step` the next-token logits."""

    def start(self) -> M:
        """Create an empty state."""

    def step(self, tokens: Int[Tensor, "batch time"], state: M, /) -> Float[Tensor, "batch vocab"]:
        """Append ``tokens`` to the text in ``state``, update the state, and return the next-token logits."""


@dataclass(frozen=True)
class ConditionedDecoder:
    """An encoder–decoder with a fixed source, as an `AutoregressiveModel` of the target; one source row per prompt.
    ``options`` are further arguments of the model's ``start``, such as a cross-attention mask."""

    model: Any
    source: Batch
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def training(self) -> bool:
        """Whether the model is in training mode (dropout is on)."""
        return self.model.training

    @property
    def generates_sentinels(self) -> bool:
        """Whether the model was trained to generate sentinels."""
        return getattr(self.model, "generates_sentinels", False)

    def start(self) -> DecodingState:
        """Encode the source and create an empty decoder state."""
        return self.model.start(self.source, **self.options)

    def step(self, tokens: Int[Tensor, "batch time"], state: DecodingState) -> Float[Tensor, "batch vocab"]:
        """Append target tokens to the text in ``state`` and return the next-token logits."""
        return self.model.step(tokens, state)


@dataclass
class Text:
    """A decoding state without a cache: all tokens so far, or None before the first token."""

    tokens: Int[Tensor, "batch time"] | None = None

    def read(self, tokens: Int[Tensor, "batch new"]) -> Int[Tensor, "batch time"]:
        """Append ``tokens`` and return all tokens so far."""
        self.tokens = tokens if self.tokens is None else torch.cat([self.tokens, tokens], dim=1)
        return self.tokens

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep only the given batch rows, in the given order."""
        if self.tokens is not None:
            self.tokens = self.tokens[rows]


@dataclass(frozen=True)
class UncachedLM:
    """An `AutoregressiveModel` without a cache: ``logits(texts)`` processes each whole text again for every token."""

    logits: Callable[[Int[Tensor, "batch time"]], Float[Tensor, "batch vocab"]]

    def start(self) -> Text:
        """Create a state without tokens."""
        return Text()

    def step(self, tokens: Int[Tensor, "batch time"], state: Text) -> Float[Tensor, "batch vocab"]:
        """Append ``tokens`` and return the next-token logits, computed from the whole text."""
        return self.logits(state.read(tokens))


class TableLM(UncachedLM):
    """A hand-made language model, defined by whole texts and their probabilities (or any positive weights).

    ``TableLM({"我爱苹果": 0.45, "我爱大象": 0.10, …})``. A key is a sequence of words; a string is split into
    characters. The probability of a next word is the total weight of the texts that continue with it, divided
    by the total weight of all texts with the same prefix. A whole text is followed by [END], id 0. Raises
    ValueError if there is no text, or if a weight is not positive.
    """

    def __init__(self, texts: Mapping[Sequence[str], float]) -> None:
        if not texts or any(not weight > 0 for weight in texts.values()):
            raise ValueError("a TableLM needs at least one text, each with a probability above 0")
        self.words = ("[END]", *dict.fromkeys(word for text in texts for word in text))
        self.vocab = Vocabulary(len(self.words), None, None, None, None, None, None, end=0, sentinels=())
        self.texts = {(*self.ids(text), 0): weight for text, weight in texts.items()}
        super().__init__(self.next_words)

    def ids(self, text: Sequence[str]) -> tuple[int, ...]:
        """Encode a text as word ids. Raises ValueError for an unknown word."""
        unknown = [word for word in text if word not in self.words]
        if unknown:
            raise ValueError(f"the table has no word {unknown[0]!r:.60}; it has {', '.join(self.words)}")
        return tuple(self.words.index(word) for word in text)

    def prompt(self, text: Sequence[str]) -> Int[Tensor, "1 time"]:
        """Encode a text as a prompt for decoding, [1 time]."""
        return torch.tensor([self.ids(text)], dtype=torch.long)

    def read(self, tokens: Sequence[int]) -> tuple[str, ...]:
        """Decode ids to words, leaving out [END]."""
        return tuple(self.words[token] for token in tokens if token)

    def next_words(self, texts: Int[Tensor, "batch time"]) -> Float[Tensor, "batch vocab"]:
        """Log-probabilities of the next word, up to a constant; −∞ for a word that does not continue any text of the
        table. Raises ValueError if one of ``texts`` is not a prefix of any text in the table."""
        weights = torch.zeros(len(texts), len(self.words), dtype=torch.float64)
        for row, prefix in zip(weights, map(tuple, texts.tolist()), strict=True):
            for text, weight in self.texts.items():
                if len(text) > len(prefix) and text[: len(prefix)] == prefix:
                    row[text[len(prefix)]] += weight
            if not row.any():
                raise ValueError(f"no text of the table begins with {' '.join(self.read(prefix))!r:.60}")
        return weights.log()
