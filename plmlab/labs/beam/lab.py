"""The Beam Lab: the tree of a beam search, its pruned branches, and its search and model errors."""

from collections.abc import Sequence
from typing import Any, ClassVar

import traitlets

from plmlab.decode import ConditionedDecoder, Hypothesis, TableLM
from plmlab.decode.trace import Step
from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.beam.adapters import Adapter, ModelAdapter, TableAdapter
from plmlab.labs.beam.exact import ExactProbabilities, PrefixProbabilities
from plmlab.labs.beam.exact_results import WIDEST, Likeliest, likeliest, pinned, widths
from plmlab.labs.beam.presets import Preset, default_presets
from plmlab.labs.beam.state import State
from plmlab.labs.beam.tree import Search, branch, columns, greedily, lane, told
from plmlab.text.printable import printable
from plmlab.world import World

STEEPEST = 2.0
LONGEST = 20
Beginning = tuple[list[int], str, PrefixProbabilities | None]
SEARCHED = ("text", "width", "alpha", "length", "source")


class BeamLab(Lab):
    """The tree of a beam search, step by step, including the greedy path and the pruned branches.

    The search is `plmlab.decode.beam_search`. Below the tree, the lab shows the most likely text under the model, found
    by exact search, and under the world, so that each failure can be classified as a search error or a model error.

    Args:
        model: an autoregressive model with ``start`` and ``step`` (`plmlab.decode.AutoregressiveModel`), or a
            `plmlab.decode.TableLM`. By default, the tables of the presets are used.
        tokenizer: the model's tokenizer; None for a table.
        text: the prompt; by default, that of the first preset.
        world: a Small World, whose exact probabilities are then shown on every branch. Each of its words must be a
            single token of the tokenizer.
        split: the split of the world whose distribution is used.
        presets: the presets; by default, a table from a study note, a garden path, a beam that is too wide, and more.
        traits: what the reader can set: ``width`` (1 to 10), ``alpha`` (exponent of the length penalty, 0 to 2),
            ``length`` (maximum number of tokens, 1 to 20), ``steps`` (number of steps shown; None: all), ``source``
            (the name of the model).
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
        own = None if model is None else adapter_of(model, tokenizer, world, split)
        choices = list(default_presets(own, traits.get("length", LONGEST)) if presets is None else presets)
        self.writers: dict[str, Adapter] = {} if own is None else {own.name: own}
        sources = [self._source(preset, own) for preset in choices]
        if not self.writers:
            raise ValueError("there is no model: give one, or a preset with a table")
        first = choices[0] if text is None and choices else None
        initial = {"text": text or "", "source": next(iter(self.writers))} if first is None else {
            "text": first.text, "width": first.width, "alpha": first.alpha, "source": sources[0]}
        self.search: Search | None = None
        self.grown: list[Step] = []
        self.greedy: list[Hypothesis] = []
        self._beginning: tuple[tuple[Any, ...], Beginning] | None = None
        self._likeliest: dict[tuple[Any, ...], Likeliest] = {}
        self._widths: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        super().__init__(**initial | traits, menu={
            "presets": [{"title": preset.title, "text": preset.text, "width": preset.width, "alpha": preset.alpha,
                         "source": source} for preset, source in zip(choices, sources, strict=True)],
            "sources": list(self.writers), "widest": WIDEST, "steepest": STEEPEST, "longest": LONGEST})

    def _source(self, preset: Preset, own: Adapter | None) -> str:
        """The name of a preset's model; a preset's table is registered under this name."""
        if preset.table is None:
            if own is None:
                raise ValueError(f"the preset {preset.title!r} has no table and the lab has no model; give one of them")
            return own.name
        name = f"table: {preset.title}"
        self.writers[name] = TableAdapter(name, preset.table)
        return name

    @traitlets.validate("width", "alpha", "length")
    def _check(self, proposal: Any) -> Any:
        """Raise TraitError for a value outside the range that the lab can draw."""
        name, value = proposal["trait"].name, proposal["value"]
        low, high = {"width": (1, WIDEST), "alpha": (0, STEEPEST), "length": (1, LONGEST)}[name]
        if not low <= value <= high:
            raise traitlets.TraitError(f"{name} must be from {low} to {high:g}; {value:g} was given")
        return value

    def traits_for_page(self) -> dict[str, Any]:
        """The traits of an exported page. The exact search runs now, because the page has no kernel."""
        self.recompute()
        if not self.pinned:
            self.seek += 1
        return super().traits_for_page()

    def best(self) -> list[dict[str, Any]]:
        """The finished hypotheses, best first, each with its ``text``, log-probability (``total``) and ``score``."""
        return self.state.get("finished", [])

    def summary(self) -> str:
        """The prompt, and the texts found by the beam and by greedy decoding."""
        if not self.best():
            return self.message or "no hypothesis was finished"
        beam, greedy = self.best()[0], self.state["greedy"]
        return (f"'{self.state['text']}': a beam of {self.state['width']} finds '{beam['text']}' "
                f"({beam['total']:.2f} nats), greedy '{greedy['text']}' ({greedy['total']:.2f})")

    def compute(self, change: Change) -> Computed:
        """Search again if an input changed; otherwise carry out the request about the tree. The exact search runs only
        on request (``seek``), after the tree has been drawn."""
        if change.drawn & set(SEARCHED):
            return self._searched(look="seek" in change.tried)
        if self.search is None or self._beginning is None:
            raise ValueError(self.message)
        _, note, _ = self._beginning[1]
        if "seek" in change.tried:
            return Computed({"pinned": self._pins(self.search, self.grown, look=True), "message": note})
        return Computed({"unfolded": self._unfolded(self.search), "message": note})

    def _searched(self, *, look: bool) -> Computed:
        """Run the beam search. The exact results are added if they are already known, or if ``look`` is True."""
        writer = self.writers.get(self.source)
        if writer is None:
            raise ValueError(f"there is no model {self.source!r:.60}; choose one of {', '.join(self.writers)}")
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

    def _begin(self, writer: Adapter) -> Beginning:
        """The prompt: its ids, a note, and its state in the world's automaton (cached until the prompt changes)."""
        key = (writer.name, self.text, self.length)
        if self._beginning is None or self._beginning[0] != key:
            ids, note = writer.read(self.text, self.length)
            self._beginning = key, (ids, note, PrefixProbabilities(writer.beside, writer.words(self.text))
                                    if writer.beside else None)
        return self._beginning[1]

    def _pins(self, search: Search, grown: Sequence[Step], *, look: bool) -> dict[str, Any]:
        """The exact results below the tree; {} if they are not known yet and ``look`` is False."""
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
        """The greedy continuation of the selected pruned branch; {} if none is selected."""
        if not self.unfold:
            return {}
        if len(self.unfold) != 2:
            raise ValueError(f"unfold is [step, place] of a branch, counted from 0; {self.unfold} was given")
        text = branch(self.grown, *self.unfold)
        ended = text.tokens[-1] == search.writer.vocab.end
        room = search.length - len(text.tokens)
        after = [] if ended or not room else greedily(search.writer, [*search.ids, *text.tokens], room)
        path = [Hypothesis((*text.tokens, *more.tokens), text.logprob + more.logprob) for more in after]
        return {"step": self.unfold[0], "place": self.unfold[1], **lane(search, path, text)}


def adapter_of(model: Any, tokenizer: Any, world: World | None, split: str) -> Adapter:
    """Wrap a model with its tokenizer; a table needs none. Raises ValueError if one is missing or superfluous."""
    if isinstance(model, TableLM):
        if tokenizer is not None or world is not None:
            raise ValueError("the tokens of a TableLM are its words: give neither a tokenizer nor a world")
        return TableAdapter("the table", model)
    if tokenizer is None:
        raise ValueError(f"give the tokenizer of the {type(model).__name__} too: BeamLab(model, tokenizer)")
    named = model.model if isinstance(model, ConditionedDecoder) else model
    writer = ModelAdapter(type(named).__name__, model, tokenizer, None)
    if world is not None:
        size = getattr(getattr(model, "config", None), "vocab", len(writer.tokenizer))
        writer.beside = ExactProbabilities(world, split, writer.tokenizer, size)
    return writer
