"""The base of the labs that read one typed sentence: how it is read, what there is to try, and marks on its words."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import traitlets
from torch import nn

from plmlab.interpret.readable import readable
from plmlab.labs.base import Lab
from plmlab.labs.shared.notes import empty, joined, left_out, unknown
from plmlab.labs.shared.probabilities import spelled
from plmlab.labs.shared.tokens import carried, labels
from plmlab.text.tokenizers import Tokenizer

if TYPE_CHECKING:
    from plmlab.world import World

RIVER = "The bank of the river was covered with reeds."


class SentenceLab(Lab):
    """A lab of one typed sentence, whose words the reader marks.

    A subclass sets ``model`` (None for none), ``tokenizer`` and ``world`` (None for none) before its base begins,
    reads with ``read``, and gives back the ids that its marks count in as ``_ids``, among what is ``kept``.

    Attributes:
        unit: what the tokens of a sentence are called.
        typed: the special tokens that the reader may type, beside [UNK]; the lab sets all others.
        advice: what to type in their place.
    """

    unit: ClassVar[str] = "word"
    typed: ClassVar[tuple[str, ...]] = ()
    advice: ClassVar[str] = "type words"

    menu = traitlets.Dict().tag(sync=True)

    model: nn.Module | None
    tokenizer: Tokenizer
    world: "World | None"
    _ids: Sequence[int] = ()

    def __init__(self, begin: Mapping[str, Any], presets: Sequence[Mapping[str, Any]], menu: Mapping[str, Any],
                 max_tokens: int) -> None:
        super().__init__(**begin, menu={"presets": list(presets), "world": self.world is not None, **menu},
                         max_tokens=max_tokens)

    def room(self, ids: Sequence[int], max_tokens: int) -> int:
        """How many of the typed ids are read: where all positions hold words, as many as the model has positions
        for."""
        return fitting(max_tokens, self.model)

    def read(self, text: str, max_tokens: int) -> tuple[list[int], str]:
        """The ids of a typed sentence, spelled as the world writes and as many as there is room for; and what is to be
        said of those left out and of those unknown. ValueError: it is empty, has a special token that the lab sets, or
        there is no room."""
        vocab = self.tokenizer.vocab
        typed = self.tokenizer.encode(text if self.world is None else spelled(text, self.world))
        room = self.room(typed, max_tokens)
        if room < 1:
            raise ValueError(f"max_tokens is {max_tokens}: too few to draw a word; give at least "
                             f"{max_tokens + 1 - room}")
        if not typed:
            raise empty()
        may = {getattr(vocab, name) for name in ("unk", *self.typed)}
        for id in typed:
            if id in vocab.special and id not in may:
                raise ValueError(f"{self._labels([id])[0]} stands in the text, and is set by the lab: {self.advice}. "
                                 "What is drawn is from before.")
        ids = typed[:room]
        return ids, joined(left_out(len(typed) - room, room, self.unit), unknown(sum(id == vocab.unk for id in ids)))

    def place_of(self, word: str, text: str, max_tokens: int) -> int:
        """Where a word that is to be hidden first stands in a text; a ValueError where it does not."""
        tokens = self._labels(self.read(text, max_tokens)[0])
        if word not in tokens:
            raise ValueError(f"{word!r:.60} is to be hidden, and is no token of the sentence: {' '.join(tokens)}")
        return tokens.index(word)

    def carried(self, ids: Sequence[int], places: Sequence[int]) -> list[int]:
        """Where the words at some places of the sentence that is drawn stand in one that is read now."""
        return carried(self._ids, ids, places)

    def _labels(self, ids: Sequence[int]) -> list[str]:
        return labels(self.tokenizer, ids)


def beginning(text: str | None, presets: Sequence[Mapping[str, Any]], **unmarked: Any) -> dict[str, Any]:
    """The traits that a lab begins with: a text with the traits of one that nobody has marked, or where no text is
    given the first preset's, without its title."""
    if text is None and presets:
        return {name: value for name, value in presets[0].items() if name != "title"}
    return {"text": RIVER if text is None else text, **unmarked}


def fitting(room: int, *models: nn.Module | None) -> int:
    """So many positions as all models have positions for; ``room`` at most."""
    known = [readable(model).max_positions for model in models if model is not None]
    return min([room, *(positions for positions in known if positions is not None)])
