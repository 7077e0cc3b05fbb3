"""Detokenization: deciding between which words to put a space."""

import re
from collections.abc import Iterable

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
WIDE = f"{HAN}\u3000-\u303f\uff00-\uffef"

SHUT = re.compile(r" (?=[.,;:!?%)\]}”…]+(?:\s|$))")
OPEN = re.compile(r"(?<=[(\[{“$]) ")
WITHIN = re.compile(r"(?<=[\w\]]) (['’]) (?=(?:s|t|m|d|re|ve|ll)\b)", re.IGNORECASE)
HYPHEN = re.compile(r"(?<=[^\W\d_]) ([-–/]) (?=[^\W\d_])")
DECIMAL = re.compile(r"(?<=\d) (\.(?= \d)|,(?= \d{3}\b)) ")
BETWEEN_HAN = re.compile(f"(?<=[{WIDE}]) (?=[{WIDE}])")
QUOTED = re.compile(r'(?<!\S)" (?=\S)([^"]*\S) "(?!\S)')

PIECE = "##"
"""Prefix of a subword that continues a word, in BERT's WordPiece."""


def readable(words: Iterable[str], prefix: str = PIECE) -> str:
    """Join words and subwords into running text.

    A subword that begins with ``prefix`` is attached to the token before it. The space before punctuation and the
    spaces between Chinese characters are removed; a special token such as [MASK] keeps its spaces. The original spacing
    cannot be restored in every case.
    """
    text = ""
    for word in words:
        glued = word.startswith(prefix) and len(word) > len(prefix) and text
        text += word.removeprefix(prefix) if glued else (" " if text else "") + word
    for pattern in (DECIMAL, WITHIN, HYPHEN):
        text = pattern.sub(r"\1", text)
    text = QUOTED.sub(r'"\1"', text)
    for pattern in (SHUT, OPEN, BETWEEN_HAN):
        text = pattern.sub("", text)
    return text
