"""The labs in a real JupyterLab: what goes to the kernel and comes back, by mouse and by keyboard."""

import statistics

import pytest
from playwright.sync_api import expect
from servers import CHIPS, MASK_LAB, Desk

TOLD = "print(lab.objective, len(lab.example.tokens), int((~lab.example.visible.dense()).sum()), repr(lab.text[:12]))"
SENTENCE = ".plm-lab .sentence"


def test_the_mask_lab_and_the_kernel_talk(jupyter: Desk) -> None:
    page = jupyter.run(MASK_LAB, TOLD, until=CHIPS)
    expect(page.locator(CHIPS)).to_have_count(12)

    page.select_option("[aria-label=objective]", "causal")
    expect(page.locator(CHIPS).first).to_have_text("[START]")
    expect(page.locator(".sliders input")).to_have_count(0)
    page.fill(SENTENCE, "the cat sat")
    expect(page.locator(CHIPS)).to_have_count(4)
    page.focus(".cross")
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".why")).to_contain_text("you allowed this pair by hand")
    jupyter.run_cell(1, until="^causal 4 5 'the cat sat'$")

    page.click("button:text-is('mask half of the words')")
    expect(page.locator(".chip.mask, .chip.changed, .chip.kept").first).to_be_visible()
    slider = page.locator(".sliders input")
    assert slider.input_value() == "0.5"
    page.fill(SENTENCE, "the quick brown fox jumps over the lazy dog")
    expect(page.locator(CHIPS)).to_have_count(11)
    slider.focus()
    for _ in range(9):
        page.keyboard.press("ArrowLeft")
    expect(page.locator(".sliders output")).to_have_text("0.05")
    expect(page.locator(".plm-lab .target:not(.none)")).to_have_count(1)
    before = page.locator(".reads").inner_text() + page.locator(".row").nth(2).inner_text()
    for _ in range(3):
        page.click("button:text-is('draw again')")
    page.wait_for_function("was => document.querySelector('.reads').innerText"
                           " + document.querySelectorAll('.row')[2].innerText !== was", arg=before)
    page.click("button:text-is('reset')")
    expect(page.locator(".sliders output")).to_have_text("0.15")
    assert page.input_value(SENTENCE) == "the quick brown fox jumps over the lazy dog"
    jupyter.run_cell(1, until="^masked 11 0 'the quick br'$")


def test_the_dark_theme(jupyter: Desk) -> None:
    with jupyter.dark():
        page = jupyter.run(MASK_LAB, "from standin import SENTENCES\nlab.text = SENTENCES[64]", until=CHIPS)
        expect(page.locator(CHIPS)).to_have_count(64)
        expect(page.locator(".plm-lab")).to_have_css("background-color", "rgb(33, 33, 33)")


@pytest.mark.timing
def test_a_round_trip_to_the_kernel_takes_100_ms(jupyter: Desk) -> None:
    page = jupyter.run(MASK_LAB, "from standin import SENTENCES\nlab.text = SENTENCES[64]", until=CHIPS)
    expect(page.locator(CHIPS)).to_have_count(64)
    pressed = "[[...document.querySelectorAll('.plm-lab button')].find((b) => b.textContent === 'draw again')]"
    spent = jupyter.round_trips(pressed, ".plm-lab .body")
    assert statistics.median(spent) <= 100


CURVE = """
import time
from pathlib import Path
from plmlab.labs import Curve
curve = Curve("a run", floor=2.0, steps=60)
display(curve)
"""
RUN = """
for step in range(1, 61):
    curve.add(step, 2.1 + 5 / step, validation=2.5 if step % 20 == 0 else None)
    while step % 20 == 0 and not Path(f"seen-{step}").exists():
        time.sleep(0.02)
curve.finish("it ended here")
"""


def test_a_curve_moves_while_the_cell_runs(jupyter: Desk) -> None:
    page = jupyter.run(CURVE, RUN, until=".plm-lab .plot svg", to_the_end=False)
    for step in (20, 40, 60):
        expect(page.locator(".plm-lab .numbers dd").first).to_have_text(f"{step} of 60")
        expect(page.locator(".plm-lab circle.held-out")).to_have_count(step // 20)
        expect(page.locator(".plm-lab .read")).not_to_contain_text("it ended here")
        (jupyter.server.folder / f"seen-{step}").touch()
    expect(page.locator(".plm-lab .read")).to_contain_text("it ended here")
    page.focus(".plm-lab .plot")
    page.keyboard.press("Home")
    expect(page.locator(".plm-lab .read")).to_contain_text("step 1")
