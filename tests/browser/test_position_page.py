"""The Position Lab on a page and in JupyterLab: each kind by mouse and by keyboard, at any width, with any text."""

import math
import statistics
from functools import cache

import pytest
import torch
from playwright.sync_api import Page, expect
from servers import Desk
from watching import WIDTHS, Show, on_heat, spent, sticks_out

from plmlab.hf import minilm
from plmlab.labs.position.lab import KINDS, PositionLab
from plmlab.layers.positions import sinusoid
from plmlab.layers.relative import ShawAttention
from plmlab.models.glm import GLM, GLMConfig
from plmlab.text.tokenizers import Tokenizer

WHY = ".plm-lab .why"
CROSS = ".plm-lab .cross >> nth=0"
read_minilm = cache(minilm)


STORY = "The old baker told the ferryman a long story about the bear."


def lab_of(kind: str, text: str = STORY, **more) -> PositionLab:
    """A lab on MiniLM, which is read once."""
    return PositionLab(*read_minilm(), text, kind=kind, **more)


@cache
def two_axes() -> tuple[GLM, Tokenizer]:
    """A GLM that nobody trained."""
    words = Tokenizer.words([STORY], size=40)
    torch.manual_seed(0)
    return GLM(GLMConfig(len(words), time=30, layers=1, model=24, heads=2, inner=32)).eval(), words


def colour(page: Page, row: int, column: int) -> list[int]:
    """The colour of a cell's middle on the canvas of the first heat map."""
    return page.evaluate("""([row, column]) => {
        const heat = document.querySelector('.heat'), canvas = heat.querySelector('canvas');
        const at = (i, count, size) => Math.floor((i + 0.5) * size / count);
        const x = at(column, heat.getAttribute('aria-colcount'), canvas.width);
        const y = at(row, heat.getAttribute('aria-rowcount'), canvas.height);
        return [...canvas.getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3); }""", [row, column])


def test_a_sinusoid_is_pointed_at_and_told(show: Show) -> None:
    page = show(lab_of("sinusoidal"))
    table = sinusoid(torch.arange(64), 64)
    for position, dimension in ((7, 12), (40, 3), (63, 63), (0, 0)):
        page.mouse.move(*on_heat(page.locator(".heat").first, dimension, position))
        said = page.inner_text(WHY)
        assert said.startswith(f"Position {position}, dimension {dimension}: {'cos' if dimension % 2 else 'sin'}")
        told = float(said.rsplit("= ", 1)[1].replace("−", "-"))
        assert told == pytest.approx(table[position, dimension].item(), rel=1e-3, abs=1e-6)
    wave = 2 * math.pi * 10_000 ** (12 / 64)
    page.mouse.move(*on_heat(page.locator(".heat").first, 12, 5))
    assert f"repeats every {wave:.1f} tokens" in page.inner_text(".figures")
    assert page.locator(".figures circle.dot").count() == 64


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_cell_has_the_colour_of_its_value(show: Show, theme: str) -> None:
    """Minus one, nothing, and one are the ends and the middle of the scale, apart in lightness or in hue."""
    page = show(lab_of("sinusoidal", base=10_000.0, width=4, length=8), theme)
    one, nothing = colour(page, 1, 0), colour(page, 0, 0)
    minus = colour(page, 1, 3)
    assert torch.cos(torch.tensor(3.0)) < -0.98
    assert one[0] > one[2] + 60
    assert minus[2] > minus[0] + 20
    assert max(nothing) - min(nothing) < 12
    assert (sum(nothing) > 600) == (theme == "light")


def test_the_question_is_answered_with_the_numbers_of_now(show: Show) -> None:
    page = show(lab_of("sinusoidal"))
    table = sinusoid(torch.arange(64), 64)
    page.focus(".ask summary")
    page.keyboard.press("Enter")
    value = (table[3] @ table[7]).item()
    assert f"Yes: {value:.2f} and {value:.2f}" in page.inner_text(".ask p")
    page.check("text=learned")
    page.click(".ask summary")
    assert "No: 0.12 and 0.087" in page.inner_text(".ask p")


def test_sliders_by_keyboard_and_crosshair_agree(show: Show) -> None:
    page = show(lab_of("sinusoidal"))
    slider = {name: page.locator(f"input[aria-label='{name}']") for name in
              ("dimensions d", "positions n", "base", "position", "dimension")}
    slider["dimensions d"].focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Home")
    expect(page.locator(".heat")).to_have_attribute("aria-rowcount", "4")
    expect(page.locator(WHY)).to_contain_text("dimension 3")
    assert slider["dimension"].get_attribute("aria-valuetext") == "3"
    slider["positions n"].focus()
    page.keyboard.press("Home")
    expect(page.locator(".heat")).to_have_attribute("aria-colcount", "8")
    slider["position"].focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(WHY)).to_contain_text("Position 6")
    page.focus(CROSS)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(WHY)).to_contain_text("Position 5, dimension 2")
    expect(slider["position"]).to_have_attribute("aria-valuetext", "5")
    expect(page.locator(CROSS)).to_have_attribute("aria-label", page.inner_text(WHY))
    assert page.evaluate("document.activeElement.className") == "cross"
    slider["base"].focus()
    page.keyboard.press("Home")
    expect(page.locator(".figures")).to_contain_text("Dimension 2 repeats every 19.9 tokens")


HANDS = """() => [...document.querySelectorAll('.face')].map((face) =>
    [...face.querySelectorAll('.hand')].map((hand) => {
        const turned = hand.getScreenCTM(), [x, y] = ['x2', 'y2'].map((end) => Number(hand.getAttribute(end)));
        const length = Math.hypot(x, y) * Math.hypot(turned.a, turned.b);
        return [(turned.a * x + turned.c * y) / length, -(turned.b * x + turned.d * y) / length]; }))"""
"""(Sine, cosine) of every hand on the screen: a list a clock."""
ARCS = "() => [...document.querySelectorAll('.arc')].map((arc) => arc.getAttribute('d'))"
DIMENSIONS = [0, 12, 24, 38, 50, 62]
PICKED = ".clock:has(:checked)"


def test_moving_turns_both_hands_and_their_angle_stays(show: Show) -> None:
    """The hands are the sinusoids of ``position`` and of three before it; no kernel answers this page."""
    page = show(lab_of("sinusoidal"))
    table = sinusoid(torch.arange(64), 64).double()
    angles = page.locator(".clock b").all_text_contents()
    assert angles == ["172°", "30.6°", "5.44°", "0.725°", "0.129°", "0.0229°"]
    said, arcs = page.inner_text(".turns"), page.evaluate(ARCS)
    assert said == ("Going three positions back turns this clock by 172°, at every position: "
                    "one rotation matrix turns all clocks three positions back.")
    page.focus("input[aria-label=position]")
    for position in (7, 8, 9, 63, 62):
        expect(page.locator(".clocks .keys")).to_contain_text(f"position {position - 3}, three positions back")
        found = torch.tensor(page.evaluate(HANDS)).double()
        wanted = torch.stack([table[[position, position - 3], i:i + 2] for i in DIMENSIONS])
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-4)
        assert (page.locator(".clock b").all_text_contents(), page.inner_text(".turns")) == (angles, said)
        assert page.evaluate(ARCS) == arcs
        page.keyboard.press({9: "End", 63: "ArrowLeft"}.get(position, "ArrowRight"))
    page.focus("input[aria-label='positions back']")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".turns")).to_contain_text("Going four positions back turns this clock by 229°")
    assert page.locator(".clock b").first.inner_text() == f"{math.degrees(4):.0f}°"
    assert page.evaluate(ARCS) != arcs


def test_a_hand_that_is_missing_is_not_drawn(show: Show) -> None:
    page = show(lab_of("sinusoidal", position=1))
    assert [len(hands) for hands in page.evaluate(HANDS)] == [1] * 6
    assert page.locator(".arc").count() == 0
    assert "position 1 has no dashed hand" in page.inner_text(".turns")
    assert page.inner_text(".clocks .keys") == "position 1"
    page.focus("input[aria-label=position]")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".hand.key")).to_have_count(6)
    assert "no dashed hand" not in page.inner_text(".turns")


def test_a_clock_is_chosen_by_pointer_and_by_keyboard(show: Show) -> None:
    page = show(lab_of("sinusoidal", width=16))
    page.hover(".clock >> nth=2")
    expect(page.locator(".turns")).to_contain_text("this clock by 5.44°,")
    page.focus(CROSS)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".turns")).to_contain_text("this clock by 1.72°,")
    expect(page.locator(PICKED)).to_contain_text("dimensions 8, 9")
    page.click(".clock >> nth=0")
    expect(page.locator(".turns")).to_contain_text("this clock by 172°,")
    assert page.locator(PICKED).count() == 1
    page.focus("input[aria-label='dimensions d']")
    page.keyboard.press("Home")
    expect(page.locator(".clock")).to_have_count(2)
    spoken = page.locator(".face").first.get_attribute("aria-label")
    assert spoken == f"position 7 at {math.degrees(7) % 360:.1f}°, position 4 at {math.degrees(4):.0f}°"


def test_arrows_change_the_kind_and_each_has_its_dials(show: Show) -> None:
    page = show(lab_of("sinusoidal"))
    page.focus("input[value=sinusoidal]")
    for wanted, live in ((6, 6), (3, 3), (3, 3), (0, 0), (1, 0)):  # the last asks Python
        expect(page.locator(".dials input")).to_have_count(wanted)
        expect(page.locator(".dials input:enabled")).to_have_count(live)
        page.keyboard.press("ArrowRight")
    expect(page.locator("input[value=sinusoidal]")).to_be_checked()


def test_two_tables_are_switched_by_mouse_and_by_keyboard(show: Show) -> None:
    """Each is drawn with its own values; the switch is there for a model of two axes, and where tables are drawn."""
    model = two_axes()[0]
    tables = [model.embeddings.position.weight, model.embeddings.position_in_blank.weight]
    page = show(PositionLab(*two_axes(), STORY, kind="learned"))
    places = page.get_by_role("radiogroup", name="position axis")
    expect(places).to_contain_text("Two axes: GLM adds one vector from each of its position tables to the embedding.")

    def drawn(axis: int, title: str) -> None:
        expect(page.locator(".figures .finding").first).to_have_text(f"Learned position embeddings of GLM ({title})")
        for position, dimension in ((7, 12), (30, 23), (0, 0)):
            page.mouse.move(*on_heat(page.locator(".heat").first, dimension, position))
            told = float(page.inner_text(WHY + " b >> nth=1").replace("−", "-"))
            assert told == pytest.approx(tables[axis][position, dimension].item(), abs=6e-4)
        assert abs(tables[0][7, 12] - tables[1][7, 12]) > 6e-3

    drawn(0, "position")
    places.get_by_label("position in blank").click()
    drawn(1, "position in blank")
    page.keyboard.press("ArrowLeft")
    drawn(0, "position")
    page.keyboard.press("ArrowRight")
    drawn(1, "position in blank")
    page.check("input[value=sentence]")
    expect(places).to_be_hidden()
    expect(page.locator(".axes")).to_contain_text("the numbers are positions on the first axis")
    page = show(lab_of("learned"))
    expect(page.locator("[role=radiogroup]")).to_have_count(1)


def test_a_relative_pair_takes_pythons_row(show: Show) -> None:
    page = show(lab_of("relative", length=32, window=5))
    rows = ShawAttention(8, 2, window=5).distance(32, 32)
    for query, key in ((3, 9), (20, 2), (31, 31), (10, 13)):
        page.mouse.move(*on_heat(page.locator(".heat").first, query, key))
        said = page.inner_text(WHY)
        assert said.startswith(f"Query {query} attends to key {key}: distance ")
        assert f"row {rows[query, key]} of 0 … 10" in said
        assert ("clipped" in said) == (abs(key - query) > 5)
        assert f"shared by {int((rows == rows[query, key]).sum())} pairs" in said
    assert "11 vectors serve all 1,024 pairs" in page.inner_text(".figures")
    page.focus(CROSS)
    page.keyboard.press("Home")
    expect(page.locator(WHY)).to_contain_text("Query 10 attends to key 0: distance −10, clipped to −5")


def test_three_maps_share_one_crosshair(show: Show) -> None:
    lab = lab_of("sentence")
    page = show(lab)
    names = lab.state["names"]
    for map, query, key in ((0, 4, 3), (1, 7, 5), (2, 0, 15)):
        page.mouse.move(*on_heat(page.locator(".heat").nth(map), query, key))
        said = page.inner_text(WHY)
        weights = [f"{lab.weights(i)[query, key].item():.2f}" for i in range(3)]
        assert said == (f"{names[query]} attends to {names[key]} with weight {weights[0]}; {weights[1]} with "
                        f"shuffled positions, {weights[2]} with all at position 0")
        assert page.locator(".maps text.is-query").all_text_contents() == [lab.state["tokens"][query]]
        assert {c.get_attribute("aria-colindex") for c in page.locator(".cross").all()} == {str(key + 1)}
    assert page.inner_text(".finding") == lab.state["finding"]
    table = page.locator(".measures tbody").inner_text()
    own, mixed, same = lab.state["variants"]
    assert " ".join(table.split()) == (
        f"original positions {own['previous']:.2f} {own['placed']:.2f} – "
        f"shuffled positions {mixed['previous']:.2f} {mixed['placed']:.2f} {100 * mixed['moved']:.0f} % "
        f"all at position 0 {same['previous']:.2f} – {100 * same['moved']:.0f} %")
    told = page.locator(".map-figure >> nth=1").locator("text").all_text_contents()
    assert [t for t in told if t.isdigit()] == [str(p) for p in mixed["position_ids"]]


def test_nothing_overflows_and_nothing_is_cut(show: Show, page: Page) -> None:
    long = " ".join(["the old baker told the ferryman a long story"] * 9)
    labs = [lab_of(kind, length=512) for kind in KINDS] + [lab_of("sentence", text) for text in ("Hi", long)]
    labs += [PositionLab(*two_axes(), STORY, kind=kind, axis=1) for kind in ("learned", "sentence")]
    for lab in labs:
        show(lab)
        for width in WIDTHS:
            assert sticks_out(page, [width]) == {}, lab
            cut = page.evaluate("""() => [...document.querySelectorAll('.plm-lab svg text')].filter((text) => {
                const [own, box] = [text, text.ownerSVGElement].map((e) => e.getBoundingClientRect());
                return own.left < box.left - 1 || own.right > box.right + 1
                    || own.top < box.top - 3 || own.bottom > box.bottom + 3; }).map((e) => e.outerHTML)""")
            assert cut == [], (lab, width)


@pytest.mark.timing
def test_any_slider_repaints_within_30_ms(show: Show) -> None:
    """What JavaScript spends on one move, at the defaults and at the largest of all; the lower quartile, since other
    tests may run beside this one."""
    for kind, traits, name in (("sinusoidal", {}, "base"), ("sinusoidal", {"width": 512, "length": 512}, "base"),
                               ("sinusoidal", {"width": 512, "length": 512}, "position"),
                               ("learned", {"length": 256}, "positions n"), ("relative", {"length": 512}, "window k")):
        page = show(lab_of(kind, **traits))
        dial = f"input[aria-label='{name}']"
        value = int(page.input_value(dial))
        took = statistics.quantiles(spent(page, f'slide("{dial}", {value} - (i + 1) % 2)'))[0]
        assert took <= 30, (kind, traits, name)


LAB = 'PositionLab(kind="sentence", text="the cat sat on the mat")'
TOLD = "print(lab.kind, lab.layer, lab.head, lab.shuffles, lab.position, len(lab.state['tokens']), repr(lab.text[:12]))"
SENTENCE = ".plm-lab .sentence"


def test_the_position_lab_and_the_kernel_talk(jupyter: Desk) -> None:
    page = jupyter.lab(LAB, TOLD, until=".plm-lab .maps .heat")
    expect(page.locator(".finding")).to_contain_text("Layer 0, head 2, attends to the previous token")
    page.fill(SENTENCE, "she read it twice")
    expect(page.locator(".heat").first).to_have_attribute("aria-rowcount", "6")
    before = page.locator(".map-figure").nth(1).inner_text()
    page.click("button:text-is('shuffle again')")
    page.wait_for_function("was => document.querySelectorAll('.map-figure')[1].innerText !== was"
                           " || document.querySelectorAll('.map-figure')[1].textContent !== was", arg=before)
    page.select_option("[aria-label=layer]", "1")
    expect(page.locator(".finding")).to_contain_text("Layer 1, head 2")
    page.select_option("[aria-label=head]", "")
    expect(page.locator(".finding")).to_contain_text("the mean of its heads")
    page.click("button:text-is('attends to the next token')")
    expect(page.locator(".finding")).to_contain_text("attends to the next token")
    page.fill(SENTENCE, "")
    expect(page.locator(".message.error")).to_contain_text("empty")
    assert page.locator(".heat").count() == 3
    page.fill(SENTENCE, "the cat")
    expect(page.locator(".heat").first).to_have_attribute("aria-rowcount", "4")
    expect(page.locator(".message")).to_be_empty()
    page.check("text=learned")
    expect(page.locator(".heat")).to_have_count(1)
    expect(page.locator(".heat")).to_have_attribute("aria-rowcount", "384")
    page.focus(CROSS)
    page.keyboard.press("ArrowRight")
    expect(page.locator(WHY)).to_contain_text("Position 8, dimension 12")
    told = read_minilm()[0].embeddings.position.weight[8, 12].item()
    assert float(page.inner_text(WHY + " b >> nth=1").replace("−", "-")) == pytest.approx(told, abs=6e-4)
    jupyter.run_cell(1, until="^learned 1 .* 1 8 4 'the cat'$")


@pytest.mark.timing
def test_the_time_of_a_round_trip(jupyter: Desk) -> None:
    """Another shuffle is read, measured and drawn within 100 ms, with room for a busy machine."""
    page = jupyter.lab(LAB, f"lab.text = {STORY!r}", until=".plm-lab .maps .heat")
    expect(page.locator(".heat").first).to_have_attribute("aria-rowcount", "16")
    pressed = "[[...document.querySelectorAll('.plm-lab button')].find((b) => b.textContent === 'shuffle again')]"
    spent = jupyter.round_trips(pressed, ".plm-lab .body")
    assert statistics.median(spent) <= 200
