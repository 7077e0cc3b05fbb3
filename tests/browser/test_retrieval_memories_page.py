"""The Retrieval Lab for entities and facts in a browser: what can be edited, by keyboard, and hostile text."""

import re

import pytest
from entity_lab_models import FACTS, entities, facts
from playwright.sync_api import expect
from servers import Desk
from watching import Show, sticks_out

IMG = "<img src=x onerror=alert(1)>"


def test_what_is_drawn_and_what_can_be_edited(show: Show) -> None:
    """The column is as wide as the weight; the bar beside the columns is the model's prediction, not a sum of areas."""
    for made, acts in ((entities(k=3), {"Delete"}), (facts(text=f"[MASK] {IMG}", k=8), {"Edit", "Delete"})):
        page = show(made)
        widths, heights = (page.locator(f"{name} .{cell}").evaluate_all(
            f"(all) => all.map((one) => one.getBoundingClientRect().{side} / one.parentNode.client{side.title()})")
            for name, cell, side in ((".mosaic.now", "column", "width"), (".sums.now", "cell", "height")))
        assert widths == pytest.approx([one["prior"] for one in made.state["documents"]], abs=0.006)
        assert heights == pytest.approx([one["p"] for one in made.state["answers"]], abs=0.006)
        expect(page.locator(".finding")).to_have_text(re.compile("^The masked mention is “.*of the retrieval weight"))
        assert {one.inner_text() for one in page.locator(".card .act").all()} == acts
        assert page.get_by_role("button", name="Add a fact").count() == ("Edit" in acts)
        assert page.locator(".plm-lab :is(img, script)").count() == 0
        assert sticks_out(page, (420, 900, 1280)) == {}
    page = show(facts(removed=list(range(len(FACTS)))))
    expect(page.locator(".head")).to_have_count(1)
    expect(page.locator(".message")).to_contain_text("Nothing is left to retrieve")


def test_a_fact_is_edited_by_keyboard_and_acts_at_once(jupyter: Desk) -> None:
    page = jupyter.lab("entity_lab_models.facts(k=3)", "print(lab.replaced, lab.added)", until=".plm-lab .mosaic")
    page.locator("[data-at='edit 1']").press("Enter")
    field = page.get_by_label("the fact’s text")
    expect(field).to_be_focused()
    field.fill(IMG)
    expect(page.locator(".message.error")).to_contain_text(f"“{IMG}” is not the name of one of the 9 entities")
    field.fill("Dusk ; Norvik")
    expect(page.locator(".message")).to_have_text("")
    expect(page.locator(".changed")).to_contain_text("the model’s prediction has changed, not the retrieval")
    expect(field).to_be_focused()
    page.locator("[data-at='done 1']").press("Enter")
    expect(page.locator(".card[data-doc='1'] p")).to_have_text("Dusk ; Norvik")
    page.get_by_role("button", name="Add a fact").press("Enter")
    page.get_by_label("the fact’s subject · relation").fill("Flora Farrow works at")
    page.get_by_label("the fact’s text").fill("Drake Radio")
    add = page.get_by_role("button", name="Add", exact=True)
    expect(add).to_be_enabled()
    add.press("Enter")
    expect(page.locator(f".card[data-doc='{len(FACTS)}'] .card-title")).to_have_text("Flora Farrow works at")
    jupyter.run_cell(1, until=re.escape("{'1': ['Peter Quinn · born in', 'Dusk ; Norvik']} [['Flora Farrow works at'"))
