"""What tokens are called in a lab."""

from collections.abc import Sequence

from plmlab.interpret.readable import Words, as_ours


def names_of(tokens: Sequence[str]) -> list[str]:
    """What the slots are called in a sentence: a token that stands in several slots is told by its slot."""
    return [t if tokens.count(t) == 1 else f"{t} (slot {i})" for i, t in enumerate(tokens)]


def labels(words: Words, ids: Sequence[int]) -> list[str]:
    """Tokens of the vocabulary as they are shown; some models have more rows than their tokenizer has tokens."""
    tokenizer = as_ours(words)
    return [tokenizer.tokens([i])[0] if i < len(tokenizer) else f"(no token {i})" for i in ids]
