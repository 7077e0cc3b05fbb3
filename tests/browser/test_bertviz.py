"""bertviz's views in a real browser and in a real JupyterLab: drawn, reached by keys, and asking nobody."""

from pathlib import Path

import pytest
import torch
from playwright.sync_api import FrameLocator, Page, expect
from servers import Desk

from plmlab.labs.bertviz.lab import View, head_view, model_view
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.text.tokenizers import Tokenizer

TEXT, OTHER = "the man saw the river", "a bank of it"
HOSTILE = "<img src=x onerror=alert(1)> </script><script>alert(2)</script>"
WORDS = Tokenizer.words([TEXT, OTHER], 60)
BYTES = Tokenizer.bpe([HOSTILE] * 9, 360)


def bert(vocab: int) -> BERT:
    torch.manual_seed(0)
    return BERT(BERTConfig(vocab, layers=3, model=16, heads=4, inner=8))


def shown(page: Page, tmp_path: Path, *views: View, body: str = "") -> list[FrameLocator]:
    """The views in one page, as a notebook holds them."""
    file = tmp_path / "page.html"
    frames = "\n".join(f'<div id="cell-{i}">{view._repr_html_()}</div>' for i, view in enumerate(views))
    file.write_text(f'<!doctype html><meta charset="utf-8"><body style="{body}">{frames}', encoding="utf-8")
    page.goto(file.as_uri())
    found = [page.frame_locator(f"#cell-{i} iframe") for i in range(len(views))]
    for frame in found:
        frame.locator("html[data-drawn]").wait_for()
    return found


def test_two_of_each_in_one_page(page: Page, tmp_path: Path) -> None:
    model = bert(len(WORDS))
    views = [head_view(model, WORDS, TEXT), model_view(model, WORDS, TEXT), head_view(model, WORDS, OTHER),
             model_view(model, WORDS, OTHER, layers=[1])]
    first, whole, second, one = shown(page, tmp_path, *views)
    for frame, text in ((first, TEXT), (second, OTHER)):
        expect(frame.locator("#left text")).to_have_text(["[CLS]", *text.split(), "[SEP]"])
        size = len(text.split()) + 2
        expect(frame.locator("#attention line")).to_have_count(4 * size * size)
        expect(frame.locator("#layer option")).to_have_text(["0", "1", "2"])
    expect(whole.locator(".attn_background")).to_have_count(12)
    expect(one.locator(".attn_background")).to_have_count(4)


def test_the_lines_are_the_weights(page: Page, tmp_path: Path) -> None:
    model = bert(len(WORDS))
    view = model_view(model, WORDS, TEXT)
    (frame,) = shown(page, tmp_path, view)
    drawn = frame.locator("g[source-index] line").evaluate_all(
        "lines => lines.map(line => +line.getAttribute('stroke-opacity'))")
    from plmlab.interpret.attention_maps import attention_maps
    true = torch.stack(attention_maps(model, WORDS, TEXT)[0].weights).flatten()
    torch.testing.assert_close(torch.tensor(drawn), true, rtol=0, atol=0.00051)


def test_a_frame_is_as_high_as_its_view(page: Page, tmp_path: Path) -> None:
    views = [head_view(bert(len(WORDS)), WORDS, " ".join([TEXT] * n)) for n in (1, 6)]
    shown(page, tmp_path, *views)
    heights = [page.locator(f"#cell-{i} iframe").bounding_box()["height"] for i in range(2)]
    assert 200 < heights[0] < 330 and heights[1] - heights[0] == pytest.approx(25 * 22.5, abs=5)
    assert page.locator("iframe").first.evaluate("f => f.contentDocument.documentElement.scrollHeight") <= heights[0]


def test_a_model_view_shrinks_into_a_narrow_cell(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 600, "height": 800})
    shown(page, tmp_path, model_view(bert(len(WORDS)), WORDS, TEXT), model_view(bert(len(WORDS)), WORDS, TEXT, OTHER))
    for frame in page.locator("iframe").all():
        assert frame.evaluate("f => f.contentDocument.documentElement.scrollWidth <= f.clientWidth")


def test_an_encoder_decoder(page: Page, tmp_path: Path) -> None:
    model = Transformer(TransformerConfig.tiny(len(WORDS)))
    (frame,) = shown(page, tmp_path, head_view(model, WORDS, TEXT, OTHER))
    frame.locator("#filter").select_option("Cross")
    expect(frame.locator("#left text")).to_have_text(["[START]", *OTHER.split()])
    expect(frame.locator("#right text")).to_have_text([*TEXT.split(), "[END]"])


def test_hostile_text_is_text(page: Page, tmp_path: Path) -> None:
    """The page fixture fails the test if a dialog opens or a script raises."""
    model = bert(len(BYTES))
    frames = shown(page, tmp_path, head_view(model, BYTES, HOSTILE, HOSTILE), model_view(model, BYTES, HOSTILE))
    tokens = frames[0].locator("#left text").all_text_contents()
    assert "".join(tokens).replace("␣", " ") == f"[CLS]{HOSTILE}[SEP]{HOSTILE}[SEP]"
    for frame in frames:
        assert frame.locator("img").count() == 0
    frames[1].locator(".attn_background + g ~ rect").first.click()
    expect(frames[1].locator("text.token").nth(1)).to_have_text(tokens[1])


def test_what_the_mouse_reaches_keys_reach(page: Page, tmp_path: Path) -> None:
    model = bert(len(WORDS))
    head, whole = shown(page, tmp_path, head_view(model, WORDS, TEXT), model_view(model, WORDS, TEXT))
    head.get_by_label("Layer").focus()
    page.keyboard.press("ArrowDown")
    expect(head.get_by_label("Layer")).to_have_value("1")
    page.keyboard.press("Tab")
    focused = head.locator(":focus")
    stops = set()
    for _ in range(3):
        stops.add(focused.get_attribute("aria-label"))
        page.keyboard.press("Tab")
    assert stops == {"[CLS]", "head 0 on or off"}       # a stop for each column of tokens, and for the heads
    head.get_by_label("head 0 on or off").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    opacities = head.locator("g.headAttention[head-index='1'] line").evaluate_all(
        "lines => lines.map(line => +line.getAttribute('stroke-opacity'))")
    assert not any(opacities)
    head.locator("#left [aria-label='[CLS]']").focus()
    page.keyboard.press("ArrowDown")
    expect(head.locator("#attention")).to_have_attribute("visibility", "hidden")
    expect(head.locator("line[visibility='visible']")).to_have_count(4 * 7)
    whole.get_by_role("button").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(whole.locator("text.detail")).to_have_text("Layer 1, Head 1")


@pytest.mark.parametrize("body", ["background: #111; color: #eee; color-scheme: dark", "background: #fff"])
def test_legible_on_any_theme(page: Page, tmp_path: Path, body: str) -> None:
    (frame,) = shown(page, tmp_path, head_view(bert(len(WORDS)), WORDS, TEXT), body=body)
    colours = frame.locator("html").evaluate("h => [getComputedStyle(h).backgroundColor, getComputedStyle(h).color]")
    assert colours == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]


def test_a_picture() -> None:
    picture = head_view(bert(len(WORDS)), WORDS, TEXT).picture(scale=1.0)
    assert picture[:4] == b"\x89PNG" and len(picture) > 5_000


SETUP = """
from plmlab.hf import minilm
from plmlab.labs.bertviz import head_view, model_view
model, words = minilm()
text = "The man sat on the bank of the river."
"""


def test_in_jupyterlab_on_the_first_run_and_twice(jupyter: Desk) -> None:
    page = jupyter.run(SETUP, "head_view(model, words, text)", "model_view(model, words, text)",
                "head_view(model, words, text, 'He fished.')",
                until=".jp-CodeCell:nth-of-type(4) iframe, iframe >> nth=2")
    for place, lines in ((0, 12 * 12 * 12), (2, 12 * 16 * 16)):
        frame = page.frame_locator("iframe >> nth=" + str(place))
        expect(frame.locator("#attention line")).to_have_count(lines)
    expect(page.frame_locator("iframe >> nth=1").locator(".attn_background")).to_have_count(72)
