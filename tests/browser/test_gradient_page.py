"""The Gradient Lab in a real browser: by keyboard, in both views, on a page of its own."""


from playwright.sync_api import expect
from watching import Show

from plmlab.labs import GradientLab


def test_the_map_by_keyboard(show: Show) -> None:
    page = show(GradientLab())
    why = page.locator(".why")
    expect(why).to_contain_text("A perturbation at step 0 changes step 19 by 0.00")
    page.focus(".cross")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    expect(why).to_contain_text("A perturbation at step 1 changes step 18 by")
    assert page.get_attribute(".cross", "aria-label") == why.inner_text()
    page.keyboard.press("Control+Home")
    expect(why).to_contain_text("A perturbation at step 0 has size 1 at step 0 itself")
    page.keyboard.press("ArrowRight")
    expect(why).to_contain_text("Step 0 comes before step 1")


def test_a_slider_turns_vanishing_into_exploding_and_keeps_the_focus(show: Show) -> None:
    page = show(GradientLab())
    expect(page.locator(".finding").first).to_contain_text("It vanishes")
    for name, key in (("input scale", "Home"), ("spectral radius ρ of U", "End")):
        page.focus(f"input[aria-label='{name}']")
        page.keyboard.press(key)
    expect(page.locator(".finding").first).to_contain_text("It explodes: after 19 steps")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "spectral radius ρ of U"
    page.focus("input[aria-label=steps]")
    page.keyboard.press("Home")
    expect(page.locator(".finding").first).to_contain_text("after 3 steps")
    assert page.get_attribute("[role=grid]", "aria-rowcount") == "4"


def test_only_the_lstm_asks_what_is_pushed_and_another_draw_is_another_map(show: Show) -> None:
    page = show(GradientLab())
    switch = page.get_by_role("radiogroup", name="what is perturbed")
    expect(switch).to_be_hidden()
    page.get_by_label("LSTM").check()
    expect(switch).to_be_visible()
    expect(page.locator("input[aria-label='forget bias']")).to_be_visible()
    why = page.locator(".why")
    memory = why.inner_text()
    page.get_by_label("perturb the hidden state h").check()
    expect(why).to_contain_text("A perturbation of the hidden state h")
    assert why.inner_text() != memory
    before = page.evaluate("document.querySelector('canvas').toDataURL()")
    page.get_by_role("button", name="resample").press("Enter")
    page.wait_for_function("was => document.querySelector('canvas').toDataURL() !== was", arg=before)
    assert page.evaluate("document.activeElement.textContent") == "resample"


def test_the_start_on_the_cliff_moves_by_key_and_click_and_not_under_the_pointer(show: Show) -> None:
    page = show(GradientLab(view="cliff"))
    why = page.locator(".why")
    expect(why).to_contain_text("step 4 throws the point from w = 4.53")
    told = why.inner_text()
    box = page.locator(".heat").bounding_box()
    page.mouse.move(box["x"] + 30, box["y"] + 300)
    assert why.inner_text() == told
    page.mouse.click(box["x"] + 30, box["y"] + 300)
    expect(why).not_to_have_text(told)
    page.keyboard.press("ArrowRight")
    assert page.get_attribute(".cross", "aria-label").startswith("start at w = 3.66, b = −2.7.")
