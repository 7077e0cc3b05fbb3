"""A text that grows: typed by the reader, and written on with a model, step by step and back again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from plmlab.text.tokenizers import Tokenizer


class Script:
    """How a text becomes a model's tokens, and tokens become text again.

    ``set_spelling`` puts what a person types into the spelling that the model was trained on.
    """

    def __init__(self, tokenizer: Tokenizer, spell: Callable[[str], str] = str) -> None:
        self.tokenizer, self.set_spelling = tokenizer, spell

    def read(self, text: str) -> list[int]:
        """The ids of a text, once it is spelled as the model knows it, without a start token."""
        return self.tokenizer.encode(self.set_spelling(text))

    def unknown(self, text: str) -> list[str]:
        """The words of a text that can only be read as [UNK]."""
        spelled, unk = self.set_spelling(text), self.tokenizer.vocab.unk
        ids, offsets = self.tokenizer.encode(spelled), self.tokenizer.offsets(spelled)
        words = [spelled[start:end] for id, (start, end) in zip(ids, offsets, strict=True) if id == unk]
        return [word for word in words if self.tokenizer.backend.token_to_id(word) != unk]

    def longer(self, text: str, ids: Sequence[int], new: Sequence[int]) -> str:
        """The text with some tokens more: what stands there stays, and what is added reads back as it was meant, where
        there is a way to write it so."""
        before, after = self.tokenizer.decode(ids), self.tokenizer.decode([*ids, *new])
        words = " ".join(self.tokenizer.decode([id]) for id in new)
        apart = f"{text.rstrip(' ')} {words}" if text.strip() else words
        ways = [text + after[len(before):]] if after.startswith(before) else []
        ways.insert(0 if text.endswith(" ") else len(ways), apart)
        if before == text:
            ways.append(after)
        return next((way for way in ways if self.read(way) == [*ids, *new]), ways[0])


@dataclass(frozen=True)
class Draft:
    """A text as it stands.

    The model reads ``start``, the start token where there is one, and then ``own``. ``unknown`` holds the typed
    words that it reads as [UNK]. ``chosen`` is what was written since the reader last typed: each token's id, and its
    probability under the model. ``before`` is the draft that undo goes back to. The ids of what was written are kept:
    encoded anew, a text may fall into other pieces.
    """

    text: str
    start: tuple[int, ...]
    own: tuple[int, ...]
    unknown: tuple[str, ...] = ()
    chosen: tuple[tuple[int, float], ...] = ()
    before: "Draft | None" = None

    @classmethod
    def typed(cls, text: str, script: Script) -> Self:
        """What the reader typed; a ValueError where it is empty and nothing can stand for its beginning."""
        start, own = script.tokenizer.vocab.start, script.read(text)
        if start is None and not own:
            raise ValueError("The text is empty, and this model has no token that begins a text: type a word. "
                             "What is drawn is from before.")
        return cls(text, () if start is None else (start,), tuple(own), tuple(script.unknown(text)))

    @property
    def ids(self) -> tuple[int, ...]:
        """All ids that the model reads: the start token, if there is one, and the text's own."""
        return (*self.start, *self.own)

    def then(self, chosen: Sequence[tuple[int, float]], script: Script) -> "Draft":
        """The draft with some tokens more, given as (id, probability); what the reader typed stays as typed."""
        new = [token for token, _ in chosen]
        text = script.longer(self.text, self.own, new)
        return Draft(text, self.start, (*self.own, *new), self.unknown, (*self.chosen, *chosen), self)
