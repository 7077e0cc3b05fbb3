"""Lists of words or texts, and one string that is given for one."""


def refuse_string(given: object, what: str) -> None:
    """A ValueError where a single string is given for a list of strings: it would be read letter by letter."""
    if isinstance(given, str | bytes):
        raise ValueError(f"{what} must be a list of strings, and one string was given: {given[:40]!r}; give "
                         "text.split(), or [text]")
