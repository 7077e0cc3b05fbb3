"""The base class of labs about one typed sentence: tokenization, presets, and marked words."""

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
    """A lab about one typed sentence whose words the user can mark.

    A subclass sets ``model`` (or None), ``tokenizer`` and ``world`` (or None) before calling the constructor of this
    class, encodes text with ``read``, and returns the ids that its marks refer to as ``_ids`` in `Computed.kept`.

    Attributes:
        unit: the word for a token in messages.
        typed: the special tokens that the user may type in addition to [UNK]; the lab inserts all others.
        advice: what to type instead of a special token.
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
        """The maximum number of typed ids: by default, the number of positions that the model supports, limited to
        ``max_tokens``."""
        return fitting(max_tokens, self.model)

    def read(self, text: str, max_tokens: int) -> tuple[list[int], str]:
        """Encode a typed sentence, in the world's spelling and truncated to the available room. Returns the ids, and a
        note on truncated and out-of-vocabulary tokens. Raises ValueError if the text is empty or contains a special
        token that the lab inserts, or if there is no room."""
        vocab = self.tokenizer.vocab
        typed = self.tokenizer.encode(text if self.world is None else spelled(text, self.world))
        room = self.room(typed, max_tokens)
        if room < 1:
            raise ValueError(f"max_tokens is {max_tokens}: too small to draw a word, give at least "
                             f"{max_tokens + 1 - room}")
        if not typed:
            raise empty()
        may = {getattr(vocab, name) for name in ("unk", *self.typed)}
        for id in typed:
            if id in vocab.special and id not in may:
                raise ValueError(f"the text contains {self._labels([id])[0]}, which the lab inserts itself: "
                                 f"{self.advice}. The previous result is still shown.")
        ids = typed[:room]
        return ids, joined(left_out(len(typed) - room, room, self.unit), unknown(sum(id == vocab.unk for id in ids)))

    def place_of(self, word: str, text: str, max_tokens: int) -> int:
        """The index of the first occurrence of a word to be masked. Raises ValueError if the word is not in the
        text."""
        tokens = self._labels(self.read(text, max_tokens)[0])
        if word not in tokens:
            raise ValueError(f"{word!r:.60} cannot be masked: it is not a token of the sentence: {' '.join(tokens)}")
        return tokens.index(word)

    def carried(self, ids: Sequence[int], places: Sequence[int]) -> list[int]:
        """Map word indices of the sentence on the screen to word indices of a new sentence."""
        return carried(self._ids, ids, places)

    def _labels(self, ids: Sequence[int]) -> list[str]:
        return labels(self.tokenizer, ids)


def beginning(text: str | None, presets: Sequence[Mapping[str, Any]], **unmarked: Any) -> dict[str, Any]:
    """The initial traits of a lab: the given text with the traits of an unmarked sentence (``unmarked``), or, if no
    text is given, the traits of the first preset without its title."""
    if text is None and presets:
        return {name: value for name, value in presets[0].items() if name != "title"}
    return {"text": RIVER if text is None else text, **unmarked}


def fitting(room: int, *models: nn.Module | None) -> int:
    """The largest number of positions that all models support, limited to ``room``."""
    known = [readable(model).max_positions for model in models if model is not None]
    return min([room, *(positions for positions in known if positions is not None)])
