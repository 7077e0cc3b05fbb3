"""A page under watch: what a script raised, what opened a dialog, and what left the machine.

On a busy machine everything takes longer, and no test may fail because of that. So every wait has the same generous
limit and ends as soon as its condition holds, and an action returns only after the page has drawn what it changed.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

from playwright.sync_api import Error, Locator, Page, expect

SIZE = {"width": 1280, "height": 1000}
ELSEWHERE = re.compile(r"(https?|wss?)://(?!127\.0\.0\.1|localhost)")
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
LIMIT = 60
"""Seconds that a page may take for anything."""
ACTIONS = {
    Locator: ("check", "click", "dispatch_event", "fill", "focus", "hover", "press", "select_option", "uncheck"),
    Page: ("check", "click", "fill", "focus", "hover", "press", "select_option", "set_input_files",
           "set_viewport_size"),
}
BY_HAND = {"keyboard": ("insert_text", "press"), "mouse": ("click", "down", "move", "up", "wheel")}

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
    for device, names in BY_HAND.items():
        for name in names:
            act = getattr(getattr(page, device), name)
            setattr(getattr(page, device), name, painted_after(act, lambda *_: page))
