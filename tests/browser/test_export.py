"""Each lab's two quiet buttons: it as a picture, drawn without a kernel, and it as a page that needs no notebook."""

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from beginnings import made
from PIL import Image, ImageChops
from playwright.sync_api import Browser, Page, expect
from servers import Desk
from standin import HOSTILE, SENTENCES, words
from watching import PAINTED, Show

from plmlab.labs import Lab, MaskLab, ShapeXray

LABS: dict[str, Callable[[], Lab]] = {
    "mask_lab": lambda: MaskLab(words(), SENTENCES[12], "causal"),
    "mask_lab, 64 tokens": lambda: MaskLab(words(), SENTENCES[64], "causal"),
    "curve": lambda: made("curve()"),
    "shape_xray": lambda: ShapeXray(wrong=True),
}


def png_of(page: Page) -> tuple[str, Image.Image]:
    """The picture that the button gives, and the name of its file."""
    with page.expect_download() as waiting:
        page.click(".plm-lab .export button:text-is('PNG')")
    return waiting.value.suggested_filename, Image.open(waiting.value.path()).convert("RGB")


def differing(one: Image.Image, two: Image.Image) -> float:
    """The share of pixels that differ by more than the shading of a letter's edge."""
    apart = ImageChops.difference(one, two.resize(one.size)).convert("L").point(lambda v: 255 * (v > 90))
    return apart.histogram()[255] / (one.width * one.height)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", LABS)
def test_the_png_is_what_the_screen_shows(show: Show, name: str, theme: str) -> None:
    page = show(LABS[name](), theme)
    page.set_viewport_size({"width": 1000, "height": 1000})
    page.add_style_tag(content=".plm-lab { font-family: sans-serif }")  # a drawing does not know the system's font
    page.evaluate(PAINTED)
    file, drawn = png_of(page)
    assert file == f"{name.split(',')[0]}.png"
    node = page.locator(".plm-lab")
    node.evaluate("lab => lab.classList.add('picture')")
    seen = Image.open(io.BytesIO(node.screenshot())).convert("RGB")
    assert drawn.width == 2 * seen.width
    assert abs(drawn.height - 2 * seen.height) <= 4
    colours = drawn.getcolors(1 << 24)
    assert colours and len(colours) > 60
    assert max(count for count, _ in colours) < 0.97 * drawn.width * drawn.height
    assert differing(seen, drawn) < 0.01


def test_a_wide_lab_is_whole_in_its_png(show: Show, page: Page) -> None:
    page.set_viewport_size({"width": 500, "height": 800})
    page = show(LABS["mask_lab, 64 tokens"]())
    shown = page.locator(".plm-lab").bounding_box()
    assert shown
    _, drawn = png_of(page)
    assert drawn.width > 2 * shown["width"]


def test_what_is_drawn_on_a_canvas_comes_too(show: Show) -> None:
    page = show(LABS["mask_lab"]())
    page.evaluate("""() => {
        const canvas = document.createElement('canvas');
        Object.assign(canvas, { width: 40, height: 20 });
        canvas.style.width = '200px';
        const context = canvas.getContext('2d');
        context.fillStyle = '#ff0080';
        context.fillRect(0, 0, 40, 20);
        document.querySelector('.plm-lab .body').prepend(canvas);
    }""")
    _, drawn = png_of(page)
    pink = [count for count, colour in drawn.getcolors(1 << 24) or [] if colour == (255, 0, 128)]
    assert pink and 0.9 * 400 * 200 < pink[0] < 1.1 * 400 * 200


def test_what_xml_cannot_hold_is_left_out(show: Show) -> None:
    page = show(made("curve()"))
    whole = png_of(page)[1]
    page.evaluate(r"document.querySelector('h3').append(' \ud800 \u0001\u000b\ufffe ]]>&lt; <i>')")
    _, drawn = png_of(page)
    assert page.inner_text(".export [role=status]") == ""
    assert 0 < differing(whole, drawn) < 0.02


def test_a_browser_that_refuses_is_told_of_in_the_lab(show: Show) -> None:
    page = show(LABS["mask_lab"]())
    page.evaluate("() => { HTMLCanvasElement.prototype.toBlob = () => { throw new Error('tainted') } }")
    page.click(".export button")
    expect(page.locator(".export [role=status]")).to_contain_text("This browser could not create a picture")
    expect(page.locator(".export [role=status]")).to_contain_text("Lab.picture()")


def test_the_buttons_are_reached_by_keyboard_and_stay_out_of_pictures(show: Show) -> None:
    page = show(LABS["mask_lab"]())
    page.keyboard.press("Tab")
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    assert waiting.value.suggested_filename == "mask_lab.png"
    assert page.locator(".export button").count() == 1, "a saved page need not be saved again"
    page.locator(".plm-lab").evaluate("lab => lab.classList.add('picture')")
    expect(page.locator(".export")).to_be_hidden()


LAB = """
from standin import words, HOSTILE
from plmlab.labs import MaskLab
lab = MaskLab(words(HOSTILE["script"]), HOSTILE["script"], "causal")
lab
"""


def test_the_html_of_a_running_lab_opens_elsewhere_and_draws_the_same(jupyter: Desk, browser: Browser,
                                                                      tmp_path: Path) -> None:
    page = jupyter.run(LAB, "print(len(lab.edits))", until=".plm-lab .reads > .chip")
    page.fill(".plm-lab .sentence", HOSTILE["script"] + " sat sat")
    expect(page.locator(".plm-lab .reads > .chip")).to_have_count(2 + len(HOSTILE["script"].split()) + 1)
    page.focus(".plm-lab .cross")
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".plm-lab .legend")).to_contain_text("set by hand")
    chips = page.locator(".plm-lab .reads > .chip").all_inner_texts()
    assert page.locator(".plm-lab .export button").count() == 2
    with page.expect_download() as waiting:
        page.click(".plm-lab .export button:text-is('HTML')")
    assert waiting.value.suggested_filename == "mask_lab.html"
    saved = tmp_path / "saved.html"
    waiting.value.save_as(saved)
    assert not re.search(r"""(src|href)=["']?(http|//)""", saved.read_text(encoding="utf-8"))

    problems: list[str] = []
    fresh = browser.new_context(offline=True).new_page()
    fresh.on("pageerror", lambda error: problems.append(str(error)))
    fresh.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
    fresh.goto(saved.as_uri())
    fresh.wait_for_selector("html[data-drawn]")
    assert fresh.locator(".plm-lab .reads > .chip").all_inner_texts() == chips
    assert len(chips) > 5
    assert "set by hand" in fresh.inner_text(".plm-lab .legend")
    assert fresh.locator(".plm-lab img, .plm-lab script").count() == 0
    assert problems == []
    fresh.context.close()

    name, drawn = png_of(page)
    assert name == "mask_lab.png"
    assert len(drawn.getcolors(1 << 24) or []) > 60
BUSY = """
import time
from pathlib import Path
while not Path("enough").exists():
    time.sleep(0.05)
"""


def test_a_busy_kernel_is_told_of(jupyter: Desk) -> None:
    page = jupyter.run(LAB, BUSY, until=".plm-lab .reads > .chip", to_the_end=False)
    with page.expect_download():
        page.click(".plm-lab .export button:text-is('HTML')")
        expect(page.locator(".plm-lab .export [role=status]")).to_contain_text("The kernel is busy")
        (jupyter.server.folder / "enough").touch()
    expect(page.locator(".plm-lab .export [role=status]")).to_be_empty()
