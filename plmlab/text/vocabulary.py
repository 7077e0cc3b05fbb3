"""Which ids are special, and which are words: all that an objective has to know of a tokenizer."""

from dataclasses import dataclass
from functools import cached_property

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[START]", "[END]")
SENTINELS = tuple(f"[X{i}]" for i in range(32))


@dataclass(frozen=True)
class Vocabulary:
    """The size of a vocabulary and its special ids.

    The defaults are those of every tokenizer of ours; a tokenizer from elsewhere names its own.
    A special token that a tokenizer does not have is None.
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
        """Every id that is not a word or a piece of one."""
        named = (self.pad, self.unk, self.cls, self.sep, self.mask, self.start, self.end)
        return frozenset(self.sentinels) | {id for id in named if id is not None}

    @cached_property
    def words(self) -> tuple[int, ...]:
        """The ids that stand for words or pieces of words, ascending."""
        return tuple(id for id in range(self.size) if id not in self.special)

    def need(self, name: str) -> int:
        """The id of the special token ``name``; a ValueError says so where the tokenizer lacks it."""
        id = getattr(self, name)
        if id is None:
            raise ValueError(
                f"this tokenizer has no [{name.upper()}] token, which the objective needs; "
                "train one with plmlab.text, whose tokenizers have all special tokens"
            )
        return id
