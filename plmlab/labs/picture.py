"""Store pictures of the labs in notebooks, so that a notebook can be read without being run.

    python -m plmlab.labs.picture notebooks/00_start_here.ipynb

runs the notebook and stores a PNG instead of each lab widget and each bertviz view, next to the text representation.
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
"""Maximum size of a picture in bytes, tried in turn until the notebook is small enough."""

COLLECT = """
import json as _json
from ipywidgets.widgets.widget import _instances as _living
from plmlab.labs.base import Lab as _Lab
with open({path!r}, "w", encoding="utf-8") as _file:
    _json.dump({{name: lab.html() for name, lab in _living.items() if isinstance(lab, _Lab)}}, _file)
"""


def browser_path() -> str:
    """The path of the installed Chromium. Raises LookupError, with instructions, if Chromium is not installed."""
    if path := find_browser():
        return path
    raise LookupError("Chromium, which renders the pictures of labs, was not found: install it "
                      "(Debian: apt install chromium), or open the notebook to see the lab itself")


def _shoot(pages: Sequence[str], width: int, scale: float) -> list[bytes]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise LookupError("the package playwright, which controls the browser that renders the pictures of labs, "
                          "is missing: pip install playwright") from error
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
    """Render the lab on each HTML page as a PNG, at most ``width`` CSS pixels wide. Raises LookupError if Chromium or
    Playwright is missing.

    Runs in a separate thread, because Playwright refuses to start inside a notebook's event loop.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_shoot, pages, width, scale).result()


def lab_pages(notebook: Any, folder: Path, timeout: int) -> dict[str, str]:
    """Run a notebook in place, with at most ``timeout`` seconds per cell; return each lab's HTML page by widget id."""
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
    """All outputs of a notebook that contain a widget, each with the widget's id."""
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", []) if WIDGET in out.get("data", {})]
    return [(out, out["data"][WIDGET]["model_id"]) for out in outputs]


def view_outputs(notebook: Any) -> list[tuple[Any, str]]:
    """All outputs of a notebook that contain a view in an iframe (bertviz), each with the page shown in the iframe."""
    framed = [(out, re.search(r'<iframe class="plm-view".*? srcdoc="([^"]*)"', "".join(out["data"]["text/html"])))
              for cell in notebook.cells for out in cell.get("outputs", []) if "text/html" in out.get("data", {})]
    return [(out, unescape(found[1])) for out, found in framed if found]


def light(png: bytes, most: int = MOST[0]) -> bytes:
    """Compress a PNG: quantise it to 256 colours, which keeps the semantic colours distinct, and shrink it until it has
    at most ``most`` bytes or two fifths of its original width."""
    from PIL import Image
    drawn = Image.open(io.BytesIO(png)).convert("RGB")
    for shrink in (1.0, 0.8, 0.65, 0.5, 0.4):
        size = (round(drawn.width * shrink), round(drawn.height * shrink))
        buffer = io.BytesIO()
        drawn.resize(size, Image.Resampling.LANCZOS).quantize(256).save(buffer, "PNG", optimize=True)
        if len(buffer.getvalue()) <= most:
            break
    return buffer.getvalue()


def store_pictures(path: Path, *, timeout: int = 600, width: int = 960) -> int:
    """Run a notebook and save it with a picture instead of each lab and view; return the number of pictures.

    Raises ValueError, and leaves the file unchanged, if the notebook would have 1.5 MB or more.
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
        raise ValueError(f"{path.name} would have {len(text.encode()) // 1000} kB with its {len(shown)} pictures; "
                         f"the limit for a stored notebook is {LIMIT // 1000} kB: show fewer labs, or smaller ones")
    path.write_text(text, encoding="utf-8")
    return len(shown)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command-line entry point: store the pictures in each notebook. Returns the exit status, which is 1 at the first
    failure."""
    parser = argparse.ArgumentParser(prog="python -m plmlab.labs.picture", description=__doc__)
    parser.add_argument("notebooks", nargs="+", type=Path)
    parser.add_argument("--timeout", type=int, default=600, help="maximum seconds per cell")
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
