"""The Layer Lab: one word, many vectors, and a mix of layers that is turned by hand."""

from collections.abc import Mapping, Sequence
from math import isclose, isfinite
from typing import Any, ClassVar

import torch
import traitlets
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.layer.mixing import SCORES, scored
from plmlab.labs.layer.presets import OFFERED, SECOND, SPELLED, SPELLINGS, TEXT, LayerPreset
from plmlab.labs.layer.reading import LAYERS, Reader, words_of
from plmlab.labs.layer.spelling import Spellings
from plmlab.labs.layer.state import State, Told
from plmlab.labs.layer.store import DIRECTIONS, Sentences, Store, directions, packed
from plmlab.labs.shared.notes import joined, left_out
from plmlab.text.printable import printable
from plmlab.text.tokenizers import Tokenizer

MEAN = [1 / LAYERS] * LAYERS


class LayerLab(Lab):
    """An ELMo's layers, turned by hand: how near a word is to itself in another sentence, layer by layer; its
    neighbours under a mix of layers; and the characters that its vector is made of.

    Args:
        elmo: an ELMo with two layers of LSTMs that knows how its words are spelled (``elmo.set_spelling(tokenizer)``).
        tokenizer: the one that it was spelled with; without one the names of words are read off their spelling.
        text: the first sentence.
        second: the second.
        word: the word that is asked about, which stands in both; without one, an ambiguous word that does.
        spelled: the word whose characters are looked at.
        task_shares: name → the three shares that a task has learned, marked in the triangle.
        presets: pairs of sentences to try.
        sentences: the occurrences that are stored and asked about; the Small World's without any.
        traits: what the reader can set besides: ``shares`` (of the three layers, which add up to 1), ``chosen`` (0 or
            1: the sentence whose word's neighbours are shown), ``score`` (which share the triangle shows).
    """

    title = "Layer Lab"
    module = "layer/lab.js"
    styles = ("layer/lab.css",)
    inputs: ClassVar = ("text", "second", "places", "spelled", "max_tokens")

    second = traitlets.Unicode().tag(sync=True)
    places = traitlets.List(traitlets.Int()).tag(sync=True)
    chosen = traitlets.Enum((0, 1), 0).tag(sync=True)
    shares = traitlets.List(traitlets.Float(), MEAN).tag(sync=True)
    score = traitlets.Enum(SCORES, "form elsewhere").tag(sync=True)
    spelled = traitlets.Unicode().tag(sync=True)
    spelling = traitlets.Dict().tag(sync=True)
    store = traitlets.Dict().tag(sync=True)
    menu = traitlets.Dict().tag(sync=True)

    def __init__(self, elmo: nn.Module, tokenizer: Tokenizer | None = None, *, text: str = TEXT, second: str = SECOND,
                 word: str | None = None, spelled: str = SPELLED,
                 task_shares: Mapping[str, Sequence[float]] | None = None, presets: Sequence[LayerPreset] = OFFERED,
                 sentences: Sentences | None = None, **traits: Any) -> None:
        self.reader = Reader.of(elmo, tokenizer)
        self.stored = Store.of(self.reader, sentences or Sentences.of_the_world())
        self.spellings = Spellings(self.reader)
        self.vectors: tuple[Tensor, ...] = ()
        self._compared: list[int] = []
        self._wanted = word
        self._known = frozenset(self.reader.words)
        tasks = [{"name": str(name), "shares": checked(shares, f"the task {name!r}")}
                 for name, shares in (task_shares or {}).items()]
        menu = {"presets": [{"title": one.title} | one.traits() for one in presets], "tasks": tasks,
                "spellings": [{"title": word, "spelled": word} for word in SPELLINGS]}
        if word is not None:
            traits["places"] = [self._place(sentence, word) for sentence in (text, second)]
        super().__init__(text=text, second=second, spelled=spelled, menu=menu,
                         store=self.stored.sent() | scored(self.stored), **traits)

    @traitlets.validate("shares")
    def _check_shares(self, proposal: Any) -> Any:
        """A TraitError for what no point of the triangle stands for."""
        try:
            return checked(proposal["value"], "the mix")
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None

    def cosines(self) -> Float[Tensor, "layer direction"]:
        """How near the word's two vectors are, at each layer, read from the left, from the right, and both.
        ValueError where nothing was read yet."""
        if not self.vectors:
            raise ValueError(f"no sentence was read yet: {self.message}")
        one, other = (vectors[place] for vectors, place in zip(self.vectors, self._compared, strict=True))
        return torch.stack([torch.nn.functional.cosine_similarity(a, b, dim=-1) for a, b in zip(
            directions(one).values(), directions(other).values(), strict=True)], 1)

    def summary(self) -> str:
        """The words that are compared, and the cosine of their vectors at each layer."""
        if not self.vectors:
            return self.message
        one, other = (told["words"][place]
                      for told, place in zip(self.state["sentences"], self._compared, strict=True))
        near = ", ".join(f"layer {layer} {float(row[DIRECTIONS.index('both')]):.2f}"
                         for layer, row in enumerate(self.cosines()))
        return f"{one!r} and {other!r}: cosine at {near}"

    def compute(self, change: Change) -> Computed:
        """The sentences, where they or the places changed; the characters of a word, where that did."""
        traits: dict[str, Any] = {"message": self.message, "stale": self.stale}
        kept: dict[str, Any] = {}
        if change.tried - {"spelled"}:
            found, kept = self._sentences(change)
            traits = traits | {"message": "", "stale": False} | found
        if "spelled" in change.tried:
            try:
                traits["spelling"] = self.spellings.read(self.spelled)
            except ValueError as error:
                traits["spelling"] = self.spelling | {"said": str(error)}
        return Computed(traits, kept)

    def _sentences(self, change: Change) -> tuple[dict[str, Any], dict[str, Any]]:
        """Both sentences as JavaScript draws them, the places that are asked about, and the vectors."""
        read = [words_of(text, self._known, self.max_tokens, what)
                for text, what in ((self.text, "first sentence"), (self.second, "second sentence"))]
        words = [some for some, _ in read]
        moved = "places" in change.drawn
        places = self.places if moved and self.places else self._common(words)
        if len(places) != 2 or not all(0 <= place < len(some) for place, some in zip(places, words, strict=True)):
            if not {"text", "second", "max_tokens"} & change.drawn:
                raise ValueError(f"places {places!s:.80} were asked for: a place in each sentence, counted from 0, of "
                                 f"{len(words[0])} and {len(words[1])} words")
            places, moved = self._common(words), False
        vectors = tuple(self.reader.sentence(some).float().cpu() for some in words)
        told: list[Told] = [{"words": list(map(printable, some)), "senses": senses, "pattern": pattern,
                 "unknown": [i for i, word in enumerate(some) if word not in self._known],
                 "vectors": packed(self.stored.scaled(found))} for some, found in zip(words, vectors, strict=True)
                for senses, pattern in [self.stored.sentences.parsed(some)]]
        note = joined(*(left_out(left, self.max_tokens, "word") for _, left in read if left))
        state: State = {"sentences": told, "read": [self.text, self.second]}
        kept: dict[str, Any] = {"vectors": vectors, "_compared": places}
        kept |= {"_wanted": words[0][places[0]]} if moved else {}
        return {"state": state, "places": list(places), "message": note}, kept

    def _common(self, words: Sequence[Sequence[str]]) -> list[int]:
        """Where a word stands in both sentences: the one that was last asked about, else an ambiguous one, else any.
        Where they have none in common, the first ambiguous word of each, or its first word."""
        one, other = words
        shared = [word for word in one if word in other]
        ambiguous = self.stored.sentences.frequent
        for wanted in ((self._wanted,), ambiguous, shared):
            for word in shared:
                if word in wanted:
                    return [one.index(word), other.index(word)]
        return [next((i for i, word in enumerate(some) if word in ambiguous), 0) for some in words]

    def _place(self, text: str, word: str) -> int:
        """Where a word stands in a sentence; a ValueError where it does not."""
        words, _ = words_of(text, self._known, self.max_tokens, "sentence")
        if word not in words:
            raise ValueError(f"{word!r} is to be asked about, and does not stand in {text!r}: give a word of both "
                             "sentences")
        return words.index(word)


def checked(shares: Sequence[float], whose: str) -> list[float]:
    """Three shares that add up to 1; a ValueError for anything else."""
    found = [float(share) for share in shares]
    if len(found) != LAYERS or not all(isfinite(share) and share >= -1e-9 for share in found) \
            or not isclose(sum(found), 1, abs_tol=1e-3):
        raise ValueError(f"{whose} has the shares {found!s:.80}; {LAYERS} are needed, one a layer, none below 0, which "
                         "add up to 1")
    return [max(0.0, share) / sum(max(0.0, one) for one in found) for share in found]
