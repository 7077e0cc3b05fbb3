"""The base of every lab: one look, one way to say what went wrong, and a page that needs no kernel."""

import html
import json
import re
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Literal

import anywidget
import traitlets

HERE = Path(__file__).parent

Theme = Literal["light", "dark"]

# JupyterLab's own neutrals, for a page that stands outside JupyterLab.
THEMES: dict[Theme, dict[str, str]] = {
    "light": {},
    "dark": {
        "--jp-layout-color1": "#212121", "--jp-layout-color2": "#424242", "--jp-border-color2": "#424242",
        "--jp-content-font-color1": "#fff", "--jp-content-font-color2": "rgba(255, 255, 255, .7)",
    },
}

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


def source(name: str) -> str:
    """The text of a file of the labs, named from this folder on: ``"shared/lab.js"``."""
    return (HERE / name).read_text(encoding="utf-8")


def snake_case(name: str) -> str:
    """``MaskLab`` → ``mask_lab``: what the files of a lab are called that a reader saves."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def script_json(value: object) -> str:
    """JSON that may stand inside a ``<script>``: nothing in it can end the script or open a comment. Bytes become
    text in base64."""
    text = json.dumps(value, ensure_ascii=False, default=lambda sent: b64encode(sent).decode())
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028")


class Lab(anywidget.AnyWidget):
    """A widget that lets one idea be turned by hand.

    Python computes ``state``, a dict for JSON; JavaScript draws it and answers whatever needs no Python.
    A subclass names its ``title`` and, in ``scripts``, the files that draw it, named from this folder on; the last of
    them declares ``const lab = { render }``. They are joined with ``lab.js`` and ``export.js`` to one module; and
    ``styles``, where the lab has forms of its own, with ``lab.css`` to one stylesheet.

    Attributes:
        text: the reader's own sentence, as typed.
        state: what is drawn.
        message: an error or a note in the reader's words; "" for none.
        stale: the message is an error, and what is drawn belongs to an earlier input.
        max_tokens: how many tokens are drawn at most.
    """

    title: str = "Lab"
    scripts: ClassVar[tuple[str, ...]] = ()
    styles: ClassVar[tuple[str, ...]] = ()
    _css = source("shared/lab.css")

    text = traitlets.Unicode().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)
    message = traitlets.Unicode().tag(sync=True)
    stale = traitlets.Bool(False).tag(sync=True)
    max_tokens = traitlets.Int(64).tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(self._answer)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if "scripts" in cls.__dict__:
            cls._esm = cls.module()
        if "styles" in cls.__dict__:
            cls._css = "\n".join(map(source, ("shared/lab.css", *cls.styles)))
        super().__init_subclass__(**kwargs)

    @classmethod
    def module(cls) -> str:
        """The lab's JavaScript as one module, which imports nothing."""
        name = f"const LAB_NAME = {json.dumps(snake_case(cls.__name__))};"
        files = ("shared/lab.js", "shared/export.js", *cls.scripts)
        return "\n".join([name, *map(source, files), "export default lab;\n"])

    @contextmanager
    def reporting_errors(self) -> Iterator[None]:
        """Turn an error inside the block into the lab's ``message``; the state that stood, stands."""
        try:
            yield
        except ValueError as error:
            self.message, self.stale = str(error), True
        except Exception as error:
            self.message = f"something in this lab went wrong ({type(error).__name__}: {error}); " \
                           "what is drawn is from before"
            self.stale = True

    def _answer(self, _: anywidget.AnyWidget, content: dict[str, Any], buffers: list[memoryview]) -> None:
        """Send the page that a button in the browser asks for."""
        with self.reporting_errors():
            theme: Theme = "dark" if content.get("theme") == "dark" else "light"
            self.send({"page": content.get("page"), "html": self.html(theme)})

    def traits_for_page(self) -> dict[str, Any]:
        """What the page must know: the synchronised traits of this lab by name, none of the widget's own."""
        own = set(self.trait_names(sync=True)) - set(anywidget.AnyWidget.class_trait_names())
        return {name: value for name, value in self.get_state(sorted(own)).items() if not name.startswith("_")}

    def html(self, theme: Theme = "light") -> str:
        """The lab as one HTML page that needs no kernel, no network and no other file.

        All that JavaScript computes goes on working; the controls that need Python are switched off.
        """
        neutrals = " ".join(f"{name}: {value};" for name, value in THEMES[theme].items())
        return "\n".join([
            "<!doctype html>",
            f'<html lang="en" data-jp-theme-light="{"true" if theme == "light" else "false"}">',
            '<meta charset="utf-8"><meta name="viewport" content="width=device-width">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            f"<title>{html.escape(self.title)}</title>",
            f"<style>:root {{ {neutrals} }}",
            f"body {{ margin: 12px; background: var(--jp-layout-color1, #fff); }}\n{self._css}</style>",
            '<main id="lab"></main>',
            f'<script type="application/json" id="traits">{script_json(self.traits_for_page())}</script>',
            f'<script type="module">\n{self.module()}\n{source("shared/page.js")}</script>',
            "</html>\n",
        ])

    def picture(self, *, width: int = 960, theme: Theme = "light", scale: float = 2.0) -> bytes:
        """The lab as PNG, ``width`` CSS pixels wide at most, ``scale`` pixels for each; a
        LookupError says what is missing.

        It is taken of ``html()`` in headless Chromium.
        """
        from plmlab.labs.picture import pictures
        return pictures([self.html(theme)], width=width, scale=scale)[0]

    def summary(self) -> str:
        """One line of text that stands for the lab where no widget can be drawn; the title, unless a lab says more."""
        return self.title

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary()}>"
