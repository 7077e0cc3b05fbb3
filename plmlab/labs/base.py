"""The base of every lab: one look, one way to say what went wrong, and a page that needs no kernel."""

import html
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import anywidget
import traitlets
from IPython import get_ipython

from plmlab.labs.cells import cells_of
from plmlab.labs.modules import page_script, script_json, source, widget_module
from plmlab.text.printable import printable

Theme = Literal["light", "dark"]

# JupyterLab's own neutrals, for a page that stands outside JupyterLab.
THEMES: dict[Theme, dict[str, str]] = {
    "light": {},
    "dark": {
        "--jp-layout-color1": "#212121", "--jp-layout-color2": "#424242", "--jp-border-color2": "#424242",
        "--jp-content-font-color1": "#fff", "--jp-content-font-color2": "rgba(255, 255, 255, .7)",
    },
}

POLICY = "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data:"


def differing(now: Mapping[str, Any], then: Mapping[str, Any]) -> set[str]:
    """The names whose values are not those of then."""
    return {name for name, value in now.items() if name not in then or value != then[name]}


def snake_case(name: str) -> str:
    """``MaskLab`` → ``mask_lab``: what the files of a lab are called that a reader saves."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


@dataclass(frozen=True)
class Change:
    """The inputs that changed: ``drawn``, since what is drawn was computed; ``tried``, since computing was last tried,
    whether or not it failed."""

    drawn: AbstractSet[str]
    tried: AbstractSet[str]


@dataclass(frozen=True)
class Computed:
    """What follows from a lab's inputs: synchronised ``traits``, and attributes that are ``kept`` beside them. All of
    it is taken over at once."""

    traits: dict[str, Any]
    kept: dict[str, Any] = field(default_factory=dict)


class Lab(anywidget.AnyWidget):
    """A widget that lets one idea be turned by hand.

    Python computes ``state``, a dict for JSON; JavaScript draws it and answers whatever needs no Python.
    A subclass names its ``title``; in ``module`` the JavaScript file that draws it, named from this folder on, whose
    default export is made with ``lab`` of ``shared/lab.js``; in ``styles``, where the lab has forms of its own, the
    stylesheets that stand beside ``shared/lab.css``; in ``inputs`` the traits that its state hangs on, and in
    ``compute`` how. Files are read when a lab is made: save, run the cell, see it.

    Attributes:
        text: the reader's own sentence, as typed.
        state: what is drawn.
        message: an error or a note in the reader's words; "" for none.
        stale: the message is an error, and what is drawn belongs to an earlier input.
        max_tokens: how many tokens are drawn at most.
        file_name: what a file is called that a reader saves of it, without its ending.
    """

    title: str = "Lab"
    module: ClassVar[str]
    styles: ClassVar[tuple[str, ...]] = ()
    inputs: ClassVar[tuple[str, ...]] = ()

    text = traitlets.Unicode().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)
    message = traitlets.Unicode().tag(sync=True)
    stale = traitlets.Bool(False).tag(sync=True)
    max_tokens = traitlets.Int(64).tag(sync=True)
    file_name = traitlets.Unicode(read_only=True).tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        self._tried: dict[str, Any] = {}
        self._drawn: dict[str, Any] = {}
        super().__init__(**traits)
        self.on_msg(self._answer)
        self.observe(lambda _: self.recompute(), self.inputs)
        self.recompute()

    @property
    def _esm(self) -> str:
        return widget_module(self.module)

    @property
    def _css(self) -> str:
        return "\n".join(map(source, ("shared/lab.css", *self.styles)))

    @traitlets.default("file_name")
    def _name_of_files(self) -> str:
        return snake_case(type(self).__name__)

    def compute(self, change: Change) -> Computed:
        """What follows from the inputs: ``state``, and more where there is; a ValueError says in the reader's words why
        nothing does. Sets nothing itself, but for what merely saves time."""
        raise NotImplementedError(f"a {type(self).__name__} has inputs, and no way to compute what follows from them")

    def recompute(self) -> None:
        """Compute anew what is drawn, if an input has changed since it was last tried; inputs that came together cost
        once. Where that fails, the message says why, and what stood stands."""
        now = {name: getattr(self, name) for name in self.inputs}
        if now == self._tried:
            return
        change = Change(drawn=differing(now, self._drawn), tried=differing(now, self._tried))
        self._tried = now
        with self.reporting_errors():
            computed = self.compute(change)
            traits = {"message": "", "stale": False} | computed.traits
            self._tried = self._drawn = now | {name: traits[name] for name in now if name in traits}
            with self.hold_sync(), self.hold_trait_notifications():
                for name, value in (computed.kept | traits).items():
                    setattr(self, name, value)

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
            f'<script type="module">\n{page_script(self.module)}</script>',
            "</html>\n",
        ])

    def picture(self, *, width: int = 960, theme: Theme = "light", scale: float = 2.0) -> bytes:
        """The lab as PNG, ``width`` CSS pixels wide at most, ``scale`` pixels for each; a
        LookupError says what is missing.

        It is taken of ``html()`` in headless Chromium.
        """
        from plmlab.labs.picture import pictures
        return pictures([self.html(theme)], width=width, scale=scale)[0]

    def _repr_mimebundle_(self, **asked: Any) -> Any:
        """The lab as a cell shows it. One that was closed, since no cell showed it any more, opens again."""
        if (shell := get_ipython()) is not None:
            cells_of(shell).showing.add(self)
        self.open()
        return super()._repr_mimebundle_(**asked)

    def close(self) -> None:
        """Close the lab, and take it off the page."""
        super().close()
        self.__dict__.pop("_repr_mimebundle_", None)

    def summary(self) -> str:
        """A text that stands for the lab where no widget can be drawn; the title, unless a lab says more. It
        tells the inputs of what is drawn, ``_drawn``, which may not be the traits that stand now."""
        return self.title

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {printable(self.summary())}>"
