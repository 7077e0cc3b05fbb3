"""What befell each position of an example: hidden, changed, kept in sight, unknown."""

from collections.abc import Sequence

from plmlab.example import IGNORE, Example
from plmlab.text.vocabulary import Vocabulary


def says_next(example: Example) -> bool:
    """Whether each position must say what stands in the next one (GPT)."""
    return example.targets.tolist()[:-1] == example.tokens.tolist()[1:]


def fills_blanks(example: Example) -> bool:
    """Whether positions have a second position, their place in a blank, which is filled word by word."""
    return len(example.position_ids) > 1


def restores_in_place(example: Example, text: Sequence[int], vocab: Vocabulary) -> bool:
    """Whether each position must say what stood in that very position (BERT), and not what comes next (GPT), nor what
    comes next in its blank."""
    tokens, targets = example.tokens.tolist(), example.targets.tolist()
    whole = [token if target == IGNORE else target for token, target in zip(tokens, targets, strict=True)]
    return [id for id in whole if id not in vocab.special] == list(text) and not (
        says_next(example) or fills_blanks(example))


def marks_of(example: Example, text: Sequence[int], vocab: Vocabulary) -> list[str]:
    """What befell each position: ``mask``, ``changed``, ``kept`` (to be said, and in sight), ``unknown``,
    ``special``, or ``word``."""
    in_place = restores_in_place(example, text, vocab)
    in_sight = example.visible.dense().diagonal().tolist()

    def mark(token: int, target: int, sees_itself: bool) -> str:
        if token == vocab.mask or token in vocab.sentinels:
            return "mask"
        if in_place and target not in (IGNORE, token):
            return "changed"
        if in_place and target == token and sees_itself and example.query_stream_mask is None:
            return "kept"
        if token == vocab.unk:
            return "unknown"
        return "special" if token in vocab.special else "word"

    return [mark(*position)
            for position in zip(example.tokens.tolist(), example.targets.tolist(), in_sight, strict=True)]
