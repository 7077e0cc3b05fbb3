"""Pictures of labs, so that a notebook that nobody has opened still teaches.

    python -m plmlab.labs.picture notebooks/00_start_here.ipynb

runs the notebook and stores it with a PNG in place of each lab's widget and each bertviz view, beside its text.
"""

import argparse
import base64
import io
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from typing import Any

from plmlab.doctor import find_browser

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]
WIDGET = "application/vnd.jupyter.widget-view+json"
LIMIT = 1_500_000
MOST = (180_000, 130_000, 90_000, 60_000)
"""Bytes a picture, at most: the fewer there are, the larger they may be."""

COLLECT = """
import json as _json
from ipywidgets.widgets.widget import _instances as _living
from plmlab.labs.base import Lab as _Lab
with open({path!r}, "w", encoding="utf-8") as _file:
    _json.dump({{name: lab.html() for name, lab in _living.items() if isinstance(lab, _Lab)}}, _file)
"""


def browser_path() -> str:
    """Where a Chromium is installed; a LookupError says how to get one."""
    if path := find_browser():
        return path
    raise LookupError("no Chromium was found, and a lab's picture is taken in one: install it "
                      "(Debian: apt install chromium), or open the notebook to see the lab itself")


def _shoot(pages: Sequence[str], width: int, scale: float) -> list[bytes]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise LookupError("the package playwright, which drives the browser that takes a lab's picture, is "
                          "missing: pip install playwright") from error
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        page = browser.new_page(viewport={"width": width + 24, "height": 900}, device_scale_factor=scale)
        shots = []
        for html in pages:
            file = Path(folder, "lab.html")
            file.write_text(html, encoding="utf-8")
            page.goto(file.as_uri())
            page.wait_for_selector("html[data-drawn]", timeout=20_000)
            lab = page.locator(".plm-lab")
            lab.evaluate("lab => lab.classList.add('picture')")
            shots.append(lab.screenshot(animations="disabled"))
        browser.close()
    return shots


def pictures(pages: Sequence[str], *, width: int = 960, scale: float = 1.0) -> list[bytes]:
    """A PNG of the lab on each page, ``width`` CSS pixels wide at most; a LookupError says what is missing.

    It runs in a thread of its own, because Playwright refuses to start where a notebook's event loop runs.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_shoot, pages, width, scale).result()


def lab_pages(notebook: Any, folder: Path, timeout: int) -> dict[str, str]:
    """Run a notebook in place, ``timeout`` seconds a cell at most; returns the HTML page of
    each lab by its widget's id."""
    import nbformat
    from nbclient import NotebookClient
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "labs.json")
        notebook.cells.append(nbformat.v4.new_code_cell(COLLECT.format(path=str(path))))
        client = NotebookClient(notebook, timeout=timeout, resources={"metadata": {"path": str(folder)}},
                                store_widget_state=False, record_timing=False, coalesce_streams=True)
        try:
            client.execute()
        finally:
            notebook.cells.pop()
        return json.loads(path.read_text(encoding="utf-8"))


def lab_outputs(notebook: Any) -> list[tuple[Any, str]]:
    """Every output of a notebook that holds a widget, with the widget's id."""
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", []) if WIDGET in out.get("data", {})]
    return [(out, out["data"][WIDGET]["model_id"]) for out in outputs]


def view_outputs(notebook: Any) -> list[tuple[Any, str]]:
    """Every output of a notebook that holds a view in a frame, such as bertviz's, with the page inside the frame."""
    framed = [(out, re.search(r'<iframe class="plm-view".*? srcdoc="([^"]*)"', "".join(out["data"]["text/html"])))
              for cell in notebook.cells for out in cell.get("outputs", []) if "text/html" in out.get("data", {})]
    return [(out, unescape(found[1])) for out, found in framed if found]


def light(png: bytes, most: int = MOST[0]) -> bytes:
    """A PNG in 256 colours, which keep the colours of the roles apart, and made smaller until it has ``most`` bytes at
    most, or two fifths of its width."""
    from PIL import Image
    drawn = Image.open(io.BytesIO(png)).convert("RGB")
    for shrink in (1.0, 0.8, 0.65, 0.5, 0.4):
        size = (round(drawn.width * shrink), round(drawn.height * shrink))
        kept = io.BytesIO()
        drawn.resize(size, Image.Resampling.LANCZOS).quantize(256).save(kept, "PNG", optimize=True)
        if len(kept.getvalue()) <= most:
            break
    return kept.getvalue()


def store_pictures(path: Path, *, timeout: int = 600, width: int = 960) -> int:
    """Run a notebook and write it back with a picture for each lab and view, and no widget in it; returns how many.

    A notebook of 1.5 MB or more is refused with a ValueError, and the file stays as it was.
    """
    import nbformat
    notebook = nbformat.read(path, as_version=4)
    pages = lab_pages(notebook, path.parent, timeout)
    found = [(out, WIDGET, pages.get(name)) for out, name in lab_outputs(notebook)]
    found += [(out, "text/html", page) for out, page in view_outputs(notebook)]
    shown = sorted({page for _, _, page in found if page})
    shots = dict(zip(shown, pictures(shown, width=width), strict=True))
    notebook.metadata.pop("widgets", None)
    for output, drawn_as, _ in found:
        del output["data"][drawn_as]
    for most in MOST:
        small = {page: base64.b64encode(light(shot, most)).decode() for page, shot in shots.items()}
        for output, _, page in found:
            if page:
                output["data"]["image/png"] = small[page]
        text = nbformat.writes(notebook)
        if len(text.encode()) < LIMIT:
            break
    else:
        raise ValueError(f"{path.name} would be {len(text.encode()) // 1000} kB with its {len(shown)} pictures, and "
                         f"a stored notebook stays under {LIMIT // 1000} kB: show fewer labs, or smaller ones")
    path.write_text(text, encoding="utf-8")
    return len(shown)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line: give each notebook its pictures. Returns the exit status, 1 at the first that fails."""
    parser = argparse.ArgumentParser(prog="python -m plmlab.labs.picture", description=__doc__)
    parser.add_argument("notebooks", nargs="+", type=Path)
    parser.add_argument("--timeout", type=int, default=600, help="seconds that one cell may take")
    chosen = parser.parse_args(arguments)
    for path in chosen.notebooks:
        try:
            print(f"{path}: {store_pictures(path, timeout=chosen.timeout)} pictures")
        except (LookupError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
