"""What holds for every lab. Its page, which needs no kernel, begins as the live lab does in JupyterLab: the same words,
marks and pixels. All of it is reached by keyboard and has a name, a guess comes before its answer, what needs Python is
switched off, it fits any screen, text fields keep line breaks, and what a person types is text."""

import io
import time
from collections.abc import Iterator, Sequence
from itertools import cycle, zip_longest
from pathlib import Path

import pytest
from beginnings import BEGINNINGS, IMPORTS, made
from PIL import Image, ImageChops
from playwright.sync_api import Keyboard, Locator, Page, expect
from servers import Desk
from standin import HOSTILE
from test_token_labels import labelled
from watching import LIMIT, PAINTED, SIZE, WIDTHS, Show, sticks_out

from plmlab import labs

STATE = """(lab) => {
    lab.classList.add('picture');
    const count = (selector) => lab.querySelectorAll(selector).length;
    const controls = [...lab.querySelectorAll('input, select, output, progress')];
    return {
        words: lab.innerText.split('\\n').map((line) => line.trim()).filter(Boolean),
        marks: ['canvas', 'svg', 'path', 'rect', 'circle', 'line', 'text', 'tr', 'td', 'li', 'bdi',
            'i', 'details', '[tabindex]', '[aria-pressed=true]', '.chip', '.cell'].map((name) => [name, count(name)]),
        paths: [...lab.querySelectorAll('path')].map((path) => path.getAttribute('d')),
        set: controls.map((control) => [control.getAttribute('aria-label'), control.value, control.checked ?? null]),
        pixels: [...lab.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL()),
        width: [lab.getBoundingClientRect().width],
    }; }"""
STILL = ".plm-lab :is(input, select) { visibility: hidden }"
"""What a switched-off control looks like is the browser's choice."""
NARROW = 340
"""CSS pixels: a phone, or a notebook beside its open side bars."""
ONE_WORD = ":is([list], .other, .part-a, .cell-field, [aria-label='search for an entity'])"
"""Fields for a word that is looked up, or an answer that is judged: no line break is theirs to keep."""
FIELDS = """(others) => [...document.querySelectorAll(`.plm-lab input[type=text]:not(${others})`)].map((field) => {
    field.text = 'one\\ntwo\\r';
    const { value } = field;
    field.value = `a${value}`;
    return [field.getAttribute('aria-label'), value, field.text]; })"""
"""Of each text field: its name, how a text of two lines is shown in it, and what text it holds after an edit."""
HIGH = 3600
"""CSS pixels: a screen on which JupyterLab shows the highest lab whole, so that nothing covers a part of it."""
WHOLE_PIXELS = """(lab) => {
    const { top } = lab.getBoundingClientRect();
    Object.assign(lab.style, { position: 'relative', top: `${Math.ceil(top) - top}px` }); }"""
"""Puts a lab where its letters' edges are shaded alike."""


@pytest.fixture
def high(jupyter: Desk) -> Iterator[Desk]:
    """An empty notebook on a screen as high as the highest lab."""
    jupyter.page.set_viewport_size({"width": 1280, "height": HIGH})
    yield jupyter
    jupyter.page.set_viewport_size(SIZE)


def beginnings(desk: Desk, made: Sequence[str], page: Page) -> Iterator[tuple[Locator, Locator]]:
    """Each of some labs in the notebook, shown as it was when its page was written; and that page, at the same
    width."""
    shown = f"""labs = [{", ".join(made)}]
for i, lab in enumerate(labs):
    _ = Path(f"lab-{{i}}.html").write_text(lab.html(), encoding="utf-8")
display(*labs)"""
    labs = desk.run(IMPORTS, shown, until=f".plm-lab >> nth={len(made) - 1}").locator(".plm-lab")
    for i in range(len(made)):
        page.set_viewport_size({"width": round(labs.nth(i).bounding_box()["width"]) + 24, "height": 1000})
        page.goto(Path(desk.server.folder, f"lab-{i}.html").as_uri())
        page.wait_for_selector("html[data-drawn]")
        yield labs.nth(i), page.locator(".plm-lab")


def differences(one: Locator, two: Locator, wait: float = LIMIT) -> dict[str, list]:
    """What is not the same in the states of two labs, once both have come to rest, or after so many seconds."""
    deadline = time.monotonic() + wait
    while True:
        mine, other = (lab.evaluate(STATE) for lab in (one, two))
        found = {name: [pair for pair in zip_longest(mine[name], other[name]) if pair[0] != pair[1]]
                 for name in mine if mine[name] != other[name]}
        if not found or time.monotonic() > deadline:
            return found
        one.page.evaluate(PAINTED)


def differing(one: Locator, two: Locator) -> float:
    """The share of pixels that differ by more than the shading of a letter's edge."""
    shots = []
    for lab in (one, two):
        assert lab.bounding_box()["height"] < HIGH - 200, "JupyterLab would show a part of the lab only: raise HIGH"
        lab.scroll_into_view_if_needed()
        lab.evaluate(WHOLE_PIXELS)
        shots.append(Image.open(io.BytesIO(lab.screenshot(animations="disabled", style=STILL))).convert("RGB"))
    assert shots[0].size == shots[1].size
    apart = ImageChops.difference(*shots).convert("L").point(lambda v: 255 * (v > 90))
    return apart.histogram()[255] / (apart.width * apart.height)


def alike(one: Locator, two: Locator) -> bool:
    """Whether fewer than one in a hundred pixels of two labs differ, at the latest once JupyterLab has scrolled to the
    first."""
    deadline = time.monotonic() + LIMIT
    while differing(one, two) >= 0.01:
        if time.monotonic() > deadline:
            return False
        one.page.evaluate(PAINTED)
    return True


def test_every_lab_has_its_beginnings() -> None:
    classes = {name: getattr(labs, name) for name in labs.__all__}
    every = {name for name, found in classes.items() if issubclass(found, labs.Lab) and found is not labs.Lab}
    assert set(BEGINNINGS) == every, "a new lab needs an entry"


@pytest.mark.parametrize("name", BEGINNINGS)
def test_the_page_begins_as_the_live_lab(high: Desk, page: Page, name: str) -> None:
    for beginning, (lab, alone) in zip(BEGINNINGS[name], beginnings(high, BEGINNINGS[name], page), strict=True):
        assert differences(lab, alone) == {}, beginning
        assert alike(lab, alone), beginning
        assert sticks_out(page, (NARROW, *WIDTHS)) == {}, beginning
        for label, value, text in page.evaluate(FIELDS, ONE_WORD):
            assert (value, text) == ("one↵two↵", "aone\ntwo\r"), (beginning, label)


def test_another_beginning_is_told_apart(high: Desk, page: Page) -> None:
    """Where words, marks and pixels differ, each is seen."""
    for two, seen in ((("ShapeXray()", "ShapeXray(wrong=True)"), {"words", "paths", "set"}),
                      (BEGINNINGS["PositionLab"][1:3], {"pixels"})):
        (mine, _), (_, other) = beginnings(high, two, page)
        assert seen <= set(differences(mine, other, wait=0))


DRAWS_A_TEXT = {"BlankLab": slice(1), "PositionLab": slice(3, 5), "WorldLab": slice(1, 2)}
TYPED = [beginning for name, made in BEGINNINGS.items() if "text" in getattr(labs, name).inputs
         for beginning in made[DRAWS_A_TEXT.get(name, slice(-1, None))]]
"""Each lab that reads a text, in a beginning that draws it: the last, which has marks, but where that draws none."""
KEYBOARD = """() => {
    const lab = document.querySelector('.plm-lab');
    const [before, after] = ['before', 'after'].map((name) =>
        Object.assign(document.createElement('button'), { textContent: name }));
    document.body.prepend(before);
    document.body.append(after);
    document.activeElement.blur();
    const roles = ['button', 'gridcell', 'slider', 'switch', 'tab', 'treeitem'].map((role) => `[role=${role}]`);
    const all = () => [...lab.querySelectorAll(
        `:is(a[href], button, input, select, summary, textarea, [tabindex], ${roles}):not(h4)`)];
    const there = () => all().filter((node) => !node.disabled && node.checkVisibility({ visibilityProperty: true }));
    const said = (node) => `${node.tagName} ${node.getAttribute('class') ?? ''} ${node.getAttribute('aria-label')
        ?? node.labels?.[0]?.textContent ?? node.textContent}`;
    const look = (node) => JSON.stringify([node, node.parentElement, node.nextElementSibling]
        .filter((one) => one?.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
        .map((one) => getComputedStyle(one)).map((style) => [style.outlineStyle !== 'none' && style.outline,
            style.boxShadow, style.borderColor, style.backgroundColor, style.stroke]));
    const looks = all().map(look), reached = new Set(), blind = new Set();
    const place = () => all().indexOf(document.activeElement);
    const pressed = (key) => {
        const was = place();
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
        return place() !== was;
    };
    const ways = [['ArrowRight', 'ArrowLeft'], ['ArrowDown', 'ArrowUp'], ['ArrowLeft', 'ArrowRight'],
        ['ArrowUp', 'ArrowDown']];
    const walk = () => {
        reached.add(place());
        for (const [key, back] of ways) {
            if (!pressed(key)) continue;
            if (!reached.has(place())) walk();
            pressed(back);
        }
    };
    const entrance = (node, box = node.parentElement) =>
        there().find((one) => one.tabIndex === 0 && box.contains(one)) ?? entrance(node, box.parentElement);
    window.keyboard = {
        ends: { before, after },
        stop() {
            const now = document.activeElement, i = place();
            if (now === before || now === after) return '';
            reached.add(i);
            if (look(now) === looks[i]) blind.add(said(now));
            return `${i} ${said(now)}`;
        },
        missed() {
            const nodes = all(), sought = there();
            for (const start of new Set(sought.filter((node) => node.tabIndex < 0).map((node) => entrance(node)))) {
                start.focus();
                walk();
            }
            const same = (one, node) => one === node || one.type === 'radio' && one.name === node.name;
            return sought.filter((node) => !nodes.some((one, i) => reached.has(i) && same(one, node))).map(said);
        },
        blind: () => [...blind],
        left: () => all().filter((node) => node.dataset.lmSuppressShortcuts !== 'true').map(said),
    }; }"""
"""Puts something to focus before the lab, and after it. ``stop()`` names what has the focus, if it is in the lab;
``missed()`` walks with arrows from each stop whose neighbours Tab passes by, and names what no key has reached;
``blind()`` names what looked with the focus as it did without, ``left()`` what lets JupyterLab take its keys."""


def stops(page: Page, key: str, start: str) -> list[str]:
    """What has the focus after each press of a key, from before or after the lab until it is left."""
    page.evaluate(f"keyboard.ends.{start}.focus()")
    found = []
    while not found or found[-1]:
        Keyboard.press(page.keyboard, key)  # without the wait for a frame: the focus has moved when this returns
        found.append(page.evaluate("keyboard.stop()"))
        assert len(found) < 100, f"the focus is caught: {found[-3:]}"
    return found[:-1]


def nameless(page: Page) -> list[str]:
    """What takes the focus and has no name, or no role, in the browser's accessibility tree."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return [f"{node['role']['value']} “{node['name']['value']}”" for node in nodes
            if any(one["name"] == "focusable" and one["value"]["value"] for one in node.get("properties", []))
            and (node["role"]["value"] in ("generic", "none") or not node["name"]["value"].strip())]


def opened(page: Page) -> int:
    """How many guesses open their answers by keyboard, and keep them open when the lab is drawn for another width."""
    asks = page.locator(".ask:visible")
    for ask in asks.all():
        answer = ask.locator("p").first
        expect(answer).to_be_hidden()
        ask.locator("summary").press("Enter")
        expect(answer).to_be_visible()
        assert answer.inner_text().strip()
    for width in (900, SIZE["width"]):
        page.set_viewport_size({**SIZE, "width": width})
        assert page.locator(".ask[open]").count() == asks.count()
    return asks.count()


@pytest.mark.parametrize("name", BEGINNINGS)
def test_all_is_reached_by_keyboard(show: Show, name: str) -> None:
    """Tab leads through the lab and out of it, Shift+Tab the same way back, and arrows to what Tab passes by; what has
    the focus is seen to have it, has a name, and keeps its keys from JupyterLab. A guess opens its answer. What needs
    Python is switched off, and the page says so."""
    guesses = 0
    for beginning in BEGINNINGS[name]:
        lab = made(beginning)
        page = show(lab)
        if lab.inputs:
            expect(page.locator(".alone").first).to_be_visible()
        assert "text" not in lab.inputs or page.locator(".sentence:enabled").count() == 0, beginning
        guesses += opened(page)
        page.evaluate(KEYBOARD)
        there = stops(page, "Tab", "before")
        assert there and stops(page, "Shift+Tab", "after") == there[::-1], beginning
        for fault in ("blind", "left", "missed"):
            assert page.evaluate(f"keyboard.{fault}()") == [], (beginning, fault)
        assert nameless(page) == [], beginning
    assert guesses or name == "Curve", "a question invites a guess"


@pytest.mark.parametrize("beginning", TYPED)
def test_what_a_person_types_is_text(show: Show, beginning: str) -> None:
    """As far as the lab's tokenizer knows it, each word is drawn."""
    lab = made(beginning)
    for text in ("sing", *HOSTILE.values()):
        lab.text = text
        page = show(lab)
        assert page.locator(".plm-lab :is(img, script)").count() == 0
        assert page.locator(".sentence").first.evaluate("field => field.text") == text
        drawn = page.locator(".plm-lab").evaluate("lab => lab.textContent")
        assert [word for word in {*text.split()} & {*labelled(lab.state)} if word not in drawn] == []
        for cross in page.locator(".cross:visible").all():
            cross.press("ArrowRight")
            assert cross.get_attribute("aria-label")
        assert sticks_out(page, (420, 960)) == {}, text
        page.set_viewport_size(SIZE)


@pytest.mark.parametrize(("beginning", "hostile"), zip(TYPED, cycle(HOSTILE.values())))
def test_what_is_typed_into_the_live_lab_is_text(jupyter: Desk, beginning: str, hostile: str) -> None:
    """Code into each, and one of the texts in turn. No text at all is an error, or has its own picture; either way
    another text helps."""
    page = jupyter.lab(beginning, until=".plm-lab .sentence")
    before = page.locator(".sentence").first.evaluate("field => field.text")
    for text in ("", HOSTILE["script"], hostile, before):
        page.fill(".plm-lab .sentence >> nth=0", text)
        jupyter.until(f"lab.text == {text!r}")
        assert page.locator(".sentence").first.evaluate("field => field.text") == text
        assert page.locator(".plm-lab :is(img, script)").count() == 0
        refused = not text and "NextTokenLab" not in beginning
        expect(page.locator(".message.error:text('empty')")).to_have_count(int(refused))
