"""The Cognitive Graph Lab: the graph grows step by step, and shows what brought each node and what chose the answer."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import traitlets

from plmlab.interpret.readable import AnyTokenizer, as_ours
from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.cognitive_graph.growing import Grow, Run
from plmlab.labs.cognitive_graph.presets import CognitiveGraphPreset
from plmlab.labs.cognitive_graph.state import State
from plmlab.labs.cognitive_graph.steps import Drawing
from plmlab.labs.cognitive_graph.told import Thing, changed, names_nothing, too_few
from plmlab.labs.shared.notes import empty, joined, left_out, unknown
from plmlab.objectives.cognitive_graphs import Kind

KINDS: dict[Kind, str] = {"special": "a name", "either-or": "one of two", "yes-no": "yes or no"}
"""Each kind of question → what it asks for."""


class CognitiveGraphLab(Lab):
    """A question of several hops as CogQA answers it, step by step, forwards and back.

    A node opens its page with what System 1 points at, the clues that came with it, and what System 2 gives it with the
    edges and without; an edge its sentence, and what its message does. What is forbidden or cut may not come into the
    graph again, which then grows anew from the start. The gold graph, where it is known, lies over it.

    Args:
        grow: ``grow(question, kind, forbidden=frozenset())``, such as ``partial(CogQASearch, model, pages, vocab)`` of
            `plmlab.models.cogqa_search`; ``question`` is ids.
        tokenizer: the model's own.
        presets: questions to try; the lab begins with the first.
        text: the question to begin with, if it is none of these.
        kind: what this asks for: "special" (a name), "either-or" or "yes-no".
        traits: what the reader can set besides: ``step`` (how many were taken; cut to what there is), ``forbidden``
            (nodes by name, and edges as pairs), ``gold`` (whether the gold graph is shown).

    ValueError: nothing to begin with, or a question that cannot be asked.
    """

    title = "Cognitive Graph Lab"
    module = "cognitive_graph/lab.js"
    styles = ("cognitive_graph/lab.css",)
    inputs: ClassVar = ("text", "kind", "forbidden")

    kind = traitlets.Unicode().tag(sync=True)
    forbidden: traitlets.List = traitlets.List().tag(sync=True)
    step = traitlets.Int(1).tag(sync=True)
    gold = traitlets.Bool(False).tag(sync=True)
    menu = traitlets.Dict().tag(sync=True)

    def __init__(self, grow: Grow, tokenizer: AnyTokenizer, presets: Sequence[CognitiveGraphPreset] = (),
                 text: str | None = None, kind: Kind = "special", **traits: Any) -> None:
        if not presets and text is None:
            raise ValueError("there is no question to begin with: give presets, or a text")
        self.grow, self.tokenizer, self.presets = grow, as_ours(tokenizer), list(presets)
        self._run = lru_cache(32)(self._grown)
        begin = (presets[0].question, presets[0].kind) if text is None else (text, kind)
        menu = {"presets": [{"title": one.title, "text": one.question, "kind": one.kind} for one in presets],
                "kinds": KINDS}
        super().__init__(text=begin[0], kind=begin[1], menu=menu, **traits)
        if self.stale:
            raise ValueError(self.message)

    def summary(self) -> str:
        """The question, and what is answered."""
        if not self.state:
            return self.message
        last = self.state["steps"][-1]
        return f"{self._drawn['text']} {last['answer'] or 'no answer'} ({len(self.state['steps']) - 1} steps)"

    def compute(self, change: Change) -> Computed:
        """The graph from start to end. Another question begins at the first step, with nothing forbidden; after a cut
        the step stays."""
        if self.kind not in KINDS:
            raise ValueError(f"kind is {self.kind!r:.60}; a question asks for one of {', '.join(KINDS)}")
        anew = bool(self._drawn) and bool(change.drawn & {"text", "kind"})
        forbidden = [] if anew and "forbidden" not in change.tried else list(self.forbidden)
        ids, note = self._read()
        whole = self._run(ids, self.kind, frozenset())
        if not whole.growing.named:
            raise names_nothing(self.presets[0].question if self.presets else "")
        without = [thing_of(one) for one in forbidden]
        run = self._run(ids, self.kind, frozenset(without))
        preset = next((number for number, one in enumerate(self.presets)
                       if (one.question, one.kind) == (self.text, self.kind)), None)
        known = CognitiveGraphPreset("", "") if preset is None else self.presets[preset]
        drawing = Drawing(run, known.gold, special=self.kind == "special")
        state: State = {
            "text": self.text.strip(), "kind": self.kind, "named": list(run.growing.named), "preset": preset,
            "right": known.answer, "note": known.note, "without": forbidden, "changed": changed(whole, run, without),
            **drawing.state()}
        step = 1 if anew else self.step
        return Computed({"state": state, "forbidden": forbidden, "step": max(0, min(step, len(run.states) - 1)),
                         "message": joined(note, too_few(self.kind, len(whole.growing.named)))})

    def _read(self) -> tuple[tuple[int, ...], str]:
        """The question as ids, and what is to be said of it. A capital at its beginning is taken for a small letter
        where only this is known."""
        text, unk = self.text.strip(), self.tokenizer.vocab.unk
        typed = self.tokenizer.encode(text, plain=True)
        if not typed:
            raise empty("question")
        if typed[0] == unk:
            small = self.tokenizer.encode(text[0].lower() + text[1:], plain=True)
            typed = typed if small[0] == unk else small
        ids = tuple(typed[:self.max_tokens])
        return ids, joined(left_out(len(typed) - len(ids), self.max_tokens, "word"), unknown(ids.count(unk)))

    def _grown(self, ids: tuple[int, ...], kind: Kind, forbidden: frozenset[Thing]) -> Run:
        growing = self.grow(ids, kind, forbidden=forbidden)
        return Run(growing, tuple(growing.states()))


def thing_of(one: Any) -> Thing:
    """A node by its name, or an edge from its two ends; ValueError for anything else."""
    if isinstance(one, str):
        return one
    if len(one) == 2 and all(isinstance(end, str) for end in one):
        return one[0], one[1]
    raise ValueError(f"{one!r:.60} is to be forbidden; give the name of a node, or [source, target] of an edge")
