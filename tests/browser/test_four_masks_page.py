"""The Four-mask Lab in a browser: its first state, linked cells, words hidden by hand, what a person types."""

import re

from four_masks_models import TEXT, WORDS, lab
from playwright.sync_api import expect
from servers import Desk
from watching import Show

from plmlab.labs.four_masks.reading import readings
from plmlab.objectives.prefix import MASKS

WHY = ".why p"
PANEL = ".panel"


def test_the_first_state_teaches_untouched(show: Show) -> None:
    made = lab(cut=3)
    page = show(made)
    expect(page.locator(f"{PANEL} h4")).to_have_text(list(MASKS))
    expect(page.locator(".words [aria-pressed=true]")).to_have_text("[MASK]")
    expect(page.locator(".words .target").nth(5)).to_have_text("are")
    for panel, told in zip(page.locator(PANEL).all(), made.state["panels"], strict=True):
        expect(panel.locator(".seen .chip")).to_have_text(told["tokens"])
        expect(panel.locator(".beliefs .own th")).to_contain_text("are")
        assert panel.locator(".gap-row").count() == 1
    expect(page.locator(".paid").nth(3)).to_have_text(re.compile(r"−log p: model \d+\.\d\d, Bayes-optimal 0\.69 nats"))
    right = page.locator(PANEL).nth(3)
    expect(right.locator(".seen .closed")).to_have_text(["[CLS]", *TEXT.split()[:5]])
    struck = right.locator(".seen .closed").first
    assert "line-through" in struck.evaluate("e => getComputedStyle(e).textDecorationLine")
    assert "repeating-linear-gradient" in struck.evaluate("e => getComputedStyle(e).backgroundImage")
    page.locator(".ask summary").press("Enter")
    expect(page.locator(".ask p")).to_have_text(made.state["answer"])


def test_one_pair_is_marked_in_all_four_and_the_reason_is_the_mask_s(show: Show) -> None:
    made = lab(cut=3)
    page = show(made)
    read = readings(WORDS.encode(TEXT), 5, 3, WORDS.vocab)
    left, two = read["left to right"], read["sequence to sequence"]
    names = made.state["panels"]
    expect(page.locator(WHY).first).to_have_text(
        f"left to right: {left.example.visible.reason(6, 7, names[2]['names'])}")
    expect(page.locator(WHY).nth(1)).to_have_text("The same pair is allowed under “both directions” and “right "
                                                  "to left”, and blocked under “sequence to sequence” and “left to "
                                                  "right”.")
    page.locator(f"{PANEL} .cross").nth(1).focus()
    for key, (q, k) in (("Home", (7, 0)), ("ArrowUp", (6, 0)), ("End", (6, 10))):
        page.keyboard.press(key)
        expect(page.locator(WHY).first).to_have_text(
            f"sequence to sequence: {two.example.visible.reason(q, k, names[1]['names'])}")
    rings = page.locator(f"{PANEL} .query-name.is-query")
    expect(rings).to_have_text(["chair"] * 4)
    box = page.locator(f"{PANEL} .matrix").nth(1).bounding_box()
    cell = box["width"] / 11
    page.mouse.move(box["x"] + 4.5 * cell, box["y"] + 4.5 * cell)
    expect(page.locator(".table.elsewhere")).to_have_count(3)
    expect(page.locator(WHY).nth(1)).to_have_text("This pair exists only under “sequence to sequence”.")
    page.locator(f"{PANEL} >> nth=0 >> .seen .chip >> nth=2").hover()
    expect(page.locator(WHY).first).to_have_text(re.compile(r"both directions: \[MASK\] can attend to cups"))


TOLD = "print(lab.hidden, lab.cut, lab.state['hidden'] == lab.hidden, lab.text)"


def test_the_lab_and_the_kernel_talk(jupyter: Desk) -> None:
    page = jupyter.lab("four_masks_models.lab()", TOLD, until=f".plm-lab {PANEL}")
    page.locator(".words button", has_text="cups").click()
    expect(page.locator(".words .target").nth(1)).to_have_text("cups")
    expect(page.locator(".side")).to_have_text("The masked word is in the source.")
    expect(page.locator(f"{PANEL} >> nth=1 >> .seen .open")).to_have_text(["[CLS]", "the", "near", "the", "[SEP]"])
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".words .target").nth(2)).to_have_text("near")
    assert page.evaluate("document.activeElement.dataset.place") == "2", "the focus stays"
    page.get_by_label("words in the source (sequence to sequence)").focus()
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    expect(page.locator(".side")).to_have_text("The masked word is in the target.")
    expect(page.locator(f"{PANEL} >> nth=1 >> .seen .chip")).to_have_text(
        ["[CLS]", "the", "cups", "[SEP]", "[MASK]", "the", "chair", "are", "lost", ".", "[SEP]"])
    jupyter.run_cell(1, until="2 2 True the cups near")
    page.fill(".sentence", "the [MASK] are hungry .")
    expect(page.locator(".paid").first).to_have_text("You typed [MASK] here, so the true word is unknown.")
    expect(page.locator(".words button:disabled")).to_have_count(5)
    page.fill(".sentence", "")
    expect(page.locator(".message.error")).to_contain_text("The sentence is empty")
    expect(page.locator(PANEL)).to_have_count(4)
    page.get_by_role("button", name="both sides needed").click()
    expect(page.locator(".message.error")).to_have_count(0)
    expect(page.locator(".words .target").nth(1)).to_have_text(re.compile("[A-Z]"))
