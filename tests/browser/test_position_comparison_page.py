"""All ways of telling places side by side, on a page and in JupyterLab: what is shown before the guess and after it."""

import statistics
from functools import cache

import pytest
import torch
from playwright.sync_api import Page, expect
from servers import Desk
from standin import HOSTILE
from watching import Show, on_heat, spent

from plmlab.hf import minilm
from plmlab.labs.position.encodings import WAYS
from plmlab.labs.position.lab import PositionLab

WHY = ".compared .why"
FINDING = ".compared > .finding >> nth=0"
FLIP = "input.flip"
PIXELS = "() => [...document.querySelectorAll('.way canvas')].map((canvas) => canvas.toDataURL())"
read_minilm = cache(minilm)


@cache
def lab() -> PositionLab:
    """The lab as it begins."""
    return PositionLab(*read_minilm(), kind="compared")


def scores(of: PositionLab) -> torch.Tensor:
    """[map query key], as the lab sends them."""
    count = len(of.comparison["tokens"])
    return torch.frombuffer(bytearray(of.scores), dtype=torch.float32).view(-1, count, count)


def written(value: torch.Tensor) -> str:
    """A score as the page writes it."""
    return f"{value.item():.2f}".replace("-", "−").replace("−0.00", "0.00")


def pairs(page: Page) -> list[str]:
    """What each card says of the pair."""
    return page.locator(".way .pair").all_inner_texts()


def test_before_the_guess_the_scores_are_told_and_what_a_move_does_is_not(show: Show) -> None:
    page = show(lab())
    before = scores(lab())[:7, 9, 8]
    assert pairs(page) == [f"this pair {written(score)}" for score in before]
    assert page.locator(".way .most").all_inner_texts() == ["largest change ?"] * 7
    assert page.locator(".way h5").all_inner_texts()[:7] == [way.name[0].upper() + way.name[1:] for way in WAYS]
    assert page.locator(".because:visible").count() == 0
    assert "Shifted" not in page.inner_text(".compared")
    assert page.inner_text(WHY) == "story, at position 9, attends to long, at position 8: distance 1"
    assert page.locator(".placed:visible i").all_inner_texts() == [str(i) for i in range(14)]


def test_the_answer_moves_the_sentence_and_two_maps_change(show: Show) -> None:
    """By keyboard alone: the answer, and back to where the sentence stood."""
    page = show(lab())
    still = page.evaluate(PIXELS)
    page.focus(".compared .ask summary")
    page.keyboard.press("Enter")
    expect(page.locator(FINDING)).to_have_text(lab().comparison["finding"])
    expect(page.locator(FLIP).nth(1)).to_be_checked()
    before, after = scores(lab())[:7, 9, 8], scores(lab())[7:14, 9, 8]
    assert pairs(page) == [f"this pair {written(a)} → {written(b)}" for a, b in zip(before, after, strict=True)]
    assert [a != b for a, b in zip(still, page.evaluate(PIXELS), strict=True)] == [True] * 2 + [False] * 5
    changes = [text.removeprefix("largest change ") for text in page.locator(".way .most").all_inner_texts()]
    assert [change in ("0", "< 0.00001") for change in changes] == [False] * 2 + [True] * 5
    assert float(changes[0]) == pytest.approx(lab().comparison["ways"][0]["largest"], abs=0.01)
    assert page.locator(".because:visible").count() == 7
    assert page.inner_text(WHY) == "story, at position 19, attends to long, at position 18: still at distance 1"
    assert page.locator(".placed:visible i").all_inner_texts() == ["0 … 9", *(str(i) for i in range(10, 24))]
    page.focus(f"{FLIP} >> nth=1")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(WHY)).to_contain_text("at position 9")
    assert page.evaluate(PIXELS) == still
    assert page.locator(".way .pair").first.inner_text().count("→") == 1, "what was seen stays told"


def test_one_pair_in_all_maps_by_mouse_and_by_keyboard(show: Show) -> None:
    """A key that comes later counts as the query; the four terms are those of the pair."""
    page = show(lab())
    maps = page.locator(".way .heat")
    terms = scores(lab())[-4:]
    for map, row, column, key in ((2, 12, 3, 3), (6, 4, 11, 4)):
        page.mouse.move(*on_heat(maps.nth(map), row, column))
        expect(page.locator(WHY)).to_contain_text(f"at position {row}, attends to")
        expect(page.locator(WHY)).to_contain_text(f"at position {key}:")
        crosses = page.locator(".way .cross").all()
        assert {cross.get_attribute("aria-colindex") for cross in crosses} == {str(key + 1)}
        parts = terms[:, row, key]
        assert page.locator(".terms td").all_inner_texts() == [written(part) for part in [*parts, parts.sum()]]
    page.mouse.move(0, 0)
    page.focus(".way .cross >> nth=3")
    for press, said in (("ArrowRight", "at position 4: distance 0"), ("ArrowLeft", "at position 3: distance 1"),
                        ("Home", "at position 0: distance 4")):
        page.keyboard.press(press)
        expect(page.locator(WHY)).to_contain_text(said)
    assert page.evaluate("document.activeElement.className") == "cross"
    assert "; the score is " in page.locator(".way .cross").nth(3).get_attribute("aria-label")


def test_a_table_that_ends_is_hatched_and_says_so(show: Show) -> None:
    page = show(PositionLab(*read_minilm(), kind="compared", moved=40))
    assert page.locator(".heat.blank").count() == 0
    page.check(f"{FLIP} >> nth=1")
    expect(page.locator(".way .heat.blank")).to_have_count(1)
    card = page.locator(".way").nth(1)
    assert card.locator(".pair").inner_text().endswith("→ –")
    assert card.locator(".most").inner_text() == "largest change it fails"
    assert "a text of 54 tokens is too long" in card.locator(".because").inner_text()


TOLD = "print(lab.kind, lab.moved, lab.query, lab.key, lab.comparison['moved'], repr(lab.text[:12]))"


def test_the_slider_asks_python_and_python_hears_of_the_pair(jupyter: Desk) -> None:
    page = jupyter.lab('PositionLab(kind="compared")', TOLD, until=".plm-lab .ways .heat")
    expect(page.locator(FINDING)).to_contain_text("The same words")
    page.focus("input[aria-label='shift (positions)']")
    page.keyboard.press("ArrowRight")
    expect(page.locator(FINDING)).to_contain_text("Shifted by 11 positions: the scores change with sinusoidal and ")
    page.keyboard.press("End")
    expect(page.locator(FINDING)).to_contain_text("Shifted by 50 positions: the scores change with sinusoidal "
                                                  "positions, cannot")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "shift (positions)"
    page.fill(".plm-lab .sentence", "")
    expect(page.locator(".message.error")).to_contain_text("empty")
    assert page.locator(".ways .heat").count() == 7
    page.fill(".plm-lab .sentence", "the cat sat")
    expect(page.locator(".ways .heat").first).to_have_attribute("aria-rowcount", "3")
    expect(page.locator(".message")).to_be_empty()
    page.focus(".way .cross >> nth=0")
    page.keyboard.press("Home")
    expect(page.locator(WHY)).to_contain_text("the, at position 50: still at distance 2")
    jupyter.run_cell(1, until="^compared 50 2 0 50 'the cat sat'$")


@pytest.mark.timing
def test_a_flip_is_drawn_within_100_ms(show: Show) -> None:
    """At the longest sentence that is drawn."""
    page = show(PositionLab(*read_minilm(), HOSTILE["long"], kind="compared"))
    assert statistics.median(spent(page, "document.querySelectorAll('input.flip')[(i + 1) % 2].click()", 12)) <= 100
