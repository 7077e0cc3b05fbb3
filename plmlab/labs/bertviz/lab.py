"""Offline version of bertviz (Vig 2019): the head view and the model view of a model's attention, each in its own
frame.

The original bertviz loads require.js, d3 and jQuery from the network, and its views share element ids. Here each view
is a separate page, with d3 and jQuery from installed packages, in an ``<iframe>`` that makes no network requests.
"""

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import torch
from torch import nn

from plmlab.interpret.attention_maps import Map, Text, attention_maps
from plmlab.interpret.readable import Words
from plmlab.labs.base import POLICY
from plmlab.labs.modules import script_json, source

STAND_IN = "const require = { config() {} }, requirejs = (names, draw) => draw(jQuery, d3);"
STYLE = """
html { background: #fff; color: #000; color-scheme: light; }
body { margin: 0; padding: 8px; overflow-x: auto; }
svg { display: block; }
:focus-visible { outline: 2px solid #0072b2; }
"""


class View:
    """A drawing of a model's attention, displayed in a notebook; ``html()`` returns the page, ``picture()`` a PNG."""

    def __init__(self, summary: str, page: str, height: int) -> None:
        self.summary, self.page, self.height = summary, page, height

    def __repr__(self) -> str:
        return f"<{self.summary}>"

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {self.height}px; border: 0; background: #fff; border-radius: 4px"
        title, page = escape(self.summary), escape(self.page)
        return f'<iframe class="plm-view" title="{title}" style="{style}" srcdoc="{page}"></iframe>'

    def html(self) -> str:
        """The view as a self-contained HTML page, which needs neither a kernel nor a network."""
        return self.page

    def picture(self, *, width: int = 960, scale: float = 2) -> bytes:
        """Render the view as a PNG in headless Chromium. Raises LookupError if Chromium is not installed."""
        from plmlab.labs.picture import pictures
        return pictures([self.page], width=width, scale=scale)[0]


def head_view(model: nn.Module, words: Words, text: Text, second: str | None = None, *,
              layers: Sequence[int] | None = None, heads: Sequence[int] | None = None, max_tokens: int = 64) -> View:
    """Show one layer at a time: lines from each token to the tokens it attends to, with one colour per head.

    ``words`` is the model's tokenizer (of plmlab or of ``transformers``), or the tokens if ``text`` is an Example or a
    Batch of size one. ``second`` is sentence B of an encoder, or the decoder input of an encoder–decoder. ``layers``
    are the layers offered for selection, and ``heads`` the heads that are initially shown (default: all). Raises
    ValueError if the text is empty or too long, or if a layer or head does not exist.
    """
    from bertviz import head_view as draw

    maps = attention_maps(model, words, text, second, max_tokens=max_tokens)
    _check("head", heads, maps[0].weights[0].shape[0])
    tallest = max(len(words) for m in maps for words in (m.queries, m.keys))
    return _view("head view", maps, draw, layers, 70 + round(22.5 * tallest), heads=heads and list(heads))


def model_view(model: nn.Module, words: Words, text: Text, second: str | None = None, *,
               layers: Sequence[int] | None = None, heads: Sequence[int] | None = None, max_tokens: int = 64) -> View:
    """Show thumbnails of all layers and heads at once; a click, or Enter, enlarges a thumbnail.

    The arguments are those of `head_view`; ``heads`` are the heads drawn (default: all).
    """
    from bertviz import model_view as draw

    maps = attention_maps(model, words, text, second, max_tokens=max_tokens)
    _check("head", heads, maps[0].weights[0].shape[0])
    return _view("model view", maps, draw, layers, 600, include_heads=heads and list(heads), display_mode="light")


def _check(what: str, chosen: Sequence[int] | None, count: int) -> None:
    if chosen is not None and (not chosen or not all(0 <= i < count for i in chosen)):
        raise ValueError(f"{what}s {list(chosen)} were requested; this model has {what}s 0 … {count - 1}")


def _view(name: str, maps: list[Map], draw: Callable[..., Any], layers: Sequence[int] | None, height: int,
          **choices: Any) -> View:
    """Call bertviz and put its drawing on a page."""
    count = min(len(m.weights) for m in maps)
    _check("layer", layers, count)
    chosen = list(range(count)) if layers is None else list(layers)
    drawn = draw(**_given(maps), include_layers=chosen, prettify_tokens=False, html_action="return", **choices)
    last, heads = maps[-1], maps[0].weights[0].shape[0]
    sides = [last.keys, last.queries] if last.name == "cross" else [last.queries]
    tokens = " → ".join(f"{len(side)} tokens" for side in sides)
    shown = "1 layer" if len(chosen) == 1 else f"{len(chosen)} layers"
    summary = f"bertviz {name}: {shown} × {'1 head' if heads == 1 else f'{heads} heads'}, {tokens}"
    return View(summary, _page(summary, drawn.data), height)


def _given(maps: list[Map]) -> dict[str, Any]:
    """The attention maps in bertviz's argument format, with weights rounded to three decimals."""
    def weights(m: Map) -> list[torch.Tensor]:
        return [layer[None].double().round(decimals=3) for layer in m.weights]

    last = maps[-1]
    if last.name == "self":
        return {"attention": weights(last), "tokens": last.queries, "sentence_b_start": last.second}
    return {f"{m.name}_attention": weights(m) for m in maps} | {
        "encoder_tokens": last.keys, "decoder_tokens": last.queries}


@cache
def _libraries() -> str:
    """The installed jQuery and d3 as script elements; ``</script`` inside them is escaped."""
    texts = [(files("sphinxcontrib.jquery") / "jquery.js").read_text(encoding="utf-8"),
             (files("mpld3") / "js" / "d3.v5.min.js").read_text(encoding="utf-8"), STAND_IN]
    safe = [text.replace("</script", r"<\/script") for text in texts]
    return "\n".join(f"<script>{text}</script>" for text in safe)


def _page(title: str, drawn: str) -> str:
    """Put bertviz's markup and script on a page that makes no network requests; its data is escaped."""
    drawn = re.sub("bertviz-[0-9a-f]{32}", "bertviz", drawn)
    markup, script = re.sub(r'<script src="[^"]*"></script>', "", drawn).split('<script type="text/javascript">')
    before, after = script.rsplit("</script>", 1)[0].split("const params = ", 1)
    data, end = json.JSONDecoder().raw_decode(after)
    after = after[after.index("\n", end):]
    return "\n".join([
        "<!doctype html>", '<html lang="en"><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<body class="plm-lab">{markup}', _libraries(),
        f"<script>{before}const params = {script_json(data)};{after}</script>",
        f"<script>{source('bertviz/lab.js')}</script></body></html>",
    ])
