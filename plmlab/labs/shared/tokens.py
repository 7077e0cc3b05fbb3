"""What tokens are called in a lab."""

from collections.abc import Sequence

from plmlab.interpret.attention_maps import Words
from plmlab.text.tokenizers import Tokenizer


def names_of(tokens: Sequence[str]) -> list[str]:
    """What the slots are called in a sentence: a token that stands in several slots is told by its slot."""
    return [t if tokens.count(t) == 1 else f"{t} (slot {i})" for i, t in enumerate(tokens)]


def labels(words: Words, ids: Sequence[int]) -> list[str]:
    """Tokens of the vocabulary as they are shown; some models have more rows than their tokenizer has tokens."""
    tokenizer = words if isinstance(words, Tokenizer) else Tokenizer.from_hf(words)
    return [tokenizer.tokens([i])[0] if i < len(tokenizer) else f"(no token {i})" for i in ids]
