"""Latency of the Mask Lab in a real JupyterLab with a warm kernel: ``python benchmarks/labs.py`` prints a table.

Times run from the user action to the frame that shows its effect, medians of 30; first paint runs from the start of the
cell to the drawn matrix, median of 5. The kernel is warm: torch and the lab are imported.
"""

import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "browser"), str(ROOT / "tests" / "labs")]

from servers import Desk, Jupyter  # noqa: E402

from plmlab.labs.picture import FLAGS, browser_path  # noqa: E402

WARM = "from standin import words, SENTENCES\nfrom plmlab.labs import MaskLab\nMaskLab(words(), 'the cat')"
SHOWN = "lab = MaskLab(words(), SENTENCES[{size}], 'masked', choices={{'rate': 0.15}})\nlab"

ANSWERED = """
    const answered = async (place, watched, act) => {
        const start = performance.now();
        const changed = new Promise((done) => {
            const watch = new MutationObserver(() => { watch.disconnect(); done(); });
            watch.observe(place, watched);
        });
        act();
        await changed;
        await new Promise((done) => requestAnimationFrame(() => {
            const channel = new MessageChannel();
            channel.port1.onmessage = done;
            channel.port2.postMessage(0);
        }));
        return performance.now() - start;
    };
"""
"""JavaScript: milliseconds from an action to the painted frame, once something has changed in an observed element."""

TIMED = """async ({ act, where, count }) => {""" + ANSWERED + """
    const lab = [...document.querySelectorAll('.plm-lab')].at(-1), spent = [];
    const acts = {
        hover: (i) => {
            const box = lab.querySelector('.matrix').getBoundingClientRect();
            const [x, y] = i % 2 ? [0.2, 0.3] : [0.8, 0.7];
            lab.querySelector('.matrix').dispatchEvent(new PointerEvent('pointermove', { bubbles: true,
                clientX: box.left + box.width * x, clientY: box.top + box.height * y }));
        },
        click: (i) => {
            const box = lab.querySelector('.matrix').getBoundingClientRect();
            lab.querySelector('.matrix').dispatchEvent(new MouseEvent('click', { bubbles: true,
                clientX: box.left + box.width * 0.4, clientY: box.top + box.height * 0.4 }));
        },
        slider: (i) => {
            const slider = lab.querySelector('input[type=range]');
            slider.value = i % 2 ? 0.3 : 0.5;
            slider.dispatchEvent(new Event('input', { bubbles: true }));
        },
        draw: () => [...lab.querySelectorAll('button')].find((b) => b.textContent === 'draw again').click(),
    };
    for (let i = 0; i < count; i++) {
        spent.push(await answered(lab.querySelector(where),
            { childList: true, subtree: true, attributes: true }, () => acts[act](i)));
        await new Promise((done) => setTimeout(done, 60));
    }
    return spent;
}"""


def first_paint(page: Page, cell: int, drawing: str = ".matrix") -> float:
    """Milliseconds from running a cell to its drawing, given by a selector."""
    page.locator(".jp-CodeCell").nth(cell).locator(".cm-content").click()
    page.evaluate("""(drawing) => {
        for (const old of document.querySelectorAll(drawing)) old.dataset.seen = '1';
        window.paint = new Promise((done) => document.addEventListener('keydown', () => {
            const start = performance.now();
            const look = () => (document.querySelector(`${drawing}:not([data-seen])`)
                ? requestAnimationFrame(() => done(performance.now() - start)) : requestAnimationFrame(look));
            look();
        }, { once: true, capture: true }));
    }""", drawing)
    page.keyboard.press("Control+Enter")
    return page.evaluate("() => window.paint")


@contextmanager
def open_desk() -> Iterator[Desk]:
    """Open a notebook in JupyterLab, on a page of 1,400 × 1,200 pixels."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Jupyter(Path(folder, "server"))
        try:
            browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
            desk = Desk(server, browser)
            desk.page.set_viewport_size({"width": 1400, "height": 1200})
            yield desk
            browser.close()
        finally:
            server.close()


REPEATED = """
    for (let i = 0; i < count; i++) {
        spent.push(await answered(place, { childList: true }, () => acts[act](i)));
        await new Promise((done) => setTimeout(done, 250));
    }
    return spent;
"""
"""JavaScript: repeat an action ``count`` times, and measure the time until an element was redrawn."""


def tabled(lab: str, name: str, cells: tuple[str, str, str], timed: str, acts: Mapping[str, str], drawing: str) -> None:
    """Open a notebook with a lab, time its actions, and print a row of medians and Python's own share. ``cells`` create
    the lab, display it and print that share; ``timed`` is JavaScript that times one of ``acts``, name → column title;
    ``drawing`` is the selector of the drawing."""
    with open_desk() as desk:
        page = desk.run(*cells, until=f".jp-Notebook-cell:nth-of-type(2) {drawing}")
        row = {"first paint": f"{statistics.median(first_paint(page, 1, drawing) for _ in range(5)):.0f}"}
        for act, called in acts.items():
            row[called] = f"{statistics.median(page.evaluate(timed, {'act': act, 'count': 20})):.0f}"
        said = desk.run_cell(2)
    print(f"| {lab}, median ms | " + " | ".join(row) + " |")
    print("|---|" + "--:|" * len(row))
    print(f"| {name} | " + " | ".join(row.values()) + " |")
    print(f"Python's own share: {said.strip()}")


def measure(desk: Desk, size: int) -> dict[str, float]:
    """Measure all medians for a sentence of ``size`` tokens."""
    page = desk.run(WARM, SHOWN.format(size=size), until=".jp-Notebook-cell:nth-of-type(2) .plm-lab .matrix")
    row = {"first paint": statistics.median(first_paint(page, 1) for _ in range(5))}
    for name, act, where in (("hover", "hover", ".why"), ("click a cell", "click", ".matrix svg g"),
                             ("slider, kernel", "slider", ".body"), ("draw again, kernel", "draw", ".body")):
        spent = page.evaluate(TIMED, {"act": act, "where": where, "count": 30})
        row[name] = statistics.median(spent)
    return row


def main() -> None:
    """Measure and print."""
    with open_desk() as desk:
        rows = {size: measure(desk, size) for size in (12, 64)}
    print("| Mask Lab, median ms | " + " | ".join(next(iter(rows.values()))) + " |")
    print("|---|" + "---|" * len(next(iter(rows.values()))))
    for size, row in rows.items():
        print(f"| {size} tokens | " + " | ".join(f"{value:.0f}" for value in row.values()) + " |")


if __name__ == "__main__":
    main()
