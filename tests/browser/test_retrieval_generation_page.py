"""The Retrieval Lab with a RAG in a browser: the bars of each token, the keyboard, edits that reach both forms."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect
from rag_models import TEXT, lab
from servers import Desk
from standin import HOSTILE
from watching import Show, sticks_out

IMG = "<img src=x onerror=alert(1)>"
HEIGHTS = """bars => bars.map((bar) => [...bar.querySelectorAll('.segment')].map((one) =>
    one.getBoundingClientRect().height / (bar.clientHeight + 1)))"""


def form(page: Page, name: str) -> Locator:
    return page.locator(f".form[aria-label='{name}']")


def percent(p: float) -> re.Pattern[str]:
    """A probability as the page shows it."""
    return re.compile(rf"{100 * p:.0f}\s%" if p >= 0.0995 else rf"{100 * p:.1f}\s%")


def test_the_bars_of_each_token_are_what_python_made(show: Show) -> None:
    made = lab(k=3, chosen="oslo and rome")
    page = show(made)
    place = [one["text"] for one in made.state["answers"]].index("oslo and rome")
    tokens, priors = made.state["generated"][place]["tokens"], [one["prior"] for one in made.state["documents"]]
    for name, p, weights in (("RAG-Sequence", made.state["answers"][place]["p"], [one["weights"] for one in tokens]),
                             ("RAG-Token", made.state["generated"][place]["p"], [priors] * len(tokens))):
        one = form(page, name)
        expect(one.locator(".token bdi")).to_have_text(["oslo", "and", "rome", "[END]"])
        expect(one.locator(".whole")).to_have_text(re.compile(rf"^p\(y\|x\) = {percent(p).pattern}"))
        for kind, wanted in (("weights", weights), ("mixture", [
                [weight * p for weight, p in zip(some, token["predictions"], strict=True)]
                for some, token in zip(weights, tokens, strict=True)])):
            heights = one.locator(f".{kind}").evaluate_all(HEIGHTS)
            for found, some in zip(heights, wanted, strict=True):
                assert found == pytest.approx(some, abs=0.012), (name, kind)
    expect(form(page, "RAG-Sequence").locator(".best")).to_have_text(re.compile("most probable answer: “oslo” 11"))
    expect(form(page, "RAG-Token").locator(".best")).to_have_text("most probable answer: this one")
    expect(page.locator(".finding")).to_contain_text("The selected answer is “oslo and rome” with")
    expect(page.get_by_role("checkbox", name="null document")).to_have_count(0)
    form(page, "RAG-Sequence").locator(".best button").click()
    expect(page.locator(".finding")).to_contain_text("The selected answer is “oslo” with")
    expect(form(page, "RAG-Sequence").locator(".token bdi")).to_have_text(["oslo", "[END]"])


def test_arrow_keys_walk_the_tokens(show: Show) -> None:
    page = show(lab(k=3, chosen="oslo and rome"))
    said, shown = page.locator(".generation .why"), page.locator(".token.shown bdi")
    expect(said).to_contain_text("Token 3, “rome”: p")
    expect(shown).to_have_text(["rome", "rome"])
    tokens = form(page, "RAG-Token").locator(".token")
    tokens.first.focus()
    expect(said).to_contain_text("no token has been generated yet")
    page.keyboard.press("ArrowRight")
    expect(tokens.nth(1)).to_be_focused()
    expect(said).to_have_text(re.compile("^Token 2, “and”: .*After “oslo”, RAG-Sequence’s weight of A, ada saw is "))
    page.keyboard.press("End")
    expect(shown).to_have_text(["[END]", "[END]"])
    expect(page.locator(".generation caption")).to_contain_text("Token 4, “[END]”")
    expect(page.locator(".generation tbody tr")).to_have_count(3)
    expect(page.locator(".generation tfoot td").nth(1)).to_have_text("100 %", use_inner_text=True)
    number = page.locator(".mixture .segment").first.get_attribute("data-doc")
    page.locator(".mixture .segment").first.hover()
    expect(page.locator(f".card[data-doc='{number}']")).to_have_class(re.compile("pointed"))


def test_nothing_overflows_and_all_is_text(show: Show) -> None:
    for text in ("oslo", IMG[:24], *(hostile[:8] for hostile in HOSTILE.values())):
        made = lab(text=f"ada {text[:8]}", added=[[text, text[:8]]], also=text[:8], k=8)
        assert not made.stale
        page = show(made)
        assert page_is_text(page), text
        assert sticks_out(page, (340, 900)) == {}, text


def page_is_text(page: Page) -> bool:
    return page.locator(".plm-lab :is(img, script)").count() == 0


def test_answers_follow_an_edit_in_the_kernel(jupyter: Desk) -> None:
    page = jupyter.lab("rag_models.lab(k=3)", "print(lab.chosen, lab.replaced)", until=".plm-lab .token")
    card = page.locator(".card[data-doc='0']")
    expect(page.locator(".finding")).to_contain_text("“oslo and rome”")
    card.get_by_role("button", name="Edit").click()
    card.get_by_label("the document’s text").fill("ada was born in paris")
    expect(form(page, "RAG-Token").locator(".whole small")).to_have_text(re.compile("was"))
    expect(form(page, "RAG-Token").locator(".best")).to_contain_text("“oslo and paris”")
    expect(card.get_by_label("the document’s text")).to_be_focused()
    form(page, "RAG-Token").locator(".best button").click()
    expect(page.locator(".finding")).to_contain_text("The selected answer is “oslo and paris” with")
    expect(form(page, "RAG-Token").locator(".best")).to_have_text("most probable answer: this one")
    page.locator(".sentence").fill("")
    expect(page.locator(".message.error")).to_contain_text("The question is empty")
    expect(page.locator(".token").first).to_be_visible()
    page.locator(".sentence").fill("ada [MASK]")
    expect(page.locator(".message.error")).to_contain_text("The question contains [MASK]")
    page.locator(".sentence").fill(f"{IMG[:8]} {TEXT}")
    expect(page.locator(".message")).to_contain_text("replaced by [UNK]")
    assert page_is_text(page)
    jupyter.run_cell(1, until="oslo and paris .*paris")
    page.get_by_role("button", name="two halves", exact=True).click()
    expect(page.locator(".finding")).to_contain_text("The selected answer is “oslo and rome” with")
    expect(page.locator(".changed")).to_be_hidden()
