"""Checks in a notebook's proof cells: name → whether the property holds."""

from collections.abc import Mapping

Checks = dict[str, bool]


def report(checks: Mapping[str, bool]) -> None:
    """Print each check and its result. Raises AssertionError if one of them fails."""
    print("\n".join(f"{name}: {'yes' if holds else 'NO'}" for name, holds in checks.items()))
    assert all(checks.values()), "a check failed"
