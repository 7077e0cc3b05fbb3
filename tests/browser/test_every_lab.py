"""Each lab's page, which needs no kernel, begins as the live lab does in JupyterLab: the same words, marks and pixels.
Its text fields keep line breaks, and it fits a narrow screen."""

import io
import time
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

import pytest
from beginnings import BEGINNINGS, IMPORTS
from PIL import Image, ImageChops
from playwright.sync_api import Locator, Page
from servers import Desk
from watching import LIMIT, PAINTED, SIZE, sticks_out

from plmlab import labs

pytestmark = pytest.mark.browser

STATE = """(lab) => {
    lab.classList.add('picture');
    const count = (selector) => lab.querySelectorAll(selector).length;
    const controls = [...lab.querySelectorAll('input, select, output, progress')];
    return {
        words: lab.innerText.split('\\n').map((line) => line.trim()).filter(Boolean),
        marks: ['canvas', 'svg', 'path', 'rect', 'circle', 'line', 'text', 'tr', 'td', 'li', 'bdi',
            'i', 'details', '[tabindex]', '[aria-pressed=true]', '.chip', '.cell'].map((name) => [name, count(name)]),
        paths: [...lab.querySelectorAll('path')].map((path) => path.getAttribute('d')),
        set: controls.map((control) => [control.getAttribute('aria-label'), control.value, control.checked ?? null]),
        pixels: [...lab.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL()),
        width: [lab.getBoundingClientRect().width],
    }; }"""
STILL = ".plm-lab :is(input, select) { visibility: hidden }"
"""What a switched-off control looks like is the browser's choice."""
NARROW = 340
"""CSS pixels: a phone, or a notebook beside its open side bars."""
ONE_WORD = ":is([list], .other, .part-a, .cell-field, [aria-label='search an entity'])"
"""Fields for a word that is looked up, or an answer that is judged: no line break is theirs to keep."""
FIELDS = """(others) => [...document.querySelectorAll(`.plm-lab input[type=text]:not(${others})`)].map((field) => {
    field.text = 'one\\ntwo\\r';
    const { value } = field;
    field.value = `a${value}`;
    return [field.getAttribute('aria-label'), value, field.text]; })"""
"""Of each text field: its name, how a text of two lines is shown in it, and what text it holds after an edit."""
WHOLE_PIXELS = """(lab) => {
    const { top } = lab.getBoundingClientRect();
    Object.assign(lab.style, { position: 'relative', top: `${Math.ceil(top) - top}px` }); }"""
"""Puts a lab where its letters' edges are shaded alike."""


@pytest.fixture
def high(jupyter: Desk) -> Iterator[Desk]:
    """An empty notebook on a screen as high as the highest lab."""
    jupyter.page.set_viewport_size({"width": 1280, "height": 2200})
    yield jupyter
    jupyter.page.set_viewport_size(SIZE)


def beginnings(desk: Desk, made: Sequence[str], page: Page) -> Iterator[tuple[Locator, Locator]]:
    """Each of some labs in the notebook, shown as it was when its page was written; and that page, at the same
    width."""
    shown = f"""labs = [{", ".join(made)}]
for i, lab in enumerate(labs):
    _ = Path(f"lab-{{i}}.html").write_text(lab.html(), encoding="utf-8")
display(*labs)"""
    labs = desk.run(IMPORTS, shown, until=f".plm-lab >> nth={len(made) - 1}").locator(".plm-lab")
    for i in range(len(made)):
        page.set_viewport_size({"width": round(labs.nth(i).bounding_box()["width"]) + 24, "height": 1000})
        page.goto(Path(desk.server.folder, f"lab-{i}.html").as_uri())
        page.wait_for_selector("html[data-drawn]")
        yield labs.nth(i), page.locator(".plm-lab")


def differences(one: Locator, two: Locator, wait: float = LIMIT) -> dict[str, list]:
    """What is not the same in the states of two labs, once both have come to rest, or after so many seconds."""
    deadline = time.monotonic() + wait
    while True:
        mine, other = (lab.evaluate(STATE) for lab in (one, two))
        found = {name: [pair for pair in zip_longest(mine[name], other[name]) if pair[0] != pair[1]]
                 for name in mine if mine[name] != other[name]}
        if not found or time.monotonic() > deadline:
            return found
        one.page.evaluate(PAINTED)


def differing(one: Locator, two: Locator) -> float:
    """The share of pixels that differ by more than the shading of a letter's edge."""
    shots = []
    for lab in (one, two):
        lab.scroll_into_view_if_needed()
        lab.evaluate(WHOLE_PIXELS)
        shots.append(Image.open(io.BytesIO(lab.screenshot(animations="disabled", style=STILL))).convert("RGB"))
    assert shots[0].size == shots[1].size
    apart = ImageChops.difference(*shots).convert("L").point(lambda v: 255 * (v > 90))
    return apart.histogram()[255] / (apart.width * apart.height)


def test_every_lab_has_its_beginnings() -> None:
    classes = {name: getattr(labs, name) for name in labs.__all__}
    every = {name for name, found in classes.items() if issubclass(found, labs.Lab) and found is not labs.Lab}
    assert set(BEGINNINGS) == every, "a new lab needs an entry"


@pytest.mark.parametrize("name", BEGINNINGS)
def test_the_page_begins_as_the_live_lab(high: Desk, page: Page, name: str) -> None:
    for made, (lab, alone) in zip(BEGINNINGS[name], beginnings(high, BEGINNINGS[name], page), strict=True):
        assert differences(lab, alone) == {}, made
        assert differing(lab, alone) < 0.01, made
        assert sticks_out(page, [NARROW]) == {}, made
        for label, value, text in page.evaluate(FIELDS, ONE_WORD):
            assert (value, text) == ("one↵two↵", "aone\ntwo\r"), (made, label)


def test_another_beginning_is_told_apart(high: Desk, page: Page) -> None:
    """Where words, marks and pixels differ, each is seen."""
    for two, seen in ((("ShapeXray()", "ShapeXray(wrong=True)"), {"words", "paths", "set"}),
                      (BEGINNINGS["PositionLab"][1:3], {"pixels"})):
        (mine, _), (_, other) = beginnings(high, two, page)
        assert seen <= set(differences(mine, other, wait=0))
