"""Attention masks for JavaScript: the rule that decides each (query, key) pair, and a sentence that gives the
reason."""

from typing import TypedDict

from plmlab.visibility import EDITED, Visibility


class MaskState(TypedDict):
    """One mask, as returned by `mask_state`."""

    title: str
    rules: list[str]
    rule_ids: list[int]
    sentences: dict[str, str]


def mask_state(title: str, visible: Visibility) -> MaskState:
    """Convert a mask for JavaScript.

    ``rules`` lists the names of the rules; ``rule_ids`` is `Visibility.rule_ids`, flattened in row-major order;
    ``sentences`` maps each rule id that occurs to a sentence with the placeholders {query} and {key}.
    """
    rule_ids = visible.rule_ids().flatten().tolist()
    return {
        "title": title,
        "rules": [rule.name for rule in visible.rules],
        "rule_ids": rule_ids,
        "sentences": {str(c): visible.sentence(c) for c in sorted({*rule_ids, EDITED, -EDITED})},
    }
