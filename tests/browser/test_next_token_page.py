"""The Next-token Lab in a browser: bars, sliders and the lens by mouse and by keyboard, and hostile texts."""

import re
import statistics

import pytest
from next_token_models import SMALL, WORDS, seeded
from playwright.sync_api import Page, expect
from servers import Desk
from standin import HOSTILE
from watching import WIDTHS, Show, slide, spent, sticks_out

from plmlab.decode import distribution
from plmlab.labs import NextTokenLab
from plmlab.models.gpt import GPT2

TEXT = "Henry Quinn is older than"
WHY = ".lens .why"
MODEL = seeded(GPT2)


def lab_of(text: str = TEXT, **more: object) -> NextTokenLab:
    return NextTokenLab(MODEL, WORDS, text, world=SMALL, **more)


def amounts(page: Page) -> list[str]:
    return page.locator("button.choice .amount:not(.exact)").all_inner_texts()


def number(text: str) -> float:
    return float(re.sub(r"[<> ]", "", text))


def test_the_bars_show_what_python_says(show: Show) -> None:
    lab = lab_of(temperature=1.5, top_k=9)
    page = show(lab)
    chances, rows = lab.distribution(), lab.state["rows"]
    assert page.locator("button.choice bdi").all_inner_texts() == [row["token"] for row in rows]
    for row, said in zip(rows, amounts(page), strict=True):
        exact = chances[row["id"]].item()
        assert said == "cut" if exact == 0 else number(said) == pytest.approx(exact, rel=0.06)
    assert page.locator("button.choice.cut").count() == sum(chances[row["id"]] == 0 for row in rows) > 0
    worlds = page.locator("button.choice .amount.exact").all_inner_texts()
    assert [number(said.replace("–", "0")) for said in worlds] == pytest.approx(
        [row["world"] for row in rows], rel=0.06)
    end = number(page.inner_text(".choice.head .end"))
    for row, bar in zip(rows, page.locator("button.choice i.exact").all(), strict=False):
        wide, room = bar.evaluate("e => [e, e.parentNode].map((box) => box.getBoundingClientRect().width)")
        assert wide == pytest.approx(row["world"] / end * (room - 1), abs=1.5)


def test_sliders_weigh_the_same_logits_anew(show: Show) -> None:
    lab = lab_of()
    page = show(lab)
    logits = lab.stream.logits.double()
    assert page.is_disabled("button:text-is(\"the model's own\")")
    slide(page, "temperature", "Home")
    expect(page.locator("output").first).to_have_text("0.1")
    slide(page, "temperature", *["ArrowRight"] * 16)
    slide(page, "top-k", "Home", "ArrowRight", "ArrowRight", "ArrowRight")
    slide(page, "top-p", *["ArrowLeft"] * 7)
    temperature, top_k, top_p = (float(said) for said in page.locator(".knobs output").all_inner_texts())
    assert (temperature, top_k) == (2, 4) and 0.8 < top_p < 1
    wanted = distribution(logits, temperature, int(top_k), top_p)
    expect(page.locator(".numbers")).to_contain_text(f"{int((wanted > 0).sum())} of 706")
    for row, said in zip(lab.state["rows"], amounts(page), strict=True):
        exact = wanted[row["id"]].item()
        assert said == "cut" if exact == 0 else number(said) == pytest.approx(exact, rel=0.06)
    assert "∞" in page.inner_text(".numbers"), "a word of the world is cut"
    assert page.locator(".was:visible").count() >= 12
    page.focus("button:text-is(\"the model's own\")")
    page.keyboard.press("Enter")
    expect(page.locator(".numbers")).to_contain_text("all 706")
    assert page.locator(".was:visible").count() == 0
    lab.temperature, lab.top_k, lab.top_p = 1.0, None, 1.0
    assert number(page.locator(".numbers dd").last.inner_text().split()[0]) == pytest.approx(lab.divergence(), rel=0.06)


def test_the_question_is_answered_by_the_slider(show: Show) -> None:
    page = show(lab_of())
    page.focus(".ask summary")
    page.keyboard.press("Enter")
    hot = re.match(r"([\d.,]+) at temperature 2", page.inner_text(".ask p")).group(1)
    slide(page, "temperature", *["ArrowRight"] * 7)
    expect(page.locator(".knobs output").first).to_have_text("2")
    expect(page.locator(".numbers dd").nth(1)).to_have_text(hot)


def test_the_lens_is_walked_by_keyboard_alone(show: Show) -> None:
    lab = lab_of()
    page = show(lab)
    lens = lab.state["lens"]
    count, layers = len(lens["tokens"]), len(lens["layers"])
    expect(page.locator("button.choice[tabindex='0']")).to_have_count(1)
    here = page.locator(".cell[tabindex='0']")
    here.focus()
    assert here.get_attribute("data-row") == str(layers - 1) and here.get_attribute("data-column") == str(count - 1)
    assert page.inner_text(WHY).endswith("This is the model's prediction.")
    for key, row, column in (("ArrowUp", layers - 2, count - 1), ("Home", layers - 2, 0), ("Control+Home", 0, 0),
                             ("ArrowRight", 0, 1), ("PageDown", layers - 1, 1)):
        page.keyboard.press(key)
        focused = page.evaluate("[document.activeElement.dataset.row, document.activeElement.dataset.column]")
        assert focused == [str(row), str(column)], key
        cell = lens["columns"][column][row]
        said = page.inner_text(WHY)
        assert said.startswith(f"After {lens['names'][column]}, ") and cell["likeliest"][0][0] in said
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == said
        assert (f"rank {cell['rank']}" in said) == (cell["rank"] > 1)
    assert page.inner_text(".lens h4").startswith(f"After “{lens['names'][1]}”")


def test_the_lens_holds_pythons_cells_and_its_shades_rise(show: Show) -> None:
    lab = lab_of()
    page = show(lab)
    columns = lab.state["lens"]["columns"]
    drawn = page.evaluate("""() => [...document.querySelectorAll('.lens-grid .cell')].map((c) =>
        [c.querySelector('bdi').textContent, c.querySelector('small')?.textContent ?? '#1',
         getComputedStyle(c).backgroundColor.match(/\\d+/g).map(Number)])""")
    wanted = [columns[position][row] for row in range(4) for position in range(len(columns))]
    light = []
    for (token, rank, rgb), cell in zip(drawn, wanted, strict=True):
        assert (token, rank) == (cell["likeliest"][0][0], f"#{cell['rank']}")
        light.append((cell["likeliest"][0][1], 0.21 * rgb[0] + 0.72 * rgb[1] + 0.07 * rgb[2]))
    assert [p for p, _ in sorted(light)] == [p for p, _ in sorted(light, key=lambda pair: (pair[1], pair[0]))]
    cell = page.locator(".lens-grid .cell").nth(2)
    cell.hover()
    assert page.inner_text(WHY).startswith(f"After {lab.state['lens']['names'][2]}, the embedding would predict")


def test_leaving_the_grammar_is_shown_where_the_worlds_bars_were(show: Show) -> None:
    lab = lab_of("the cups near the chair is")
    page = show(lab)
    assert page.inner_text(".lost") == f"The Small World: {lab.state['world']['said']}"
    assert page.locator(".amount.exact").count() == 0


def test_nothing_overflows(show: Show, page: Page) -> None:
    for lab in (lab_of(temperature=2.5), lab_of("the girl " * 40), lab_of("the wombat is"), lab_of("")):
        show(lab)
        assert sticks_out(page, WIDTHS) == {}, lab


@pytest.mark.timing
@pytest.mark.parametrize("size", [len(WORDS), 50_257])
def test_a_slider_repaints_within_30_ms(show: Show, size: int) -> None:
    """The lower quartile, since other tests may run beside this one; at GPT-2's vocabulary too."""
    page = show(NextTokenLab(seeded(GPT2, size), WORDS, TEXT))
    took = statistics.quantiles(spent(page, "slide('[aria-label=temperature]', i % 2 ? 9 : 16)"))
    print(f"a slider's move at {size:,} tokens: median {took[1]:.1f} ms")
    assert took[0] <= 30


LAB = """
import torch
torch.set_num_threads(1)
from plmlab import world
from plmlab.labs import NextTokenLab
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.world.datasets.tokenizer import build_world_tokenizer
torch.manual_seed(0)
small = world.small()
words = build_world_tokenizer(small)
lab = NextTokenLab(GPT2(GPTConfig(len(words), time=24, layers=4, model=64, heads=4)).eval(), words, world=small)
lab
"""
TOLD = "print(repr(lab.text), lab.temperature, lab.top_k, len(lab.state['written']))"


def test_the_lab_and_the_kernel_talk(jupyter: Desk) -> None:
    page = jupyter.run(LAB, TOLD, until=".plm-lab .lens-grid")
    page.fill(".sentence", "the girl")
    expect(page.locator(".lens-grid .chip")).to_have_count(3)
    page.locator("button.choice").nth(2).click()
    expect(page.locator(".written li")).to_have_count(1)
    word = page.locator(".written .chip").inner_text()
    expect(page.locator(".sentence")).to_have_value(f"the girl {word}")
    assert page.evaluate("document.activeElement.dataset.at") == "2", "the focus stays on the bars"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator(".written li")).to_have_count(2)
    page.click("button:text-is('greedy')")
    expect(page.locator(".written li")).to_have_count(3)
    page.click("button:text-is('undo')")
    expect(page.locator(".written li")).to_have_count(2)
    page.click("button:text-is('sample 10')")
    page.wait_for_function("document.querySelectorAll('.written li').length > 2")
    page.locator(".sentence").fill("the boy")
    page.locator("button.choice").first.click()
    expect(page.locator(".sentence")).to_have_value(re.compile("^the boy ."))
    expect(page.locator(".written li")).to_have_count(1)
    page.fill(".sentence", HOSTILE["script"])
    expect(page.locator(".written li")).to_have_count(0)
    page.click("button:text-is('sample')")
    expect(page.locator(".written li")).to_have_count(1)
    assert page.input_value(".sentence").startswith(HOSTILE["script"])
    assert page.locator(".plm-lab img, .plm-lab script").count() == 0
    page.click("button.preset:text-is('only one continuation')")
    expect(page.locator(".message")).to_be_empty()
    slide(page, "temperature", "ArrowRight")
    jupyter.run_cell(1, until=r" 1\.1 None 0$")


@pytest.mark.timing
def test_the_time_of_a_round_trip(jupyter: Desk) -> None:
    """Another text is read by the model and drawn within 100 ms, with room for a busy machine."""
    jupyter.run(LAB, "print(1)", until=".plm-lab .lens-grid")
    pressed = "[...document.querySelectorAll('.plm-lab .presets .preset')].slice(0, 2).reverse()"
    spent = jupyter.round_trips(pressed, ".plm-lab .body")
    print(f"a round trip: median {statistics.median(spent):.0f} ms")
    assert statistics.median(spent) <= 200
