"""The Beam Lab in a browser: the tree by mouse and by keyboard, its steps, and what a kernel answers."""

import re
import statistics

import pytest
from beam_fixtures import table_lab
from playwright.sync_api import expect
from servers import Desk
from standin import HOSTILE
from watching import Show, cut, slide

from plmlab.decode import TableLM
from plmlab.labs import BeamLab
from plmlab.labs.beam.presets import PENALTY, TABLES
from plmlab.text.printable import printable

WHY = ".beam .why"
NOW = ".branch.now .token"


def test_the_first_state_teaches_without_a_touch(show: Show) -> None:
    lab = BeamLab()
    page = show(lab)
    expect(page.locator("h4")).to_have_text(
        "Greedy decoding finds “大妈” (0.12); a beam of 2 finds “苹果” (0.45), 3.7 times as likely")
    assert page.inner_text(NOW) == "苹"
    assert "diverges from the greedy path, which continues with “大”" in page.inner_text(WHY)
    count = sum(len(column) for column in lab.state["columns"])
    assert page.locator(".tree .branch").count() == page.locator(".tree path.link:not(.way)").count() == count
    assert page.locator(".tree .branch.best .token").all_inner_texts() == ["苹", "果", "[END]"]
    assert page.locator(".lane-token.greedy .token").all_inner_texts() == ["大", "妈", "[END]"]
    assert page.locator(".tree .branch.finished").count() == 2
    rows = page.locator(".texts tbody tr").all_inner_texts()
    assert ["苹果" in row for row in rows] == [True, False, False, True] and "exact" in rows[-1]
    expect(page.locator(".misses dt")).to_have_text("No search error")


def test_what_is_pruned_is_told_without_colour(show: Show) -> None:
    page = show(BeamLab())
    style = "e => [getComputedStyle(e).borderStyle, getComputedStyle(e).backgroundImage]"
    pruned = page.locator(".tree .branch.pruned").first.evaluate(style)
    kept = page.locator(".tree .branch.open").first.evaluate(style)
    assert pruned[0] == "dashed" and "repeating" in pruned[1] and kept == ["solid", "none"]
    dashes = "e => getComputedStyle(e).strokeDasharray"
    assert page.locator(".tree path.pruned").first.evaluate(dashes) != "none"


def test_the_tree_is_walked_by_keyboard_alone(show: Show) -> None:
    page = show(BeamLab())
    page.focus(".branch.now")
    for key, token in (("ArrowUp", "大"), ("ArrowRight", "妈"), ("ArrowDown", "象"), ("ArrowLeft", "大"),
                       ("End", "[END]"), ("ArrowLeft", "果"), ("Home", "大")):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.querySelector('.token').textContent") == token, key
        assert page.inner_text(WHY).startswith(f"“{token}” after ")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert "Pruned: rank 3 in this step, and only 2 stay open." in page.inner_text(WHY)
    page.keyboard.press("Enter")
    assert page.locator(".lane-token.what-if").count() == 0, "nobody answers on a saved page"


def test_a_pointer_tells_what_the_keys_tell(show: Show) -> None:
    page = show(BeamLab())
    page.hover(".branch:has-text('象')")
    assert page.inner_text(NOW) == "象" and page.inner_text(WHY).startswith("“象” after “大”")
    assert page.locator(".branch.now").get_attribute("aria-label") == page.inner_text(WHY)


def test_the_steps_go_forwards_and_back(show: Show) -> None:
    lab = table_lab(TABLES[1])
    page = show(lab)
    sizes = [len(column) for column in lab.state["columns"]]
    where = "(list) => list.map((e) => e.style.cssText)"
    branches = page.locator(".tree .branch:visible")
    whole = branches.evaluate_all(where)
    for shown, press in ((3, "◂ back"), (2, "◂ back"), (1, "◂ back"), (2, "forward ▸"), (4, "all")):
        page.click(f"button:text-is('{press}')")
        expect(branches).to_have_count(sum(sizes[:shown]))
        expect(page.locator(".tree svg g[display=inline]")).to_have_count(shown)
        assert branches.evaluate_all(where) == whole[:sum(sizes[:shown])], "nothing moves"
        assert page.locator("input[aria-label='steps shown']").input_value() == str(shown)
    slide(page, "steps shown", "Home")
    expect(page.locator(".texts")).to_contain_text("No hypothesis has finished yet")
    assert page.is_disabled("button:text-is('◂ back')")
    page.focus(".branch.now")
    page.keyboard.press("]")
    page.keyboard.press("]")
    expect(branches).to_have_count(sum(sizes[:3]))
    assert page.evaluate("document.activeElement.classList.contains('branch')"), "the focus stays in the tree"
    page.keyboard.press("[")
    expect(branches).to_have_count(sum(sizes[:2]))


def test_a_rising_score_and_a_wider_beam_are_told(show: Show) -> None:
    page = show(table_lab(PENALTY))
    expect(page.locator(".rising")).to_contain_text("is less likely than “said yes”")
    page = show(table_lab(TABLES[1]))
    expect(page.locator(".widths .worse")).to_have_count(1)
    assert page.locator(".width[aria-pressed=true] b").inner_text() == "2"
    expect(page.locator(".misses .miss dt")).to_have_text("Search error")
    page.focus(".ask summary")
    page.keyboard.press("Enter")
    expect(page.locator(".ask p")).to_contain_text("a beam of 1 finds “man sleeps”")


def test_a_saved_page_switches_off_what_needs_python(show: Show) -> None:
    page = show(BeamLab())
    controls = page.locator(".controls :is(input, select, button), .width")
    live = controls.evaluate_all("(all) => all.filter((e) => !e.disabled).map((e) => e.ariaLabel || e.textContent)")
    assert live == ["steps shown", "◂ back"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_cut_and_all_can_be_read(show: Show, theme: str) -> None:
    page = show(table_lab(PENALTY), theme)
    assert cut(page, ".branch :is(.token, .model, .total, .score)") == []


@pytest.mark.parametrize("name", HOSTILE)
def test_any_token_stays_text(show: Show, name: str) -> None:
    word = HOSTILE[name][:60]
    page = show(BeamLab(TableLM({("a", word): 0.6, ("a", "b"): 0.4}), text="a", presets=[]))
    assert page.locator(".plm-lab img, .plm-lab script").count() == 0
    assert page.locator(".branch .token").first.evaluate("e => e.textContent") == printable(word)
    assert word.split()[0] in page.inner_text("h4")


LAB = """
import torch
torch.set_num_threads(1)
from plmlab import checkpoints
from plmlab.labs import BeamLab
model, tokenizer = checkpoints.load("lstm-world")
lab = BeamLab(model.eval(), tokenizer)
lab
"""
TOLD = "print(repr(lab.text), lab.width, lab.source, len(lab.state['columns']), bool(lab.pinned))"


def test_the_lab_and_the_kernel_talk(jupyter: Desk) -> None:
    page = jupyter.run(LAB, TOLD, until=".plm-lab .tree")
    page.click(".branch:has-text('象')")
    expect(page.locator(".lane-token.what-if .token")).to_have_text(["[END]"])
    expect(page.locator(".unfolding")).to_contain_text("it becomes “大象”")
    expect(page.locator(".unfolding")).to_contain_text("nothing was lost")
    page.keyboard.press("Enter")
    expect(page.locator(".lane-token.what-if")).to_have_count(0)
    slide(page, "width", "Home")
    expect(page.locator("h4")).to_contain_text("Greedy decoding and a beam of 1 both find “大妈”")
    expect(page.locator(".misses .miss dt")).to_have_text("Search error")
    page.locator("button.width").nth(2).click()
    expect(page.locator("h4")).to_contain_text("a beam of 3 finds “苹果”")
    page.click("button.preset:text-is('a garden path')")
    expect(page.locator(".sentence")).to_have_value("the butchers")
    expect(page.locator("h4")).to_contain_text("a beam of 3 finds “borrowed money from the bank.”")
    expect(page.locator("tr.pin")).to_contain_text(["prefixes"])
    expect(page.locator("button.width")).to_have_count(10)
    slide(page, "length penalty α", "End")
    expect(page.locator(".texts")).to_contain_text("Here α = 2")
    page.fill(".sentence", "the visitor")
    expect(page.locator(".message")).to_be_empty()
    expect(page.locator("h4")).to_contain_text(re.compile("Greedy"))
    expect(page.locator("button.width")).to_have_count(10)
    jupyter.run_cell(1, until=r"'the visitor' 3 LSTMLanguageModel \d+ True$")


@pytest.mark.timing
def test_the_time_of_a_round_trip(jupyter: Desk) -> None:
    """Another width is searched with and drawn within 100 ms, with room for a busy machine."""
    shown = LAB + "lab.source, lab.text = 'LSTMLanguageModel', 'the'\nlab"
    jupyter.run(shown, "print(1)", until=".plm-lab button.width")
    pressed = "[...document.querySelectorAll('.plm-lab button.width')].slice(8)"
    spent = jupyter.round_trips(pressed, ".plm-lab div:has(> .scroll .tree)")
    print(f"a round trip: median {statistics.median(spent):.0f} ms")
    assert statistics.median(spent) <= 200
