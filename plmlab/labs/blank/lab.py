"""The Blank Lab: GLM's blank infilling, with Part A, Part B, 2D positions, the attention mask and generation."""

from collections.abc import Sequence
from functools import lru_cache, partial
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

import traitlets
from torch import nn

from plmlab.example import IGNORE
from plmlab.interpret.readable import AnyTokenizer, as_ours
from plmlab.labs.base import Change, Computed
from plmlab.labs.blank.comparison import three_inputs
from plmlab.labs.blank.filling import ExactFilling, check_fills, drawn_lengths
from plmlab.labs.blank.presets import default_presets, some_spans
from plmlab.labs.blank.quiz import QUESTION, answer
from plmlab.labs.blank.rows import Layout, exercise, part_a_mistakes
from plmlab.labs.blank.state import State
from plmlab.labs.blank.steps import Names, Walk
from plmlab.labs.shared.masks import mask_state
from plmlab.labs.shared.sentence import SentenceLab, beginning
from plmlab.models.architectures import InfillingDecoder
from plmlab.models.registry import architecture_of
from plmlab.objectives.blanks import blank_infilling
from plmlab.world import small
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor
from plmlab.world.datasets.tokenizer import build_world_tokenizer
from plmlab.world.probability.infilling import part_a

if TYPE_CHECKING:
    from plmlab.world import World

Spans = list[list[int]]


class BlankLab(SentenceLab):
    """Turn spans of a sentence into GLM's blanks: Part A and Part B, 2D positions, targets, and the attention mask with
    the reason for each cell. The model fills the blanks word by word, with the exact posterior shown next to its
    predictions; the reader can choose other words.

    Args:
        model: a GLMPretraining; without a model, the blanks are filled from the exact posterior.
        tokenizer: the model's tokenizer; without a model, the tokenizer of the world's sentences.
        text: the initial sentence; by default, that of the first preset.
        world: a Small World, whose exact posteriors are shown next to the model's predictions; each of its words must
            be a single token of the tokenizer. Without a model, the default is the small world.
        split: the split of the world whose distribution is used.
        spans: the blanks as half-open ranges (begin, end) of word indices.
        order: the indices of the spans, from 0, in the order in which they are filled.
        draws: the number of fillings per blank to sample from the model, to estimate its distribution of lengths; 0 for
            none.
        max_tokens: the maximum length of the sentence.
        traits: what else the reader can set: ``chosen`` (the tokens in the blanks, an [END] after each; the model
            continues), ``step`` (the step shown, from 0), ``fill_in`` (whether the reader fills in Part A, positions
            and targets).

    Raises:
        ValueError: if the model cannot fill blanks, the tokenizer belongs to another model, or the spans or their order
            are invalid.
    """

    title = "Blank Lab"
    module = "blank/lab.js"
    styles = ("blank/lab.css",)
    inputs: ClassVar = ("text", "spans", "order", "chosen", "max_tokens")
    advice: ClassVar = "type words, and mark those to be blanked out"

    spans: traitlets.List = traitlets.List(None, allow_none=True).tag(sync=True)
    order: traitlets.List = traitlets.List(None, allow_none=True).tag(sync=True)
    chosen: traitlets.List = traitlets.List().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    fill_in = traitlets.Bool(False).tag(sync=True)

    def __init__(self, model: nn.Module | None = None, tokenizer: "AnyTokenizer | None" = None, text: str | None = None,
                 world: "World | None" = None, *, split: str = "train", spans: Sequence[Sequence[int]] | None = None,
                 order: Sequence[int] | None = None, draws: int = 200, max_tokens: int = 24, **traits: Any) -> None:
        if model is not None and tokenizer is None:
            raise ValueError("a model was given without a tokenizer; give the tokenizer that it was trained with")
        self.world = small() if model is None and world is None else world
        if tokenizer is None:
            assert self.world is not None
            tokenizer = build_world_tokenizer(self.world, ["english"], ["sentences"])
        self.model, self.split, self.draws, self.tokenizer = model, split, draws, as_ours(tokenizer)
        self.names = Names(self.tokenizer)
        size = len(self.tokenizer) if model is None else check_fills(model, self.tokenizer)
        if self.world is not None:
            BayesOptimalPredictor(self.world, split, self.tokenizer, size)
        self._many_drawn = lru_cache(64)(self._lengths_drawn)
        choices = [] if self.world is None else [preset.traits() for preset in default_presets(self.world, split)]
        begin = beginning(text, choices, spans=None, order=None)
        if spans is not None:
            begin |= {"spans": [list(span) for span in spans], "order": None}
        if order is not None:
            begin["order"] = list(order)
        super().__init__(begin | traits, choices, {"draws": draws}, max_tokens)
        if self.stale:
            raise ValueError(self.message)

    def summary(self) -> str:
        """Part A, and the tokens that fill its blanks."""
        if not self.state:
            return self.message
        filled = " ".join(step["said"] or "…" for step in self.state["steps"])
        return f"{self.state['part_a']['right']} | {filled}"

    def compute(self, change: Change) -> Computed:
        """Build the Example of the text with these spans, and a path through its blanks. If the text was edited, the
        spans stay on the words that still exist."""
        ids, note = self.read(self.text, self.max_tokens)
        spans, order = self._blanks(ids, change)
        anew = bool(change.drawn & {"text", "spans", "order", "max_tokens"}) and bool(self._drawn)
        chosen = [] if anew and "chosen" not in change.tried else list(self.chosen)
        step = 0 if anew and "step" not in change.tried else self.step
        if self._drawn and "chosen" in change.tried:
            step = len(chosen)
        state = self._state(ids, spans, order, chosen)
        return Computed({"spans": spans, "order": order, "chosen": chosen, "step": step, "state": state,
                         "message": note}, {"_ids": ids})

    def room(self, ids: Sequence[int], max_tokens: int) -> int:
        """The number of tokens for which the model has positions, counted from 1."""
        return super().room(ids, max_tokens + 1) - 1

    def _blanks(self, ids: Sequence[int], change: Change) -> tuple[Spans, list[int]]:
        """The spans and their order: as set by the reader, or moved to their new indices in the edited text."""
        if self.spans is None:
            spans, order = some_spans(len(ids)), self.order
        elif self._drawn and "spans" not in change.tried and ids != self._ids:
            return self._carried(ids)
        else:
            spans, order = [list(span) for span in self.spans], self.order
        if any(len(span) != 2 for span in spans):
            raise ValueError(f"spans are {spans!s:.80}; give (begin, end) for each, as in a slice")
        if order is None:
            order = list(range(len(spans)))[::-1]
        blank_infilling(ids, vocab=self.tokenizer.vocab, rng=Random(0), spans=[(a, b) for a, b in spans], order=order)
        return spans, list(order)

    def _carried(self, ids: Sequence[int]) -> tuple[Spans, list[int]]:
        """The spans whose words are still adjacent in the edited text, in their filling order; the default spans if
        none is left."""
        kept = dict[int, list[int]]()
        for number, (begin, stop) in enumerate(self._drawn["spans"]):
            places = self.carried(ids, range(begin, stop))
            if places and len(places) == stop - begin == places[-1] + 1 - places[0]:
                kept[number] = [places[0], places[-1] + 1]
        if not kept:
            spans = some_spans(len(ids)) if self._drawn["spans"] else []
            return spans, list(range(len(spans)))[::-1]
        numbers = sorted(kept)
        return [kept[number] for number in numbers], [numbers.index(one) for one in self._drawn["order"] if one in kept]

    def _state(self, ids: Sequence[int], spans: Spans, order: Sequence[int], chosen: Sequence[str]) -> State:
        """The state to draw."""
        self.names.check(chosen)
        names, vocab = self.names.all, self.tokenizer.vocab
        example = blank_infilling(ids, vocab=vocab, rng=Random(0), spans=[(a, b) for a, b in spans], order=order)
        tokens, slots = [names[id] for id in ids], [names[id] for id in example.tokens.tolist()]
        made = Layout(tokens, spans, order)
        walk = self._walk(tuple(example.tokens[:made.read].tolist()), made)
        steps = walk.steps(chosen)
        return {
            "tokens": tokens, "kinds": ["unknown" if id == vocab.unk else "word" for id in ids],
            "spans": spans, "order": list(order), "inputs": slots, "names": made.names(slots), "read": made.read,
            "sizes": [len(blank) + 1 for blank in made.blanks], "position_ids": example.position_ids.tolist(),
            "targets": [None if id == IGNORE else names[id] for id in example.targets.tolist()],
            "mask": mask_state("GLM", example.visible), "steps": steps, "lengths": walk.lengths(steps),
            "nll": walk.nll(),
            "rows": exercise(made), "part_a": {"right": " ".join(made.part_a), "mistakes": part_a_mistakes(made)},
            "other_formats": three_inputs(made), "question": QUESTION if spans else "",
            "answer": answer(made, walk.exact_lengths) if spans else "",
        }

    def _walk(self, read: tuple[int, ...], made: Layout) -> Walk:
        """The path through the blanks of a text; ``read`` is Part A."""
        hidden = {number: tuple(made.words[slice(*span)]) for number, span in enumerate(made.spans)}
        exact = None if self.world is None else \
            ExactFilling(self.world.automaton(self.split), part_a(made.words, [(a, b) for a, b in made.spans]))
        filler = None if self.model is None or not made.spans else self._filler(read, made.order)
        drawn = partial(self._many_drawn, read, tuple(made.order)) if filler is not None and self.draws else None
        return Walk(self.names, made.order, hidden, filler, drawn, exact)

    def _filler(self, read: Sequence[int], order: Sequence[int]) -> InfillingDecoder:
        assert self.model is not None
        filler = architecture_of(self.model).infiller
        assert filler is not None
        return filler(self.model, [read], self.tokenizer.vocab, [order])

    def _lengths_drawn(self, read: tuple[int, ...], order: tuple[int, ...], before: tuple[int, ...],
                       ) -> dict[int, float]:
        """The model's distribution of the length of the next blank, from ``draws`` samples."""
        counts = drawn_lengths(self._filler(read, order), before, self.draws)
        return {length: count / self.draws for length, count in counts.items()}
