"""The Layer Lab: contextual word vectors layer by layer, and a scalar mix of the layers set by hand."""

from collections.abc import Mapping, Sequence
from math import isclose, isfinite
from typing import Any, ClassVar

import torch
import traitlets
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.layer.presets import OFFERED, SECOND, SPELLED, SPELLINGS, TEXT, LayerPreset
from plmlab.labs.layer.reading import LAYERS, Reader, words_of
from plmlab.labs.layer.scalar_mix import SCORES, scored
from plmlab.labs.layer.spelling import Spellings
from plmlab.labs.layer.state import State, Told
from plmlab.labs.layer.store import DIRECTIONS, Sentences, Store, directions, packed
from plmlab.labs.shared.notes import joined, left_out
from plmlab.text.printable import printable
from plmlab.text.tokenizers import Tokenizer

MEAN = [1 / LAYERS] * LAYERS


class LayerLab(Lab):
    """The layers of an ELMo: the cosine between a word's vectors in two sentences, layer by layer; the word's nearest
    neighbours under a scalar mix of the layers; and the character CNN applied to a word.

    Args:
        elmo: an ELMo with two LSTM layers and known spellings (set by ``elmo.set_spelling(tokenizer)``).
        tokenizer: the tokenizer passed to ``elmo.set_spelling``; by default, words are decoded from their character
            codes.
        text: the first sentence.
        second: the second sentence.
        word: the word to compare, which occurs in both sentences; by default, an ambiguous word that they share.
        spelled: the word whose characters are analysed.
        task_shares: maps the name of a task to its three learned layer weights, which are marked in the triangle.
        presets: pairs of sentences to try.
        sentences: the stored occurrences and the queries; by default, those of the Small World.
        traits: what else the reader can set: ``shares`` (the weights of the three layers, which add up to 1),
            ``chosen`` (0 or 1: the sentence for whose word the neighbours are shown), ``score`` (the task for which the
            triangle shows the accuracy).

    Raises:
        ValueError: if the model is not an ELMo with two LSTM layers and known spellings, or if a weight is invalid.
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
        menu = {"presets": [{"title": preset.title} | preset.traits() for preset in presets], "tasks": tasks,
                "spellings": [{"title": word, "spelled": word} for word in SPELLINGS]}
        if word is not None:
            traits["places"] = [self._place(sentence, word) for sentence in (text, second)]
        super().__init__(text=text, second=second, spelled=spelled, menu=menu,
                         store=self.stored.sent() | scored(self.stored), **traits)

    @traitlets.validate("shares")
    def _check_shares(self, proposal: Any) -> Any:
        """Raise TraitError unless the weights are a point of the triangle."""
        try:
            return checked(proposal["value"], "the scalar mix")
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None

    def cosines(self) -> Float[Tensor, "layer direction"]:
        """The cosine of the word's two vectors at each layer, for the forward half, the backward half, and both
        concatenated. Raises ValueError if no sentence has been processed yet."""
        if not self.vectors:
            raise ValueError(f"no sentence has been processed yet: {self.message}")
        one, other = (vectors[index] for vectors, index in zip(self.vectors, self._compared, strict=True))
        return torch.stack([torch.nn.functional.cosine_similarity(a, b, dim=-1) for a, b in zip(
            directions(one).values(), directions(other).values(), strict=True)], 1)

    def summary(self) -> str:
        """The compared words, and the cosine of their vectors at each layer."""
        if not self.vectors:
            return self.message
        one, other = (sentence["words"][index]
                      for sentence, index in zip(self.state["sentences"], self._compared, strict=True))
        near = ", ".join(f"layer {layer} {float(row[DIRECTIONS.index('both')]):.2f}"
                         for layer, row in enumerate(self.cosines()))
        return f"{one!r} and {other!r}: cosine at {near}"

    def compute(self, change: Change) -> Computed:
        """Update the sentences if a text or a selected word changed, and the characters if the spelled word changed."""
        traits: dict[str, Any] = {"message": self.message, "stale": self.stale}
        attributes: dict[str, Any] = {}
        if change.tried - {"spelled"}:
            updates, attributes = self._sentences(change)
            traits = traits | {"message": "", "stale": False} | updates
        if "spelled" in change.tried:
            try:
                traits["spelling"] = self.spellings.read(self.spelled)
            except ValueError as error:
                traits["spelling"] = self.spelling | {"said": str(error)}
        return Computed(traits, attributes)

    def _sentences(self, change: Change) -> tuple[dict[str, Any], dict[str, Any]]:
        """The traits for JavaScript (the sentences, and the indices of the compared words), and the attributes to store
        (the vectors)."""
        split = [words_of(text, self._known, self.max_tokens, what)
                 for text, what in ((self.text, "first sentence"), (self.second, "second sentence"))]
        words = [sentence for sentence, _ in split]
        moved = "places" in change.drawn
        places = self.places if moved and self.places else self._common(words)
        if len(places) != 2 or not all(0 <= index < len(sentence)
                                       for index, sentence in zip(places, words, strict=True)):
            if not {"text", "second", "max_tokens"} & change.drawn:
                raise ValueError(f"places {places!s:.80} are not valid: give a word index in each sentence, from 0; "
                                 f"the sentences have {len(words[0])} and {len(words[1])} words")
            places, moved = self._common(words), False
        vectors = tuple(self.reader.sentence(sentence).float().cpu() for sentence in words)
        sentences: list[Told] = [
            {"words": list(map(printable, sentence)), "senses": senses, "pattern": pattern,
             "unknown": [i for i, word in enumerate(sentence) if word not in self._known],
             "vectors": packed(self.stored.scaled(layers))} for sentence, layers in zip(words, vectors, strict=True)
            for senses, pattern in [self.stored.sentences.parsed(sentence)]]
        note = joined(*(left_out(left, self.max_tokens, "word") for _, left in split if left))
        state: State = {"sentences": sentences, "read": [self.text, self.second]}
        attributes: dict[str, Any] = {"vectors": vectors, "_compared": places}
        attributes |= {"_wanted": words[0][places[0]]} if moved else {}
        return {"state": state, "places": list(places), "message": note}, attributes

    def _common(self, words: Sequence[Sequence[str]]) -> list[int]:
        """The indices of a word that occurs in both sentences: preferably the last selected word, then an ambiguous
        word, then any word. Without a shared word, each sentence's first ambiguous word, or its first word."""
        one, other = words
        shared = [word for word in one if word in other]
        ambiguous = self.stored.sentences.frequent
        for wanted in ((self._wanted,), ambiguous, shared):
            for word in shared:
                if word in wanted:
                    return [one.index(word), other.index(word)]
        return [next((i for i, word in enumerate(sentence) if word in ambiguous), 0) for sentence in words]

    def _place(self, text: str, word: str) -> int:
        """The index of a word in a sentence. Raises ValueError if the word does not occur there."""
        words, _ = words_of(text, self._known, self.max_tokens, "sentence")
        if word not in words:
            raise ValueError(f"{word!r} does not occur in {text!r}: give a word that occurs in both sentences")
        return words.index(word)


def checked(shares: Sequence[float], whose: str) -> list[float]:
    """Return three normalized layer weights. Raises ValueError unless the weights are non-negative and add up to 1."""
    weights = [float(share) for share in shares]
    if len(weights) != LAYERS or not all(isfinite(weight) and weight >= -1e-9 for weight in weights) \
            or not isclose(sum(weights), 1, abs_tol=1e-3):
        raise ValueError(f"{whose} has the weights {weights!s:.80}; give {LAYERS} non-negative weights, one per layer, "
                         "that add up to 1")
    total = sum(max(0.0, weight) for weight in weights)
    return [max(0.0, weight) / total for weight in weights]
