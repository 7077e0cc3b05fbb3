"""The Softmax Lab in a real browser: by keyboard, with any name, on a page of its own."""


import pytest
from playwright.sync_api import expect
from standin import HOSTILE
from watching import Show

from plmlab.labs import SoftmaxLab


def test_a_score_and_the_temperature_by_keyboard(show: Show) -> None:
    page = show(SoftmaxLab())
    assert page.locator(".amount").all_inner_texts() == ["0.53", "0.32", "0.12", "0.026"]
    page.focus("input[aria-label=rug]")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".amount").nth(0)).to_have_text("0.44")
    expect(page.locator(".amount").nth(1)).to_have_text("0.44")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "rug", "the focus stays"
    page.focus("input[aria-label='temperature T']")
    page.keyboard.press("End")
    expect(page.locator(".amount").nth(3)).to_have_text("0.17")
    assert "The perplexity is 3.89," in page.inner_text(".why")


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_is_text(show: Show, name: str) -> None:
    page = show(SoftmaxLab({HOSTILE[name][:400]: 2.0, "b": 1.0}))
    assert page.locator(".plm-lab img, .plm-lab script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
