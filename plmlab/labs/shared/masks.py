"""Masks for JavaScript: what decides each pair, and why."""

from typing import TypedDict

from plmlab.visibility import BY_HAND, Visibility


class MaskState(TypedDict):
    """One mask, as `mask_state` describes it."""

    title: str
    rules: list[str]
    causes: list[int]
    sentences: dict[str, str]


def mask_state(title: str, visible: Visibility) -> MaskState:
    """One mask for JavaScript: what decides each pair, row by row, and the sentence behind each cause.

    ``rules`` are their names; ``causes`` are those of `Visibility.causes`, one after the other; ``sentences`` has a
    sentence for each cause, with {query} and {key} still to be filled in.
    """
    causes = visible.causes().flatten().tolist()
    return {
        "title": title,
        "rules": [rule.name for rule in visible.rules],
        "causes": causes,
        "sentences": {str(c): visible.sentence(c) for c in sorted({*causes, BY_HAND, -BY_HAND})},
    }
