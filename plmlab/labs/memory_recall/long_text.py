"""A long text in blocks, the reader's question, and the reader's changes: blocks held, excluded or rewritten."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from plmlab.labs.shared.notes import empty, left_out
from plmlab.text.splitting import PUNCTUATION_COSTS, split_at_punctuation
from plmlab.text.tokenizers import Tokenizer

AGAIN = "The previous result is still shown."


@dataclass(frozen=True)
class Typed:
    """A text with its token ids; "[MASK]" and the like are ordinary text in it."""

    text: str
    ids: tuple[int, ...]

    @classmethod
    def of(cls, tokenizer: Tokenizer, text: str) -> Self:
        """Encode a text."""
        return cls(text, tuple(tokenizer.encode(text, plain=True)))

    def unknown(self, tokenizer: Tokenizer) -> list[str]:
        """The words that are not in the vocabulary."""
        places = tokenizer.offsets(self.text, plain=True)
        return [self.text[start:end] for id, (start, end) in zip(self.ids, places, strict=False)
                if id == tokenizer.vocab.unk]


def split(tokenizer: Tokenizer, text: str, longest: int) -> list[tuple[int, Typed]]:
    """Split a text into blocks of at most ``longest`` tokens, none of which contains a line break; each with the index
    of its first token in the text. Raises ValueError if the text is empty."""
    blocks, before = [], 0
    for line in filter(str.strip, text.splitlines() or [""]):
        ids, places = tokenizer.encode(line, plain=True), tokenizer.offsets(line, plain=True)
        blocks += [(before + start, Typed(line[places[start][0]:places[end - 1][1]], tuple(ids[start:end])))
                   for start, end in split_at_punctuation(tokenizer.tokens(ids), PUNCTUATION_COSTS, longest)]
        before += len(ids)
    if not blocks:
        raise ValueError("the text is empty; give at least one token to split into blocks")
    return blocks


@dataclass(frozen=True)
class Changes:
    """Positions of the blocks that are ``held`` and ``excluded``, and ``edits``, the new blocks by position."""

    held: tuple[int, ...] = ()
    excluded: tuple[int, ...] = ()
    edits: tuple[tuple[int, Typed], ...] = ()

    @classmethod
    def of(cls, tokenizer: Tokenizer, blocks: Sequence[Typed], longest: int, held: Sequence[Any],
           excluded: Sequence[Any], edits: Mapping[str, Any]) -> Self:
        """The changes to these blocks, from JSON values. Raises ValueError if there is no such block, if a block is
        both held and excluded, if all are excluded, or if a new text is empty or longer than ``longest`` tokens."""
        at = {str(position): position for position in range(len(blocks))}
        if strange := [one for one in (*held, *excluded, *edits) if str(one) not in at]:
            raise ValueError(f"there is no block at position {strange[0]!r:.60}; the positions are 0 to {len(at) - 1}")
        kept, out = ({at[str(one)] for one in given} for given in (held, excluded))
        if both := kept & out:
            raise ValueError(f"Block {min(both) + 1} is both held and excluded; choose one. {AGAIN}")
        if len(out) == len(at):
            raise ValueError(f"All blocks are excluded, so there is nothing to recall: free a block. {AGAIN}")
        new = {at[key]: Typed.of(tokenizer, str(text)) for key, text in edits.items()}
        for position, typed in new.items():
            if not 1 <= len(typed.ids) <= longest:
                raise ValueError(f"The new text of block {position + 1} has {len(typed.ids):,} tokens, but a block "
                                 f"holds 1 to {longest}: change it, or exclude the block. {AGAIN}")
        return cls(tuple(sorted(kept)), tuple(sorted(out)),
                   tuple((place, new[place]) for place in sorted(new) if new[place].ids != blocks[place].ids))


def question_of(tokenizer: Tokenizer, text: str, room: int) -> tuple[Typed, str]:
    """A question of at most ``room`` tokens, and a note on what was left out. Its first letter is lower-cased if only
    that form is in the vocabulary. Raises ValueError if it is empty."""
    typed = Typed.of(tokenizer, text.strip())
    if not typed.ids:
        raise empty("question")
    lowered = Typed.of(tokenizer, typed.text[0].lower() + typed.text[1:])
    if typed.ids[0] == tokenizer.vocab.unk != lowered.ids[0]:
        typed = lowered
    return Typed(typed.text, typed.ids[:room]), left_out(len(typed.ids) - room, room)
