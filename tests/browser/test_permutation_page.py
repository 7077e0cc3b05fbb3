"""The Permutation Lab in a browser: words dragged and moved by keys, steps, both masks, the leak, all orders."""

import re

import pytest
from permutation_models import MIXED, TEXT, lab, perfect
from playwright.sync_api import Locator, Page, expect
from servers import Desk
from watching import SIZE, Show

from plmlab.example import Example
from plmlab.labs import PermutationLab
from plmlab.labs.permutation.reading import example

FINDING = ".finding"
WHY = ".masks .why p"
CROSS = ".square .cross"


def order_chips(page: Page) -> Locator:
    return page.locator(".order .chip")


def words_of(page: Page) -> list[str]:
    """The words of the order, from the left to the right of the screen."""
    return page.evaluate("""() => [...document.querySelectorAll('.order .chip')]
        .sort((a, b) => a.getBoundingClientRect().x - b.getBoundingClientRect().x).map((chip) => chip.textContent)""")


def middle(chip: Locator) -> tuple[float, float]:
    box = chip.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def made_example(made: PermutationLab) -> Example:
    return example(made.tokenizer.encode(made.text), made.order, made.tokenizer.vocab, leak=made.leak)


def test_the_first_state_teaches_untouched(show: Show) -> None:
    made = lab()
    page = show(made)
    expect(page.locator(FINDING)).to_have_text("Step 4 of 5: the target is “cats”. Its context is “the” on its left, "
                                               "and “are” and “.” on its right.")
    sentence = page.locator(".row[aria-label='sentence'] .chip")
    expect(sentence).to_have_text([*TEXT.split(), "[SEP]", "[CLS]"])
    assert [re.sub("chip ?", "", chip.get_attribute("class")) for chip in sentence.all()] == [
        "seen", "asked", "seen", "unseen", "seen", "special", "special"]
    expect(page.locator(".panel .row[aria-label='step t'] .number")).to_have_text([*"34152", "given", "given"])
    assert words_of(page) == order_chips(page).all_inner_texts() == ["are", ".", "the", "cats", "hungry"]
    expect(page.locator(".given")).to_contain_text("The sentence is not shuffled")
    expect(page.locator(".costs.best .cost")).to_have_text(["1.61", "0.00", "0.00", "0.69", "0.69"])
    expect(page.locator(".costs.best .sum")).to_have_text("2.30")
    expect(page.locator(".dot.model")).to_have_count(120)
    expect(page.locator(".floor-name")).to_have_text("Bayes-optimal, every order: 3.00")
    expect(page.locator(".beliefs .own th")).to_contain_text("cats")
    assert "unseen" in order_chips(page).last.get_attribute("class")
    hatched = page.evaluate("""() => getComputedStyle(document.querySelector('.order .unseen')).backgroundImage""")
    assert "repeating-linear-gradient" in hatched, "never a colour alone"


def test_a_perfect_model_stands_on_the_line(show: Show) -> None:
    page = show(perfect())
    expect(page.locator(".orders-place .said").first).to_have_text(
        "In all 120 orders the loss of the model is 3.00\u00a0nats, the same in every order: its predictions are "
        "consistent.")
    dots = page.evaluate("() => [...document.querySelectorAll('.dot')].map((dot) => dot.getAttribute('cx'))")
    line = float(re.match(r"M([\d.]+)", page.get_attribute("path.floor", "d"))[1])
    assert len(set(dots)) == 1 and float(dots[0]) == pytest.approx(line, abs=3.5)


def test_steps_by_slider_buttons_and_chips(show: Show) -> None:
    made = lab()
    page = show(made)
    page.get_by_role("button", name="next step").click()
    expect(page.locator(FINDING)).to_contain_text("Step 5 of 5: the target is “hungry”. Its context is “the”, “cats” "
                                                  "and “are” on its left, and “.” on its right.")
    expect(page.get_by_role("button", name="next step")).to_be_disabled()
    page.get_by_label("step", exact=True).focus()
    page.keyboard.press("Home")
    expect(page.locator(FINDING)).to_contain_text("Step 1 of 5: the target is “are”. Its context has no word yet")
    expect(page.get_by_role("button", name="previous step")).to_be_disabled()
    page.keyboard.press("ArrowRight")
    expect(page.locator(FINDING)).to_contain_text("Step 2 of 5")
    assert page.evaluate("document.activeElement.ariaLabel") == "step", "the slider stays in hand"
    own = made.state["steps"][1]["belief"]["own"]
    expect(page.locator(".own-text").first).to_contain_text(f"surprisal {own['nats']:.2f}")
    sums = made.state["steps"][1]["sums"]
    expect(page.locator(".costs .sum")).to_have_text([f"{sums[0]:.2f}", f"{sums[1]:.2f}"])
    order_chips(page).nth(2).click()
    expect(page.locator(FINDING)).to_contain_text("Step 3 of 5: the target is “the”")
    order_chips(page).nth(4).focus()
    page.keyboard.press("Enter")
    expect(page.locator(FINDING)).to_contain_text("Step 5 of 5: the target is “hungry”")
    assert page.evaluate("document.activeElement.textContent") == "hungry"


def test_the_masks_say_why_in_the_words_of_the_visibility(show: Show) -> None:
    made = lab()
    page = show(made)
    one, names = made_example(made), made.state["names"]
    assert one.query_stream_mask is not None
    expect(page.locator(WHY)).to_have_text([f"content stream: {one.visible.reason(1, 1, names)}",
                                            f"query stream: {one.query_stream_mask.reason(1, 1, names)}"])
    expect(page.locator(".square .cells.blocked")).to_have_count(2)
    page.locator(CROSS).nth(1).focus()
    for key, (q, k) in (("ArrowRight", (1, 2)), ("ArrowDown", (2, 2)), ("Home", (2, 0)), ("End", (2, 6))):
        page.keyboard.press(key)
        expect(page.locator(WHY).nth(1)).to_have_text(f"query stream: {one.query_stream_mask.reason(q, k, names)}")
        expect(page.locator(WHY).nth(0)).to_have_text(f"content stream: {one.visible.reason(q, k, names)}")
        assert page.get_attribute(f"{CROSS} >> nth=1", "aria-label") == page.inner_text(f"{WHY} >> nth=1")
    page.keyboard.press("Enter")
    expect(page.locator(FINDING)).to_contain_text("Step 1 of 5: the target is “are”")
    box = page.locator(".square .matrix").first.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + box["height"] - 5)
    expect(page.locator(WHY)).to_have_text([f"content stream: {one.visible.reason(6, 0, names)}",
                                            "query stream: [CLS] is not predicted, so it has no query."])
    expect(page.locator(".table.elsewhere")).to_have_count(1)


def test_in_the_order_each_mask_is_a_triangle(show: Show) -> None:
    page = show(lab())
    page.get_by_label(re.compile("rows and columns by the order")).check()
    expect(page.locator(".square").nth(1).locator(".query-name")).to_have_text(["are", ".", "the", "cats", "hungry"])
    expect(page.locator(".square").nth(0).locator(".reads .chip")).to_have_text(
        ["[SEP]", "[CLS]", "are", ".", "the", "cats", "hungry"])
    expect(page.locator(WHY).nth(1)).to_contain_text("cats cannot attend to cats")
    seen = page.locator(".square").nth(1).locator("path.cells.rule-0").get_attribute("d")
    assert seen.count("M") == 2 + 3 + 4 + 5 + 6


def test_a_dot_names_its_order(show: Show) -> None:
    made = lab()
    page = show(made)
    told, costs = made.state["orders"], made.state["orders"]["model"]
    read = page.locator(".orders-place .read")
    expect(read).to_contain_text(f"This order: are → . → the → cats → hungry, {costs[told['here']]:.2f}")
    page.locator(".strip").focus()
    page.keyboard.press("Home")
    ranked = sorted(range(120), key=costs.__getitem__)
    tokens = made.state["tokens"]
    said = " → ".join(tokens[position] for position in told["listed"][ranked[0]])
    expect(read).to_have_text(f"No. 1 of 120: {said}, {costs[ranked[0]]:.2f}\u00a0nats.")
    assert page.get_attribute(".strip", "aria-valuetext") == page.inner_text(".orders-place .read")
    page.keyboard.press("ArrowRight")
    expect(read).to_contain_text(f"No. 2 of 120: "
                                 f"{' → '.join(tokens[position] for position in told['listed'][ranked[1]])}")
    page.keyboard.press("End")
    expect(read).to_contain_text("No. 120 of 120")
    page.mouse.move(*middle(page.locator(".dot").nth(ranked[60])))
    expect(page.locator("circle.pointed")).to_be_visible()
    expect(read).to_contain_text(re.compile(r"No\. \d+ of 120"))
    page.mouse.move(1, 1)
    expect(read).to_contain_text("This order")


def test_a_saved_page_of_the_leak_shows_both_models(show: Show) -> None:
    made = perfect(leak=True, order=MIXED)
    page = show(made)
    expect(page.locator(".dot.leaking")).to_have_count(120)
    expect(page.locator(".dot.before")).to_have_count(120)
    expect(page.locator(".leak p").first).to_contain_text("it is below the floor")
    expect(page.locator(".leak p").nth(1)).to_contain_text("the sum over all words is at most 1")
    expect(page.locator(FINDING)).to_contain_text("With the switch on, the query stream also sees the target itself.")
    expect(page.locator(WHY).nth(1)).to_contain_text("query stream: cats can attend to cats")
    expect(page.get_by_role("switch")).to_be_checked()
    assert page.get_by_role("switch").is_disabled()
    page.locator(".ask summary").press("Enter")
    expect(page.locator(".ask p")).to_contain_text("that is the leak")
    x, y = middle(order_chips(page).first)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 200, y, steps=4)
    page.mouse.up()
    assert words_of(page)[0] == "are", "nobody could say what another order costs"


def test_what_is_no_sentence_has_no_line_and_says_why(show: Show) -> None:
    page = show(lab("the cats is hungry .", order=[1, 4, 2, 0, 3], step=4))
    expect(page.locator(".costs.best .cost")).to_have_text([re.compile(r"\d"), "0.00", "∞", "∞", "∞"])
    assert page.locator("path.floor").count() == 0
    expect(page.locator(".orders-place .said").nth(1)).to_contain_text("'is' cannot occur here")
    expect(page.locator(".belief .note")).to_contain_text("There is no exact prediction here. Word 3: 'is'")


TOLD = "print(lab.order, lab.step, lab.leak, lab.state['order'] == lab.order)"


def test_the_lab_and_the_kernel_talk(jupyter: Desk) -> None:
    page = jupyter.lab("permutation_models.lab()", TOLD, until=".plm-lab .strip")
    order_chips(page).nth(0).hover()
    page.mouse.down()
    page.mouse.move(*middle(order_chips(page).nth(3)), steps=8)
    held = page.locator(".order .chip.held")
    expect(held).to_have_text("are")
    page.set_viewport_size({**SIZE, "width": 1100})
    expect(held).to_have_text("are")  # the lab is drawn for another width once the word is let go
    expect(page.locator(".panel .row[aria-label='step t'] .number").nth(2)).to_have_text("4")
    page.mouse.up()
    page.set_viewport_size(SIZE)
    expect(page.locator(FINDING)).to_contain_text("Step 4 of 5: the target is “are”. Its context is “the” and “cats” "
                                                  "on its left, and “.” on its right.")
    assert words_of(page) == [".", "the", "cats", "are", "hungry"]
    jupyter.run_cell(1, until=r"\[4, 0, 1, 2, 3\] 4 False True")

    order_chips(page).nth(3).focus()
    for key in ("ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
    expect(page.locator(FINDING)).to_contain_text("Step 4 of 5: the target is “cats”")
    assert words_of(page) == [".", "are", "the", "cats", "hungry"]
    assert page.evaluate("document.activeElement.textContent") == "are", "the word stays in hand"
    page.keyboard.press("End")
    expect(page.locator(".panel .row[aria-label='step t'] .number").nth(2)).to_have_text("5")
    page.keyboard.press("Home")
    jupyter.run_cell(1, until=r"\[2, 4, 0, 1, 3\] 4 False True")
    page.get_by_role("button", name="right to left").click()
    expect(page.locator(".order .chip[aria-current]")).to_have_text("cats")
    page.get_by_role("button", name="left to right").click()
    expect(page.locator(".order .chip[aria-current]")).to_have_text("hungry")
    page.get_by_role("button", name="random").click()
    expect(page.locator(".square .matrix").first).to_be_visible()
    page.wait_for_function("""() => 'the cats are hungry .' !==
        [...document.querySelectorAll('.order .chip')].map((chip) => chip.textContent).join(' ')""")

    page.locator(".strip").focus()
    page.keyboard.press("Home")
    said = page.inner_text(".orders-place .read")
    page.keyboard.press("Enter")
    expect(page.locator(".orders-place .read")).to_contain_text("This order: ")
    assert re.search(": (.*?), ", said)[1] in page.inner_text(".orders-place .read")
    assert page.evaluate("document.activeElement.classList.contains('strip')"), "the focus stays"
    assert " → ".join(words_of(page)) == re.search(": (.*?), ", said)[1]

    page.get_by_role("switch").check()
    expect(page.locator(".dot.leaking")).to_have_count(120)
    expect(page.locator(".leak p")).to_have_count(2)
    jupyter.run_cell(1, until=r"True True")
    page.get_by_role("switch").uncheck()
    expect(page.locator(".dot.leaking")).to_have_count(0)

    page.fill(".sentence", "")
    expect(page.locator(".message.error")).to_contain_text("The sentence is empty")
    expect(order_chips(page)).to_have_count(5)
    for text in ("the cats are hungry and the dogs .", "the cats .", TEXT):
        page.fill(".sentence", text)
        expect(order_chips(page)).to_have_count(len(text.split()))
    page.get_by_role("button", name="the verb first").click()
    expect(order_chips(page).first).to_have_text(re.compile("^(is|are)$"))
    page.get_by_role("button", name="the verb last").click()
    expect(order_chips(page).last).to_have_text(re.compile("^(is|are)$"))
    expect(page.locator(FINDING)).to_contain_text(re.compile("on its left, and .* on its right"))
