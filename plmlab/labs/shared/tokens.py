"""What tokens are called in a lab, whose they are, and where they stand after an edit."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from plmlab.interpret.readable import Words, as_ours
from plmlab.text.printable import printable
from plmlab.text.tokenizers import Tokenizer


def names_of(tokens: Sequence[str]) -> list[str]:
    """What the positions are called in a sentence: a token that stands in several positions is told by its position."""
    return [t if tokens.count(t) == 1 else f"{t} (position {i})" for i, t in enumerate(tokens)]


def labels(words: Words, ids: Sequence[int]) -> list[str]:
    """Tokens of the vocabulary as they are shown; some models have more rows than their tokenizer has tokens."""
    tokenizer = as_ours(words)
    return [printable(tokenizer.tokens([i])[0]) if i < len(tokenizer) else f"(no token {i})" for i in ids]


def checked_vocabulary(tokenizer: Tokenizer, size: int) -> int:
    """How many tokens a model chooses among, its ``size``; a ValueError where the tokenizer has more."""
    if len(tokenizer) > size:
        raise ValueError(f"the tokenizer has {len(tokenizer):,} tokens, and the model knows {size:,}: is it that of "
                         "another model?")
    return size


def carried(old: Sequence[int], new: Sequence[int], places: Sequence[int]) -> list[int]:
    """Where the tokens at some places of a text stand after it was edited; those that are gone are left out."""
    blocks = SequenceMatcher(a=old, b=new, autojunk=False).get_matching_blocks()
    return [place - a + b for place in places for a, b, size in blocks if a <= place < a + size]
