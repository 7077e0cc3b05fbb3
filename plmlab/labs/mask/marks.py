"""How each input token of an example was changed: masked, replaced, kept, unknown."""

from collections.abc import Sequence

from plmlab.example import IGNORE, Example
from plmlab.text.vocabulary import Vocabulary


def says_next(example: Example) -> bool:
    """Whether each position predicts the next token (GPT)."""
    return example.targets.tolist()[:-1] == example.tokens.tolist()[1:]


def fills_blanks(example: Example) -> bool:
    """Whether there are two position ids per token, the second within a blank (GLM)."""
    return len(example.position_ids) > 1


def restores_in_place(example: Example, text: Sequence[int], vocab: Vocabulary) -> bool:
    """Whether each target is the original token of its own position (BERT), not the next token (GPT) or the next token
    of its blank (GLM)."""
    tokens, targets = example.tokens.tolist(), example.targets.tolist()
    whole = [token if target == IGNORE else target for token, target in zip(tokens, targets, strict=True)]
    return [id for id in whole if id not in vocab.special] == list(text) and not (
        says_next(example) or fills_blanks(example))


def marks_of(example: Example, text: Sequence[int], vocab: Vocabulary) -> list[str]:
    """The mark of each input token: ``mask``, ``changed``, ``kept`` (a target, but left unchanged), ``unknown``,
    ``special``, or ``word``."""
    in_place = restores_in_place(example, text, vocab)
    sees_itself = example.visible.dense().diagonal().tolist()

    def mark(token: int, target: int, visible: bool) -> str:
        if token == vocab.mask or token in vocab.sentinels:
            return "mask"
        if in_place and target not in (IGNORE, token):
            return "changed"
        if in_place and target == token and visible and example.query_stream_mask is None:
            return "kept"
        if token == vocab.unk:
            return "unknown"
        return "special" if token in vocab.special else "word"

    return [mark(*position)
            for position in zip(example.tokens.tolist(), example.targets.tolist(), sees_itself, strict=True)]
