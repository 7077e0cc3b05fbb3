"""What a lab says of a text that it cannot show as it was typed."""

from collections.abc import Iterable

from plmlab.text.printable import printable


def empty(what: str = "sentence") -> ValueError:
    """The error for a text with nothing in it."""
    return ValueError(f"The {what} is empty. Type one; what is drawn is from before.")


def left_out(count: int, room: int, unit: str = "token") -> str:
    """The note on the last ``count`` units of a text, of which ``room`` are drawn; "" where none is left out."""
    if count <= 0:
        return ""
    rest = f"{unit} is" if count == 1 else f"{count:,} {unit}s are"
    return f"The sentence is longer than the {room} {unit}s that are drawn: its last {rest} left out of the picture; " \
           "the text keeps them."


def unknown(count: int) -> str:
    """The note on ``count`` tokens that a model can only read as [UNK]; "" where there is none."""
    if count <= 0:
        return ""
    are = "is" if count == 1 else "are"
    return f"{count} of the tokens {are} not in this tokenizer's vocabulary: the model reads [UNK] there."


def unread(words: Iterable[str], size: int) -> str:
    """The note on typed words that a model with ``size`` tokens can only read as [UNK]; "" where there is none."""
    distinct = list(dict.fromkeys(words))
    if not distinct:
        return ""
    some, more = ", ".join(f"“{printable(word[:24])}”" for word in distinct[:3]), " and others" * (len(distinct) > 3)
    return f"Not in the model's vocabulary of {size:,} tokens: {some}{more}. It reads [UNK] there."


def joined(*notes: str) -> str:
    """The notes that there are, one after the other."""
    return " ".join(note for note in notes if note)
