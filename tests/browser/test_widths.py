"""All labs on a narrow screen: what is wider scrolls in a box of its own, and never the page."""

from collections.abc import Callable

import pytest
from beginnings import ALL, made
from playwright.sync_api import Page
from watching import sticks_out

pytestmark = pytest.mark.browser

NARROW = 340
"""CSS pixels: a phone, or a notebook beside its open side bars."""


@pytest.mark.parametrize("beginning", ALL, ids=range(len(ALL)))
def test_no_lab_is_wider_than_a_narrow_screen(show: Callable[..., Page], page: Page, beginning: str) -> None:
    show(made(beginning))
    assert sticks_out(page, [NARROW]) == {}
