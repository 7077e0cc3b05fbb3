"""The Cloze Lab in a real browser: walked by keyboard alone, its two tables together, with any text in it."""

import statistics

import pytest
from cloze_models import AGREEMENT, WORDS, bert, crossed, gpt
from playwright.sync_api import Page, expect
from servers import Desk
from watching import Show, cut, spent, sticks_out

from plmlab.labs import ClozeLab

CHIPS = ".plm-lab .words .chip"
BUTTONS = ".plm-lab .words button"
WHY = ".plm-lab .why"

LAB = "crossed(left_only=gpt())"
TOLD = "print(lab.hidden, lab.pair, repr(lab.text[:12]))"


def test_the_sentence_its_gaps_and_both_readers_are_drawn(show: Show) -> None:
    lab = crossed(left_only=gpt())
    page = show(lab)
    shown = ["[MASK]" if position in (2, 6) else token for position, token in enumerate(lab.state["tokens"])]
    assert page.locator(CHIPS).all_inner_texts() == shown
    assert page.locator("[aria-pressed=true]").count() == 2 and page.locator("section.gap").count() == 2
    for place, gap in enumerate(lab.state["gaps"]):
        tables = page.locator("section.gap").nth(place).locator("table")
        assert tables.count() == 2
        for table, reader in zip(tables.all(), ("left", "both"), strict=True):
            rows = gap[reader]["rows"]
            assert table.locator("tbody th bdi").all_inner_texts() == [row["word"] for row in rows]
            expect(table.locator("tr.own th bdi")).to_have_text(gap["word"])
            widths = [bar.bounding_box()["width"] for bar in table.locator("i.model").all()]
            assert widths == sorted(widths, reverse=True) and table.locator("i.best").count() == len(rows)
    page.click(".ask summary")
    assert page.inner_text(".ask p") == lab.state["answer"]
    assert page.locator(".handicap").count() == 0


def test_a_cut_reader_is_said_to_be_handicapped_and_no_world_shows_no_best(show: Show) -> None:
    page = show(ClozeLab(bert(), WORDS, AGREEMENT, hide=["are"]))
    expect(page.locator(".handicap")).to_contain_text("This is a handicap")
    assert page.locator("i.best").count() == 0 and page.locator(".pair").count() == 0


def test_both_tables_are_walked_together_by_keyboard(show: Show) -> None:
    lab = crossed()
    pair = lab.state["pair"]
    page = show(lab)
    cells = page.locator(".pair-map .cross")
    assert cells.count() == 2
    cells.nth(1).focus()
    page.keyboard.press("Control+Home")
    for key, (row, column) in (("ArrowRight", (0, 1)), ("ArrowDown", (1, 1)), ("Home", (1, 0)), ("End", (1, -1))):
        page.keyboard.press(key)
        words = f"“{pair['rows'][row]} … {pair['columns'][column]}”"
        assert page.inner_text(WHY).startswith(words)
        assert ("no sentence has both" in page.inner_text(WHY)) == (pair["together"][row][column] == 0)
        assert [cell.get_attribute("aria-label") for cell in cells.all()] == [page.inner_text(WHY)] * 2
        assert page.locator(".row-name.is-query").all_inner_texts() == [pair["rows"][row]] * 2
        assert page.locator(".column-name.is-key").all_inner_texts() == [pair["columns"][column]] * 2
    told = " ".join(page.locator(".verdict").all_inner_texts())
    assert " … ".join(pair["worst"]["words"]) in told and "Mutual information of the two words: 0.69" in told


def test_both_tables_have_one_scale_of_colours(show: Show) -> None:
    lab = crossed()
    pair = lab.state["pair"]
    size = [len(pair["rows"]), len(pair["columns"])]
    page = show(lab)
    seen = page.evaluate("""([rows, columns]) => [...document.querySelectorAll('.pair-map canvas')].map((canvas) => {
        const at = (i, count, length) => Math.round(((i + 0.5) / count) * length);
        const pixel = (r, c) => [...canvas.getContext('2d')
            .getImageData(at(c, columns, canvas.width), at(r, rows, canvas.height), 1, 1).data];
        return [...Array(rows).keys()].map((r) => [...Array(columns).keys()].map((c) => pixel(r, c)));
    })""", size)
    cells = [(p, colour) for table, drawn in zip(("product", "together"), seen, strict=True)
             for line, colours in zip(pair[table], drawn, strict=True) for p, colour in zip(line, colours, strict=True)]
    assert all((colour[3] == 0) == (p == 0) for p, colour in cells), "only what the world never says is left open"
    light = [0.2126 * r + 0.7152 * g + 0.0722 * b for p, (r, g, b, _) in sorted(cells) if p > 0]
    assert light == sorted(light) and light[0] < 60 < 200 < light[-1]


def test_nothing_overflows_or_is_cut(show: Show, page: Page) -> None:
    long = ClozeLab(bert(80), WORDS, " ".join(AGREEMENT.split() * 8), max_tokens=64)
    long.hidden = [2, 6, 20, 40]
    for lab in (crossed(left_only=gpt()), long):
        show(lab)
        for width in (420, 700, 960):
            assert sticks_out(page, [width]) == {} and cut(page, ".amount") == []


@pytest.mark.timing
def test_a_step_in_the_tables_repaints_within_30_ms(show: Show) -> None:
    page = show(crossed(left_only=gpt()))
    took = spent(page, "press('.pair-map .cross', i % 2 ? 'Home' : 'End')")
    assert statistics.median(took) <= 30


def test_a_walk_by_keyboard_alone_with_the_kernel(jupyter: Desk) -> None:
    page = jupyter.lab(LAB, TOLD, until=".plm-lab .pair-map")
    page.focus(".words button[tabindex='0']")
    assert page.evaluate("document.activeElement.dataset.position") == "2", "the first gap is where one comes in"
    page.keyboard.press("Enter")
    expect(page.locator("section.gap")).to_have_count(1)
    assert page.evaluate("document.activeElement.dataset.position") == "2", "the focus stays on the word"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator("section.gap")).to_have_count(2)
    page.keyboard.press("End")
    page.keyboard.press(" ")
    expect(page.locator("section.gap")).to_have_count(3)
    expect(page.locator(".pair select")).to_have_count(2)
    page.focus(".pair select >> nth=1")
    page.select_option(".pair select >> nth=1", "8")
    page.wait_for_function("document.querySelector('.column-name bdi').textContent === '.' || "
                           "[...document.querySelectorAll('.column-name')].some(n => n.textContent === '.')")
    page.locator(BUTTONS).nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.locator("section.gap")).to_have_count(4)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".message.error")).to_contain_text("at most 4")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator("section.gap")).to_have_count(3)
    expect(page.locator(".message")).to_be_empty()
    page.click("text=unmask all")
    expect(page.locator(".message")).to_contain_text("Click a word to mask it")
    page.click("text=long-distance agreement")
    expect(page.locator(BUTTONS).nth(5)).to_have_text("[MASK]")
    page.keyboard.press("Escape")
    jupyter.run_cell(1, until=r"^\[6\] \[\] 'the cups nea'$")


@pytest.mark.timing
def test_a_click_is_answered_in_time(jupyter: Desk) -> None:
    """The goal is 100 ms from the act to the painted frame; a busy machine has room."""
    jupyter.lab(LAB, "print(1)", until=".plm-lab .pair-map")
    pressed = "[document.querySelectorAll('.words button')[1]]"
    spent = jupyter.round_trips(pressed, ".words")
    print(f"a click: median {statistics.median(spent):.0f} ms")
    assert statistics.median(spent) <= 250
