"""Visible symbols for the characters of a token that would otherwise be invisible: spaces, line breaks, zero-width
characters."""

SPACE = "␣"
"""Symbol of a space at either end of a token."""
PICTURES = {chr(code): chr(0x2400 + code) for code in range(0x20)} | {"\t": "⇥", "\n": "↵", "\x7f": "␡"}
"""Unicode's pictures of control characters; arrows for tab and line break."""
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Invisible characters that Unicode classifies as letters, marks or symbols."""
JOINING = frozenset(map(chr, (0x200C, 0x200D, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0020, 0xE0080),
                              *range(0xE0100, 0xE01F0))))
"""Characters that only modify the preceding one, as in emoji and in Persian."""
UNSEEN = BLANK | JOINING


def printable(token: str) -> str:
    """The label of a token, with a symbol for each character that would be invisible: ␣ for a space at either end, ↵
    for a line break, ⇥ for a tab, ␀ for NUL, ⟨U+200B⟩ for a character without its own symbol. Idempotent."""
    inner = token.strip(" ")
    start = len(token) - len(token.lstrip(" "))
    shown = "".join(letter if i and letter in JOINING else _sign(letter) for i, letter in enumerate(inner))
    return SPACE * start + shown + SPACE * (len(token) - start - len(inner))


def _sign(letter: str) -> str:
    if letter.isprintable() and letter not in UNSEEN:
        return letter
    return PICTURES.get(letter, f"⟨U+{ord(letter):04X}⟩")
