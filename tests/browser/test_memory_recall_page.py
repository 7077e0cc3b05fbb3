"""The Memory Recall Lab in a browser: steps by keyboard, blocks held, excluded and rewritten, hostile text."""

import re

from memory_recall_models import SENTENCES, lab
from playwright.sync_api import Locator, Page, expect
from servers import Desk
from watching import Show

EDIT = "<img src=x onerror=alert(1)>"
FIRST = "Without your changes: “Bern” (block 6); with your changes: "


def block(page: Page, number: int) -> Locator:
    return page.locator(f".cell[data-block='{number - 1}']")


def area(page: Page) -> Locator:
    return page.get_by_label("the text of the block", exact=True)


def test_the_first_state_teaches_untouched(show: Show) -> None:
    page = show(lab())
    expect(page.locator(".step-said")).to_have_text(re.compile("^The judge scored 8 blocks in 3 windows"))
    expect(page.locator(".cell .signs")).to_have_text(["+", "", "+", "", "", "+", "", ""])
    expect(page.locator(".why")).to_have_text(re.compile(r"^Block 3: relevance score 0\.63 .*Ada Holt was born"))
    expect(page.locator(".memory-text li")).to_have_count(4)
    expect(page.locator(".cost .amount")).to_have_text(["3,969", "11,883"])
    page.locator(".ask summary").press("Enter")
    expect(page.locator(".ask p")).to_contain_text("Blocks 1 and 3.")


def test_the_page_steps_by_keyboard_and_says_what_needs_a_kernel(show: Show) -> None:
    page = show(lab())
    expect(page.locator(".alone")).to_have_text("This is a saved page: open the notebook to change the input.")
    page.get_by_role("radio", name="Round 1: retrieval competition").focus()
    for said in ("The memory keeps blocks 3", "each with the query and blocks 3 and 6", "No block decayed"):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".step-said")).to_contain_text(said)
    expect(page.locator(".cell.idle")).to_have_count(5)
    page.get_by_role("button", name="Step").press("Enter")
    expect(page.locator(".step-said .bad")).to_have_text("✗ the correct answer is “Oslo”")
    expect(page.locator(".memory-text mark")).to_have_text("Bern")
    expect(block(page, 6).locator(".signs")).to_have_text("●✓")
    expect(page.get_by_role("button", name="Back")).to_be_focused()
    page.get_by_label("show the needed blocks").check()
    expect(page.locator(".cell .signs").nth(2)).to_have_text("●★")
    block(page, 3).focus()
    page.keyboard.press("h")
    page.keyboard.press("End")
    expect(block(page, 8)).to_be_focused()
    expect(page.locator(".why")).to_contain_text("Block 8: not scored, because it is not in the memory")
    expect(page.locator(".block-panel h4")).to_have_text("Block 8 of 8, 6 tokens")
    expect(area(page)).to_have_value(SENTENCES[7])
    expect(page.locator(".pair-said")).to_be_hidden()
    assert all(one.is_disabled() for one in page.locator(":is(.act, textarea, .preset)").all())


def test_the_number_behind_a_cell_and_the_way_by_rows(show: Show) -> None:
    page = show(lab())
    page.set_viewport_size({"width": 200, "height": 900})
    block(page, 3).focus()
    top = block(page, 3).bounding_box()["y"]
    page.keyboard.press("ArrowDown")
    assert page.locator(".cell:focus").bounding_box()["y"] > top
    page.keyboard.press("ArrowUp")
    block(page, 5).hover()
    expect(page.locator(".why")).to_contain_text("Block 5: relevance score 0.43")
    page.mouse.move(1, 1)
    expect(page.locator(".why")).to_contain_text("Block 3:")
    assert block(page, 1).bounding_box()["width"] > block(page, 2).bounding_box()["width"], "8 tokens and 6"
    page.get_by_label("all blocks with the same width").check()
    assert block(page, 1).bounding_box()["width"] == block(page, 2).bounding_box()["width"]


LAB = """import torch
torch.set_num_threads(1)
import memory_recall_models
lab = memory_recall_models.lab(step=4)
lab"""


def test_the_lab_and_the_kernel_talk(jupyter: Desk) -> None:
    page = jupyter.run(LAB, "print(lab.held, lab.excluded, lab.edits, lab.step, lab.text)", until=".plm-lab .strip")
    block(page, 1).focus()
    page.keyboard.press("h")
    expect(block(page, 1).locator(".signs")).to_have_text("●■")
    expect(block(page, 1)).to_be_focused()
    expect(page.locator(".pair-said")).to_contain_text(FIRST)
    block(page, 6).focus()
    page.keyboard.press("x")
    expect(block(page, 6).locator(".signs")).to_have_text("×")
    block(page, 4).focus()
    area(page).fill(f"saw {EDIT} Oslo " * 4)
    area(page).press("Control+Enter")
    expect(page.locator(".message.error")).to_contain_text("but a block holds 1 to 9")
    expect(page.locator(".problem")).to_contain_text("The new text of block 4 has")
    block(page, 5).focus()
    page.keyboard.press("x")
    expect(page.locator(".message.error")).to_have_count(0)
    expect(block(page, 5).locator(".signs")).to_have_text("×")
    block(page, 4).focus()
    expect(area(page)).to_have_value(f"saw {EDIT} Oslo " * 4)
    area(page).fill("<img> Oslo hxf")
    area(page).press("Control+Enter")
    expect(block(page, 4).locator(".signs")).to_contain_text("✎")
    expect(page.locator(".message")).to_contain_text("“img”")
    assert page.locator(".plm-lab :is(img, script)").count() == 0
    page.get_by_role("button", name="Restore").click()
    expect(block(page, 4).locator(".signs")).not_to_contain_text("✎")
    expect(area(page)).to_have_value(SENTENCES[3])
    page.locator(".sentence").fill("who saw it ?")
    expect(page.locator(".memory-text li").first).to_contain_text("who saw it?")
    page.get_by_role("button", name="Reset").click()
    expect(page.locator(".pair-said")).to_be_hidden()
    expect(page.locator(".memory-text li").first).to_contain_text("where was the director")
    page.get_by_role("button", name="the hills").click()
    expect(page.locator(".step-said")).to_contain_text("8 blocks in 2 windows")
    jupyter.run_cell(1, until=r"^\[\] \[\] \{\} 0 who fell on the hills \?$")
