"""Meet the Small World, in a browser: its four views by mouse and by keyboard, light and dark, with any text."""

import statistics

import pytest
from playwright.sync_api import Page, expect
from servers import Desk
from watching import Show, spent

from plmlab.labs import WorldLab

VIEWS = ("sentences", "probability", "entity", "question")
WORDS = ".plm-lab .columns button"
WHY = "[role=tabpanel]:not([hidden]) .why"

LAB = "WorldLab()"
TOLD = "print(lab.view, lab.entity, lab.drawn, lab.asked, repr(lab.text[:14]), lab.size)"


def tab(page: Page, name: str) -> None:
    page.click(f".plm-lab [role=tab]:text-is('{name}')")


def test_labels_come_and_go_under_the_words(show: Show) -> None:
    lab = WorldLab()
    page = show(lab)
    first = lab.state["sentences"][0]
    assert page.locator(".line").first.locator(".word").all_inner_texts() == first["words"]
    expect(page.locator(".line .tags").first).to_be_hidden()
    page.click("text=parts of speech")
    shown = page.locator(".line").first.locator(".tags")
    expect(shown.first).to_be_visible()
    assert shown.all_inner_texts() == [tag.lower() for tag in first["tags"]]
    page.click(".layers >> text=Chinese")
    expect(page.locator(".sentences .chinese").first).to_be_hidden()
    arcs = sum(len(sentence["agreement"]) for sentence in lab.state["sentences"])
    assert page.locator(".line path.arc").count() == arcs > 0
    for place, sentence in enumerate(lab.state["sentences"]):
        line = page.locator(".line").nth(place)
        words = [word.bounding_box() for word in line.locator(".word").all()]
        for link, path in zip(sentence["agreement"], line.locator("path.arc").all(), strict=True):
            box = path.bounding_box()
            ends = sorted(words[link[end]]["x"] + words[link[end]]["width"] / 2 for end in ("subject", "verb"))
            assert [box["x"], box["x"] + box["width"]] == pytest.approx(ends, abs=6), "an arc spans subject and verb"


def test_a_hidden_word_is_believed_by_two_readers(show: Show) -> None:
    lab = WorldLab(view="probability")
    shown = lab.state["probability"]
    page = show(lab)
    heights = [bar.bounding_box()["height"] for bar in page.locator(".column i").all()]
    nats = [column["nats"] for column in shown["words"]] + [shown["end"]["nats"]]
    tallest = nats.index(max(nats))
    assert heights.index(max(heights)) == tallest
    for position, column in enumerate(shown["words"]):
        page.locator(WORDS).nth(position).click()
        if page.locator(WORDS).nth(position).get_attribute("aria-pressed") == "false":
            page.locator(WORDS).nth(position).click()
        expect(page.locator(WORDS).nth(position)).to_have_text("[MASK]")
        tables = page.locator(".beliefs")
        assert tables.count() == 2
        for table, reader in zip(tables.all(), ("left", "both"), strict=True):
            rows = table.locator("tbody tr").count()
            assert rows >= len(column[reader]["likeliest"])
            expect(table.locator("tr.own th bdi")).to_have_text(column["word"])
        assert "has probability" in page.inner_text(WHY)
    page.click(".ask summary")
    assert f"= {shown['nats']:.2f} nats" in page.inner_text(".ask p")


def test_leaving_the_grammar_is_shown_at_the_word(show: Show) -> None:
    lab = WorldLab("the cups near the chair is lost .", view="probability")
    page = show(lab)
    assert page.inner_text(WHY) == lab.state["probability"]["said"]
    expect(page.locator(".column.wrong")).to_have_text("is")
    assert page.locator(".beliefs").count() == 1
    expect(page.locator(".beliefs caption")).to_have_text("after 'the cups near the chair'")
    page.click(".column.wrong button")
    assert "it must be 'are'" in page.inner_text(WHY)
    assert page.locator(".columns .end").count() == 0


def test_a_question_hop_by_hop_after_a_guess(show: Show) -> None:
    lab = WorldLab(view="question")
    part = lab.state["question"]
    page = show(lab)
    assert page.locator(".stop.hidden").count() == len(part["hops"]) - 1
    wrong = next(guess for guess in part["guesses"] if guess != part["answer"])
    page.check(f".guesses input[value='{wrong}']")
    for _ in part["hops"][1:]:
        page.click("text=the next hop")
    assert page.locator(".stop.hidden").count() == 0
    expect(page.locator(".stop.answer b")).to_have_text(part["hops"][-1]["name"])
    assert page.inner_text(WHY) == f"The answer: {part['answer']}. Your guess was {wrong}."
    assert page.locator(".read-hops li").count() == len(part["hops"])
    page.click("text=from the start")
    assert page.locator(".stop.hidden").count() == len(part["hops"])
    page.check(f".guesses input[value='{part['answer']}']")
    for _ in part["hops"]:
        page.click(".next")
    assert "Your guess was correct" in page.inner_text(WHY)


def test_a_walk_by_keyboard_alone(show: Show) -> None:
    page = show(WorldLab())
    page.focus("[role=tab][aria-selected=true]")
    titles = []
    for _ in VIEWS:
        page.keyboard.press("ArrowRight")
        titles.append(page.evaluate("document.activeElement.textContent"))
        assert page.evaluate("document.activeElement.getAttribute('aria-selected')") == "true"
        assert page.locator("[role=tabpanel]:visible").count() == 1
    assert titles == ["Exact probability", "An entity", "A bridge question", "Sentences"]
    page.keyboard.press("ArrowRight")
    page.focus(".columns button")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator(WORDS).nth(2).inner_text() == "[MASK]"
    assert page.evaluate("document.activeElement.dataset.position") == "2", "the focus stays on the word"
    page.keyboard.press(" ")
    assert page.locator(WORDS).nth(2).inner_text() != "[MASK]"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.position") == "1"

    tab(page, "A bridge question")
    page.focus(".guesses input >> nth=0")
    page.keyboard.press("ArrowDown")
    assert page.locator(".guesses input").nth(1).is_checked()
    page.focus(".next")
    page.keyboard.press("Enter")
    assert page.locator(".stop.hidden").count() == 0


@pytest.mark.timing
def test_hiding_a_word_and_turning_a_tab_repaint_within_30_ms(show: Show) -> None:
    page = show(WorldLab(view="probability"))
    for act in (".columns button')[i % 5]", "[role=tab]')[i % 2]"):
        assert statistics.median(spent(page, f"document.querySelectorAll('{act}.click()")) <= 30


def test_the_lab_and_the_kernel_talk(jupyter: Desk) -> None:
    page = jupyter.lab(LAB, TOLD, until=".plm-lab .sentences li")
    before = page.inner_text(".plm-lab .sentences")
    page.click("text=generate others")
    page.wait_for_function("was => document.querySelector('.sentences').innerText !== was", arg=before)
    page.locator(".mention").first.click()
    expect(page.locator("article h4")).to_be_visible()
    name = page.locator("article h4").inner_text()
    page.locator("article .text .link").first.click()
    page.wait_for_function("was => document.querySelector('article h4').innerText !== was", arg=name)
    page.fill("[aria-label='search for an entity']", "town")
    expect(page.locator("select.entities option")).to_have_count(4)
    page.focus("[aria-label='search for an entity']")
    page.keyboard.press("Enter")
    expect(page.locator("article h4")).to_contain_text("town")
    tab(page, "A bridge question")
    asked = page.inner_text(".asked")
    page.click("text=another question")
    page.wait_for_function("was => document.querySelector('.asked').innerText !== was", arg=asked)

    tab(page, "Exact probability")
    page.fill(".sentence", "the girl sleeps .")
    expect(page.locator(".numbers")).to_contain_text("one in")
    page.fill(".sentence", "The girl sleeps.")
    expect(page.locator(WORDS)).to_have_count(4)
    page.keyboard.press("Escape")
    jupyter.run_cell(1, until="^probability town:")


@pytest.mark.timing
def test_typing_is_answered_in_time(jupyter: Desk) -> None:
    """The goal is 100 ms from the act to the painted frame; a busy machine has room."""
    page = jupyter.lab(LAB, "print(1)", until=".plm-lab .sentences li")
    tab(page, "Exact probability")
    pressed = "[...document.querySelectorAll('.preset')].slice(0, 2).reverse()"
    spent = jupyter.round_trips(pressed, ".columns")
    assert statistics.median(spent) <= 250
