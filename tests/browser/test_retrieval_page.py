"""The Retrieval Lab in a browser: its first state, what points at what, edits that reach the kernel, hostile text."""

import re
import statistics

import pytest
from playwright.sync_api import Locator, Page, expect
from retrieval_models import TEXT, lab
from servers import Desk
from standin import HOSTILE
from watching import Show, sticks_out

WHY = ".why"
IMG = "<img src=x onerror=alert(1)>"


def card(page: Page, number: int) -> Locator:
    return page.locator(f".card[data-doc='{number}']")


def head(page: Page, number: int) -> Locator:
    return page.locator(f".head[data-doc='{number}']")


def press(within: Page | Locator, name: str) -> None:
    within.get_by_role("button", name=name, exact=True).click()


def test_the_first_state_teaches_untouched(show: Show) -> None:
    made = lab(k=3)
    page = show(made)
    numbers = [one["number"] for one in made.state["documents"]]
    best = made.state["answers"][0]
    expect(page.locator(".finding")).to_have_text(re.compile(f"^The masked span is “{best['text']}”.*comes from "))
    expect(page.locator(".head")).to_have_count(4)
    expect(page.locator(".card")).to_have_count(4)
    expect(page.locator(".answer[aria-pressed=true]")).to_contain_text(best["text"])
    expect(page.locator(WHY)).to_have_text(re.compile(r"times p\(y\|x\)|equal to p\(y\|x\)"))
    assert page.locator(".changed").is_hidden()
    expect(page.locator(".map .spot")).to_have_count(3)
    widths = page.evaluate("""() => [...document.querySelectorAll('.mosaic.now .column')].map((column) =>
        column.getBoundingClientRect().width / column.parentNode.clientWidth)""")
    assert widths == pytest.approx([one["prior"] for one in made.state["documents"]], abs=0.005)
    heights = page.evaluate("""() => [...document.querySelectorAll('.sums.now .cell')].map((cell) =>
        cell.getBoundingClientRect().height / cell.parentNode.clientHeight)""")
    assert heights == pytest.approx([one["p"] for one in made.state["answers"]], abs=0.006)
    assert [int(one.get_attribute("data-doc") or "") for one in page.locator(".head").all()] == numbers
    patterns = page.evaluate("""() => [...document.querySelectorAll('.answers .answer .swatch')].map((swatch) =>
        getComputedStyle(swatch).background)""")
    assert len(set(patterns)) == len(made.state["answers"])
    page.locator(".ask summary").press("Enter")
    expect(page.locator(".ask p")).to_contain_text("Without a document it predicts")


def test_columns_heads_cards_and_the_map_point_at_each_other(show: Show) -> None:
    made = lab(k=3)
    page = show(made)
    first, second = (one["number"] for one in made.state["documents"][1:3])
    head(page, first).focus()
    expect(page.locator(WHY)).to_have_text(re.compile("^A, "))
    expect(page.locator(f".mosaic.now .column.pointed[data-doc='{first}']")).to_have_count(1)
    expect(card(page, first)).to_have_class(re.compile("pointed"))
    page.keyboard.press("ArrowRight")
    expect(head(page, second)).to_be_focused()
    expect(page.locator(WHY)).to_have_text(re.compile("^B, "))
    page.keyboard.press("Enter")
    expect(card(page, second)).to_have_class(re.compile("open"))
    expect(head(page, second)).to_be_focused()
    page.locator(f".mosaic.now .column[data-doc='{first}']").hover()
    expect(page.locator(WHY)).to_have_text(re.compile("^A, "))
    expect(page.locator(".map-said")).to_contain_text("rank 1 of 7 by inner product with x")
    page.mouse.move(1, 1)
    page.locator(".map").focus()
    page.keyboard.press("End")
    expect(page.locator(WHY)).to_contain_text("is not retrieved: it is not among the top 3.")
    page.keyboard.press("Enter")
    last = made.state["plane"]["ranked"][-1]
    expect(card(page, last).locator(".tag")).to_have_text("not retrieved")


def test_an_answer_that_is_chosen_turns_the_arrows(show: Show) -> None:
    made = lab(k=3)
    page = show(made)
    for place, answer in enumerate(made.state["answers"]):
        page.locator(".answer", has=page.get_by_text(answer["text"], exact=True)).click()
        expect(page.locator(".finding")).to_contain_text(f"The masked span is “{answer['text']}”")
        pulls = [one["pulls"][place] for one in made.state["documents"]]
        said = ["0.00" if abs(r) < 0.005 else f"{'−' if r < 0 else '+'}{abs(r):.2f}" for r in pulls]
        expect(page.locator(".head b.number")).to_have_text(said)
        expect(page.locator(".arrow.up")).to_have_count(sum(r >= 0 for r in pulls))


def test_a_saved_page_of_an_edit_shows_before_and_now(show: Show) -> None:
    made = lab(k=2, replaced={"2": ["Peter Quinn", "she keeps a dog ."]}, removed=[1])
    page = show(made)
    expect(page.locator(".changed")).to_be_visible()
    expect(page.locator(".mosaic.then .column")).to_have_count(3)
    expect(card(page, 1).locator(".tag")).to_have_text("deleted")
    expect(card(page, 2).locator(".tag")).to_have_text(re.compile("edited"))
    assert all(one.is_disabled() for one in page.locator(".act").all())


def test_nothing_overflows_and_all_is_text(show: Show, page: Page) -> None:
    for text in ("dog", *(hostile[:30] for hostile in HOSTILE.values())):
        made = lab(text=f"[MASK] {text}", added=[[text, text]], replaced={"0": [text, text]}, k=8)
        show(made)
        assert page.locator(".plm-lab :is(img, script)").count() == 0
        assert page.input_value(".sentence") == f"[MASK] {text}"
        expect(card(page, 0).locator("p")).to_have_text(text, use_inner_text=False)
        assert sticks_out(page, (420, 900, 1280)) == {}, text


LAB = "retrieval_models.lab(k=3)"
TOLD = "print(lab.replaced, lab.removed, lab.added, lab.excluded, lab.k, lab.null, lab.temperature, lab.also)"


def test_the_lab_and_the_kernel_talk(jupyter: Desk) -> None:
    made = lab(k=3)
    page = jupyter.lab(LAB, TOLD, until=".plm-lab .mosaic")
    number = made.state["documents"][1]["number"]
    press(card(page, number), "Edit")
    field = card(page, number).get_by_label("the document’s text")
    expect(field).to_be_focused()
    field.fill(f"Flora {IMG} dog")
    expect(page.locator(".message")).to_contain_text("In the documents that you edited,")
    expect(page.locator(".mosaic.then")).to_be_visible()
    expect(field).to_be_focused()
    expect(field).to_have_value(f"Flora {IMG} dog")
    field.fill("")
    expect(page.locator(".message.error")).to_contain_text("is empty: type a text")
    field.fill("she keeps a dog .")
    expect(page.locator(".message")).to_have_text("")
    press(card(page, number), "Done")
    expect(card(page, number).get_by_role("button", name="Edit")).to_be_focused()
    expect(card(page, number).locator("p")).to_have_text("she keeps a dog .")
    press(card(page, number), "Revert")
    expect(page.locator(".changed")).to_be_hidden()
    press(card(page, number), "Delete")
    expect(head(page, number)).to_have_count(0)
    expect(card(page, number).locator(".tag")).to_have_text("deleted")
    press(card(page, number), "Restore")
    expect(head(page, number)).to_have_count(1)
    press(card(page, number), "Exclude")
    expect(head(page, number)).to_have_count(0)
    expect(card(page, number).get_by_role("button", name="Exclude")).to_have_attribute("aria-pressed", "true")
    press(page, "Revert all")
    expect(head(page, number)).to_have_count(1)
    expect(page.locator(".changed")).to_be_hidden()

    press(page, "Add a document")
    expect(page.get_by_role("button", name="Add", exact=True)).to_be_disabled()
    page.get_by_label("the document’s title").fill(IMG)
    page.get_by_label("the document’s text").fill(IMG)
    press(page, "Add")
    expect(card(page, 7).locator(".card-title")).to_have_text(IMG)
    expect(card(page, 7).locator("p")).to_have_text(IMG)
    assert page.locator(".plm-lab :is(img, script)").count() == 0
    press(page, "Revert all")
    expect(card(page, 7)).to_have_count(0)

    page.get_by_label("k documents").press("ArrowRight")
    expect(page.locator(".head")).to_have_count(5)
    page.get_by_role("checkbox", name="null document").uncheck()
    expect(page.locator(".head")).to_have_count(4)
    page.get_by_label("temperature").press("End")
    page.locator(".own-answer").fill("dog")
    expect(page.locator(".answer", has_text="dog")).to_have_count(1)
    expect(page.locator(".own-answer")).to_be_focused()
    page.locator(".sentence").fill("Flora Farrow was born .")
    expect(page.locator(".message.error")).to_contain_text("The query has no [MASK]")
    page.locator(".sentence").fill(f"{IMG} was [MASK]")
    expect(page.locator(".message")).to_contain_text("replaced by [UNK]")
    press(page, "two words")
    expect(page.locator(".sentence")).not_to_have_value(TEXT)
    expect(card(page, 0).locator(".tag")).to_have_text("excluded")
    expect(page.locator(".answer", has_text="Flora Farrow")).to_have_count(1)
    jupyter.run_cell(1, until=re.escape("{} [] [] [0] 4 False 4.0"))


@pytest.mark.timing
def test_the_time_of_a_change(jupyter: Desk) -> None:
    """A choice is drawn within 30 ms, and a document left out within 100, with room for a busy machine."""
    page = jupyter.lab(LAB, "print(1)", until=".plm-lab .mosaic")
    chosen = jupyter.round_trips("[...document.querySelectorAll('.plm-lab .answer')].slice(0, 2)", ".board-place")
    number = lab(k=3).state["documents"][1]["number"]
    leave = f"[document.querySelector('.card[data-doc=\"{number}\"] [aria-pressed]')]"
    out = jupyter.round_trips(leave, ".board-place")
    assert page.locator(".mosaic").count()
    print(f"an answer: median {statistics.median(chosen):.0f} ms; left out: median {statistics.median(out):.0f} ms")
    assert statistics.median(chosen) <= 100 and statistics.median(out) <= 300
