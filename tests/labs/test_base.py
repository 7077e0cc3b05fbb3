"""The base of the labs: one module of JavaScript, a page that needs nothing else, errors in words."""

import io
import json
import re
import sys

import pytest
from nbformat import NotebookNode
from PIL import Image
from standin import HOSTILE, words

from plmlab import labs
from plmlab.labs import Curve, Lab, MaskLab, picture
from plmlab.labs.base import Change, Computed
from plmlab.labs.bertviz.lab import View
from plmlab.labs.modules import script_json, source
from plmlab.labs.picture import light, view_outputs

LABS = [made for made in (getattr(labs, name) for name in labs.__all__) if issubclass(made, Lab) and made is not Lab]


@pytest.mark.parametrize("cls", LABS)
def test_the_style_touches_labs_only(cls: type[Lab]) -> None:
    css = "\n".join(map(source, ("shared/lab.css", *cls.styles)))
    rules = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    for selector in re.findall(r"([^{}]+)\{", rules):
        assert ".plm-lab" in selector or selector.strip().startswith("@media"), selector


def test_json_in_a_script_cannot_end_it() -> None:
    text = script_json({"a": HOSTILE["script"] + "<!-- \u2028"})
    assert "<" not in text
    assert json.loads(text)["a"] == HOSTILE["script"] + "<!-- \u2028"


def test_a_page_holds_the_lab_and_reaches_for_nothing() -> None:
    lab = MaskLab(words(HOSTILE["script"]), HOSTILE["script"])
    page = lab.html()
    assert page.count("</script>") == 2
    assert not re.search(r"""(src|href)=["']?(http|//)""", page)
    traits = json.loads(re.search(r'id="traits">(.*?)</script>', page, re.DOTALL).group(1))
    assert traits["text"] == HOSTILE["script"]
    assert traits["state"]["tokens"] == lab.state["tokens"]
    assert not [name for name in traits if name.startswith("_")]
    assert 'data-jp-theme-light="false"' in lab.html("dark")


def test_a_title_is_text() -> None:
    assert "<title>a &lt;b&gt;</title>" in Curve("a <b>").html()


def test_a_lab_is_told_by_its_content_and_not_by_its_address() -> None:
    one, two = (repr(MaskLab(words(), "the cat", "causal")) for _ in range(2))
    assert one == two == "<MaskLab: causal language model (GPT): [START] the cat>"


def test_a_button_that_asks_for_the_page_gets_it_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    lab, sent = MaskLab(words(), "the cat", "causal"), []
    monkeypatch.setattr(lab, "send", lambda content: sent.append(content))
    lab._msg_callbacks(lab, {"page": "page-7", "theme": "dark"}, [])
    lab._msg_callbacks(lab, {"page": "page-8", "theme": "<b>"}, [])
    assert sent == [{"page": "page-7", "html": lab.html("dark")}, {"page": "page-8", "html": lab.html("light")}]


class Counting(Lab):
    """A lab of two inputs, which shouts what was typed; ``seen`` has what it was told had changed."""

    inputs = ("text", "max_tokens")

    def __init__(self, **traits: object) -> None:
        self.seen: list[tuple[set[str], set[str]]] = []
        self.heard = ""
        super().__init__(**traits)

    def compute(self, change: Change) -> Computed:
        self.seen.append((set(change.drawn), set(change.tried)))
        if not self.text:
            raise ValueError("type a word")
        return Computed({"state": {"loud": self.text.upper()}, "text": self.text.strip(),
                         "message": "cut" if len(self.text) > self.max_tokens else ""}, {"heard": self.text})


def test_a_lab_computes_at_once_and_again_when_an_input_has_changed() -> None:
    lab, both = Counting(text="cat"), {"text", "max_tokens"}
    assert lab.state == {"loud": "CAT"} and lab.heard == "cat" and lab.seen == [(both, both)]
    lab.text = "dog"
    lab.text = "dog"
    lab.message = "not an input"
    assert lab.state == {"loud": "DOG"} and lab.seen[1:] == [({"text"}, {"text"})]
    lab.set_state({"text": "horses", "max_tokens": 3})
    assert (lab.message, lab.stale) == ("cut", False) and lab.seen[2:] == [(both, both)]


def test_an_input_that_computing_puts_right_costs_nothing_more() -> None:
    lab = Counting(text="  cat ")
    assert lab.text == "cat" and len(lab.seen) == 1


def test_what_stood_stands_where_computing_fails_and_its_change_is_not_forgotten() -> None:
    lab = Counting(text="cat")
    lab.text = ""
    assert (lab.message, lab.stale, lab.state) == ("type a word", True, {"loud": "CAT"})
    lab.max_tokens = 9
    assert lab.stale and lab.seen[1:] == [({"text"}, {"text"}), ({"text", "max_tokens"}, {"max_tokens"})]
    assert lab.heard == "cat"
    lab.text = "cat"
    assert (lab.message, lab.stale) == ("", False)
    assert lab.seen[-1] == ({"max_tokens"}, {"text"}), "the text is the one that is drawn"


def test_the_state_reaches_the_browser_together(monkeypatch: pytest.MonkeyPatch) -> None:
    lab, sent = Counting(text="cat"), []
    monkeypatch.setattr(Counting, "send_state", lambda self, key=None: sent.append(set(key)))
    lab.text = " horses"
    assert [names for names in sent if "state" in names] == [{"text", "state"}]


def test_an_error_in_a_handler_becomes_a_message() -> None:
    lab = Lab()
    with lab.reporting_errors():
        raise ValueError("ten words at most, eleven were given")
    assert (lab.message, lab.stale) == ("ten words at most, eleven were given", True)
    with lab.reporting_errors():
        raise KeyError("x")
    assert "unexpected error" in lab.message
    assert "KeyError" in lab.message


def test_a_missing_browser_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "find_browser", lambda: None)
    with pytest.raises(LookupError, match="apt install chromium"):
        Curve("x").picture()


def test_a_missing_playwright_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    with pytest.raises(LookupError, match="pip install playwright"):
        Curve("x").picture()


def test_a_view_in_a_frame_is_found_with_its_page() -> None:
    page = '<!doctype html><p title="a &amp; b">x < y</p>'
    framed = View("a view", page, 300)._repr_html_()
    outputs = [{"data": {"text/html": framed}}, {"data": {"text/html": "<b>no view</b>"}}, {"data": {}}]
    notebook = NotebookNode(cells=[NotebookNode(outputs=outputs), NotebookNode()])
    assert view_outputs(notebook) == [(outputs[0], page)]


def test_a_heavy_picture_becomes_a_light_one() -> None:
    noise = io.BytesIO()
    Image.effect_noise((900, 700), 90).convert("RGB").save(noise, "PNG")
    kept = light(noise.getvalue(), most=90_000)
    assert len(kept) <= 90_000 < len(noise.getvalue()) and Image.open(io.BytesIO(kept)).width < 900
