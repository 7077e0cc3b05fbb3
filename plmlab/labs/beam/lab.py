"""The Beam Lab: the tree of beam search as it grows, what it prunes, and the texts that it misses."""

from collections.abc import Sequence
from typing import Any, ClassVar

import traitlets

from plmlab.decode import Hypothesis, TableLM
from plmlab.decode.growth import Step
from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.beam.beside import Begun, Beside
from plmlab.labs.beam.pins import WIDEST, Likeliest, likeliest, pinned, widths
from plmlab.labs.beam.presets import Preset, offered
from plmlab.labs.beam.state import State
from plmlab.labs.beam.tree import Search, branch, columns, greedily, lane, told
from plmlab.labs.beam.writers import ModelWriter, TableWriter, Writer
from plmlab.text.printable import printable
from plmlab.world import World

STEEPEST = 2.0
LONGEST = 20
Beginning = tuple[list[int], str, Begun | None]
SEARCHED = ("text", "width", "alpha", "length", "source")


class BeamLab(Lab):
    """The tree of a beam search, step by step, with greedy's way beside it and what was pruned.

    The tree is that of `plmlab.decode.beam_search`. Pinned beneath it are the model's likeliest text of all, by exact
    search, and the world's, so that each miss has its name: a search error or a model error.

    Args:
        model: what writes: anything with ``start`` and ``step`` (`plmlab.decode.AutoregressiveModel`), or a
            `plmlab.decode.TableLM`. With none, the tables of the presets do.
        tokenizer: the model's own; a table has none.
        text: the beginning; the first preset's if None.
        world: a Small World, whose exact probability then stands on every branch. The tokenizer must have one token
            for each of its words.
        split: which of the world's distributions.
        presets: what to try; if None, a table of a study note's, a garden path, a beam too wide, and more.
        traits: what the reader can set: ``width`` (1 to 10), ``alpha`` (the length penalty's power, 0 to 2),
            ``length`` (the most tokens, 1 to 20), ``steps`` (how many are shown; None: all), ``source`` (who writes).
    """

    title = "Beam Lab"
    module = "beam/lab.js"
    styles = ("beam/lab.css",)
    inputs: ClassVar = (*SEARCHED, "unfold", "seek")

    width = traitlets.Int(4).tag(sync=True)
    alpha = traitlets.Float(0.0).tag(sync=True)
    length = traitlets.Int(LONGEST).tag(sync=True)
    source = traitlets.Unicode().tag(sync=True)
    steps = traitlets.Int(None, allow_none=True).tag(sync=True)
    unfold = traitlets.List(traitlets.Int()).tag(sync=True)
    seek = traitlets.Int(0).tag(sync=True)
    unfolded = traitlets.Dict().tag(sync=True)
    pinned = traitlets.Dict().tag(sync=True)
    menu = traitlets.Dict().tag(sync=True)

    def __init__(self, model: Any = None, tokenizer: Any = None, text: str | None = None, *, world: World | None = None,
                 split: str = "train", presets: Sequence[Preset] | None = None, **traits: Any) -> None:
        own = None if model is None else writer_of(model, tokenizer, world, split)
        tried = list(offered(own, traits.get("length", LONGEST)) if presets is None else presets)
        self.writers: dict[str, Writer] = {} if own is None else {own.name: own}
        sources = [self._source(preset, own) for preset in tried]
        if not self.writers:
            raise ValueError("there is nothing that writes: give a model, or a preset with a table")
        first = tried[0] if text is None and tried else None
        begun = {"text": text or "", "source": next(iter(self.writers))} if first is None else {
            "text": first.text, "width": first.width, "alpha": first.alpha, "source": sources[0]}
        self.search: Search | None = None
        self.grown: list[Step] = []
        self.greedy: list[Hypothesis] = []
        self._beginning: tuple[tuple[Any, ...], Beginning] | None = None
        self._likeliest: dict[tuple[Any, ...], Likeliest] = {}
        self._widths: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        super().__init__(**begun | traits, menu={
            "presets": [{"title": preset.title, "text": preset.text, "width": preset.width, "alpha": preset.alpha,
                         "source": source} for preset, source in zip(tried, sources, strict=True)],
            "sources": list(self.writers), "widest": WIDEST, "steepest": STEEPEST, "longest": LONGEST})

    def _source(self, preset: Preset, own: Writer | None) -> str:
        """The name of the one that writes at a preset, who is known from now on."""
        if preset.table is None:
            if own is None:
                raise ValueError(f"the preset {preset.title!r} has no table, and the lab no model")
            return own.name
        name = f"a table: {preset.title}"
        self.writers[name] = TableWriter(name, preset.table)
        return name

    @traitlets.validate("width", "alpha", "length")
    def _check(self, proposal: Any) -> Any:
        """A TraitError for what the lab has no room to draw."""
        name, value = proposal["trait"].name, proposal["value"]
        low, high = {"width": (1, WIDEST), "alpha": (0, STEEPEST), "length": (1, LONGEST)}[name]
        if not low <= value <= high:
            raise traitlets.TraitError(f"{name} must be from {low} to {high:g}; {value:g} was given")
        return value

    def traits_for_page(self) -> dict[str, Any]:
        """What the page must know; no kernel will find there what is pinned, so it is found now."""
        self.recompute()
        if not self.pinned:
            self.seek += 1
        return super().traits_for_page()

    def best(self) -> list[dict[str, Any]]:
        """The finished texts, the best first, each with its ``text``, ``total`` log-probability and ``score``."""
        return self.state.get("finished", [])

    def summary(self) -> str:
        """The beginning, and what greedy and the beam make of it."""
        if not self.best():
            return self.message or "no text was finished"
        beam, greedy = self.best()[0], self.state["greedy"]
        return (f"'{self.state['text']}': a beam of {self.state['width']} finds '{beam['text']}' "
                f"({beam['total']:.2f} nats), greedy '{greedy['text']}' ({greedy['total']:.2f})")

    def compute(self, change: Change) -> Computed:
        """The tree anew, where what is searched for changed; else what was asked about it. What is pinned under
        another text or penalty is looked for only when it is asked for (``seek``), after the tree was drawn."""
        if change.drawn & set(SEARCHED):
            return self._searched(look="seek" in change.tried)
        if self.search is None or self._beginning is None:
            raise ValueError(self.message)
        _, note, _ = self._beginning[1]
        if "seek" in change.tried:
            return Computed({"pinned": self._pins(self.search, self.grown, look=True), "message": note})
        return Computed({"unfolded": self._unfolded(self.search), "message": note})

    def _searched(self, *, look: bool) -> Computed:
        """The tree for the traits as they stand; what is pinned where it is known, or to be looked for."""
        writer = self.writers.get(self.source)
        if writer is None:
            raise ValueError(f"{self.source!r:.60} is to write; there are {', '.join(self.writers)}")
        ids, note, begun = self._begin(writer)
        search = Search(writer, tuple(ids), begun, self.length, self.width, self.alpha)
        grown = search.steps()
        same = self.search is not None and (self.search.writer, self.search.ids, self.search.length) == (
            writer, search.ids, self.length)
        greedy = self.greedy if same else greedily(writer, ids, self.length)
        state: State = {
            "text": printable(self.text.strip()), "source": writer.name, "width": self.width, "alpha": self.alpha,
            "length": self.length, "read": len(ids) - (ids[0] == writer.vocab.start), "world": begun is not None,
            "left": begun.left if begun else "", "columns": columns(search, grown, greedy[-1]),
            "finished": [told(search, text) for text in grown[-1].finished],
            "greedy": lane(search, greedy, Hypothesis()),
        }
        return Computed({"state": state, "message": note, "pinned": self._pins(search, grown, look=look),
                         "unfold": [], "unfolded": {}},
                        {"search": search, "grown": grown, "greedy": greedy})

    def _begin(self, writer: Writer) -> Beginning:
        """The beginning as it is read: its ids, a note, and where in the world it stands. Kept while it is the same,
        with all that the world was asked about it."""
        key = (writer.name, self.text, self.length)
        if self._beginning is None or self._beginning[0] != key:
            ids, note = writer.read(self.text, self.length)
            self._beginning = key, (ids, note, Begun(writer.beside, writer.words(self.text)) if writer.beside else None)
        return self._beginning[1]

    def _pins(self, search: Search, grown: Sequence[Step], *, look: bool) -> dict[str, Any]:
        """What is pinned: {} where it is not known, and not to be looked for now."""
        key = (search.writer.name, search.ids, search.length)
        if not look and (key not in self._likeliest or (*key, search.alpha) not in self._widths):
            return {}
        if key not in self._likeliest:
            self._likeliest[key] = likeliest(search)
        if (*key, search.alpha) not in self._widths:
            self._widths[*key, search.alpha] = widths(search)
        finished = grown[-1].finished
        return pinned(search, finished[0] if finished else None, self._likeliest[key],
                      self._widths[*key, search.alpha])

    def _unfolded(self, search: Search) -> dict[str, Any]:
        """What the branch would have become that is to be unfolded: greedily written on; {} for none."""
        if not self.unfold:
            return {}
        if len(self.unfold) != 2:
            raise ValueError(f"unfold names a branch by its step and its place, from 0 on; {self.unfold} was given")
        text = branch(self.grown, *self.unfold)
        ended = text.tokens[-1] == search.writer.vocab.end
        room = search.length - len(text.tokens)
        after = [] if ended or not room else greedily(search.writer, [*search.ids, *text.tokens], room)
        path = [Hypothesis((*text.tokens, *more.tokens), text.logprob + more.logprob) for more in after]
        return {"step": self.unfold[0], "place": self.unfold[1], **lane(search, path, text)}


def writer_of(model: Any, tokenizer: Any, world: World | None, split: str) -> Writer:
    """Who writes with a model: a table needs no tokenizer. ValueError where one is missing or too many."""
    if isinstance(model, TableLM):
        if tokenizer is not None or world is not None:
            raise ValueError("a Table's words are its tokens: give it neither a tokenizer nor a world")
        return TableWriter("the table", model)
    if tokenizer is None:
        raise ValueError(f"give the tokenizer of the {type(model).__name__} too: BeamLab(model, tokenizer)")
    made = ModelWriter(type(model).__name__, model, tokenizer, None)
    if world is not None:
        size = getattr(getattr(model, "config", None), "vocab", len(made.tokenizer))
        made.beside = Beside(world, split, made.tokenizer, size)
    return made
