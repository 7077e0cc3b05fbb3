"""What the README of a bundled checkpoint states."""

import re

from plmlab.checkpoints import home


def stated(name: str, figure: str) -> float:
    """A figure of a checkpoint's README; ``figure`` is how its row begins, as a pattern."""
    found = re.search(rf"\| {figure}[^|]*\| ([\d.,]+)", (home() / name / "README.md").read_text(encoding="utf-8"))
    assert found, f"the README of {name} has no row {figure!r}"
    return float(found[1].replace(",", ""))
