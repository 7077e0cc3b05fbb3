"""The Memory Lab in a browser: its pictures by mouse and keyboard, cuts from page to kernel and back."""

import re

import pytest
from memory_models import ASKED, TEXT, TOLD, lab, random_model
from playwright.sync_api import Locator, Page, expect
from servers import Desk
from watching import Show

from plmlab.labs import MemoryLab

WHY = ".why"


def telling(**more: object) -> MemoryLab:
    """The fact stands in the memory."""
    return lab(TEXT, model=random_model(memory=18), **more)


def chip(page: Page, position: int) -> Locator:
    return page.locator(".chips .chip").nth(position)


def walked_to(page: Page, row: int) -> None:
    """Put the crosshair on a row, in the column where it stands."""
    page.focus(".cross")
    for _ in range(12):
        page.keyboard.press("ArrowUp")
    for _ in range(row):
        page.keyboard.press("ArrowDown")


def test_the_first_state_shows_the_fact_the_question_and_what_is_forgotten(show: Show) -> None:
    made = telling()
    page = show(made)
    expect(page.locator(".chip.asked")).to_have_text("?")
    expect(page.locator(".chip.fact")).to_have_text("crane")
    assert "memory" in chip(page, TOLD).get_attribute("class") and "forgotten" in chip(page, 2).get_attribute("class")
    expect(page.locator(".band-name b")).to_have_text(["forgotten", *["in the memory"] * 3, "current segment"])
    expect(page.locator(".stop")).to_contain_text("stop-gradient")
    expect(page.locator(WHY)).to_contain_text("“crane (position 10)” is in an earlier segment and still in the memory.")
    expect(page.locator(WHY)).to_contain_text("It is 14 positions back.")
    p = made.state["answers"][0]["p"]
    expect(page.locator(".finding")).to_have_text(re.compile(
        rf"^The model assigns “crane” probability {f'{p:.4f}'.rstrip('0')[:4]}"))
    expect(page.locator(".zone-name")).to_have_text(["forgotten", "in the memory", "later"])
    widths = [box.bounding_box()["width"] for box in page.locator("rect.heard").all()]
    assert widths[0] == pytest.approx(25 / 19 * widths[1], rel=0.01), "a layer more, and all of the text is in reach"


def test_the_pictures_by_keyboard_alone(show: Show) -> None:
    page = show(telling())
    walked_to(page, 0)
    expect(page.locator(WHY)).to_have_text("“crane (position 10)” can reach layer 1 of “?”: “?” attends to “crane "
                                           "(position 10)” in layer 0.")
    page.keyboard.press("Home")
    expect(page.locator(WHY)).to_contain_text("“the (position 0)” can reach layer 1 of “?”: “?” attends to “word "
                                              "(position 6)” in layer 1, where “word (position 6)” attended to “the")
    page.keyboard.press("ArrowDown")
    expect(page.locator(WHY)).to_contain_text("“the (position 0)” cannot reach layer 0")
    page.keyboard.press("ArrowDown")
    expect(page.locator(WHY)).to_contain_text("is too far back")
    page.keyboard.press("End")
    expect(page.locator(WHY)).to_contain_text("comes later")
    expect(page.locator(".chip.pointed")).to_have_count(1)
    assert page.evaluate("document.querySelector('.plm-lab .chip.pointed').title") == "position 26"


def test_the_pointer_tells_in_every_view(show: Show) -> None:
    page = show(telling())
    home = page.inner_text(WHY)
    chip(page, 20).hover()
    expect(page.locator(WHY)).to_contain_text("“secret (position 20)”")
    expect(page.locator(".score h4")).to_have_text("Score of query “?” and key “secret (position 20)”")
    expect(chip(page, 20)).to_have_class(re.compile("pointed"))
    box = page.locator(".field").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 8.5 / 27, box["y"] + 22)
    expect(page.locator(WHY)).to_contain_text("“Helen (position 8)”")
    expect(chip(page, 8)).to_have_class(re.compile("pointed"))
    page.mouse.move(2, 2)
    expect(page.locator(WHY)).to_have_text(home)


def test_one_score_is_shown_with_its_terms(show: Show) -> None:
    made = telling(layer=1, head=2)
    page = show(made)
    amounts = [float(said.replace("−", "-")) for said in page.locator(".score .amount").all_text_contents()]
    assert sum(amounts[:4]) == pytest.approx(amounts[4], abs=0.03)
    page.get_by_label("layer of the score").select_option("layer 0")
    expect(page.locator(".which-head")).to_have_text("")
    page.get_by_label("head", exact=True).select_option("mean of all")
    expect(page.locator(".which-head")).to_contain_text("layer 0, head")
    chip(page, 1).hover()
    expect(page.locator(".score .note")).to_contain_text("neither in the segment nor in the memory")


def test_a_saved_page_shows_what_was_cut_and_cuts_nothing_itself(show: Show) -> None:
    made = telling(without="global_content")
    made.cuts = [[0, TOLD + 1]]
    page = show(made)
    expect(page.locator(".answer h5")).to_have_text(
        ["unchanged", "all before position 11 masked out; without (c), global content bias"])
    expect(page.locator(".way input:checked")).to_have_value("global_content")
    expect(page.locator(".chip.cut")).to_have_count(5)
    expect(page.locator("rect.lost").first).to_be_visible()
    assert page.locator(".field rect.cut-out").count() == 1
    expect(page.locator(".alone")).to_be_visible()
    assert page.locator(".way input:enabled, .presets button:enabled, .clicks input:enabled").count() == 0
    chip(page, 20).click()
    expect(page.locator(".chip.asked")).to_have_text("?")
    page.mouse.move(2, 2)
    expect(page.locator(".chip.pointed")).to_have_text("secret")


def test_a_word_that_the_pointer_rests_on_can_be_clicked(show: Show) -> None:
    page = show(telling())
    chip(page, 20).hover()
    expect(chip(page, 20)).to_have_class(re.compile("pointed"))
    page.mouse.down()
    page.mouse.up()
    page.mouse.move(2, 2)
    expect(page.locator(".chip.pointed")).to_have_text("secret")


def test_where_not_all_bands_fit_the_asked_one_is_in_sight(show: Show) -> None:
    made = lab(" ".join([TEXT] * 7))
    made.set_state({"segment": 4, "position": 100, "cuts": [[150, 151]]})
    page = show(made)
    band, box = (page.locator(one).bounding_box() for one in (".chip.asked", ".ribbon"))
    assert box["height"] < 700 and box["y"] <= band["y"] <= box["y"] + box["height"]
    expect(page.locator(".pair .nothing")).to_contain_text("What you masked out is no longer in the memory")
    expect(page.get_by_role("button", name="restore everything")).to_have_count(1)


TOLD_BY_KERNEL = "print(lab.position, lab.cuts, repr(lab.without), lab.memory, lab.text[:9])"


def test_the_lab_and_the_kernel_talk(jupyter: Desk) -> None:
    page = jupyter.lab("memory_models.lab(memory_models.TEXT, model=memory_models.random_model(memory=18))",
                       TOLD_BY_KERNEL, until=".plm-lab .long")
    finding = page.locator(".finding")
    expect(finding).to_contain_text("The model assigns “crane”")
    page.get_by_label("masks everything before it").check()
    chip(page, 11).click()
    expect(page.locator(".chip.cut")).to_have_count(5)
    expect(page.locator(".answer h5").nth(1)).to_have_text("all before position 11 masked out")
    page.focus(".cross")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".answer h5").nth(1)).to_have_text("all before position 12 masked out")
    assert page.evaluate("document.activeElement.className") == "cross", "the focus stays"
    page.locator(".way input").nth(5).focus()
    page.keyboard.press("Space")
    expect(page.locator(".answer h5").nth(1)).to_contain_text("distances not shifted by the memory")
    jupyter.run_cell(1, until=r"24 \[\[0, 12\]\] 'unshifted' 18 the cat s")
    page.get_by_role("button", name="restore everything").press("Enter")
    expect(page.locator(".chip.cut")).to_have_count(0)
    page.get_by_label("makes it the query").check()
    chip(page, 9).click()
    expect(page.locator(".chip.asked")).to_have_text("was")
    expect(page.locator(".answers h4")).to_have_text("What comes after “was (position 9)”?")
    page.focus("input[aria-label='memory length']")
    page.keyboard.press("Home")
    expect(page.locator(".band-name b").first).to_have_text("forgotten")
    page.keyboard.press("End")
    expect(page.locator(".chip.forgotten")).to_have_count(0)
    jupyter.run_cell(1, until=r"9 \[\] '' 200 the cat s")
    page.click("button.preset:text-is('fact in the memory')")
    expect(page.locator(".chip.asked")).to_have_text("?")
    expect(page.locator(".chips .chip")).to_have_count(ASKED + 2)
    page.locator(".ask summary").press("Enter")
    page.get_by_role("button", name=re.compile("^set the memory to 13 positions")).click()
    expect(page.locator(".chip.forgotten")).to_have_count(TOLD + 1)
