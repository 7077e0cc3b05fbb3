"""The Cognitive Graph Lab: CogQA's graph expansion step by step, with the origin of every node and of the answer."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import traitlets

from plmlab.interpret.readable import AnyTokenizer, as_ours
from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.cognitive_graph.messages import Thing, changed, names_nothing, too_few
from plmlab.labs.cognitive_graph.presets import CognitiveGraphPreset
from plmlab.labs.cognitive_graph.protocol import Run, StartSearch
from plmlab.labs.cognitive_graph.state import State
from plmlab.labs.cognitive_graph.steps import Drawing
from plmlab.labs.shared.notes import empty, joined, left_out, unknown
from plmlab.objectives.cognitive_graphs import Kind

KINDS: dict[Kind, str] = {"special": "a name", "either-or": "one of two", "yes-no": "yes or no"}
"""Kind of question → the answer it expects."""


class CognitiveGraphLab(Lab):
    """CogQA on a multi-hop question, whose steps can be followed forwards and backwards.

    The details of a node are its page with the spans predicted by System 1, the clues in System 1's input, and the
    node's System 2 probability with and without edges; the details of an edge are its clue sentence and the effect of
    its message. If the reader excludes nodes or edges, the graph is expanded again from the start without them. The
    gold graph, if known, can be overlaid.

    Args:
        grow: ``grow(question, kind, forbidden=frozenset())``, such as ``partial(CogQASearch, model, pages, vocab)`` of
            `plmlab.models.cogqa_search`; ``question`` is ids.
        tokenizer: the model's tokenizer.
        presets: questions to try; the first one is shown initially.
        text: the initial question, if it is not one of the presets.
        kind: the kind of the initial question: "special" (the answer is a name), "either-or" or "yes-no".
        traits: what else the reader can set: ``step`` (clipped to the number of steps), ``forbidden`` (excluded nodes
            by name, and edges as pairs), ``gold`` (whether the gold graph is shown).

    Raises:
        ValueError: if there is no initial question, or if it contains no page title.
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

    def __init__(self, grow: StartSearch, tokenizer: AnyTokenizer, presets: Sequence[CognitiveGraphPreset] = (),
                 text: str | None = None, kind: Kind = "special", **traits: Any) -> None:
        if not presets and text is None:
            raise ValueError("there is no initial question: give presets, or a text")
        self.grow, self.tokenizer, self.presets = grow, as_ours(tokenizer), list(presets)
        self._run = lru_cache(32)(self._grown)
        first = (presets[0].question, presets[0].kind) if text is None else (text, kind)
        menu = {"presets": [{"title": preset.title, "text": preset.question, "kind": preset.kind}
                            for preset in presets], "kinds": KINDS}
        super().__init__(text=first[0], kind=first[1], menu=menu, **traits)
        if self.stale:
            raise ValueError(self.message)

    def summary(self) -> str:
        """The question and its answer."""
        if not self.state:
            return self.message
        last = self.state["steps"][-1]
        return f"{self._drawn['text']} {last['answer'] or 'no answer'} ({len(self.state['steps']) - 1} steps)"

    def compute(self, change: Change) -> Computed:
        """Expand the graph completely. A new question starts at step 1 with nothing excluded; an exclusion keeps the
        current step."""
        if self.kind not in KINDS:
            raise ValueError(f"kind is {self.kind!r:.60}; give one of {', '.join(KINDS)}")
        is_new = bool(self._drawn) and bool(change.drawn & {"text", "kind"})
        forbidden = [] if is_new and "forbidden" not in change.tried else list(self.forbidden)
        ids, note = self._read()
        whole = self._run(ids, self.kind, frozenset())
        if not whole.growing.named:
            raise names_nothing(self.presets[0].question if self.presets else "")
        without = [thing_of(item) for item in forbidden]
        run = self._run(ids, self.kind, frozenset(without))
        preset = next((index for index, known in enumerate(self.presets)
                       if (known.question, known.kind) == (self.text, self.kind)), None)
        known = CognitiveGraphPreset("", "") if preset is None else self.presets[preset]
        drawing = Drawing(run, known.gold, special=self.kind == "special")
        state: State = {
            "text": self.text.strip(), "kind": self.kind, "named": list(run.growing.named), "preset": preset,
            "right": known.answer, "note": known.note, "without": forbidden, "changed": changed(whole, run, without),
            **drawing.state()}
        step = 1 if is_new else self.step
        return Computed({"state": state, "forbidden": forbidden, "step": max(0, min(step, len(run.states) - 1)),
                         "message": joined(note, too_few(self.kind, len(whole.growing.named)))})

    def _read(self) -> tuple[tuple[int, ...], str]:
        """The ids of the question, and a note about it. The first letter is lower-cased if only that form is in the
        vocabulary."""
        text, unk = self.text.strip(), self.tokenizer.vocab.unk
        typed = self.tokenizer.encode(text, plain=True)
        if not typed:
            raise empty("question")
        if typed[0] == unk:
            lowered = self.tokenizer.encode(text[0].lower() + text[1:], plain=True)
            typed = typed if lowered[0] == unk else lowered
        ids = tuple(typed[:self.max_tokens])
        return ids, joined(left_out(len(typed) - len(ids), self.max_tokens, "word"), unknown(ids.count(unk)))

    def _grown(self, ids: tuple[int, ...], kind: Kind, forbidden: frozenset[Thing]) -> Run:
        growing = self.grow(ids, kind, forbidden=forbidden)
        return Run(growing, tuple(growing.states()))


def thing_of(given: Any) -> Thing:
    """Parse a node, given by its name, or an edge, given by its two ends. Raises ValueError for anything else."""
    if isinstance(given, str):
        return given
    if len(given) == 2 and all(isinstance(end, str) for end in given):
        return given[0], given[1]
    raise ValueError(f"{given!r:.60} cannot be excluded; give the name of a node, or [source, target] of an edge")
