"""Input of the Layer Lab: typed sentences split into words, and the word vectors from each layer of an ELMo."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.interpret.readable import inference
from plmlab.labs.shared.notes import empty
from plmlab.layers.charcnn import CharCNN
from plmlab.text.characters import BEGIN_WORD, END_SENTENCE, END_WORD
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import SENTINELS, SPECIALS

MARKS = ".,;:!?"
LAYERS = 3
"""Number of layers, and of mixing weights (a point in a triangle)."""
ROWS = 64
"""Batch size, in sentences."""

Layers = Float[Tensor, "row layer both"]
"""Contextual word vectors of each layer: forward and backward hidden states, concatenated."""


class MakesWords(Protocol):
    """The interface of a model with a character CNN as its bottom layer."""

    @property
    def token(self) -> CharCNN:
        """The character CNN: character codes of words → word vectors."""


@runtime_checkable
class ReadsWords(Protocol):
    """The interface of an ELMo that this lab needs."""

    @property
    def bilm(self) -> MakesWords:
        """The bidirectional language model."""

    @property
    def codes(self) -> Int[Tensor, "vocab character"]:
        """Character codes of each word in the vocabulary."""

    def layers(self, sentences: Sequence[Sequence[str]]) -> list[Float[Tensor, "batch time both"]]:
        """One tensor per layer; word k of a sentence is at position k + 1."""


@dataclass(frozen=True)
class Reader:
    """An ELMo with the words of its vocabulary and their ids."""

    model: nn.Module
    words: tuple[str, ...]
    ids: tuple[int, ...]

    @classmethod
    def of(cls, model: nn.Module, tokenizer: Tokenizer | None = None) -> "Reader":
        """Wrap a model. Without a ``tokenizer``, words are decoded from their character codes, in which long words are
        truncated. Raises ValueError if the model is not an ELMo with `LAYERS` layers and known spellings."""
        if not isinstance(model, ReadsWords):
            raise ValueError(f"the Layer Lab needs an ELMo; a {type(model).__name__} was given")
        names = spelled_words(model.codes) if tokenizer is None else tokenizer.tokens(list(range(len(tokenizer))))
        if len(names) != len(model.codes):
            raise ValueError(f"the tokenizer has {len(names):,} words, but the ELMo has character codes for "
                             f"{len(model.codes):,}: give the tokenizer that was passed to elmo.set_spelling")
        if not model.codes.any():
            raise ValueError("this ELMo has no character codes for its vocabulary: call elmo.set_spelling(tokenizer) "
                             "first")
        special = {*SPECIALS, *SENTINELS}
        ids = [id for id, name in enumerate(names) if name and name not in special]
        if len(ids) < 2:
            raise ValueError("this ELMo's vocabulary has fewer than two words, so there are no nearest neighbours")
        reader = cls(model, tuple(names[id] for id in ids), tuple(ids))
        with inference(model):
            layers = len(model.layers([[reader.words[0]]]))
        if layers != LAYERS:
            raise ValueError(f"this lab mixes {LAYERS} layers, the character CNN and two LSTM layers; this ELMo has "
                             f"{layers}")
        return reader

    @property
    def elmo(self) -> ReadsWords:
        """The model, typed as `ReadsWords`."""
        return cast(ReadsWords, self.model)

    @property
    def token(self) -> CharCNN:
        """The character CNN."""
        return self.elmo.bilm.token

    @property
    def longest(self) -> int:
        """The maximum number of character codes per word, including the begin and end markers."""
        return self.elmo.codes.shape[1]

    def sentence(self, words: Sequence[str]) -> Layers:
        """The vectors of all words of a sentence."""
        with inference(self.model):
            return torch.stack([layer[0, 1:-1] for layer in self.elmo.layers([words])], 1)

    def occurrences(self, sentences: Sequence[Sequence[str]], places: Sequence[int]) -> Layers:
        """The vectors of one word per sentence: the word at index ``places[i]`` of sentence i."""
        vectors = []
        with inference(self.model):
            for first in range(0, len(sentences), ROWS):
                layers = torch.stack(self.elmo.layers(sentences[first:first + ROWS]), 2)
                positions = torch.tensor(places[first:first + ROWS], device=layers.device) + 1
                vectors.append(layers[torch.arange(len(positions), device=layers.device), positions])
        return torch.cat(vectors).float().cpu()


def spelled_words(codes: Int[Tensor, "vocab character"]) -> list[str]:
    """Decode character codes to words; sentence boundary markers and empty rows become ""."""
    words = []
    for row in codes.tolist():
        inner = row[1:row.index(END_WORD)] if row[0] == BEGIN_WORD and END_WORD in row else []
        encoded = bytes(code - 1 for code in inner if code <= END_SENTENCE - 2)
        words.append(encoded.decode("utf-8", "ignore") if len(encoded) == len(inner) else "")
    return words


def words_of(text: str, known: Collection[str], room: int, what: str) -> tuple[list[str], int]:
    """Split a typed sentence into at most ``room`` words; also return the number of words left out. Punctuation is
    split off, and the first word is lower-cased if only its lower-case form is ``known``. Raises ValueError, with
    ``what`` in the message, if there are no words."""
    words: list[str] = []
    for typed in text.split():
        word = typed if typed in known else typed.rstrip(MARKS)
        words += [word] if word else []
        words += typed[len(word):]
    if not words:
        raise empty(what)
    lowered = words[0][:1].lower() + words[0][1:]
    if words[0] not in known and lowered in known:
        words[0] = lowered
    return words[:room], max(0, len(words) - room)
