"""The Blank Lab in a browser: its first state, blanks made by mouse and keys, filled by model and reader."""

import re

import pytest
from blank_models import ORDER, SPANS, TEXT, WORDS, lab, random_model
from playwright.sync_api import Locator, Page, expect
from servers import Desk
from watching import Show

from plmlab.labs import BlankLab

POSITIONS = ["the", "[MASK]", "near", "the", "[MASK]", "lost", ".", "[START]", "chair", "are", "[START]", "cups"]
LONGER = ["the", "[MASK]", "the", "[MASK]", "lost", ".", "[START]", "chair", "are", "[START]", "cups", "near"]
CURRENT = ".way [aria-current=step]"


def row(page: Page, name: str) -> Locator:
    return page.locator(f".example .row[aria-label='{name}'] > :not(.name)")


def test_the_first_state_teaches_untouched(show: Show) -> None:
    made = lab()
    page = show(made)
    expect(page.locator(".words .filled-as")).to_have_text(["filled 2nd", "filled 1st"])
    expect(row(page, "input")).to_have_text(POSITIONS)
    expect(row(page, "position 1")).to_have_text([str(place) for place in made.state["position_ids"][0]])
    expect(row(page, "position 2")).to_have_text([str(place) for place in made.state["position_ids"][1]])
    expect(row(page, "target")).to_have_text([word or "·" for word in made.state["targets"]])
    expect(page.locator(".halves .half")).to_have_text(["Part A", "Part B, 1st", "Part B, 2nd"])
    expect(page.locator(".why p").first).to_have_text(
        "[START] (Part B, 2nd) can attend to chair: the blank of chair is filled before that of [START] (Part B, 2nd).")
    rows = page.locator(".filling .beliefs").first.locator("tbody tr")
    told = made.state["steps"][0]["rows"]
    expect(rows.locator("button")).to_have_text([one["word"] for one in told])
    expect(rows.last).to_contain_text("all others")
    rest = [1 - sum(one[reader] for one in told) for reader in ("p", "best")]
    shown = [float(text.split()[0]) for text in rows.last.locator(".amount").all_inner_texts()]
    assert shown == pytest.approx([100 * p for p in rest], abs=0.6) and min(rest) > 0.02
    assert rows.first.locator(".amount").all_inner_texts()[1].replace("\u00a0", " ") == "0 %"
    expect(page.locator(".ways tbody tr")).to_have_count(3)
    page.locator(".example .ask summary").press("Enter")
    expect(page.locator(".example .ask p")).to_have_text(made.state["answer"])
    page.locator(".filling .ask summary").press("Enter")
    expect(page.locator(".lengths tbody tr.own th")).to_contain_text("2")


def test_where_nothing_is_left_out_no_row_says_so(show: Show) -> None:
    page = show(BlankLab(step=2))
    expect(page.locator(".filling .beliefs").first.locator("tbody tr")).to_have_text(["[END] ◂ true100 %"])


def test_without_a_world_there_is_no_exact_reader(show: Show) -> None:
    page = show(BlankLab(random_model(), WORDS, TEXT, spans=SPANS, order=ORDER, draws=20))
    expect(page.locator(".legend-line")).to_have_text("the model")
    page.locator(".filling .ask summary").press("Enter")
    expect(page.locator(".filling .ask")).to_contain_text("No world was given, so there is no exact posterior.")
    expect(page.locator(".filling")).not_to_contain_text("no sentence of the Small World")


def test_each_cell_and_each_position_tell_why(show: Show) -> None:
    page = show(lab())
    page.locator(".cross").focus()
    for key in ("Home", "ArrowUp"):
        page.keyboard.press(key)
    expect(page.locator(".why p").first).to_have_text(
        "are can attend to the (position 1): the (position 1) is in Part A, which is visible to every position.")
    expect(page.locator(".position-said")).to_contain_text("Position 1 of the (position 1) is 1")
    page.keyboard.press("End")
    expect(page.locator(".why p").first).to_have_text(
        "are cannot attend to cups: cups is generated after are: attending to it would leak a target.")
    row(page, "position 2").nth(9).hover()
    expect(page.locator(".position-said")).to_have_text(
        "Position 1 of are is 5: the position of its [MASK], the same for the whole blank that is filled 1st. "
        "Position 2 is 3: its position within the blank, where [START] is 1. Its target is [END], the end of the "
        "blank.")
    page.locator(".query-name").nth(1).hover()
    expect(page.locator(".why p").first).to_contain_text("[MASK] (position 2) cannot attend to are")


def test_a_saved_page_can_be_stepped_through(show: Show) -> None:
    made = BlankLab()
    page = show(made)
    expect(page.locator(".words button:enabled")).to_have_count(0)
    page.get_by_role("button", name="one step ›").click()
    page.keyboard.press("Enter")
    expect(page.locator(".step-said")).to_contain_text("“chair are” so far. Probability of [END]: ")
    page.locator(CURRENT).focus()
    page.keyboard.press("End")
    expect(page.locator(".step-said")).to_have_text("All blanks are filled.")
    expect(page.locator(".prose")).to_have_text(TEXT)
    expect(page.get_by_role("button", name="one step ›")).to_be_disabled()


def test_the_reader_fills_in_and_a_slip_is_told_by_its_name(show: Show) -> None:
    page = show(BlankLab(fill_in=True))
    expect(page.locator(".filling-place")).to_be_hidden()
    part_a = page.get_by_label("Part A", exact=True)
    part_a.fill("the [MASK] near the [MASK] [MASK] lost .")
    part_a.press("Enter")
    expect(page.locator(".verdict").first).to_contain_text("is BERT")
    expect(page.locator(".below")).to_be_hidden()
    part_a.fill("the [MASK] near the [MASK] lost .")
    part_a.press("Enter")
    expect(page.locator(".verdict.right")).to_have_text(["Part A is correct."])
    fields = [page.locator(f".cell-field[data-row='{axis}']") for axis in range(3)]

    def write(axis: int, cells: list[object]) -> Locator:
        fields[axis].first.focus()
        for cell in cells:
            page.keyboard.insert_text(str(cell))
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        return page.locator(".below .verdict").nth(axis)

    expect(write(0, list(range(1, 13)))).to_contain_text("Part A is correct. The positions continue in Part B")
    expect(write(1, [0] * 7 + [0, 1, 2, 0, 1])).to_contain_text("starts at 0 in Part B")
    expect(write(2, [""] * 7 + ["[START]", "chair", "are", "[START]", "cups"])).to_contain_text("are not shifted")
    expect(page.locator(".cell-field.wrong")).to_have_count(3)
    page.locator(".acts button", has_text="show").nth(1).click()
    expect(page.locator(".below .verdict").nth(1)).to_have_text("position 2: Correct.")
    page.get_by_label("view", exact=True).check()
    expect(row(page, "input")).to_have_text(POSITIONS)


TOLD = "print(lab.spans, lab.order, lab.chosen, lab.step)"


def drag(page: Page, start: Locator, end: Locator) -> None:
    """From the middle of one thing a little past that of another."""
    start.hover()
    one, two = start.bounding_box(), end.bounding_box()
    page.mouse.down()
    for share in (0.5, 1):
        x = one["x"] + one["width"] / 2 + share * (two["x"] + 0.7 * two["width"] - one["x"] - one["width"] / 2)
        page.mouse.move(x, two["y"] + two["height"] / 2)
    page.mouse.up()


def test_the_lab_and_the_kernel_talk(jupyter: Desk) -> None:
    page = jupyter.lab("blank_models.lab()", TOLD, until=".plm-lab .filling")
    words = page.locator(".words button")
    orders = page.locator(".order button")
    expect(orders).to_have_text(["1st: chair are", "2nd: cups"])
    drag(page, orders.nth(0), orders.nth(1))
    expect(orders).to_have_text(["1st: cups", "2nd: chair are"])
    orders.nth(0).focus()
    page.keyboard.press("ArrowRight")
    expect(orders).to_have_text(["1st: chair are", "2nd: cups"])
    expect(page.locator(".order button:focus")).to_have_text("2nd: cups")
    words.nth(1).click()
    expect(page.locator(".words .filled-as")).to_have_text(["filled 1st"])
    drag(page, words.nth(1), words.nth(2))
    expect(row(page, "input")).to_have_text(LONGER)
    words.nth(6).focus()
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator(".words .picked")).to_have_text(["lost", "."])
    page.keyboard.press("Enter")
    expect(page.locator(".words .filled-as")).to_have_text(["filled 2nd", "filled 1st", "filled 3rd"])
    page.keyboard.press("Enter")
    expect(page.locator(".words .filled-as")).to_have_count(2)
    page.get_by_role("button", name="verb first").click()
    expect(page.locator(".words .filled-as")).to_have_text(["filled 2nd", "filled 1st"])
    page.get_by_role("button", name="chair: choose it").click()
    expect(page.locator(".way .yours")).to_have_text(["chair"])
    expect(page.locator(".step-said")).to_contain_text("“chair” so far")
    page.get_by_label("another word").fill("is")
    page.keyboard.press("Enter")
    expect(page.locator(".prose .now")).to_contain_text("chair is")
    page.locator("[data-at='say-[END]']").click()
    expect(page.locator(".step-said")).to_contain_text("filled 2nd: empty so far")
    expect(page.locator(".filling .amount.best").first).to_be_visible()
    jupyter.run_cell(1, until=re.escape("[[1, 2], [4, 6]] [1, 0] ['chair', 'is', '[END]'] 3"))
    page.get_by_label("another word").fill("zebra")
    page.keyboard.press("Enter")
    expect(page.locator(".message.error")).to_contain_text("“zebra” is not a token")
    page.get_by_role("button", name="restart", exact=True).click()
    expect(page.locator(".message.error")).to_have_count(0)
    page.fill(".sentence", "")
    expect(page.locator(".message.error")).to_contain_text("The sentence is empty")
    expect(row(page, "input")).to_have_text(POSITIONS)
    page.fill(".sentence", "the old cups near the chair are lost .")
    expect(page.locator(".words .hidden-words")).to_have_text(["cups", "chairare"])
