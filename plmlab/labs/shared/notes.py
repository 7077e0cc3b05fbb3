"""Messages about a text that cannot be shown exactly as it was typed."""

from collections.abc import Iterable

from plmlab.text.printable import printable


def empty(what: str = "sentence") -> ValueError:
    """The error for an empty text."""
    return ValueError(f"The {what} is empty. Type one; the previous result is still shown.")


def left_out(count: int, room: int, unit: str = "token") -> str:
    """The note that the last ``count`` units of a text are not drawn because only ``room`` units are; "" if all are
    drawn."""
    if count <= 0:
        return ""
    rest = f"{unit} is" if count == 1 else f"{count:,} {unit}s are"
    return f"The sentence is longer than the {room} {unit}s that are drawn: its last {rest} left out of the picture " \
           "but kept in the text."


def unknown(count: int) -> str:
    """The note on ``count`` out-of-vocabulary tokens, which the model receives as [UNK]; "" if there are none."""
    if count <= 0:
        return ""
    are = "is" if count == 1 else "are"
    return f"{count} of the tokens {are} not in this tokenizer's vocabulary and {are} replaced by [UNK]."


def unread(words: Iterable[str], size: int) -> str:
    """The note on typed words outside a vocabulary of ``size`` tokens; "" if there are none."""
    distinct = list(dict.fromkeys(words))
    if not distinct:
        return ""
    some, more = ", ".join(f"“{printable(word[:24])}”" for word in distinct[:3]), " and others" * (len(distinct) > 3)
    return f"Not in the model's vocabulary of {size:,} tokens, replaced by [UNK]: {some}{more}."


def joined(*notes: str) -> str:
    """Join the non-empty notes with spaces."""
    return " ".join(note for note in notes if note)
