"""The special ids and the word ids of a tokenizer: everything that an objective needs to know about the tokenizer."""

from dataclasses import dataclass
from functools import cached_property

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[START]", "[END]")
SENTINELS = tuple(f"[X{i}]" for i in range(32))


@dataclass(frozen=True)
class Vocabulary:
    """The size of a vocabulary and its special ids.

    The defaults are those of all tokenizers trained here; a third-party tokenizer sets its own. The id of a special
    token that a tokenizer lacks is None.
    """

    size: int
    pad: int | None = 0
    unk: int | None = 1
    cls: int | None = 2
    sep: int | None = 3
    mask: int | None = 4
    start: int | None = 5
    end: int | None = 6
    sentinels: tuple[int, ...] = tuple(range(len(SPECIALS), len(SPECIALS) + len(SENTINELS)))

    @cached_property
    def special(self) -> frozenset[int]:
        """Every id that is not a word or subword."""
        named = (self.pad, self.unk, self.cls, self.sep, self.mask, self.start, self.end)
        return frozenset(self.sentinels) | {id for id in named if id is not None}

    @cached_property
    def words(self) -> tuple[int, ...]:
        """All ids of words or subwords, in ascending order."""
        return tuple(id for id in range(self.size) if id not in self.special)

    def need(self, name: str) -> int:
        """The id of the special token ``name``. Raises ValueError if the tokenizer lacks that token."""
        id = getattr(self, name)
        if id is None:
            raise ValueError(
                f"this tokenizer has no [{name.upper()}] token, which the objective needs; "
                "train one with plmlab.text.Tokenizer, which has all special tokens"
            )
        return id
