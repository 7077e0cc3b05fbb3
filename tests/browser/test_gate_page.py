"""The Gate Lab in a browser: the map by mouse and keyboard, holds from the page to the kernel and back, any text."""

import re

import pytest
from gate_models import HOLDS, SMALL, SUBJECT, TEXT, WORDS, agreeing, random_lstm
from playwright.sync_api import expect
from servers import Desk
from watching import Show

from plmlab.labs import GateLab
from plmlab.labs.gates.tracked_units import tracking

MODEL = agreeing()
TRACKED = tracking(MODEL, WORDS, SMALL, sentences=80)
WHY = ".why"


def lab_of(text: str = TEXT, **more: object) -> GateLab:
    return GateLab(MODEL, WORDS, text, world=SMALL, tracked=TRACKED, **more)


def test_the_first_state_shows_the_unit_that_knows(show: Show) -> None:
    lab = lab_of()
    page = show(lab)
    expect(page.locator(".unit.now span")).to_have_text(f"0 · {SUBJECT}")
    expect(page.locator(".unit.now b")).to_have_text("1.00 ↑")
    expect(page.locator(".words .chip.now")).to_have_text("near")
    expect(page.locator(WHY)).to_contain_text(f"Layer 0, unit {SUBJECT}: its cell state is −1.00 after “near”.")
    expect(page.locator(".finding")).to_contain_text("One unit encodes the number of the subject better than the")
    figures = page.locator(".scores dd").all_inner_texts()
    found = TRACKED["number"]
    assert [float(said) for said in figures] == pytest.approx(
        [found.units.best, found.untrained, found.shuffled, found.strongest[1]], abs=0.0051)
    expect(page.locator(".gold .stretch")).to_have_text(["singular"])
    box = page.locator(".stretch").bounding_box()
    cup = page.locator(".words .chip").nth(2).bounding_box()
    chairs = page.locator(".words .chip").nth(5).bounding_box()
    assert abs(box["x"] - cup["x"]) < 4 and abs(box["x"] + box["width"] - chairs["x"] - chairs["width"]) < 4
    singular = lab.state["next"][-1]["groups"]["singular"]
    expect(page.locator(".next.group .amount:not(.exact)").first).to_have_text(re.compile(f"{singular[0]:.2f}"[:3]))


def test_the_map_by_keyboard_alone(show: Show) -> None:
    page = show(lab_of())
    page.focus(".cross")
    page.keyboard.press("Home")
    expect(page.locator(WHY)).to_contain_text("after “[START]”. It starts from 0")
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".unit.now")).to_have_count(1)
    expect(page.locator(".words .chip.now")).to_have_text("chairs")
    second = page.locator(".unit:not(.head) span").nth(1).inner_text()
    expect(page.locator(".unit.now span")).to_have_text(second)
    layer, unit = second.split(" · ")
    expect(page.locator(WHY)).to_contain_text(f"Layer {layer}, unit {unit}: its cell state is")
    assert page.get_attribute(".cross", "aria-label") == page.inner_text(WHY)
    expect(page.locator(".hold h4")).to_have_text(f"Clamp layer {layer}, unit {unit}")


def test_the_pointer_tells_and_a_click_chooses(show: Show) -> None:
    page = show(lab_of())
    chosen = page.inner_text(WHY)
    box = page.locator(".heat").bounding_box()
    pitch = box["width"] / 6
    page.mouse.move(box["x"] + 5.5 * pitch, box["y"] + 11)
    expect(page.locator(WHY)).to_contain_text("after “chairs”")
    expect(page.locator(".words .chip.now")).to_have_text("near")
    page.mouse.move(box["x"] + 5.5 * pitch, box["y"] + box["height"] + 90)
    expect(page.locator(WHY)).to_have_text(chosen)
    page.mouse.click(box["x"] + 4.5 * pitch, box["y"] + 11)
    expect(page.locator(".words .chip.now")).to_have_text("the")
    page.mouse.move(0, 0)
    expect(page.locator(WHY)).to_contain_text("after “the (position 4)”")
    page.locator(".words .chip").nth(2).click()
    expect(page.locator(WHY)).to_contain_text("after “cup”")
    page.locator(".names .unit").nth(3).click()
    expect(page.locator(".names .unit").nth(3)).to_have_class(re.compile("now"))


def test_another_order_another_layer_and_another_gate(show: Show) -> None:
    model = random_lstm()
    lab = GateLab(model, WORDS, TEXT, world=SMALL, tracked=tracking(model, WORDS, SMALL, sentences=40))
    page = show(lab)
    units = [(unit["layer"], unit["unit"]) for unit in lab.state["units"]]

    def names(sort: str, layer: int) -> list[str]:
        return [f"{units[place][0]} · {units[place][1]}" for place in lab.state["orders"][sort][str(layer)]]

    rows = page.locator(".names .unit span")
    expect(rows).to_have_text(names("number", -1))
    page.get_by_label("sorted by").select_option("the distance to the end")
    expect(rows).to_have_text(names("left", -1))
    expect(page.locator(".scores")).to_contain_text("rank correlation")
    page.get_by_label("layer", exact=True).select_option("1")
    expect(rows).to_have_text(names("left", 1))
    page.get_by_label("sorted by").select_option("the range of the cell state")
    expect(rows).to_have_text(names("moving", 1))
    expect(page.locator(".scores")).to_have_count(0)
    picture = page.evaluate("document.querySelector('canvas').toDataURL()")
    page.get_by_label("drawn").select_option("forget gate f")
    page.wait_for_function("was => document.querySelector('canvas').toDataURL() !== was", arg=picture)
    expect(page.locator(WHY)).to_contain_text("its forget gate is")
    expect(page.locator(".units .scale-bar")).to_contain_text("0 closed")


def test_a_saved_page_shows_what_was_held_and_holds_nothing_itself(show: Show) -> None:
    lab = lab_of(holds=HOLDS)
    page = show(lab)
    expect(page.locator(".held li span")).to_have_text([
        f"layer 0, unit {SUBJECT}: forget gate closed from “near” on",
        f"layer 0, unit {SUBJECT}: cell state set to 2.00 after “chairs”"])
    expect(page.locator(".held-cells")).to_have_count(2)
    expect(page.locator(".alone")).to_be_visible()
    assert page.locator(".hold button:enabled, .hold input:enabled, .presets button:enabled").count() == 0
    page.focus(".cross")
    page.keyboard.press("End")
    expect(page.locator(WHY)).to_contain_text("its cell state is 2.00 (clamped) after “chairs”. This cell state was")
    expect(page.locator(WHY)).to_contain_text("Without clamping, its cell state would be −1.00.")
    expect(page.locator(".nexts .said")).to_contain_text("is now the top prediction")
    page.get_by_label("after the chosen word").check()
    page.focus(".cross")
    page.keyboard.press("Home")
    expect(page.locator(".nexts h4")).to_have_text("The next word, after “[START]”")
    expect(page.locator(".nexts .said")).to_have_text(re.compile("^No group changes"))
    before, after, world = lab.state["next"][0]["groups"]["control"]
    assert before == after and world is not None


TOLD = "print(repr(lab.text), [(one['point'], one['value'], one['start']) for one in lab.holds], lab.sort)"


def test_the_lab_and_the_kernel_talk(jupyter: Desk) -> None:
    page = jupyter.lab("gate_models.lab()", TOLD, until=".plm-lab .heat")
    said = page.locator(".nexts .said")
    expect(said).to_contain_text("the top prediction is")
    page.locator(".hold").get_by_role("button", name="clamp the forget gate closed").click()
    expect(said).to_contain_text("falls from")
    expect(page.locator(".held li")).to_have_count(1)
    assert page.evaluate("document.activeElement.dataset.at") == "forget-closed", "the focus stays"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".held li span")).to_have_text([re.compile("forget gate open from “near” on")])
    expect(said).to_have_text(re.compile("^No group changes"))
    page.focus("input[aria-label='cell state']")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.locator("[data-at=write]").press("Enter")
    expect(page.locator(".held li")).to_have_count(2)
    expect(said).to_contain_text("is now the top prediction")
    jupyter.run_cell(1, until=r"\('forget', 1, 3\), \('memory', 2.75, 3\)\] number$")
    page.get_by_role("button", name="release all").press("Enter")
    expect(page.locator(".held li")).to_have_count(0)
    expect(said).to_contain_text("the top prediction is")
    page.locator(".ask summary").press("Enter")
    page.get_by_role("button", name="flip singular/plural").click()
    expect(page.locator(".held li")).to_have_count(1)
    expect(page.locator(".ask p")).to_be_visible()
    page.fill(".sentence", "")
    expect(page.locator(".message")).to_contain_text("The text is empty")
    expect(page.locator(".held li")).to_have_count(1)
    page.click("button.preset:text-is('a long name')")
    expect(page.locator(".finding")).to_contain_text("being inside a name")
    expect(page.locator(".held li")).to_have_count(0)
    expect(page.locator(".plm-lab select").first).to_have_value("inside")
    jupyter.run_cell(1, until=r"\[\] inside$")
