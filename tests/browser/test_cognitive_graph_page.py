"""The Cognitive Graph Lab in a browser: its first state, steps, what opens by mouse and keys, cuts, hostile text."""

import re
import statistics

import pytest
from cognitive_graph_models import WHICH, lab
from playwright.sync_api import Locator, Page, expect
from servers import Desk
from watching import Show


def node(page: Page, name: str) -> Locator:
    return page.locator(f".graph .node[title='{name}']")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


def test_the_first_state_teaches_untouched(show: Show) -> None:
    page = show(lab())
    expect(page.locator(".step-said")).to_have_text(
        "Step 1 of 4: visited Roma; new: Dusk and Eva. Next: Dusk and Eva.")
    expect(page.locator(".graph .title")).to_have_text(["Roma", "Dusk", "Eva"])
    expect(page.locator(".graph .frontier .tags")).to_have_text(["▸ next", "▸ next"])
    expect(page.locator(".column-name")).to_have_text(["in the question", "1 hop", "2 hops"])
    expect(page.locator(".details mark")).to_have_count(2)
    expect(page.locator(".spans tbody tr")).to_have_count(2)
    expect(page.locator(".answer-said")).to_contain_text("No answer yet")
    assert "1974" not in page.inner_text(".body")
    page.locator(".ask summary").press("Enter")
    expect(page.locator(".ask p")).to_have_text("1974. It is found on the page of Dusk: “it came out in 1974”")


def test_forwards_and_back_and_nothing_moves(show: Show) -> None:
    page = show(lab())
    at = node(page, "Dusk").bounding_box()
    page.get_by_role("button", name="Step").press("Enter")
    expect(page.locator(".graph .title")).to_have_text(["Roma", "Dusk", "Eva", "Adam"])
    expect(node(page, "Dusk").locator(".tags")).to_have_text("▸ again")
    press(page, "To the end")
    expect(page.locator(".graph .node.answer .title")).to_have_text(["1974"])
    expect(page.locator(".answer-said .bad")).to_have_text("✗ the correct answer is Adam")
    expect(page.locator(".note")).to_have_text("the film was read twice")
    expect(page.get_by_role("button", name="Back")).to_be_focused()
    expect(page.locator(".ask")).to_have_count(0)
    assert node(page, "Dusk").bounding_box() == at
    for _ in range(4):
        page.keyboard.press("Enter")
    expect(page.locator(".graph .title")).to_have_text(["Roma"])
    expect(page.locator(".step-said")).to_have_text("No node has been visited. The question names Roma. Next: Roma.")
    expect(page.get_by_role("button", name="Step")).to_be_focused()


def test_gold_lies_over_it_and_names_what_is_missed(show: Show) -> None:
    page = show(lab(1, step=9))
    expect(node(page, "Milton")).to_have_count(0)
    at = node(page, "Adam").bounding_box()
    page.get_by_label("show the gold graph").check()
    expect(page.locator(".gold-said")).to_have_text(
        "2 of 3 gold nodes, 1 of 2 gold edges; 3 extra: Dusk, Adam and 1974; missed: Milton.")
    expect(node(page, "Milton").locator(".tags")).to_have_text("missed")
    expect(page.locator(".edge.missed")).to_have_count(1)
    assert node(page, "Adam").bounding_box() == at
    node(page, "Milton").hover()
    expect(page.locator(".why")).to_contain_text("Eva was visited, but System 1 did not predict Milton.")


def test_nodes_and_edges_open_by_mouse_and_keys(show: Show) -> None:
    page = show(lab(step=4))
    node(page, "Roma").focus()
    page.keyboard.press("ArrowRight")
    expect(node(page, "Dusk")).to_be_focused()
    expect(page.locator(".why")).to_contain_text("Dusk was found in step 1 on the page of Roma and Eva.")
    page.keyboard.press("Enter")
    expect(page.locator(".details h4")).to_have_text("Dusk")
    expect(node(page, "Dusk")).to_be_focused()
    expect(page.locator(".details .page mark.answer")).to_contain_text("1974")
    expect(page.locator(".clues li")).to_have_count(2)
    page.locator(".clues button").nth(1).press("Enter")
    expect(page.locator(".details h4")).to_have_text("Eva → Dusk")
    expect(page.locator(".clue")).to_contain_text("she plays in Dusk")
    expect(page.locator(".details")).to_contain_text("the logit of Dusk by")
    expect(page.locator(".edge.open")).to_have_count(1)
    page.locator(".edge[data-source='1'][data-target='3'] .hit").dispatch_event("click")
    expect(page.locator(".details h4")).to_have_text("Dusk → Adam")
    page.locator(".choice .to-node").nth(4).press("Enter")
    expect(page.locator(".details h4")).to_have_text("1974")
    expect(page.locator(".details")).to_contain_text("There is no page with this title")


def test_a_comparison_shows_the_two_and_leaves_the_graph_out(show: Show) -> None:
    page = show(lab(2, step=3))
    expect(page.locator(".choice p")).to_contain_text("The graph is not used here")
    expect(page.locator(".graph .tags", has_text="compared")).to_have_count(2)
    expect(page.locator(".graph .pair")).to_have_count(0)


LAB = "cognitive_graph_models.lab(step=2)"


def test_the_lab_and_the_kernel_talk(jupyter: Desk) -> None:
    page = jupyter.lab(LAB, "print(lab.forbidden, lab.step, lab.kind, lab.gold, lab.state['preset'])",
                       until=".plm-lab .graph")
    node(page, "Dusk").click()
    page.locator(".spans .to-edge", has_text="Adam").click()
    press(page, "Remove this edge")
    expect(page.locator(".changed")).to_have_text(
        "Without Dusk → Adam: Adam is no longer found. The answer is still 1974.")
    expect(node(page, "Adam")).to_have_count(0)
    expect(page.locator(".step-said")).to_contain_text("Step 2 of ")
    press(page, "To the end")
    node(page, "1974").click()
    press(page, "Allow again")
    expect(node(page, "Adam")).to_have_count(1)
    expect(page.locator(".changed")).to_be_hidden()
    expect(page.locator(".details h4")).to_have_text("1974")
    node(page, "Eva").click()
    press(page, "Exclude this node")
    expect(page.locator(".without")).to_contain_text("excluded: Eva")
    page.locator(".sentence").fill(WHICH)
    page.get_by_label("question type").select_option("either-or")
    expect(page.locator(".graph .title").first).to_have_text("Old Town")
    expect(page.get_by_label("preset question").locator("option:checked")).to_have_text("which of two")
    expect(page.locator(".without")).to_be_hidden()
    page.locator(".sentence").fill("who is <img src=x onerror=alert(1)>")
    expect(page.locator(".message.error")).to_contain_text("This question contains no page title")
    expect(page.locator(".graph .title").first).to_have_text("Old Town")
    page.get_by_label("preset question").select_option("its owner")
    expect(page.locator(".message")).to_have_text("")
    expect(page.locator(".graph .title").first).to_have_text("Roma")
    press(page, "Step")
    page.get_by_label("show the gold graph").check()
    expect(page.locator(".gold-said")).to_have_text(re.compile("gold nodes"))
    jupyter.run_cell(1, until=r"^\[\] 2 special True 1$")


@pytest.mark.timing
def test_the_time_of_a_step_and_of_a_cut(jupyter: Desk) -> None:
    """A step is drawn within 100 ms, and a graph grown anew within 150, with room for a busy machine."""
    page = jupyter.lab(LAB, "print(1)", until=".plm-lab .graph")
    steps = jupyter.round_trips("[...document.querySelectorAll('.plm-lab .bar > button')].slice(0, 2)", ".graph-place")
    node(page, "Dusk").click()
    acts = "[document.querySelector('.without button') ?? document.querySelector('.act')]"
    cuts = jupyter.round_trips(acts, ".graph-place")
    print(f"a step: median {statistics.median(steps):.0f} ms; a node forbidden: {statistics.median(cuts):.0f} ms")
    assert statistics.median(steps) <= 200 and statistics.median(cuts) <= 300
