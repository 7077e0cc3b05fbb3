"""The Layer Lab in a browser: sentences, cosines and the triangle by mouse and keyboard, what a kernel answers."""

import statistics

import pytest
from layer_models import SECOND, TEXT, lab
from playwright.sync_api import Page, expect
from servers import Desk
from standin import HOSTILE
from watching import Show, cut, spent, sticks_out

from plmlab.labs.layer.presets import LayerPreset
from plmlab.labs.layer.scalar_mix import questions, scores

CONTEXT, MIX, SPELLING = (f".layers section:nth-of-type({i}) .why" for i in (1, 2, 3))
TASKS = {"names": (0.2, 0.5, 0.3)}


def chip(page: Page, sentence: int, place: int):
    return page.locator(".words").nth(sentence).locator(".chip").nth(place)


def percent(share: float) -> str:
    return f"{int(100 * share + 0.5)} %"


def shown(page: Page) -> list[str]:
    """The four shares."""
    return page.locator(".score b").all_inner_texts()


def corner(page: Page, layer: int) -> tuple[float, float]:
    """Where a layer alone stands, on the page."""
    page.locator(".triangle").scroll_into_view_if_needed()
    box = page.locator(".triangle").bounding_box()
    path = page.get_attribute(".triangle .edge", "d").strip("MZ").split("L")
    x, y = map(float, path[layer].split())
    return box["x"] + x, box["y"] + y


def test_the_first_state_teaches_without_a_touch(show: Show) -> None:
    made = lab(task_shares=TASKS)
    page = show(made)
    found = made.cosines().tolist()
    cells = page.locator(".cosines tbody .number").all_inner_texts()
    assert cells == [f"{value:.2f}".replace("-", "−") for row in reversed(found) for value in row]
    expect(page.locator("h4").first).to_have_text(
        "At layer 0 the two occurrences of “bank” have the same vector; with both directions, the cosine is "
        f"{found[1][2]:.2f} at layer 1 and {found[2][2]:.2f} at layer 2")
    assert page.locator(".words .asked").all_inner_texts() == ["bank\nmoney", "bank\nriver"]
    mean = scores(made.stored, questions(made.stored), made.shares)
    assert shown(page) == [percent(share) for share in mean.values()]
    expect(page.locator(".amounts")).to_have_text("now: 33 % layer 0, 33 % layer 1 and 33 % layer 2")
    expect(page.locator(".task text")).to_have_text("names")
    expect(page.locator(".sign:not(.around)")).to_have_text([*"bankful"])
    expect(page.locator("h4").last).to_have_text(
        f"“bankful” is not in the vocabulary, yet it has a vector: the nearest word is "
        f"“{made.spelling['near'][0][0]}”")
    for place in (0, 1):
        page.locator(".ask summary").nth(place).click()
    others = sum(row.sense == "bank.money" and row.pattern != "bank.money.right1"
                 for row in made.stored.sentences.known)
    expect(page.locator(".ask p").first).to_contain_text(f"Same sense, {others} occurrences in other sentence patterns")
    little = scores(made.stored, questions(made.stored), (0.98, 0.02, 0.0))
    expect(page.locator(".answer")).to_contain_text(f"{percent(little['sense'])} with 2 % of layer 1")


def test_another_word_is_asked_about_by_mouse_and_keyboard(show: Show) -> None:
    page = show(lab())
    resting = page.inner_text(CONTEXT)
    chip(page, 0, 4).hover()
    expect(page.locator(CONTEXT)).to_have_text("“nurse” (first sentence). Click, or press Enter, to select it.")
    chip(page, 0, 0).click()
    expect(page.locator(".words .asked")).to_have_text(["the", "the"])
    expect(page.locator("h4").first).to_contain_text("the two occurrences of “the”")
    expect(page.locator(".history tbody tr")).to_have_count(2)
    expect(page.locator(".history tbody th")).to_have_text(
        ["the two occurrences of “the”", "the two occurrences of “bank”"])
    assert page.evaluate("document.activeElement.dataset.at") == "0-0", "the focus stays on the word"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(CONTEXT)).to_contain_text("“lent” (first sentence)")
    page.keyboard.press("Enter")
    expect(page.locator(".words .asked")).to_have_text(["lent", "the"])
    expect(page.locator("h4").first).to_contain_text("“lent” and “the” have cosine")
    page.click("button[aria-label='back to the two occurrences of “bank”']")
    expect(page.locator(".words .asked bdi")).to_have_text(["bank", "bank"])
    expect(page.locator(".history tbody th")).to_have_text(
        ["the two occurrences of “bank”", "“lent” and “the”", "the two occurrences of “the”"])
    page.mouse.move(2, 2)
    expect(page.locator(CONTEXT)).to_have_text(resting)


def test_a_cosine_is_told_with_what_it_is_held_against(show: Show) -> None:
    made = lab()
    page = show(made)
    page.focus(".cosines td[tabindex='0']")
    expect(page.locator(CONTEXT)).to_contain_text("At layer 2, forward LSTM, the two occurrences of “bank” have cosine "
                                                  f"{made.cosines()[2][0]:.2f}".replace("-", "−"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    strangers = made.store["strangers"][1][1]
    expect(page.locator(CONTEXT)).to_contain_text("At layer 1, backward LSTM")
    expect(page.locator(CONTEXT)).to_contain_text(f"two different words have {strangers:.2f} there on average")
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    expect(page.locator(CONTEXT)).to_contain_text("layer 0, computed from characters alone")
    assert page.locator(".cosines .strangers").first.evaluate("e => getComputedStyle(e).backgroundImage").startswith(
        "repeating-linear-gradient"), "hatched, not a colour alone"


def test_the_mix_is_dragged_and_all_follows(show: Show) -> None:
    made = lab(task_shares=TASKS)
    page = show(made)
    asked = questions(made.stored)
    for layer in (0, 2):
        page.mouse.move(*corner(page, 1))
        page.mouse.down()
        page.mouse.move(*corner(page, layer), steps=4)
        page.mouse.up()
        expect(page.locator(".amounts")).to_have_text(f"now: layer {layer} alone")
        alone = scores(made.stored, asked, [float(layer == other) for other in range(3)])
        assert shown(page) == [percent(share) for share in alone.values()]
    x, y = corner(page, 0)
    page.mouse.move(x + 95, y - 35)
    page.mouse.down()
    page.mouse.up()
    expect(page.locator(".amounts")).not_to_have_text("now: layer 2 alone")
    shares = page.locator(".handle").evaluate("e => [parseFloat(e.style.left), parseFloat(e.style.top)]")
    box = page.locator(".triangle").bounding_box()
    drawn = [share / 100 * box[side] for share, side in zip(shares, ("width", "height"), strict=True)]
    assert drawn == pytest.approx([x + 95 - box["x"], y - 35 - box["y"]], abs=1)
    page.keyboard.press("ArrowUp")
    expect(page.locator(MIX)).to_contain_text("each layer is divided by the mean norm of its vectors")
    page.click("button:text-is('names')")
    expect(page.locator(".amounts")).to_have_text("now: 20 % layer 0, 50 % layer 1 and 30 % layer 2")
    learned = scores(made.stored, asked, TASKS["names"])
    expect(page.locator(".score b")).to_have_text([percent(share) for share in learned.values()])
    page.focus(".handle")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".amounts")).to_have_text("now: 25 % layer 0, 45 % layer 1 and 30 % layer 2")
    assert page.get_attribute(".handle", "aria-valuetext") == "layer 0 25 %, layer 1 45 %, layer 2 30 %"
    page.click("button:text-is('mean')")
    expect(page.locator("h4").nth(1)).to_contain_text("With the mean of the layers")


def test_dots_and_tasks_are_told_and_coloured_by_the_chosen_share(show: Show) -> None:
    made = lab(task_shares=TASKS, score="form elsewhere")
    page = show(made)
    assert page.locator(".score input").nth(3).is_checked()
    x, y = corner(page, 1)
    page.mouse.move(x - 2, y - 2)
    points = {tuple(point["shares"]): point for point in made.store["points"]}
    expect(page.locator(MIX)).to_contain_text(f"With layer 1 alone: {percent(points[0, 1, 0]['form elsewhere'])}")
    before = page.locator(".dot").first.evaluate("e => e.style.fill")
    page.locator(".score input").first.check()
    assert page.locator(".dot").count() == 28
    expect(page.locator(".handle")).to_be_visible()
    assert page.locator(".dot").first.evaluate("e => e.style.fill") != before


def test_neighbours_are_told_by_signs_and_words(show: Show) -> None:
    page = show(lab())
    rows = page.locator(".near tbody tr")
    first = rows.first.locator("td").all_inner_texts()
    assert first[1] == "✓" and first[2].startswith("✓ money") and rows.first.locator("mark").inner_text() == "bank"
    signs = [cell[0] for cell in page.locator(".near tbody td:nth-child(3)").all_inner_texts()]
    assert {"✓", "✗"} == set(signs)
    cosines = [float(text) for text in page.locator(".near .cosine").all_inner_texts()]
    assert cosines == sorted(cosines, reverse=True)
    page.focus(".near tr[tabindex='0']")
    page.keyboard.press("ArrowDown")
    expect(page.locator(MIX)).to_contain_text("Neighbour 2, cosine")
    page.click("text=of the second sentence")
    expect(page.locator(".near .said-by").first).to_contain_text("sat by the water on the bank")
    chip(page, 0, 0).click()
    page.click("text=of the first sentence")
    assert {cell[0] for cell in page.locator(".near tbody td:nth-child(3)").all_inner_texts()} == {"?"}


def test_filters_are_told(show: Show) -> None:
    made = lab()
    page = show(made)
    one = made.spelling["filters"][0]
    page.focus(".filter[tabindex='0']")
    expect(page.locator(SPELLING)).to_contain_text(f"Filter {one['number']} (of 16) has width {one['width']}.")
    page.keyboard.press("ArrowDown")
    expect(page.locator(SPELLING)).to_contain_text(f"Filter {made.spelling['filters'][1]['number']} (of 16)")
    page = show(lab(spelled="猫🦊"))
    expect(page.locator(".sign small")).to_have_text(["3 bytes", "4 bytes"])
    expect(page.locator(".layers")).to_contain_text("“猫” takes 3 and “🦊” takes 4")


def test_a_saved_page_keeps_what_needs_no_python(show: Show) -> None:
    page = show(lab(presets=[LayerPreset("a", TEXT, SECOND, "bank")]))
    off = page.locator(".layers :is(input, button):disabled").evaluate_all(
        "(all) => all.map((e) => e.ariaLabel || e.textContent)")
    assert off[:4] == ["the first sentence", "the second sentence", "a", "any word, in the vocabulary or not"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_cut(show: Show, theme: str) -> None:
    for made in (lab(task_shares=TASKS), lab(text=" ".join([TEXT] * 5), spelled="猫🦊unbelievable")):
        page = show(made, theme)
        for width in (984, 900, 700):
            assert sticks_out(page, [width]) == {}
            assert cut(page, ".layers :is(.chip, td, .score, .sign, .note, h4)") == [], width


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_stays_text(show: Show, name: str) -> None:
    page = show(lab(text=HOSTILE[name], second=HOSTILE[name], spelled=HOSTILE[name],
                    task_shares={HOSTILE[name][:40]: (1.0, 0.0, 0.0)}))
    assert page.locator(".plm-lab img, .plm-lab script").count() == 0
    assert chip(page, 0, 0).locator("bdi").evaluate("e => e.textContent") == HOSTILE[name].split()[0]


LAB = """layer_models.lab(presets=[
    LayerPreset("a preset", "the nurse saw a star .", "the miner saw a star .", "star")])"""
TOLD = "print(lab.text, lab.places, lab.chosen, [round(share, 2) for share in lab.shares], lab.spelled)"


def test_the_lab_and_the_kernel_talk(jupyter: Desk) -> None:
    page = jupyter.lab(LAB, TOLD, until=".plm-lab .cosines")
    chip(page, 1, 1).click()
    expect(page.locator(".words .asked").nth(1)).to_have_text("miner")
    page.click("button:text-is('layer 2 alone')")
    expect(page.locator(".amounts")).to_have_text("now: layer 2 alone")
    page.fill("input.word", "猫")
    expect(page.locator(".sign.around").first).to_have_text("‹")
    expect(page.locator(".sign small")).to_have_text("3 bytes")
    jupyter.run_cell(1, until=r"money \. \[1, 1\] 1 \[0\.0, 0\.0, 1\.0\] 猫$")
    page.click("button.preset:text-is('a preset')")
    expect(page.locator(".words .asked bdi")).to_have_text(["star", "star"])
    assert page.input_value("[aria-label='the first sentence']") == "the nurse saw a star ."
    expect(page.locator(".history tbody tr")).to_have_count(3)
    page.locator("[data-at='back-2']").click()
    expect(page.locator(".words .asked bdi")).to_have_text(["bank", "bank"])
    assert page.input_value("[aria-label='the first sentence']") == TEXT
    page.fill("input.word", "")
    expect(page.locator(".complaint")).to_contain_text("The word field is empty")
    expect(page.locator(".sign small")).to_have_text("3 bytes")


@pytest.mark.timing
def test_a_mix_is_drawn_in_time(show: Show) -> None:
    """With as few occurrences as here; ``benchmarks/layer_lab.py`` measures with those of the world."""
    page = show(lab())
    took = spent(page, "press('.handle', i % 20 < 10 ? 'ArrowUp' : 'ArrowRight')", 40)
    print(f"median {statistics.median(took):.0f} ms")
    assert statistics.median(took) <= 60
