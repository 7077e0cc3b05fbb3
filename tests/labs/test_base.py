"""The base of the labs: one module of JavaScript, a page that needs nothing else, errors in words."""

import io
import json
import re
import sys

import pytest
from nbformat import NotebookNode
from PIL import Image
from standin import HOSTILE, words

from plmlab.labs import (
    AttentionLab,
    ClozeLab,
    Curve,
    Lab,
    MaskLab,
    NextTokenLab,
    PositionLab,
    ShapeXray,
    WorldLab,
    picture,
)
from plmlab.labs.base import script_json
from plmlab.labs.bertviz.lab import View
from plmlab.labs.picture import light, view_outputs

LABS = (AttentionLab, ClozeLab, Curve, MaskLab, NextTokenLab, PositionLab, ShapeXray, WorldLab)


@pytest.mark.parametrize("cls", LABS)
def test_a_module_imports_nothing_and_makes_no_html_of_text(cls: type[Lab]) -> None:
    module = cls.module()
    assert not re.search(r"^\s*import\b|\bimport\(|https?://(?!www\.w3\.org/2000/svg)", module, re.MULTILINE)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", module)
    assert "</script" not in module
    assert module.count("export default") == 1


@pytest.mark.parametrize("cls", LABS)
def test_the_style_touches_labs_only(cls: type[Lab]) -> None:
    assert cls._css.startswith(Lab._css)
    rules = re.sub(r"/\*.*?\*/", "", cls._css, flags=re.DOTALL)
    for selector in re.findall(r"([^{}]+)\{", rules):
        assert ".plm-lab" in selector or selector.strip().startswith("@media"), selector


def test_json_in_a_script_cannot_end_it() -> None:
    text = script_json({"a": HOSTILE["script"] + "<!-- \u2028"})
    assert "<" not in text
    assert json.loads(text)["a"] == HOSTILE["script"] + "<!-- \u2028"


def test_a_page_holds_the_lab_and_reaches_for_nothing() -> None:
    lab = MaskLab(words(HOSTILE["script"]), HOSTILE["script"])
    page = lab.html()
    assert page.count("</script>") == 2
    assert not re.search(r"""(src|href)=["']?(http|//)""", page)
    traits = json.loads(re.search(r'id="traits">(.*?)</script>', page, re.DOTALL).group(1))
    assert traits["text"] == HOSTILE["script"]
    assert traits["state"]["tokens"] == lab.state["tokens"]
    assert not [name for name in traits if name.startswith("_")]
    assert 'data-jp-theme-light="false"' in lab.html("dark")


def test_a_title_is_text() -> None:
    assert "<title>a &lt;b&gt;</title>" in Curve("a <b>").html()


def test_a_lab_is_told_by_its_content_and_not_by_its_address() -> None:
    one, two = (repr(MaskLab(words(), "the cat", "causal")) for _ in range(2))
    assert one == two == "<MaskLab: causal language model (GPT): [START] the cat>"


def test_a_button_that_asks_for_the_page_gets_it_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    lab, sent = MaskLab(words(), "the cat", "causal"), []
    monkeypatch.setattr(lab, "send", lambda content: sent.append(content))
    lab._msg_callbacks(lab, {"page": "page-7", "theme": "dark"}, [])
    lab._msg_callbacks(lab, {"page": "page-8", "theme": "<b>"}, [])
    assert sent == [{"page": "page-7", "html": lab.html("dark")}, {"page": "page-8", "html": lab.html("light")}]


def test_an_error_in_a_handler_becomes_a_message() -> None:
    lab = Lab()
    with lab.reporting_errors():
        raise ValueError("ten words at most, eleven were given")
    assert (lab.message, lab.stale) == ("ten words at most, eleven were given", True)
    with lab.reporting_errors():
        raise KeyError("x")
    assert "went wrong" in lab.message
    assert "KeyError" in lab.message


def test_a_missing_browser_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "find_browser", lambda: None)
    with pytest.raises(LookupError, match="apt install chromium"):
        Curve("x").picture()


def test_a_missing_playwright_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    with pytest.raises(LookupError, match="pip install playwright"):
        Curve("x").picture()


def test_a_view_in_a_frame_is_found_with_its_page() -> None:
    page = '<!doctype html><p title="a &amp; b">x < y</p>'
    framed = View("a view", page, 300)._repr_html_()
    outputs = [{"data": {"text/html": framed}}, {"data": {"text/html": "<b>no view</b>"}}, {"data": {}}]
    notebook = NotebookNode(cells=[NotebookNode(outputs=outputs), NotebookNode()])
    assert view_outputs(notebook) == [(outputs[0], page)]


def test_a_heavy_picture_becomes_a_light_one() -> None:
    noise = io.BytesIO()
    Image.effect_noise((900, 700), 90).convert("RGB").save(noise, "PNG")
    kept = light(noise.getvalue(), most=90_000)
    assert len(kept) <= 90_000 < len(noise.getvalue()) and Image.open(io.BytesIO(kept)).width < 900
