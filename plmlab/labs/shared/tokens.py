"""Display names of tokens, a check of the vocabulary size, and the indices of tokens after an edit."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from plmlab.interpret.readable import Words, as_ours
from plmlab.text.printable import printable
from plmlab.text.tokenizers import Tokenizer


def names_of(tokens: Sequence[str]) -> list[str]:
    """Unique display names for the positions of a sentence: a token that occurs more than once is labelled with its
    position."""
    return [t if tokens.count(t) == 1 else f"{t} (position {i})" for i, t in enumerate(tokens)]


def labels(words: Words, ids: Sequence[int]) -> list[str]:
    """Printable tokens for ids. Ids beyond the tokenizer get a placeholder, because some models have more embedding
    rows than their tokenizer has tokens."""
    tokenizer = as_ours(words)
    return [printable(tokenizer.tokens([i])[0]) if i < len(tokenizer) else f"(no token {i})" for i in ids]


def checked_vocabulary(tokenizer: Tokenizer, size: int) -> int:
    """Return the vocabulary ``size`` of a model. Raises ValueError if the tokenizer has more tokens than that."""
    if len(tokenizer) > size:
        raise ValueError(f"the tokenizer has {len(tokenizer):,} tokens, but the model's vocabulary has only {size:,}: "
                         "does the tokenizer belong to another model?")
    return size


def carried(old: Sequence[int], new: Sequence[int], places: Sequence[int]) -> list[int]:
    """Map token indices in the text before an edit to indices after the edit; deleted tokens are left out."""
    blocks = SequenceMatcher(a=old, b=new, autojunk=False).get_matching_blocks()
    return [place - a + b for place in places for a, b, size in blocks if a <= place < a + size]
