"""The Attention Lab in a real browser: walked by mouse and by keyboard, its numbers against torch, any text in it."""

import re
import statistics
from math import sqrt

import pytest
import torch
from playwright.sync_api import Page, expect
from servers import Desk
from standin import HOSTILE
from torch import nn
from watching import Show, spent, sticks_out

from plmlab.interpret.forward_pass import forward_pass
from plmlab.labs.attention.lab import ANIMAL, PRESETS, AttentionLab, default_model
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.models.unilm import UniLM, UniLMConfig
from plmlab.objectives.prefix import MASKS
from plmlab.text.tokenizers import Tokenizer

TEXT = "the old baker told the ferryman a long story about the bear"
LONG = " ".join((TEXT.split() * 6)[:62])
WORDS = Tokenizer.words([TEXT, *HOSTILE.values()], 160)
WHY = ".plm-lab .why"
MAP = ".head-map .cross"
ALL = ".overview .cross"


def seeded(model: nn.Module) -> nn.Module:
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3, generator=generator)
    return model.eval()


def bert(layers: int = 3, heads: int = 4) -> nn.Module:
    return seeded(BERT(BERTConfig(len(WORDS), layers=layers, model=8 * heads, heads=heads, inner=8)))


def gpt() -> nn.Module:
    return seeded(GPT2(GPTConfig(len(WORDS), layers=3, model=16, heads=2)))


def over(page: Page, query: int, key: int) -> tuple[float, float]:
    """The point on the screen where a cell of the head's map is."""
    return tuple(page.evaluate("""([q, k]) => {
        const box = (name, i) => document.querySelectorAll(name)[i].getBoundingClientRect();
        const [column, row] = [box('.key-name', k), box('.head-map .query-name', q)];
        return [column.left + column.width / 2, row.top + row.height / 2];
    }""", [query, key]))


def head_at(page: Page, layer: int, head: int) -> tuple[float, float]:
    """The point on the screen where a head of the overview is."""
    return tuple(page.evaluate("""([layer, head]) => {
        const box = (name, i) => document.querySelectorAll(name)[i].getBoundingClientRect();
        const [column, row] = [box('.heads span', head), box('.layers span', layer)];
        return [column.left + column.width / 2, row.top + row.height / 2];
    }""", [layer, head]))


def heading(page: Page) -> str:
    """What the arithmetic is of."""
    return " ".join(page.inner_text(".arithmetic h4").split())


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def test_the_first_state_teaches(show: Show) -> None:
    page = show(AttentionLab())
    assert page.inner_text(WHY) == "it attends to animal with weight 0.688, the largest in its row."
    assert page.inner_text(".head-title") == "Layer 3, head 1"
    page.click(".ask summary")
    assert page.inner_text(".ask p") == PRESETS[0].answer


def test_the_arithmetic_that_is_shown_is_the_models(show: Show) -> None:
    """Each number on the page against torch: products, sum, score, shares, values."""
    model, words = default_model()
    found = forward_pass(model, words, ANIMAL).head("self", 3, 1)
    page = show(AttentionLab())
    page.mouse.click(*over(page, 12, 9))
    q, k = found.q[12].double(), found.k[9].double()
    sums = [line.inner_text() for line in page.locator(".step .sum").all()]
    assert number(sums[0].split("= ")[1]) == pytest.approx(float(q @ k), abs=6e-4)
    assert "÷ √32" in sums[1]
    assert number(sums[1].split("= ")[-1]) == pytest.approx(float(q @ k) / sqrt(32), abs=6e-4)
    row = found.scores[12].double().softmax(-1)
    assert number(sums[2].split("= ")[-1]) == pytest.approx(float(row[9]), abs=6e-4)
    assert f"with weight {float(row[9]):.3f}" in page.inner_text(WHY)
    shown = [(r.locator("th").inner_text(), [number(c) for c in r.locator("td").all_inner_texts()])
             for r in page.locator(".row-shares tbody tr:not(.rest)").all()]
    best = row.topk(8)
    for (_, cells), weight, at in zip(shown, best.values.tolist(), best.indices.tolist(), strict=False):
        part = float((found.scores[12, at] - found.scores[12].max()).double().exp())
        assert cells == pytest.approx([float(found.scores[12, at]), part, weight], abs=6e-3)
    page.click(".table-of summary")
    lines = [[number(c) for c in r.locator("td").all_inner_texts()]
             for r in page.locator(".table-of tbody tr").all()]
    wanted = torch.stack([q, k, q * k, found.v[9].double(), row[9] * found.v[9].double(),
                          row @ found.v.double()], dim=1)
    torch.testing.assert_close(torch.tensor(lines, dtype=torch.float64), wanted, rtol=0, atol=6e-4)


def test_from_the_whole_to_the_number_in_two_clicks(show: Show) -> None:
    lab = AttentionLab()
    page = show(lab)
    page.mouse.click(*head_at(page, 3, 1))
    assert page.inner_text(".head-title") == "Layer 3, head 1"
    page.mouse.click(*over(page, 9, 7))
    assert heading(page).startswith("Computing 0.054: it attends to street")


def test_hovering_says_and_a_click_stays(show: Show) -> None:
    page = show(AttentionLab())
    page.mouse.move(*over(page, 4, 5))
    assert page.inner_text(WHY).startswith("not attends to cross")
    assert heading(page) == "Computing 0.688: it attends to animal layer 3, head 1"
    page.mouse.move(5, 5)
    assert page.inner_text(WHY).startswith("it attends to animal")
    page.mouse.click(*over(page, 4, 5))
    page.mouse.move(5, 5)
    assert page.inner_text(WHY).startswith("not attends to cross")


def test_the_pixels_are_the_weights(show: Show) -> None:
    """The colours of the large map rise with the weights: read back out of the canvas."""
    lab = AttentionLab(bert(), WORDS, TEXT)
    page = show(lab)
    weights = forward_pass(lab.model, WORDS, TEXT).map("self").weights[0][0]
    count = len(weights)
    drawn = page.evaluate("""(count) => {
        const canvas = document.querySelector('.head-map canvas');
        const context = canvas.getContext('2d', { willReadFrequently: true });
        return [...Array(count * count).keys()].map((i) => context.getImageData(
            ((i % count) + 0.5) * canvas.width / count, (Math.floor(i / count) + 0.5) * canvas.height / count,
            1, 1).data[0]);
    }""", count)
    order = torch.tensor(drawn)[weights.flatten().argsort()]
    assert bool((order.diff() >= 0).all())
    assert order[-1] > order[0]


def test_a_blocked_cell_says_why(show: Show) -> None:
    page = show(AttentionLab(gpt(), WORDS, TEXT))
    page.mouse.click(*over(page, 3, 8))
    assert page.inner_text(WHY) == "baker cannot attend to long: long comes later: attending to it would leak a " \
                                   "target."
    assert "its score is set to −∞, and its weight is 0.000" in page.inner_text(".arithmetic")
    assert "blocked" in page.inner_text(".row-shares")
    expect(page.locator(".head-map .heat")).to_have_class(re.compile("hatched"))


def test_a_walk_by_keyboard_alone(show: Show) -> None:
    page = show(AttentionLab())

    page.focus(ALL)
    for key, at in (("ArrowDown", (4, 1)), ("ArrowLeft", (4, 0)), ("Home", (4, 0)), ("End", (4, 11)),
                    ("Control+Home", (0, 0)), ("ArrowRight", (0, 1)), ("ArrowRight", (0, 2))):
        page.keyboard.press(key)
        assert page.inner_text(".head-title") == f"Layer {at[0]}, head {at[1]}"
        assert page.get_attribute(ALL, "aria-label") == f"layer {at[0]}, head {at[1]}"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.closest('.head-map') !== null")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text(WHY).startswith("it attends to the (position 1) with weight 0.000")
    assert page.get_attribute(MAP, "aria-label") == page.inner_text(WHY)
    assert "This page holds only the vectors of layer 3, head 1" in page.inner_text(".arithmetic")
    page.focus(ALL)
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowLeft", "Enter", "ArrowRight"):
        page.keyboard.press(key)
    assert "it attends to animal" in heading(page)
    page.focus(".strips >> nth=0")
    page.keyboard.press("ArrowRight")
    said = page.inner_text(".dimension >> nth=0")
    assert said.startswith("dimension 0: ")
    assert page.get_attribute(".strips >> nth=0", "aria-valuetext") == said
    a, b, c = (number(part) for part in re.split(" [×=] ", said.split(": ")[1]))
    assert a * b == pytest.approx(c, abs=2e-3)
    page.keyboard.press("End")
    assert page.inner_text(".dimension >> nth=0").startswith("dimension 31: ")


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "long"])
def test_what_a_person_types_is_text(show: Show, name: str) -> None:
    lab = AttentionLab(bert(), WORDS, HOSTILE[name])
    page = show(lab)
    assert page.locator(".plm-lab img, .plm-lab script").count() == 0
    assert [t.strip() for t in page.locator(".key-name").all_text_contents()] == lab.state["keys"]
    page.focus(MAP)
    page.keyboard.press("ArrowRight")
    assert page.inner_text(WHY)


def test_nothing_overflows_and_nothing_is_cut(show: Show, page: Page) -> None:
    less = AttentionLab(gpt(), WORDS, TEXT)
    less.off, less.closed = [["self", 0, 1]], [["self", 4, 2]]
    across = AttentionLab(seeded(Transformer(TransformerConfig.tiny(len(WORDS)))), WORDS, TEXT, "the bear")
    across.shown = 2
    for lab in (AttentionLab(), AttentionLab(bert(12, 12), WORDS, LONG), less, across):
        show(lab)
        for width in (724, 984):
            assert sticks_out(page, [width]) == {}, lab
            inside = page.evaluate("""() => [...document.querySelectorAll('.step > *')]
                .filter((e) => e.getBoundingClientRect().right > e.parentElement.getBoundingClientRect().right + 1)
                .map((e) => e.className)""")
            assert inside == [], (lab, width)


@pytest.mark.timing
def test_a_layer_switch_at_12_12_64_takes_at_most_60_ms(show: Show) -> None:
    page = show(AttentionLab(bert(12, 12), WORDS, LONG))
    page.focus(ALL)
    took = spent(page, "press('.overview .cross', i % 24 < 11 ? 'ArrowDown' : 'ArrowUp')")
    assert statistics.median(took) <= 60


TOLD = "print(lab.off, lab.closed, lab.layer, lab.head, len(lab.state['queries']), repr(lab.text[:10]))"


def test_the_lab_and_the_kernel_talk(jupyter: Desk) -> None:
    page = jupyter.lab("AttentionLab()", TOLD, until=".plm-lab .head-map")
    expect(page.locator(".arithmetic h4")).to_contain_text("Computing 0.688")
    page.focus(ALL)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".arithmetic h4")).to_contain_text("layer 4, head 2")
    page.keyboard.press(" ")
    expect(page.locator(".changes h4")).to_contain_text("1 head is off")
    expect(page.locator(".moved li")).to_have_count(15)
    expect(page.locator(".marks-off i")).to_have_count(1)
    assert page.evaluate("document.activeElement.closest('.overview') !== null")
    page.keyboard.press("Shift+ ")
    expect(page.locator(".changes h4")).to_contain_text("12 heads are off")
    page.click("button:text-is('restore everything')")
    expect(page.locator(".changes")).to_contain_text("Nothing is switched off")
    page.check(".edit input")
    page.mouse.click(*over(page, 9, 2))
    expect(page.locator(WHY)).to_have_text("it cannot attend to animal: you blocked this pair by hand.")
    expect(page.locator(".moved .most")).to_contain_text("it")
    expect(page.locator(".moved .most span")).to_have_text("0.18")
    jupyter.run_cell(1, until=r"^\[\] \[\['self', 9, 2\]\] 4 2 15 'The animal'$")
    page.focus(MAP)
    page.keyboard.press("Enter")
    expect(page.locator(".changes")).to_contain_text("Nothing is switched off")
    page.click("button:text-is('ablate a head')")
    expect(page.locator(".head-title")).to_contain_text("Layer 5, head 11")
    expect(page.locator(".turned-by")).to_have_text("0.075")
    page.fill(".plm-lab .sentence", "The bank was closed.")
    expect(page.locator(".key-name")).to_have_count(7)
    jupyter.run_cell(1, until=r"^\[\['self', 5, 11\]\] \[\] 5 11 7 'The bank w'$")


def test_masks_are_offered_where_there_are_several(show: Show) -> None:
    model = seeded(UniLM(UniLMConfig(len(WORDS), layers=1, model=16, heads=2, inner=8)))
    page = show(AttentionLab(model, WORDS, TEXT, mask="right to left"))
    under = page.get_by_label("attention mask")
    expect(under).to_be_visible()
    expect(under).to_have_value("right to left")
    assert under.locator("option").all_inner_texts() == list(MASKS)
    other = show(AttentionLab(bert(), WORDS, TEXT))
    expect(other.locator(MAP)).to_be_visible()
    expect(other.get_by_label("attention mask")).to_be_hidden()
