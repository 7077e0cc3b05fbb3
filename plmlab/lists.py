"""A check against passing a single string where a list of words or texts is expected."""


def refuse_string(given: object, what: str) -> None:
    """Raise ValueError if ``given`` is a single string, which would be iterated character by character, and not a
    list."""
    if isinstance(given, str | bytes):
        raise ValueError(f"{what} must be a list of strings, but a single string was given: {given[:40]!r}; pass "
                         "text.split() or [text]")
