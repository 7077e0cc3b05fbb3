"""The base class of all labs: common appearance, error messages, and export to an HTML page that needs no kernel."""

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

# JupyterLab's neutral colours, needed by pages outside JupyterLab.
THEMES: dict[Theme, dict[str, str]] = {
    "light": {},
    "dark": {
        "--jp-layout-color1": "#212121", "--jp-layout-color2": "#424242", "--jp-border-color2": "#424242",
        "--jp-content-font-color1": "#fff", "--jp-content-font-color2": "rgba(255, 255, 255, .7)",
    },
}

POLICY = "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data:"


def differing(now: Mapping[str, Any], then: Mapping[str, Any]) -> set[str]:
    """The names in ``now`` whose values differ from those in ``then``, or that are missing from ``then``."""
    return {name for name, value in now.items() if name not in then or value != then[name]}


def snake_case(name: str) -> str:
    """Convert a class name to snake case, such as ``MaskLab`` → ``mask_lab``, for use in file names."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


@dataclass(frozen=True)
class Change:
    """The names of the inputs that changed: ``drawn`` since the last successful computation (the result on the screen),
    ``tried`` since the last attempt, successful or not."""

    drawn: AbstractSet[str]
    tried: AbstractSet[str]


@dataclass(frozen=True)
class Computed:
    """The result of a computation: values of synchronised ``traits``, and of other attributes (``kept``). All are set
    together."""

    traits: dict[str, Any]
    kept: dict[str, Any] = field(default_factory=dict)


class Lab(anywidget.AnyWidget):
    """An interactive widget about one idea.

    Python computes ``state``, a JSON-serialisable dict; JavaScript draws it and handles every interaction that needs no
    Python. A subclass implements ``compute`` and sets ``title``; ``module``, the JavaScript file that draws the state
    (a path relative to this folder; its default export is created with ``lab`` of ``shared/lab.js``); ``styles``, any
    stylesheets in addition to ``shared/lab.css``; and ``inputs``, the traits that the state depends on. The files are
    read when a lab is created, so edits take effect when the cell is run again.

    Attributes:
        text: the sentence that the user typed.
        state: the data that is drawn.
        message: an error or a note for the user; "" if there is neither.
        stale: whether the message is an error, so that the drawing still shows the last valid input.
        max_tokens: the maximum number of tokens drawn.
        file_name: the name of saved files, without extension.
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
        """Compute ``state`` and any other values from the inputs, without setting them (caches excepted). Raises
        ValueError, with a message for the user, if the inputs are invalid."""
        raise NotImplementedError(f"{type(self).__name__} declares inputs but does not implement compute()")

    def recompute(self) -> None:
        """Recompute the state if an input has changed since the last attempt; inputs that change together trigger a
        single computation. If the computation fails, ``message`` gives the reason and the previous state stays."""
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
        """Context manager that shows an error inside the block as the lab's ``message``; the previous state stays."""
        try:
            yield
        except ValueError as error:
            self.message, self.stale = str(error), True
        except Exception as error:
            self.message = f"An unexpected error occurred in this lab ({type(error).__name__}: {error}). " \
                           "The previous result is still shown."
            self.stale = True

    def _answer(self, _: anywidget.AnyWidget, content: dict[str, Any], buffers: list[memoryview]) -> None:
        """Send the HTML page that a button in the browser requested."""
        with self.reporting_errors():
            theme: Theme = "dark" if content.get("theme") == "dark" else "light"
            self.send({"page": content.get("page"), "html": self.html(theme)})

    def traits_for_page(self) -> dict[str, Any]:
        """The synchronised traits that the exported page needs, by name, without anywidget's own traits."""
        own = set(self.trait_names(sync=True)) - set(anywidget.AnyWidget.class_trait_names())
        return {name: value for name, value in self.get_state(sorted(own)).items() if not name.startswith("_")}

    def html(self, theme: Theme = "light") -> str:
        """Export the lab as a self-contained HTML page that needs no kernel, no network and no other file.

        Everything that JavaScript computes keeps working; controls that need Python are disabled.
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
        """Render the lab as a PNG, at most ``width`` CSS pixels wide, with ``scale`` device pixels per CSS pixel.

        Takes a screenshot of ``html()`` in headless Chromium. Raises LookupError if Chromium or Playwright is missing.
        """
        from plmlab.labs.picture import pictures
        return pictures([self.html(theme)], width=width, scale=scale)[0]

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Display the lab as the output of a cell. A lab that was closed because no cell displayed it is reopened."""
        if (shell := get_ipython()) is not None:
            cells_of(shell).showing.add(self)
        self.open()
        return super()._repr_mimebundle_(**options)

    def close(self) -> None:
        """Close the lab and remove it from the page."""
        super().close()
        self.__dict__.pop("_repr_mimebundle_", None)

    def summary(self) -> str:
        """A text summary, used where no widget can be drawn; by default the title. It describes the inputs of the
        current drawing (``_drawn``), which may differ from the current traits."""
        return self.title

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {printable(self.summary())}>"
