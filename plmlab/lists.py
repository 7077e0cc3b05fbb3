"""Refuse a single string where a list of words or texts is expected."""


def refuse_string(given: object, what: str) -> None:
    """Raise ValueError if a single string is given instead of a list: it would be iterated character by character."""
    if isinstance(given, str | bytes):
        raise ValueError(f"{what} must be a list of strings, but a single string was given: {given[:40]!r}; pass "
                         "text.split() or [text]")
