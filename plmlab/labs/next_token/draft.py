"""A text that the reader types and a model continues, with undo."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from plmlab.text.tokenizers import Tokenizer


class Script:
    """Conversion between text and a model's token ids.

    ``spell`` converts typed text to the spelling that the model was trained on.
    """

    def __init__(self, tokenizer: Tokenizer, spell: Callable[[str], str] = str) -> None:
        self.tokenizer, self.spell = tokenizer, spell

    def read(self, text: str) -> list[int]:
        """The token ids of a text after `spell`, without a start token."""
        return self.tokenizer.encode(self.spell(text))

    def unknown(self, text: str) -> list[str]:
        """The words of a text that are encoded as [UNK]."""
        spelled, unk = self.spell(text), self.tokenizer.vocab.unk
        ids, offsets = self.tokenizer.encode(spelled), self.tokenizer.offsets(spelled)
        words = [spelled[start:end] for id, (start, end) in zip(ids, offsets, strict=True) if id == unk]
        return [word for word in words if self.tokenizer.backend.token_to_id(word) != unk]

    def longer(self, text: str, ids: Sequence[int], new: Sequence[int]) -> str:
        """Append the tokens ``new`` to the text. The existing text is unchanged, and the result encodes to the intended
        ids if any spelling does so."""
        before, after = self.tokenizer.decode(ids), self.tokenizer.decode([*ids, *new])
        words = " ".join(self.tokenizer.decode([id]) for id in new)
        spaced = f"{text.rstrip(' ')} {words}" if text.strip() else words
        candidates = [text + after[len(before):]] if after.startswith(before) else []
        candidates.insert(0 if text.endswith(" ") else len(candidates), spaced)
        if before == text:
            candidates.append(after)
        return next((candidate for candidate in candidates if self.read(candidate) == [*ids, *new]), candidates[0])


@dataclass(frozen=True)
class Draft:
    """The current text and its token ids.

    The model's input is ``start`` (the start token, if there is one) followed by ``own``. ``unknown`` lists the typed
    words that are encoded as [UNK]. ``chosen`` lists the tokens generated since the reader last typed, as (id,
    probability under the model). ``before`` is the draft that undo restores. The generated ids are stored because
    encoding the text again may give different tokens.
    """

    text: str
    start: tuple[int, ...]
    own: tuple[int, ...]
    unknown: tuple[str, ...] = ()
    chosen: tuple[tuple[int, float], ...] = ()
    before: "Draft | None" = None

    @classmethod
    def typed(cls, text: str, script: Script) -> Self:
        """A draft of typed text. Raises ValueError if the text is empty and the model has no start token."""
        start, own = script.tokenizer.vocab.start, script.read(text)
        if start is None and not own:
            raise ValueError("The text is empty, and this model has no start token: type a word. The figure still "
                             "shows the previous text.")
        return cls(text, () if start is None else (start,), tuple(own), tuple(script.unknown(text)))

    @property
    def ids(self) -> tuple[int, ...]:
        """The model's input: the start token, if there is one, and the ids of the text."""
        return (*self.start, *self.own)

    def then(self, chosen: Sequence[tuple[int, float]], script: Script) -> "Draft":
        """The draft with tokens appended, which are given as (id, probability); typed text is unchanged."""
        new = [token for token, _ in chosen]
        text = script.longer(self.text, self.own, new)
        return Draft(text, self.start, (*self.own, *new), self.unknown, (*self.chosen, *chosen), self)
