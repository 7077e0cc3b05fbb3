"""Line breaks in a text field, in a live notebook: shown as ↵, kept in what goes to Python, and undone act by act."""

from playwright.sync_api import expect
from servers import Desk

SENTENCE = ".plm-lab .sentence"
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
