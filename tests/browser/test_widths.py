"""All labs on a narrow screen: what is wider scrolls in a box of its own, and never the page."""

from collections.abc import Callable

import pytest
from beginnings import ALL, made
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

NARROW = 340
"""CSS pixels: a phone, or a notebook beside its open side bars."""
BEYOND = """() => {
    const lab = document.querySelector('.plm-lab'), { right } = lab.getBoundingClientRect();
    const boxed = (node) => node !== lab
        && (getComputedStyle(node).overflowX !== 'visible' || boxed(node.parentElement));
    return [...lab.querySelectorAll('*')]
        .filter((node) => node.getBoundingClientRect().right > right + 0.5 && !boxed(node.parentElement))
        .map((node) => `${node.tagName}.${node.getAttribute('class')}`); }"""


@pytest.mark.parametrize("beginning", ALL, ids=range(len(ALL)))
def test_no_lab_is_wider_than_a_narrow_screen(show: Callable[..., Page], page: Page, beginning: str) -> None:
    page.set_viewport_size({"width": NARROW, "height": 900})
    show(made(beginning))
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW, page.evaluate(BEYOND)
    assert page.evaluate(BEYOND) == []
