"""How the Layer Lab reads: typed sentences as words, and a word's vector at each layer of an ELMo."""

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
"""So many weights has a point of a triangle."""
ROWS = 64
"""So many sentences are read at once."""

Layers = Float[Tensor, "row layer both"]
"""Vectors of words in sentences, a layer each: what was read from the left, beside what was read from the right."""


class MakesWords(Protocol):
    """What makes a word's vector of its characters, and stands at the bottom of an ELMo."""

    @property
    def token(self) -> CharCNN:
        """Codes of words → their vectors."""


@runtime_checkable
class ReadsWords(Protocol):
    """An ELMo, as far as this lab knows it."""

    @property
    def bilm(self) -> MakesWords:
        """The bidirectional language model."""

    @property
    def codes(self) -> Int[Tensor, "vocab character"]:
        """How each word of the vocabulary is spelled."""

    def layers(self, sentences: Sequence[Sequence[str]]) -> list[Float[Tensor, "batch time both"]]:
        """One tensor a layer; a sentence's word k stands at position k + 1."""


@dataclass(frozen=True)
class Reader:
    """An ELMo that reads sentences, with the words of its vocabulary and the ids that they have there.

    ``longest`` is how many codes a word has, its begin and end included.
    """

    model: nn.Module
    words: tuple[str, ...]
    ids: tuple[int, ...]

    @classmethod
    def of(cls, model: nn.Module, tokenizer: Tokenizer | None = None) -> "Reader":
        """The reader that a model is. Without a ``tokenizer`` the names of the words are read off their spelling, which
        cuts the longest. ValueError for a model that is no ELMo, has another number of layers, or knows no spelling."""
        if not isinstance(model, ReadsWords):
            raise ValueError(f"a LayerLab reads an ELMo, layer by layer; a {type(model).__name__} was given")
        names = spelled_words(model.codes) if tokenizer is None else tokenizer.tokens(list(range(len(tokenizer))))
        if len(names) != len(model.codes):
            raise ValueError(f"the tokenizer has {len(names):,} words, the ELMo knows the spelling of "
                             f"{len(model.codes):,}: give the tokenizer that the ELMo was spelled with")
        if not model.codes.any():
            raise ValueError("this ELMo does not know how its words are spelled: call elmo.spell(tokenizer) first")
        special = {*SPECIALS, *SENTINELS}
        ids = [id for id, name in enumerate(names) if name and name not in special]
        if len(ids) < 2:
            raise ValueError("this ELMo's vocabulary has no two words: nothing can be near to anything")
        found = cls(model, tuple(names[id] for id in ids), tuple(ids))
        with inference(model):
            layers = len(model.layers([[found.words[0]]]))
        if layers != LAYERS:
            raise ValueError(f"this lab mixes {LAYERS} layers, the word's own and those of two LSTMs; this ELMo has "
                             f"{layers}")
        return found

    @property
    def elmo(self) -> ReadsWords:
        """The model by what it can do."""
        return cast(ReadsWords, self.model)

    @property
    def token(self) -> CharCNN:
        """What makes vectors of characters."""
        return self.elmo.bilm.token

    @property
    def longest(self) -> int:
        """How many codes a word has, its begin and its end included."""
        return self.elmo.codes.shape[1]

    def sentence(self, words: Sequence[str]) -> Layers:
        """The vectors of all words of a sentence."""
        with inference(self.model):
            return torch.stack([layer[0, 1:-1] for layer in self.elmo.layers([words])], 1)

    def occurrences(self, sentences: Sequence[Sequence[str]], places: Sequence[int]) -> Layers:
        """The vectors of one word of each sentence, the one that stands at its place."""
        found = []
        with inference(self.model):
            for first in range(0, len(sentences), ROWS):
                layers = torch.stack(self.elmo.layers(sentences[first:first + ROWS]), 2)
                positions = torch.tensor(places[first:first + ROWS], device=layers.device) + 1
                found.append(layers[torch.arange(len(positions), device=layers.device), positions])
        return torch.cat(found).float().cpu()


def spelled_words(codes: Int[Tensor, "vocab character"]) -> list[str]:
    """The words that codes spell, "" for the signs of a sentence's two ends and for a row without codes."""
    found = []
    for row in codes.tolist():
        inner = row[1:row.index(END_WORD)] if row[0] == BEGIN_WORD and END_WORD in row else []
        letters = bytes(code - 1 for code in inner if code <= END_SENTENCE - 2)
        found.append(letters.decode("utf-8", "ignore") if len(letters) == len(inner) else "")
    return found


def words_of(text: str, known: Collection[str], room: int, what: str) -> tuple[list[str], int]:
    """The words of a typed sentence, ``room`` at most, and how many are left out: marks set apart, and no capital at
    the beginning where only the small letter is known. ValueError: there are none in ``what``."""
    words: list[str] = []
    for typed in text.split():
        word = typed if typed in known else typed.rstrip(MARKS)
        words += [word] if word else []
        words += typed[len(word):]
    if not words:
        raise empty(what)
    small = words[0][:1].lower() + words[0][1:]
    if words[0] not in known and small in known:
        words[0] = small
    return words[:room], max(0, len(words) - room)
