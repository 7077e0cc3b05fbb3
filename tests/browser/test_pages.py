"""The labs on pages of their own: drawn, walked by mouse and by keyboard, light and dark, with any text."""

import math
import re
import statistics
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect
from standin import CHINESE, SENTENCES, Words, words
from watching import Show, spent, sticks_out

from plmlab.example import Example
from plmlab.labs import Curve, Lab, MaskLab
from plmlab.objectives import OBJECTIVES, Objective
from plmlab.visibility import Visibility

WHY = ".plm-lab .why"
CROSS = ".plm-lab .cross"


def live_curve() -> Curve:
    curve = Curve("a run", floor=2.1, steps=300)
    for step in range(1, 201):
        curve.add(step, 2.2 + 5 * math.exp(-step / 40), validation=2.6 if step % 50 == 0 else None)
    curve.finish("200 steps")
    return curve


def over(page: Page, query: int, key: int) -> tuple[float, float]:
    """The point on the screen where a cell is, of a grid whose rows and columns the crosshair measures."""
    return tuple(page.evaluate("""([q, k]) => {
        const box = document.querySelector('.matrix').getBoundingClientRect();
        const chips = document.querySelectorAll('.reads > .chip');
        const names = document.querySelectorAll('.query-name');
        const [c, r] = [chips[k].getBoundingClientRect(), names[q].getBoundingClientRect()];
        return [c.left + c.width / 2, r.top + r.height / 2];
    }""", [query, key]))


def test_the_pointer_learns_who_sees_whom_and_why(show: Show) -> None:
    lab = MaskLab(words(), SENTENCES[12], "causal")
    page = show(lab)
    names = lab.state["names"]
    for query, key in ((5, 2), (2, 5), (0, 0), (10, 10)):
        page.mouse.move(*over(page, query, key))
        assert page.inner_text(WHY) == lab.example.visible.reason(query, key, names)
        assert page.inner_text(".query-name.is-query") == lab.state["tokens"][query]
        assert page.inner_text(".chip.is-key") == lab.state["tokens"][key]


def test_a_click_edits_and_reset_clears(show: Show) -> None:
    page = show(MaskLab(words(), SENTENCES[12], "causal"))
    assert page.locator(".cells.blocked").count() == 1
    page.mouse.click(*over(page, 0, 4))
    assert "you allowed this pair by hand" in page.inner_text(WHY)
    assert "set by hand" in page.inner_text(".legend")
    page.mouse.click(*over(page, 4, 0))
    assert "you blocked this pair by hand" in page.inner_text(WHY)
    page.mouse.click(*over(page, 4, 0))
    assert "by hand" not in page.inner_text(WHY)
    page.click("text=reset")
    assert "set by hand" not in page.inner_text(".legend")


def test_a_walk_by_keyboard_alone(show: Show) -> None:
    lab = MaskLab(words(), SENTENCES[12], "causal")
    page = show(lab)
    page.focus(CROSS)
    names, place = lab.state["names"], [5, 6]
    for key, move in (("ArrowLeft", (0, -1)), ("ArrowUp", (-1, 0)), ("ArrowDown", (1, 0)), ("ArrowRight", (0, 1))):
        page.keyboard.press(key)
        place = [place[0] + move[0], place[1] + move[1]]
        assert page.inner_text(WHY) == lab.example.visible.reason(*place, names)
        assert page.get_attribute(CROSS, "aria-label") == page.inner_text(WHY)
        assert page.evaluate("document.activeElement.className") == "cross"
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert "you blocked this pair by hand" in page.inner_text(WHY)
    page.keyboard.press(" ")
    assert "by hand" not in page.inner_text(WHY)
    page.keyboard.press("Control+End")
    assert page.get_attribute(CROSS, "aria-colindex") == "11"
    page.focus(".ask summary")
    page.keyboard.press("Enter")
    assert page.inner_text(".ask p") == OBJECTIVES["causal"].answer


def test_a_pair_is_one_square_and_its_upper_right_stays_closed(show: Show) -> None:
    lab = MaskLab(words(), "the old baker told the ferryman", "sequence_to_sequence", second="the baker told a story")
    page = show(lab)
    split, names = lab.state["split"], lab.state["names"]
    assert page.locator(".half").all_inner_texts() == ["encoder (source)", "decoder (target)"]
    assert page.get_attribute(CROSS, "aria-colindex") == str((split - 1) // 2 + 1), "it begins across"
    for query, key in ((split, 0), (0, split), (split + 1, split), (1, 2)):
        page.mouse.move(*over(page, query, key))
        verbs = lab.state["verbs"]
        cause = lab.state["masks"][0]["rule_ids"][query * len(names) + key]
        assert page.inner_text(WHY).startswith(f"{names[query]} {verbs[cause < 0]} {names[key]}: ")
    page.mouse.click(*over(page, 0, split + 1))
    assert "by hand" not in page.inner_text(WHY) and "set by hand" not in page.inner_text(".legend")
    page.mouse.click(*over(page, split, 0))
    assert "you blocked this pair by hand" in page.inner_text(WHY)


def test_a_text_from_both_ends_is_one_square_and_nothing_opens_between(show: Show) -> None:
    lab = MaskLab(words(), "the cat sat", "bidirectional_lm")
    page = show(lab)
    assert page.locator(".half").all_inner_texts() == ["forward (left to right)", "backward (right to left)"]
    assert page.inner_text(WHY) == "sat (backward) cannot attend to the (forward): the two directions share no " \
                                   "state, so neither depends on what the other has read."
    assert page.locator(".row[aria-label=position] .number").all_inner_texts() == list("01234321")
    for query, key in ((0, 5), (5, 0)):
        page.mouse.click(*over(page, query, key))
        assert "share no state" in page.inner_text(WHY) and "set by hand" not in page.inner_text(".legend")
    for query, key, done in ((0, 2, "allowed"), (7, 4, "blocked")):
        page.mouse.click(*over(page, query, key))
        assert f"you {done} this pair by hand" in page.inner_text(WHY)


def test_a_recurrent_network_says_influence_and_counts_the_steps(show: Show) -> None:
    page = show(MaskLab(words(), SENTENCES[12], "causal", network="recurrent"))
    page.mouse.move(*over(page, 9, 2))
    assert page.inner_text(WHY) == "dog can be influenced by quick: the state carries information from quick to dog; " \
                                   "state updates in between: 7."
    assert page.inner_text(".axes") == "query ↓ is influenced by key →"
    assert page.locator("[aria-label='architecture']").input_value() == "recurrent"


def test_two_streams_are_shown_one_at_a_time(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    def two_streams(tokens, *, vocab, rng) -> Example:
        made = OBJECTIVES["causal"].make(tokens, vocab=vocab, rng=rng)
        return replace(made, query_stream_mask=Visibility.full(len(made.tokens)))
    monkeypatch.setitem(OBJECTIVES, "two", Objective("two", "two streams", "双流", "a test", two_streams))
    lab = MaskLab(words(), SENTENCES[6], "two")
    page = show(lab)
    assert page.locator(".cells.blocked").count() == 1
    page.focus(".streams input")
    page.keyboard.press("ArrowDown")
    assert page.locator(".cells.blocked").count() == 0
    page.mouse.click(*over(page, 0, 1))
    assert page.locator(".cells.blocked").count() == 1
    page.keyboard.press("Shift+Tab")
    page.click(".streams label >> nth=0")
    assert "by hand" not in page.inner_text(".legend")


CONTRAST = """() => {
    const lab = document.querySelector('.plm-lab');
    const probe = lab.appendChild(document.createElement('i'));
    const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const paint = (name) => {
        probe.style.color = `var(--${name})`;
        context.fillStyle = getComputedStyle(probe).color;
        context.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v / 255)
            .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const found = {};
    for (const text of ['ink', 'soft', 'query-text', 'key-text', 'target-text', 'bad-text'])
        for (const ground of ['paper', 'shade']) found[`${text} on ${ground}`] = ratio(paint(text), paint(ground));
    found['amber-text on amber-fill'] = ratio(paint('amber-text'), paint('amber-fill'));
    found.ground = paint('paper');
    probe.remove();
    return found;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_can_be_read(show: Show, theme: str) -> None:
    found = show(MaskLab(words(), SENTENCES[6]), theme).evaluate(CONTRAST)
    assert (found.pop("ground") < 0.2) == (theme == "dark")
    assert {name: ratio for name, ratio in found.items() if ratio < 4.5} == {}


def test_nothing_overflows_and_nothing_is_cut(show: Show, page: Page) -> None:
    chinese = Words(CHINESE.values())
    labs: list[Lab] = [MaskLab(words(), text, "causal") for text in SENTENCES.values()]
    labs += [MaskLab(words(), text, "bidirectional_lm", network="bidirectional") for text in SENTENCES.values()]
    labs += [MaskLab(chinese, text) for text in CHINESE.values()] + [live_curve()]
    for lab in labs:
        show(lab)
        assert sticks_out(page, (420, 800, 1280)) == {}, lab


@pytest.mark.timing
def test_the_crosshair_of_64_tokens_moves_within_30_ms(show: Show) -> None:
    page = show(MaskLab(words(), SENTENCES[64], "causal"))
    page.focus(CROSS)
    took = spent(page, "press('.cross', i % 2 ? 'ArrowRight' : 'ArrowUp')")
    assert statistics.median(took) <= 30


def test_a_curve_is_read_by_keyboard_and_as_a_table(show: Show) -> None:
    page = show(live_curve())
    page.focus(".plot")
    page.keyboard.press("Home")
    expect(page.locator(".read")).to_contain_text("step 1: training")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".plot")).to_have_attribute("aria-valuetext", re.compile("^step 2, training loss"))
    page.keyboard.press("End")
    expect(page.locator(".read")).to_contain_text("step 200")
    expect(page.locator(".read")).to_contain_text("held-out 2.600")
    page.focus(".table-of summary")
    page.keyboard.press("Enter")
    expect(page.locator(".table-of tbody tr")).to_have_count(12)
    assert page.locator(".table-of tbody tr").last.inner_text().split()[0] == "200"


def test_a_curve_with_nothing_yet_is_drawn(show: Show) -> None:
    page = show(Curve("<b>nothing</b>", steps=10))
    assert page.inner_text("h3") == "<b>nothing</b>"
    assert page.locator(".plot svg path").count() > 0
    page.focus(".plot")
    page.keyboard.press("ArrowRight")
