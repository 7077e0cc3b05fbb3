"""A page under watch: what a script raised, what opened a dialog, and what left the machine.

On a busy machine everything takes longer, and no test may fail because of that. So every wait has the same generous
limit and ends as soon as its condition holds, and an action returns only after the page has drawn what it changed.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import wraps
from typing import Any

from playwright.sync_api import Error, Locator, Page, expect

Show = Callable[..., Page]
"""What the fixture ``show`` gives."""
SIZE = {"width": 1280, "height": 1000}
ELSEWHERE = re.compile(r"(https?|wss?)://(?!127\.0\.0\.1|localhost)")
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
WIDTHS = 420, 700, 960, 1280
"""Of a page, in pixels: from a phone's to a laptop's."""
LIMIT = 60
"""Seconds that a page may take for anything."""
STICKS_OUT = """async (limit) => {
    const lab = document.querySelector('.plm-lab');
    const boxed = (node) => node !== lab
        && (getComputedStyle(node).overflowX !== 'visible' || boxed(node.parentElement));
    const outside = () => {
        const { right } = lab.getBoundingClientRect();
        const beyond = [...lab.querySelectorAll('*')]
            .filter((node) => node.getBoundingClientRect().right > right + 0.5 && !boxed(node.parentElement))
            .map((node) => `${node.tagName}.${node.getAttribute('class')}`);
        return document.documentElement.scrollWidth > innerWidth ? ['the page', ...beyond] : beyond;
    };
    const start = performance.now();
    while (outside().length && performance.now() - start < limit) await new Promise(requestAnimationFrame);
    return outside(); }"""
SPENT = """async (moves) => {
    const body = document.querySelector('.plm-lab .body'), spent = [];
    const press = (selector, key) =>
        document.querySelector(selector).dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    const slide = (selector, value) => {
        const input = document.querySelector(selector);
        input.value = value;
        input.dispatchEvent(new Event('input', { bubbles: true }));
    };
    const act = (i) => { ACT };
    const frame = () => new Promise((done) => requestAnimationFrame(() => {
        body.getBoundingClientRect();
        done(performance.now());
    }));
    let still = 0;
    for (let i = 0; i < moves; i++) {
        const was = body.innerHTML, before = frame(), start = performance.now();
        act(i);
        body.getBoundingClientRect();
        const asked = performance.now() - start, after = frame();
        spent.push(asked + (await after) - (await before));
        still += body.innerHTML === was;
    }
    if (still > moves / 2) throw new Error('nothing was drawn');
    return spent; }"""
ACTIONS = {
    Locator: ("check", "click", "dispatch_event", "fill", "focus", "hover", "press", "select_option", "uncheck"),
    Page: ("check", "click", "fill", "focus", "hover", "press", "select_option", "set_input_files",
           "set_viewport_size"),
}
EDITED = {"keyboard": ("insert_text", "press"), "mouse": ("click", "down", "move", "up", "wheel")}

expect.set_options(timeout=1000 * LIMIT)


def painted_after(act: Callable[..., Any], page_of: Callable[..., Page]) -> Callable[..., Any]:
    """The action, which now returns once the page has drawn twice: labs draw once per frame."""
    @wraps(act)
    def acted(*given: Any, **named: Any) -> Any:
        result = act(*given, **named)
        with suppress(Error):  # a page that the action closed or left draws nothing more
            page_of(*given).evaluate(PAINTED)
        return result
    return acted


for kind, names in ACTIONS.items():
    for name in names:
        setattr(kind, name, painted_after(getattr(kind, name), lambda node, *_: getattr(node, "page", node)))


def watched(page: Page, problems: list[str]) -> None:
    """Write into ``problems`` what goes wrong on a page from now on; its waits get the common limit."""
    page.set_default_timeout(1000 * LIMIT)
    page.on("pageerror", lambda error: problems.append(f"script error: {error.stack or error.message}"))
    page.on("dialog", lambda dialog: (problems.append(f"a script ran: {dialog.message}"), dialog.dismiss()))
    page.on("console", lambda said: problems.append(f"console: {said.text}") if said.type == "error" else None)
    page.on("request", lambda asked: problems.append(f"left the machine: {asked.url[:100]}")
            if ELSEWHERE.match(asked.url) else None)
    for device, names in EDITED.items():
        for name in names:
            act = getattr(getattr(page, device), name)
            setattr(getattr(page, device), name, painted_after(act, lambda *_: page))


def sticks_out(page: Page, widths: Iterable[int]) -> dict[int, list[str]]:
    """Width of the page → what of its lab reaches beyond the lab's edge there, but for what scrolls in a box of its
    own, and ``"the page"`` if that scrolls sideways; nothing for widths at which all fits."""
    found = {}
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        if outside := page.evaluate(STICKS_OUT, 1000 * LIMIT):
            found[width] = outside
    return found


def spent(page: Page, act: str, moves: int = 24) -> list[float]:
    """Milliseconds of JavaScript and layout from an act to the frame that shows it. ``act`` is JavaScript that may name
    ``i``, the number of the move, ``press(selector, key)`` and ``slide(selector, value)``."""
    return page.evaluate(SPENT.replace("ACT", act), moves)


def slide(page: Page, name: str, *keys: str) -> None:
    """Press keys on the slider of a name."""
    page.focus(f"input[aria-label='{name}']")
    for key in keys:
        page.keyboard.press(key)


def cut(page: Page, selector: str) -> list[str]:
    """The texts that are wider or higher than the boxes that a selector finds."""
    return page.locator(selector).evaluate_all("""(all) => all.filter((e) => getComputedStyle(e).display !== 'inline'
        && (e.scrollWidth > e.clientWidth + 2 || e.scrollHeight > e.clientHeight + 2)).map((e) => e.textContent)""")


def on_heat(heat: Locator, row: int, column: int) -> tuple[float, float]:
    """The middle of a cell of a heat map, on the page."""
    heat.scroll_into_view_if_needed()
    box = heat.bounding_box()
    rows, columns = (int(heat.get_attribute(f"aria-{side}count")) for side in ("row", "col"))
    return box["x"] + (column + 0.5) * box["width"] / columns, box["y"] + (row + 0.5) * box["height"] / rows
