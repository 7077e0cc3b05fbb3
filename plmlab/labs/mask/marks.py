"""How each input token of an example differs from the text: masked, replaced, kept or unknown."""

from collections.abc import Sequence

from plmlab.example import IGNORE, Example
from plmlab.text.vocabulary import Vocabulary


def says_next(example: Example) -> bool:
    """Return whether each position predicts the next token (GPT)."""
    return example.targets.tolist()[:-1] == example.tokens.tolist()[1:]


def fills_blanks(example: Example) -> bool:
    """Return whether each token has two position ids, the second being its position within a blank (GLM)."""
    return len(example.position_ids) > 1


def restores_in_place(example: Example, text: Sequence[int], vocab: Vocabulary) -> bool:
    """Return whether each target is the original token at the same position (BERT; ALBERT, which may swap two parts of
    the text), not the next token (GPT) or the next token of a blank (GLM)."""
    tokens, targets = example.tokens.tolist(), example.targets.tolist()
    whole = [token if target == IGNORE else target for token, target in zip(tokens, targets, strict=True)]
    return sorted(id for id in whole if id not in vocab.special) == sorted(text) and not (
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
