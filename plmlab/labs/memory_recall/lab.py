"""The Memory Recall Lab: which blocks of a long text enter the memory of CogLTX, step by step, and the answer."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import traitlets

from plmlab.interpret.readable import AnyTokenizer, as_ours, inference
from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.memory_recall.long_text import AGAIN, Changes, question_of, split
from plmlab.labs.memory_recall.presets import MemoryRecallPreset
from plmlab.labs.memory_recall.state import Block, State
from plmlab.labs.memory_recall.steps import Reader, Run
from plmlab.labs.shared.notes import joined, unread
from plmlab.labs.shared.tokens import checked_vocabulary, labels


class MemoryRecallLab(Lab):
    """MemRecall on a long text, step by step: retrieval competition, rehearsal and decay, answer. The reader can hold,
    exclude and rewrite blocks and change the question, and sees the answer without and with these changes.

    Args:
        model: CogLTX.
        tokenizer: the model's tokenizer.
        presets: long texts with questions; the first one is shown initially.
        traits: ``document`` (index of the preset), ``text`` (the question), ``held`` and ``excluded`` (positions of
            blocks), ``edits`` (new texts by position), ``step``, ``needed`` (mark the needed blocks), ``uniform``
            (draw all blocks with the same width), ``max_tokens`` (of the question).

    Raises ValueError if there is no preset, if the text or the question is empty, or if a change is not possible.
    """

    title = "Memory Recall Lab"
    module = "memory_recall/lab.js"
    styles = ("memory_recall/lab.css",)
    inputs: ClassVar = ("document", "text", "held", "excluded", "edits", "max_tokens")

    document = traitlets.Int(0).tag(sync=True)
    held: traitlets.List = traitlets.List().tag(sync=True)
    excluded: traitlets.List = traitlets.List().tag(sync=True)
    edits: traitlets.Dict = traitlets.Dict().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    needed = traitlets.Bool(False).tag(sync=True)
    uniform = traitlets.Bool(False).tag(sync=True)
    menu = traitlets.Dict().tag(sync=True)

    def __init__(self, model: Reader, tokenizer: AnyTokenizer, presets: Sequence[MemoryRecallPreset],
                 **traits: Any) -> None:
        if not presets:
            raise ValueError("there is no long text: give at least one preset")
        self.model: Any = model
        self.tokenizer, self.presets = as_ours(tokenizer), list(presets)
        checked_vocabulary(self.tokenizer, model.config.encoder.config.vocab)
        self._split = lru_cache(8)(lambda text: split(self.tokenizer, text, model.config.longest))
        self._run = lru_cache(32)(self._recalled)
        first = self.presets[max(0, min(traits.get("document", 0), len(presets) - 1))]
        menu = {"presets": [{"title": preset.title, "question": preset.question} for preset in presets]}
        super().__init__(menu=menu, **{"text": first.question} | traits)
        if self.stale:
            raise ValueError(self.message)

    def summary(self) -> str:
        """The question and the answer."""
        return f"{self._drawn['text']} → {self.state['answer']['text']}" if self.state else self.message

    def compute(self, change: Change) -> Computed:
        """Run MemRecall with the reader's changes and without them. Another text starts at step 0 with its own
        question and no changes; any other input keeps the current step."""
        if not 0 <= self.document < len(self.presets):
            raise ValueError(f"document is {self.document}; give a number from 0 to {len(self.presets) - 1}")
        preset, config, vocab = self.presets[self.document], self.model.config, self.tokenizer.vocab
        fresh: dict[str, Any] = {"text": preset.question, "held": [], "excluded": [], "edits": {}}
        is_new = bool(self._drawn) and "document" in change.drawn
        given = {name: value if is_new and name not in change.tried else getattr(self, name)
                 for name, value in fresh.items()}
        starts, original = zip(*self._split(preset.text), strict=True)
        room = min(self.max_tokens, config.capacity - config.longest - 3)
        question, note = question_of(self.tokenizer, given["text"], room)
        changes = Changes.of(self.tokenizer, original, config.longest, given["held"], given["excluded"], given["edits"])
        edited = dict(changes.edits)
        blocks = [edited.get(position, block) for position, block in enumerate(original)]
        query = (vocab.need("cls"), *question.ids, vocab.need("sep"))
        whole, changed = ({place: (*block.ids, vocab.need("sep")) for place, block in enumerate(some)}
                          for some in (original, blocks))
        size = len(query) + sum(len(changed[position]) for position in changes.held)
        if size > config.capacity:
            raise ValueError(f"The question and the held blocks have {size} tokens, but the memory holds "
                             f"{config.capacity}: free a block first. {AGAIN}")
        left = tuple((place, ids) for place, ids in changed.items() if place not in changes.excluded)
        now = self._run(query, left, changes.held)
        before = None if changes == Changes() else \
            self._run(query, tuple(whole.items()), ()).said(self.tokenizer, whole)
        known = preset if given["text"] == preset.question else MemoryRecallPreset("", "", "")
        drawn: list[Block] = [
            {"text": block.text, "tokens": labels(self.tokenizer, block.ids), "needed": None if not known.needed else
             any(first < start + len(old.ids) and start < last for first, last in known.needed)}
            for start, old, block in zip(starts, original, blocks, strict=True)]
        state: State = {
            "document": self.document, "question": labels(self.tokenizer, question.ids), "blocks": drawn,
            "correct": known.answer, "capacity": config.capacity, "before": before, "held": [*changes.held],
            "excluded": [*changes.excluded], "edits": {str(place): typed.text for place, typed in changes.edits},
            **now.drawn(self.tokenizer, query, changed)}
        words = [word for typed in (question, *edited.values()) for word in typed.unknown(self.tokenizer)]
        step = 0 if is_new else max(0, min(self.step, len(state["steps"]) - 1))
        notes = joined(note, unread(words, len(self.tokenizer)))
        return Computed({"state": state, "step": step, "message": notes, **given})

    def _recalled(self, query: Sequence[int], blocks: Sequence[tuple[int, Any]], held: Sequence[int]) -> Run:
        with inference(self.model):
            return Run(*self.model.read(query, dict(blocks), held))
