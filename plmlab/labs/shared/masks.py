"""Masks for JavaScript: what decides each pair, and why."""

from typing import TypedDict

from plmlab.visibility import EDITED, Visibility


class MaskState(TypedDict):
    """One mask, as `mask_state` describes it."""

    title: str
    rules: list[str]
    rule_ids: list[int]
    sentences: dict[str, str]


def mask_state(title: str, visible: Visibility) -> MaskState:
    """One mask for JavaScript: what decides each pair, row by row, and the sentence behind each cause.

    ``rules`` are their names; ``rule_ids`` are those of `Visibility.rule_ids`, one after the other; ``sentences`` has a
    sentence for each cause, with {query} and {key} still to be filled in.
    """
    rule_ids = visible.rule_ids().flatten().tolist()
    return {
        "title": title,
        "rules": [rule.name for rule in visible.rules],
        "rule_ids": rule_ids,
        "sentences": {str(c): visible.sentence(c) for c in sorted({*rule_ids, EDITED, -EDITED})},
    }
