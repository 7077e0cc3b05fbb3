"""The models of the Beam Lab: a neural model with its tokenizer, or a hand-made probability table, with encoding and
decoding of text."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import torch
from jaxtyping import Int
from torch import Tensor, nn

from plmlab.decode import AutoregressiveModel, TableLM
from plmlab.interpret.readable import as_ours, inference
from plmlab.labs.beam.exact import ExactProbabilities
from plmlab.labs.shared.notes import empty, joined, unread
from plmlab.labs.shared.probabilities import spelled
from plmlab.labs.shared.tokens import labels
from plmlab.text.printable import printable
from plmlab.text.spacing import readable
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary

MOST = 256
"""The maximum number of prompt tokens; longer prompts are truncated on the left."""


class Adapter(Protocol):
    """The interface of a language model that can continue a text."""

    @property
    def name(self) -> str:
        """The displayed name."""

    @property
    def model(self) -> AutoregressiveModel[Any]:
        """The model that returns the logits."""

    @property
    def vocab(self) -> Vocabulary:
        """The vocabulary, [END] included."""

    @property
    def beside(self) -> ExactProbabilities | None:
        """The world's exact probabilities, if there is a world."""

    def read(self, text: str, length: int) -> tuple[list[int], str]:
        """Encode a prompt so that ``length`` more tokens fit. Returns the ids, and a note on unknown or truncated
        tokens. Raises ValueError for a prompt that cannot be continued."""

    def words(self, text: str) -> list[str]:
        """The words of a prompt, in the world's spelling."""

    def labels(self, ids: Sequence[int]) -> list[str]:
        """The display labels of tokens."""

    def written(self, ids: Sequence[int]) -> str:
        """Decode ids into text, without [END]."""

    def at_rest(self) -> AbstractContextManager[None]:
        """Context manager that switches off dropout."""


class TableAdapter:
    """Adapter for a `TableLM`, whose tokens are words. Single-character words are joined without spaces."""

    beside: ExactProbabilities | None = None

    def __init__(self, name: str, table: TableLM) -> None:
        self.name, self.model, self.vocab = name, table, table.vocab
        self.letters = all(len(word) == 1 for word in table.words[1:])

    def words(self, text: str) -> list[str]:
        """The words of a prompt."""
        return list("".join(text.split())) if self.letters else text.split()

    def read(self, text: str, length: int) -> tuple[list[int], str]:
        """Encode a prompt, which must be a prefix of a text in the table."""
        words = self.words(text)
        if not words:
            raise empty("prompt")
        try:
            ids = list(self.model.ids(words))
            self.model.next_words(torch.tensor([ids]))
        except ValueError as error:
            raise ValueError(f"{str(error)[:1].upper()}{str(error)[1:]}. Type a prefix of its texts, or choose another "
                             "model. The drawing is unchanged.") from None
        return ids, ""

    def labels(self, ids: Sequence[int]) -> list[str]:
        """The display labels of tokens."""
        return [printable(self.model.words[id]) for id in ids]

    def written(self, ids: Sequence[int]) -> str:
        """Decode ids into text, without [END]."""
        words = self.model.read(ids)
        return printable("".join(words) if self.letters else readable(words))

    def at_rest(self) -> AbstractContextManager[None]:
        """Do nothing, because a table has no dropout."""
        return nullcontext()


class ModelAdapter:
    """Adapter for a model with its tokenizer, and optionally a world whose words are single tokens.

    Raises TypeError if the model has no ``start`` or ``step``, and ValueError if the tokenizer does not match the
    model.
    """

    def __init__(self, name: str, model: Any, tokenizer: Any, beside: ExactProbabilities | None) -> None:
        if not isinstance(model, AutoregressiveModel):
            raise TypeError(f"beam search needs an autoregressive model with start and step (a GPT, a recurrent "
                            f"language model, a TableLM); a {type(model).__name__} was given")
        self.name, self.model, self.beside = name, model, beside
        self.tokenizer: Tokenizer = as_ours(tokenizer)
        self.vocab = self.tokenizer.vocab

    def words(self, text: str) -> list[str]:
        """The words of a prompt, in the world's spelling."""
        return (spelled(text, self.beside.world) if self.beside else text).split()

    def read(self, text: str, length: int) -> tuple[list[int], str]:
        """Encode a prompt; the start token, if there is one, is prepended."""
        prompt = " ".join(self.words(text)) if self.beside else text
        own, start = self.tokenizer.encode(prompt), self.vocab.start
        if start is None and not own:
            raise ValueError("The prompt is empty, and this model has no start token: type a word. The drawing is "
                             "unchanged.")
        ids = [*(() if start is None else (start,)), *own]
        room = max(1, min(MOST, getattr(getattr(self.model, "config", None), "time", MOST + length) - length))
        note = "" if len(ids) <= room else (
            f"The prompt has {len(ids):,} tokens; only its last {room:,} are the model's input.")
        return ids[-room:], joined(self._unknown(prompt, own), note)

    def _unknown(self, prompt: str, ids: Sequence[int]) -> str:
        return unread(self._unread(prompt, ids), len(self.tokenizer))

    def _unread(self, prompt: str, ids: Sequence[int]) -> Iterator[str]:
        for id, (start, end) in zip(ids, self.tokenizer.offsets(prompt), strict=True):
            if id == self.vocab.unk:
                yield prompt[start:end]

    def labels(self, ids: Sequence[int]) -> list[str]:
        """The display labels of tokens."""
        return labels(self.tokenizer, ids)

    def written(self, ids: Sequence[int]) -> str:
        """Decode ids into text, without [END]."""
        return printable(self.tokenizer.decode([id for id in ids if id != self.vocab.end]).strip(" "))

    def at_rest(self) -> AbstractContextManager[None]:
        """Context manager that switches off dropout."""
        return inference(self.model) if isinstance(self.model, nn.Module) else nullcontext()


def prompt_of(ids: Sequence[int]) -> Int[Tensor, "1 time"]:
    """The ids of a prompt as a batch of size one."""
    return torch.tensor([list(ids)], dtype=torch.long)
