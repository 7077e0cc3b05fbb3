"""A visible sign for each character of a token that a page would draw as nothing: spaces, line breaks, zero widths."""

SPACE = "␣"
"""How a space at either end of a token is shown."""
PICTURES = {chr(code): chr(0x2400 + code) for code in range(0x20)} | {"\t": "⇥", "\n": "↵", "\x7f": "␡"}
"""Unicode's pictures of control characters; arrows for the two that keyboards have keys for."""
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that are drawn as nothing, and that Unicode counts as letters, marks or symbols."""
JOINING = frozenset(map(chr, (0x200C, 0x200D, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0020, 0xE0080),
                              *range(0xE0100, 0xE01F0))))
"""Characters that only shape the one before them, as in emoji and in Persian."""
UNSEEN = BLANK | JOINING


def printable(token: str) -> str:
    """The label of a token, with a sign for each character that would not be seen: ␣ for a space at either end, ↵ for a
    line break, ⇥ for a tab, ␀ for NUL, ⟨U+200B⟩ for what has no sign of its own. A label stays as it is."""
    inner = token.strip(" ")
    start = len(token) - len(token.lstrip(" "))
    shown = "".join(letter if i and letter in JOINING else _sign(letter) for i, letter in enumerate(inner))
    return SPACE * start + shown + SPACE * (len(token) - start - len(inner))


def _sign(letter: str) -> str:
    if letter.isprintable() and letter not in UNSEEN:
        return letter
    return PICTURES.get(letter, f"⟨U+{ord(letter):04X}⟩")
