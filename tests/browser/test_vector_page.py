"""The Vector Lab in a browser: the cloud by mouse and keyboard, words, analogies, training, and a text of one's own."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import vector_fixtures
from playwright.sync_api import Page, expect
from servers import Desk
from standin import HOSTILE
from vector_fixtures import UPDATES, WORDS, lab, snapshots
from watching import WIDTHS, Show, sticks_out

from plmlab.labs import VectorLab
from plmlab.vectors import WordVectors

LAST = snapshots()[UPDATES[-1]]
NEAR = [one.word for one in LAST.neighbours("king")]
DRAWN = "document.querySelector('.cloud canvas').toDataURL()"
WORD = "input[aria-label='a word']"
SLIDER = "input[aria-label='training update']"


def redrawn(page: Page, act: Callable[[], object]) -> None:
    """Do something, and wait until the picture is another."""
    before = page.evaluate(DRAWN)
    act()
    page.wait_for_function(f"was => {DRAWN} !== was", arg=before)


def neighbours(page: Page) -> list[str]:
    return page.locator(".neighbours li bdi").all_inner_texts()


def place(page: Page, word: str) -> tuple[float, float]:
    """Where a word stands on the page, by the numbers of the lab's own view: the whole picture on principal axes."""
    made = lab()
    fitted = made.state["principal"]
    mean, axes = (torch.tensor(fitted[name], dtype=torch.float64) for name in ("mean", "axes"))
    units = {word: (LAST.unit[LAST.place(word)].double() - mean) @ axes.T for word in WORDS}
    a, b, c = (units[one] for one in made.analogy[:3])
    points = torch.stack([*units.values(), c + b - a])
    low, high = points.amin(0), points.amax(0)
    box = page.locator(".cloud canvas").bounding_box()
    scale = min((box["width"] - 68) / float(high[0] - low[0]), (box["height"] - 68) / float(high[1] - low[1]))
    x, y = (units[word] - (low + high) / 2).tolist()
    return box["x"] + box["width"] / 2 + x * scale, box["y"] + box["height"] / 2 - y * scale


def test_the_first_state_teaches(show: Show) -> None:
    page = show(lab())
    expect(page.locator(".finding").first).to_have_text(
        re.compile("^The projection (loses information: it preserves|preserves all)"))
    score = LAST.neighbours("king")[0].score
    expect(page.locator(".why")).to_contain_text(f"nearest by cosine are “{NEAR[0]}” ({score:.2f})")
    assert neighbours(page) == NEAR
    expect(page.locator(".neighbours .seeds").nth(1)).to_have_text(re.compile(r"^[123] of 3"))
    assert page.locator(".answers").is_hidden()
    expect(page.locator(".numbers dd")).to_have_text([str(rank) for rank in (
        vector_fixtures.of_snapshot(LAST)["ranks"][name] for name in ("added", "c", "b"))])
    expect(page.locator(".cross")).to_have_attribute("aria-label", page.inner_text(".why"))
    expect(page.locator(".ranks svg[role=img]")).to_be_visible()


def test_what_was_seen_is_what_is_computed_for_each_word(show: Show) -> None:
    page = show(lab())
    for word in WORDS[1:4]:
        page.fill(WORD, word)
        page.press(WORD, "Enter")
        expect(page.locator(".neighbours h4 bdi")).to_have_text(word)
        assert neighbours(page) == [one.word for one in LAST.neighbours(word)]
        page.get_by_role("radio", name="dot product").check()
        expect(page.locator(".neighbours .head")).to_contain_text("dot product")
        assert neighbours(page) == [one.word for one in LAST.neighbours(word, dot=True)]
        assert page.evaluate("document.activeElement.dataset.at") == "measure-dot", "the focus stays"
        page.get_by_role("radio", name="cosine").check()
        expect(page.locator(".neighbours .head")).to_contain_text("cosine")


def test_a_word_without_a_vector_is_told_by_name_and_changes_nothing(show: Show) -> None:
    page = show(lab())
    page.fill(WORD, "quen")
    page.press(WORD, "Enter")
    expect(page.locator(".complaint")).to_have_text("“quen” has no vector; similar spelling: queen.")
    expect(page.locator(".neighbours h4 bdi")).to_have_text("king")
    page.fill(WORD, "queen")
    expect(page.locator(".neighbours h4 bdi")).to_have_text("queen")
    expect(page.locator(".complaint")).to_have_text("")


def test_the_cloud_by_keyboard(show: Show) -> None:
    page = show(lab())
    page.focus(".cross")
    told = page.inner_text(".why")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".why")).not_to_have_text(told)
    expect(page.locator(".why")).to_contain_text("its cosine with “king” is")
    assert page.get_attribute(".cross", "aria-label") == page.inner_text(".why")
    word = re.match("“(.*?)”", page.inner_text(".why"))[1]
    page.keyboard.press("Enter")
    expect(page.locator(".neighbours h4 bdi")).to_have_text(word)
    assert page.evaluate("document.activeElement.className") == "cross"
    for key in ("+", "Shift+ArrowLeft", "-", "0"):
        redrawn(page, lambda key=key: page.keyboard.press(key))


def test_the_cloud_by_pointer(show: Show) -> None:
    page = show(lab())
    page.mouse.move(*place(page, "cups"))
    expect(page.locator(".why")).to_contain_text("“cups” (things, 3 occurrences): its cosine with “king” is")
    page.mouse.click(*place(page, "cups"))
    expect(page.locator(".neighbours h4 bdi")).to_have_text("cups")
    x, y = place(page, "cups")
    page.mouse.move(x, y)
    page.mouse.down()
    redrawn(page, lambda: page.mouse.move(x - 90, y - 40, steps=4))
    page.mouse.up()
    expect(page.locator(".neighbours h4 bdi")).to_have_text("cups")
    page.mouse.move(0, 0)
    expect(page.locator(".why")).to_contain_text("“cups” (3 occurrences): among 15 other words")
    page.get_by_role("button", name="the whole picture").click()
    page.keyboard.down("Control")
    page.mouse.move(*place(page, "king"))
    redrawn(page, lambda: page.mouse.wheel(0, -200))
    page.keyboard.up("Control")
    expect(page.locator(".why")).to_contain_text("“king”")


def test_the_analogy_with_the_questions_own_words(show: Show) -> None:
    page = show(lab())
    case = vector_fixtures.of_snapshot(LAST)
    page.locator(".told .ask summary").press("Enter")
    answers = page.locator(".answers li")
    expect(answers.locator("bdi")).to_have_text([word for word, _ in case["kept"]])
    own = [word for word, _ in case["kept"] if word in vector_fixtures.ASKED[:3]]
    expect(page.locator(".answers .own bdi")).to_have_text(own)
    expect(page.locator(".answers .own .note").first).to_contain_text("a word of the question")
    expect(page.locator(".told")).to_contain_text(f"Excluding the words of the question: {case['left'][0]}")
    redrawn(page, lambda: (page.fill(".asked .c", "girl"), page.press(".asked .c", "Enter")))
    expect(page.locator(".told .ask summary")).to_contain_text("“king” − “man” + “girl”")
    assert answers.first.is_visible(), "what was opened stays open"
    page.fill(".asked .d", "")
    page.press(".asked .d", "Enter")
    expect(page.locator(".told .numbers")).to_have_count(0)
    left = LAST.analogy("man", "king", "girl")[0].word
    expect(page.locator(".told .finding")).to_have_text(f"Nearest to b − a + c: “{left}”")
    page.fill(".asked .a", "wolf")
    page.press(".asked .a", "Enter")
    expect(page.locator(".complaint")).to_contain_text("“wolf” has no vector")


def test_training_is_scrubbed_and_played(show: Show) -> None:
    page = show(lab())
    page.focus(SLIDER)
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".neighbours h4")).to_have_text("Nearest to king at update 100")
    before, now = ([one.word for one in snapshots()[update].neighbours("king")] for update in UPDATES[:2])
    assert neighbours(page) == now
    new = [word for word in now if word not in before]
    expect(page.locator("li.new bdi")).to_have_text(new)
    gone = [word for word in before if word not in now]
    for word in gone:
        expect(page.locator(".changes")).to_contain_text(f"“{word}”")
    expect(page.locator(".neighbours .note").first).to_contain_text("compared at the last update")
    page.keyboard.press("Home")
    expect(page.locator(".neighbours h4")).to_have_text("Nearest to king at update 0")
    expect(page.locator(".changes")).to_have_count(0)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "training update"
    page.get_by_role("button", name="play the training").click()
    expect(page.locator(".neighbours h4")).to_have_text("Nearest to king at update 2,500")
    expect(page.locator(".play")).to_have_text("▶ play")
    expect(page.locator(".scrubber output")).to_have_text("2,500")
    redrawn(page, lambda: page.get_by_label("trails").uncheck())


def test_axes_from_word_to_word(show: Show) -> None:
    page = show(lab())
    expect(page.locator(".axis-ends .right")).to_contain_text("principal axis 1, ")
    redrawn(page, lambda: page.get_by_label("axes of the picture").select_option("axes from word to word"))
    expect(page.locator(".axis-ends bdi")).to_have_text(["man", "king", "man", "woman"])
    redrawn(page, lambda: (page.fill("input[aria-label='vertical, to']", "girls"),
                           page.press("input[aria-label='vertical, to']", "Enter")))
    expect(page.locator(".axis-ends .top")).to_have_text("↑ girls")
    expect(page.locator(".note", has_text="Horizontal: the cosine of a word's vector with the direction from “man”")
           ).to_be_visible()
    page.fill("input[aria-label='vertical, to']", "man")
    page.press("input[aria-label='vertical, to']", "Enter")
    expect(page.locator(".complaint")).to_have_text("An axis needs two different words.")
    page.get_by_role("button", name="axes of the analogy").click()
    expect(page.locator(".axis-ends .top")).to_have_text("↑ woman")
    page.get_by_label("axes of the picture").select_option("principal axes")
    expect(page.locator(".ends")).to_be_hidden()


def test_a_word_still_being_typed_when_its_axis_goes_away_is_let_go(show: Show) -> None:
    page = show(lab())
    box = page.get_by_label("vertical, to")
    axes = page.get_by_label("axes of the picture")
    for follow in ("this.choose('principal')", "this.input.blur(), this.again.click(), this.choose('principal')"):
        redrawn(page, lambda: axes.select_option("axes from word to word"))
        redrawn(page, lambda axes=axes, follow=follow: page.evaluate("""([box, axes, follow]) => {
            const page = { input: box, again: [...document.querySelectorAll("button")].find(
                (one) => one.textContent === "axes of the analogy"), choose(value) {
                axes.value = value;
                axes.dispatchEvent(new Event("change"));
            } };
            box.focus();
            box.value = "girls";
            box.dispatchEvent(new Event("input"));
            new Function(follow).call(page);
        }""", [box.element_handle(), axes.element_handle(), follow]))
        page.evaluate("() => new Promise((done) => setTimeout(done, 250))")
        expect(page.locator(".ends")).to_be_hidden()


def test_a_spotlight_a_legend_presets_and_a_table(show: Show) -> None:
    preset = {"word": "cup", "axes": vector_fixtures.AXES, "analogy": ("cup", "cups", "girl")}
    page = show(lab(presets={"cups": preset}))
    light = "input.spotlight"
    redrawn(page, lambda: page.fill(light, "walk, walked 猫 wombat"))
    expect(page.locator(".complaint")).to_have_text("“wombat” has no vector; similar spelling: woman.")
    redrawn(page, lambda: page.fill(light, ""))
    expect(page.locator(".complaint")).to_have_text("")
    button = page.get_by_role("button", name="things")
    redrawn(page, lambda: button.press("Enter"))
    expect(button).to_have_attribute("aria-pressed", "false")
    assert page.evaluate("document.activeElement.textContent") == "things", "the focus stays"
    page.mouse.move(*place(page, "cups"))
    expect(page.locator(".why")).not_to_contain_text("“cups” (things")
    button.click()
    page.locator(".table-of.chosen summary").press("Enter")
    expect(page.locator(".table-of.chosen tbody tr")).to_have_count(11)
    page.get_by_role("button", name="cups", exact=True).and_(page.locator(".preset")).click()
    expect(page.locator(".neighbours h4 bdi")).to_have_text("cup")
    expect(page.locator(".table-of.chosen td bdi").first).to_have_text("cup")
    expect(page.locator(".axis-ends .right")).to_have_text("→ woman")
    expect(page.locator(".asked .d")).to_have_value("")


@pytest.mark.parametrize("name", HOSTILE)
def test_any_word_is_drawn_as_text(show: Show, name: str) -> None:
    text = HOSTILE[name]
    words = (text, "x", "y", "<b>z</b>")
    page = show(VectorLab(WordVectors(words, torch.eye(4) + 0.1), groups={text: ["x"]}, analogy=(text, "x", "y"),
                          word="x", presets={text: {"word": text}}))
    assert page.locator(".plm-lab img, .plm-lab script, .plm-lab b > *, .neighbours b").count() == 0
    shown = page.locator(".neighbours li bdi").all_text_contents()
    assert sorted(shown) == sorted([text, "y", "<b>z</b>"])
    page.locator("button.preset").first.click()
    expect(page.locator(".neighbours h4 bdi")).to_have_text(text)
    page.fill(WORD, text[:60])
    page.press(WORD, "Enter")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_nothing_overflows(show: Show, page: Page) -> None:
    for more in ({}, {"axes": vector_fixtures.AXES, "train": dict}):
        show(lab(**more))
        page.locator(".told .ask summary").click()
        assert sticks_out(page, WIDTHS) == {}


def test_one_snapshot_has_no_slider_and_two_words_are_enough(show: Show) -> None:
    page = show(VectorLab(LAST.only(["king", "queen"])))
    assert page.locator(".scrubber, .legend-of, .own-text").count() == 0
    assert neighbours(page) == ["queen"]
    page.focus(".cross")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.get_by_label("axes of the picture").select_option("axes from word to word")
    expect(page.locator(".axis-ends bdi").first).to_have_text("king")
    page = show(VectorLab(LAST))
    expect(page.locator(".told, .asks .note")).to_contain_text("Type three words")
    for name, word in (("a", "man"), ("b", "king"), ("c", "woman")):
        page.fill(f".asked .{name}", word)
        page.press(f".asked .{name}", "Enter")
    expect(page.locator(".told .finding")).to_contain_text("Nearest to b − a + c: ")


def test_a_saved_page_trains_nothing(show: Show) -> None:
    page = show(lab(train=dict))
    expect(page.locator("input[type=file]")).to_be_disabled()
    expect(page.locator(".alone")).to_be_visible()


LAB = """
from collections import Counter
import torch
torch.set_num_threads(1)
from vector_fixtures import lab, WordVectors
def train(text):
    words = tuple(Counter(text.split()))
    if len(words) > 100:
        raise ValueError("too many words for this test")
    torch.manual_seed(0)
    start = torch.randn(len(words), 6)
    return {0: WordVectors(words, start), 50: WordVectors(words, start + torch.randn(len(words), 6))}
made = lab(train=train)
made
"""
TOLD = "print(made.word, made.update, len(made.vectors), made.analogy, len(made.request))"
TALE = "the old king told the queen a long story about the bear and the man . <img src=x onerror=alert(1)> " * 6


def test_a_text_of_ones_own_goes_to_python_and_back(jupyter: Desk, tmp_path: Path) -> None:
    def choose(name: str, content: bytes) -> None:
        path = Path(tmp_path, name)
        path.write_bytes(content)
        page.set_input_files("input[type=file]", path)

    page = jupyter.run(LAB, TOLD, until=".plm-lab .cloud canvas")
    said, message = page.locator(".own-text .said"), page.locator(".plm-lab .message")
    for name, content, told in (("empty.txt", b"", "“empty.txt” is empty"), ("x.png", b"\0\1", "contains zero bytes"),
                                ("latin.txt", "Größe".encode("latin-1"), "not encoded in UTF-8"),
                                ("big.txt", b"word " * 900_000, "has 4.5 MB; the limit is 4 MB")):
        choose(name, content)
        expect(said).to_contain_text(told)
        expect(said).to_contain_text("The previous vectors are still shown.")
    choose("short.txt", b"only a few words")
    expect(message).to_contain_text("“short.txt” has 4 words, which is too short")
    expect(said).to_have_text("")
    choose("many.txt", " ".join(map(str, range(200))).encode())
    expect(message).to_contain_text("training on “many.txt” gave no vectors: too many words for this test")
    expect(page.locator(".neighbours h4 bdi")).to_have_text("king")
    choose("tale.txt", TALE.encode())
    expect(message).to_have_text("These are the vectors trained on “tale.txt”: 16 words × 6 dimensions, 2 snapshots.")
    expect(page.locator(".neighbours h4")).to_have_text("Nearest to king at update 50")
    expect(page.locator(".neighbours li")).to_have_count(10)
    expect(page.locator(".asked .d")).to_have_value("")
    assert page.locator(".plm-lab img").count() == 0
    page.fill(WORD, "bear")
    expect(page.locator(".neighbours h4 bdi")).to_have_text("bear")
    jupyter.run_cell(1, until=r"bear 50 16 \[\] 0$")
    page.get_by_role("button", name="back to the original vectors").press("Enter")
    expect(page.locator(".neighbours h4")).to_have_text(re.compile(r"Nearest to .* at update 2,500"))
    expect(message).to_have_text("")
    expect(page.get_by_role("button", name="back to the original vectors")).to_be_hidden()
    jupyter.run_cell(1, until=r" 2500 16 \[\] 0$")


DROP = """(text) => {
    const carried = new DataTransfer();
    carried.items.add(new File([text], 'dropped.txt'));
    const target = document.querySelector('.own-text');
    for (const kind of ['dragover', 'drop']) {
        target.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: carried }));
    } }"""


def test_a_text_can_be_dropped(jupyter: Desk) -> None:
    page = jupyter.run(LAB, until=".plm-lab .cloud canvas")
    page.evaluate(DROP, TALE)
    expect(page.locator(".plm-lab .message")).to_contain_text("the vectors trained on “dropped.txt”: 16 words")
    expect(page.locator(".own-text input")).to_be_enabled()
    assert page.locator(".own-text.over").count() == 0


def test_what_the_page_chooses_python_has_and_the_other_way(jupyter: Desk) -> None:
    page = jupyter.run(LAB, TOLD, "made.word, made.update, made.analogy = 'cups', 100, ['girl', 'girls', 'cup']",
                       until=".plm-lab .cloud canvas")
    expect(page.locator(".neighbours h4")).to_have_text("Nearest to cups at update 100")
    page.locator(".near button").first.click()
    near = snapshots()[100].neighbours("cups")[0].word
    expect(page.locator(".neighbours h4 bdi")).to_have_text(near)
    jupyter.run_cell(1, until=f"{near} 100 16 .'girl', 'girls', 'cup'. 0$")
    with jupyter.dark():
        redrawn(page, lambda: page.get_by_role("button", name="zoom in").click())


FRAMES = """async () => {
    const canvas = document.querySelector('.cloud canvas'), box = canvas.getBoundingClientRect(), gaps = [];
    canvas.setPointerCapture = () => {};
    const send = (kind, x) => canvas.dispatchEvent(new PointerEvent(kind, { bubbles: true, button: 0,
        clientX: box.left + x, clientY: box.top + 200 }));
    send('pointerdown', 200);
    let last = 0;
    for (let i = 0; i < 90; i++) {
        send('pointermove', 200 + 80 * Math.sin(i / 6));
        const now = await new Promise(requestAnimationFrame);
        if (last) gaps.push(now - last);
        last = now;
    }
    return gaps.sort((a, b) => a - b)[45]; }"""


@pytest.mark.timing
def test_the_cloud_is_panned_sixty_times_a_second(show: Show) -> None:
    generator = torch.Generator().manual_seed(0)
    words = tuple(f"word{i}" for i in range(1500))
    page = show(VectorLab({i: WordVectors(words, torch.randn(1500, 100, generator=generator)) for i in range(20)}))
    assert page.evaluate(FRAMES) < 18
