"""A page under watch: what a script raised, what opened a dialog, and what left the machine."""

import re

from playwright.sync_api import Page

SIZE = {"width": 1280, "height": 1000}
ELSEWHERE = re.compile(r"(https?|wss?)://(?!127\.0\.0\.1|localhost)")
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


def watched(page: Page, problems: list[str]) -> None:
    """Write into ``problems`` what goes wrong on a page from now on; and a key that is pressed is answered before the
    test goes on, since labs draw once a frame."""
    page.on("pageerror", lambda error: problems.append(f"script error: {error.stack or error.message}"))
    page.on("dialog", lambda dialog: (problems.append(f"a script ran: {dialog.message}"), dialog.dismiss()))
    page.on("console", lambda said: problems.append(f"console: {said.text}") if said.type == "error" else None)
    page.on("request", lambda asked: problems.append(f"left the machine: {asked.url[:100]}")
            if ELSEWHERE.match(asked.url) else None)
    press = page.keyboard.press

    def pressed(key: str) -> None:
        press(key)
        page.evaluate(PAINTED)

    page.keyboard.press = pressed
