"""Who writes in the Beam Lab: a model with its tokenizer, or a table made by hand; how a text becomes ids, and back."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import torch
from jaxtyping import Int
from torch import Tensor, nn

from plmlab.decode import AutoregressiveModel, TableLM
from plmlab.interpret.readable import as_ours, inference
from plmlab.labs.beam.beside import Beside
from plmlab.labs.shared.notes import empty, joined, unread
from plmlab.labs.shared.probabilities import spelled
from plmlab.labs.shared.tokens import labels
from plmlab.text.printable import printable
from plmlab.text.spacing import readable
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary

MOST = 256
"""So many tokens of a beginning are read at most: its last ones."""


class Writer(Protocol):
    """A model that can be asked to go on with a text."""

    @property
    def name(self) -> str:
        """What the reader knows it by."""

    @property
    def model(self) -> AutoregressiveModel[Any]:
        """What gives the logits."""

    @property
    def vocab(self) -> Vocabulary:
        """Its ids, [END] among them."""

    @property
    def beside(self) -> Beside | None:
        """The world that it writes about, where its exact probabilities are known."""

    def read(self, text: str, length: int) -> tuple[list[int], str]:
        """The ids of a beginning, after which ``length`` tokens must fit, and a note on what the model cannot read as
        it was typed. ValueError, in the reader's words, for a text that nothing can go on from."""

    def words(self, text: str) -> list[str]:
        """The words of a beginning, as the world writes them."""

    def labels(self, ids: Sequence[int]) -> list[str]:
        """What the tokens are called."""

    def written(self, ids: Sequence[int]) -> str:
        """Some ids as running text, [END] left out."""

    def at_rest(self) -> AbstractContextManager[None]:
        """While it lasts, the model is read without dropout."""


class TableWriter:
    """A `TableLM`: its words are its tokens. Those of one character each need no spaces between them."""

    beside: Beside | None = None

    def __init__(self, name: str, table: TableLM) -> None:
        self.name, self.model, self.vocab = name, table, table.vocab
        self.letters = all(len(word) == 1 for word in table.words[1:])

    def words(self, text: str) -> list[str]:
        """The words of a beginning."""
        return list("".join(text.split())) if self.letters else text.split()

    def read(self, text: str, length: int) -> tuple[list[int], str]:
        """The ids of a beginning, which the table must have."""
        words = self.words(text)
        if not words:
            raise empty("beginning")
        try:
            ids = list(self.model.ids(words))
            self.model.next_words(torch.tensor([ids]))
        except ValueError as error:
            raise ValueError(f"{str(error)[:1].upper()}{str(error)[1:]}. Type a beginning of its texts, or let another "
                             "write; what is drawn is from before.") from None
        return ids, ""

    def labels(self, ids: Sequence[int]) -> list[str]:
        """What the tokens are called."""
        return [printable(self.model.words[id]) for id in ids]

    def written(self, ids: Sequence[int]) -> str:
        """Some ids as running text, [END] left out."""
        words = self.model.read(ids)
        return printable("".join(words) if self.letters else readable(words))

    def at_rest(self) -> AbstractContextManager[None]:
        """A table is always so."""
        return nullcontext()


class ModelWriter:
    """A model with its tokenizer, and with a world whose words its tokens are.

    A TypeError for what has no ``start`` and ``step``; a ValueError where the tokenizer is not the model's.
    """

    def __init__(self, name: str, model: Any, tokenizer: Any, beside: Beside | None) -> None:
        if not isinstance(model, AutoregressiveModel):
            raise TypeError(f"a beam needs a model that writes from left to right, with start and step (a GPT, a "
                            f"recurrent language model, a Table); a {type(model).__name__} was given")
        self.name, self.model, self.beside = name, model, beside
        self.tokenizer: Tokenizer = as_ours(tokenizer)
        self.vocab = self.tokenizer.vocab

    def words(self, text: str) -> list[str]:
        """The words of a beginning, as the world writes them."""
        return (spelled(text, self.beside.world) if self.beside else text).split()

    def read(self, text: str, length: int) -> tuple[list[int], str]:
        """The ids of a beginning, the start token first where there is one."""
        said = " ".join(self.words(text)) if self.beside else text
        own, start = self.tokenizer.encode(said), self.vocab.start
        if start is None and not own:
            raise ValueError("The beginning is empty, and this model has no token that begins a text: type a word. "
                             "What is drawn is from before.")
        ids = [*(() if start is None else (start,)), *own]
        room = max(1, min(MOST, getattr(getattr(self.model, "config", None), "time", MOST + length) - length))
        note = "" if len(ids) <= room else (
            f"The beginning has {len(ids):,} tokens, and {room:,} are read: its last ones. The text keeps them all.")
        return ids[-room:], joined(self._unknown(said, own), note)

    def _unknown(self, said: str, ids: Sequence[int]) -> str:
        return unread(self._unread(said, ids), len(self.tokenizer))

    def _unread(self, said: str, ids: Sequence[int]) -> Iterator[str]:
        for id, (start, end) in zip(ids, self.tokenizer.offsets(said), strict=True):
            if id == self.vocab.unk:
                yield said[start:end]

    def labels(self, ids: Sequence[int]) -> list[str]:
        """What the tokens are called."""
        return labels(self.tokenizer, ids)

    def written(self, ids: Sequence[int]) -> str:
        """Some ids as running text, [END] left out."""
        return printable(self.tokenizer.decode([id for id in ids if id != self.vocab.end]).strip(" "))

    def at_rest(self) -> AbstractContextManager[None]:
        """While it lasts, the model is read without dropout."""
        return inference(self.model) if isinstance(self.model, nn.Module) else nullcontext()


def prompt_of(ids: Sequence[int]) -> Int[Tensor, "1 time"]:
    """Some ids as a prompt: one row."""
    return torch.tensor([list(ids)], dtype=torch.long)
