"""Line breaks in the labs' text fields: shown as ↵, kept in what goes to Python, and undone act by act."""

from collections.abc import Callable

import pytest
from beginnings import BEGINNINGS, made
from playwright.sync_api import Page, expect
from servers import Desk

pytestmark = pytest.mark.browser

Show = Callable[..., Page]
SENTENCE = ".plm-lab .sentence"
ONE_WORD = ":is([list], .other, [aria-label='search an entity'])"
"""Fields for a word, which is looked up and never edited."""
FIELDS = """(others) => [...document.querySelectorAll(`.plm-lab input[type=text]:not(${others})`)].map((field) => {
    field.text = 'one\\ntwo\\r';
    const { value } = field;
    field.value = `a${value}`;
    return [field.getAttribute('aria-label'), value, field.text]; })"""


@pytest.mark.parametrize("lab_class", BEGINNINGS)
def test_every_text_field_shows_line_breaks_and_keeps_them(show: Show, lab_class: str) -> None:
    lab = made(BEGINNINGS[lab_class][0])
    lab.text = lab.text.replace(" ", "\n", 1)
    page = show(lab)
    for field in page.locator(SENTENCE).all()[:1]:
        assert field.evaluate("field => [field.value, field.text]") == [lab.text.replace("\n", "↵"), lab.text]
    for label, value, text in page.evaluate(FIELDS, ONE_WORD):
        assert (value, text) == ("one↵two↵", "aone\ntwo\r"), label


NEXT_TOKEN = """
import torch
torch.set_num_threads(1)
from next_token_models import seeded
from plmlab.labs import NextTokenLab
from plmlab.models.gpt import GPT2
from plmlab.text.tokenizers import Tokenizer
pieces = Tokenizer.bpe(["Anna: The red boat", "Tom: a banana"], 320)
lab = NextTokenLab(seeded(GPT2, len(pieces)), pieces, "Anna:")
lab
"""
WRITE_A_BREAK = 'lab.request = {"do": "take", "token": pieces.encode("\\n")[0], "number": "1"}'


def test_what_a_model_wrote_across_lines_grows_and_is_undone_act_by_act(jupyter: Desk) -> None:
    page = jupyter.run(NEXT_TOKEN, WRITE_A_BREAK, "print(repr(lab.text))", until=".plm-lab .lens-grid")
    sentence, written = page.locator(SENTENCE), page.locator(".written li")
    expect(sentence).to_have_value("Anna:↵")
    page.locator("button.choice").nth(1).click()
    expect(written).to_have_count(2)
    assert jupyter.run_cell(2).startswith(r"'Anna:\n")
    page.click("button:text-is('undo')")
    expect(written).to_have_count(1)
    page.click("button:text-is('sample 10')")
    expect(written).to_have_count(11)
    page.click("button:text-is('undo')")
    expect(sentence).to_have_value("Anna:↵")
    expect(written).to_have_count(1)
    assert jupyter.run_cell(2) == r"'Anna:\n'"


def test_typing_and_pasting_keep_line_breaks(jupyter: Desk) -> None:
    page = jupyter.run(NEXT_TOKEN, 'lab.text = "Anna:\\nThe red boat"', "print(repr(lab.text))",
                       until=".plm-lab .lens-grid")
    sentence = page.locator(SENTENCE)
    expect(sentence).to_have_value("Anna:↵The red boat")
    sentence.press("End")
    page.keyboard.insert_text(" ↵")
    jupyter.run_cell(2, until=r"^'Anna:\\nThe red boat \\n'$")
    sentence.press("Home")
    sentence.evaluate("""(field) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text/plain', 'Tom:\\r\\n');
        field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })); }""")
    expect(sentence).to_have_value("Tom:↵Anna:↵The red boat ↵")
    jupyter.run_cell(2, until=r"^'Tom:\\nAnna:\\nThe red boat \\n'$")
    page.fill(SENTENCE, "the girl")
    jupyter.run_cell(2, until="^'the girl'$")
